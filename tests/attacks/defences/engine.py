"""What keeps statements to what was meant, and the process that runs them locked."""

from __future__ import annotations

from tests.attacks.defences.defence import Defence

__all__ = ["ENGINE"]

VERIFY = "dpsql/worker/verify.py"
LIMITS = "dpsql/worker/limits.py"
OF_WORKER = ("tests/unit/worker", "tests/attacks/test_worker_lockdown.py")

ENGINE = (
    Defence(
        "a sum that could overflow is not asked",
        "dpsql/engine/lower.py",
        "    if largest * MOST_ROWS >= SUM_LIMIT:\n",
        "    if False:\n",
        ("tests/unit/engine", "tests/sql/test_corpus.py"),
    ),
    Defence(
        "no unit counts in more groups of a whole key than the cap allows",
        "dpsql/worker/whole_keys.py",
        "    for _ in range(most):\n",
        "    for _ in range(most + 1):\n",
        ("tests/unit/worker/test_whole_keys.py",),
    ),
    Defence(
        "totals that may cancel are read as they are stored by all keys alone",
        "dpsql/engine/stored_sizes.py",
        "    if signed and len(",
        "    if False and len(",
        ("tests/unit/engine",),
    ),
    Defence(
        "totals that are stored by size serve a statement with the same bins alone",
        "dpsql/engine/stored_sizes.py",
        "held == name and own in (None, known)]",
        "held == name]",
        ("tests/unit/engine",),
    ),
    Defence(
        "texts that an analyst wrote stand in no statement",
        "dpsql/engine/places.py",
        "kind is Type.TEXT and counts and _owners(source, key):",
        "kind is Type.TEXT and counts:",
        ("tests/unit/engine/test_places.py",),
    ),
    Defence(
        "totals are stored by day where no row adds less than 0",
        "dpsql/owner/building/by_size.py",
        "summable(table, column) and grid_limits(column)[0] >= 0]",
        "summable(table, column)]",
        ("tests/unit/engine/test_totals.py", "tests/unit/owner/building/test_totals.py"),
    ),
    Defence(
        "counted values of a whole table serve no groups",
        "dpsql/engine/stored_counts.py",
        "    if source.keys or source.capped or ",
        "    if source.capped or ",
        ("tests/unit/engine",),
    ),
    Defence(
        "of counted days those of each unit's first groups alone are read under a cap",
        "dpsql/engine/stored_days.py",
        ' <= {groups}" if source.cap_groups else ""',
        ' <= {groups}" if False else ""',
        ("tests/unit/engine",),
    ),
    Defence(
        "of sums by rank those of as many rows as count are read under a cap",
        "dpsql/engine/stored_ranks.py",
        ' <= {int(most)}" if source.cap_rows else ""',
        ' <= {int(most)}" if False else ""',
        ("tests/unit/engine",),
    ),
    Defence(
        "DuckDB reads the tables that were meant, and no other",
        VERIFY,
        "    if used_tables != set(tables):\n",
        "    if False:\n",
        OF_WORKER,
    ),
    Defence(
        "DuckDB reads the functions that were meant, and no other",
        VERIFY,
        "    if extra := used_functions - allowed:\n",
        "    if (extra := used_functions - allowed) and False:\n",
        OF_WORKER,
    ),
    Defence(
        "the worker runs one SELECT",
        VERIFY,
        '    if kinds != ["SELECT"] or tree.get("error", True) or len(tree["statements"]) != 1:\n',
        '    if tree.get("error", True):\n',
        OF_WORKER,
    ),
    Defence(
        "tables of the worker are qualified",
        VERIFY,
        "            if where != schema:\n",
        "            if False:\n",
        OF_WORKER,
    ),
    Defence(
        "the engine opens no file and no address",
        LIMITS,
        '    "enable_external_access": "false",\n',
        '    "enable_external_access": "true",\n',
        OF_WORKER,
    ),
    Defence(
        "the worker writes no file",
        LIMITS,
        "        _limit(resource.RLIMIT_FSIZE, 0)\n",
        "        pass\n",
        OF_WORKER,
    ),
    Defence(
        "the worker's memory is limited",
        LIMITS,
        "        _limit(resource.RLIMIT_AS, memory)\n",
        "        pass\n",
        OF_WORKER,
    ),
    Defence(
        "what the engine writes about rows goes nowhere",
        "dpsql/worker/__main__.py",
        "    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)",
        "    os.open(os.devnull, os.O_WRONLY)",
        OF_WORKER,
    ),
    Defence(
        "a worker dies at its deadline, parent or not",
        "dpsql/worker/__main__.py",
        '            limits.expire(request["deadline"] + GRACE)\n',
        "",
        OF_WORKER,
    ),
    Defence(
        "what a worker sends is the table that was asked for",
        "dpsql/worker/columns.py",
        "    if found != list(expected):\n",
        "    if False:\n",
        OF_WORKER,
    ),
    Defence(
        "a function is taken only where it is proved that no row makes it fail",
        "dpsql/plan/values/applied.py",
        "        elif _proved(function, taken):\n",
        "        elif True:\n",
        ("tests/unit/plan/test_functions.py", "tests/sql/test_corpus.py"),
    ),
    Defence(
        "statements have a largest number of words",
        "dpsql/sql/tokens.py",
        "        if len(tokens) > MOST_TOKENS:\n",
        "        if False:\n",
        ("tests/unit/sql",),
    ),
    Defence(
        "trees have a largest depth and size",
        "dpsql/sql/tree/base.py",
        "        if depth > DEEPEST_TREE or nodes > MOST_NODES:\n",
        "        if False:\n",
        ("tests/unit/sql",),
    ),
)
