"""What keeps one unit's share of the tables, and of what is read, within its bounds."""

from __future__ import annotations

from tests.attacks.defences.defence import Defence

__all__ = ["TABLES"]

BOUNDED = "dpsql/owner/building/bounded.py"
CAPS = "dpsql/owner/building/caps.py"
STABILITY = "dpsql/plan/known/stability.py"
RELATIONS = "dpsql/plan/known/relations.py"
SOURCES = "dpsql/prepare/sources.py"
ONE_PASS = "dpsql/owner/building/one_pass.py"
APPENDED = "dpsql/owner/building/appended.py"
OF_BOUNDED = ("tests/unit/owner/building/test_bounded.py",)
OF_ONE_PASS = ("tests/unit/owner/building/test_one_pass.py",)
OF_APPENDED = ("tests/unit/owner/building/test_appended.py",)
OF_STABILITY = ("tests/attacks/test_stability.py",)
UNIT_WORK, OF_UNIT_WORK = "dpsql/plan/rows/unit_work.py", ("tests/unit/plan/rows/test_unit_work.py",)

TABLES = (
    Defence(
        "real numbers are clamped to their bounds",
        BOUNDED,
        ' WHEN {raw.real} > {high} THEN {high} "',
        ' "',
        OF_BOUNDED,
    ),
    Defence(
        "NaN is a missing value",
        BOUNDED,
        'f"CASE WHEN {raw.nan} THEN NULL WHEN {raw.real} < {low} THEN {low}',
        'f"CASE WHEN {raw.real} < {low} THEN {low}',
        OF_BOUNDED,
    ),
    Defence(
        "of two equal zeros, no sign tells whose row it was",
        BOUNDED,
        'f"ELSE {raw.real} + 0.0 END"',
        'f"ELSE {raw.real} END"',
        OF_BOUNDED,
    ),
    Defence(
        "a text is no longer than the policy says",
        BOUNDED,
        'value=words.call("left", parsed, limit)',
        "value=parsed",
        OF_BOUNDED,
    ),
    Defence(
        "a unit keeps as many rows as the policy says",
        ONE_PASS,
        "<= {table.rows_per_unit}",
        "<= {table.rows_per_unit} + 1",
        OF_BOUNDED,
    ),
    Defence(
        "a unit keeps as many rows as the policy says, on every engine",
        "dpsql/owner/building/views.py",
        "<= {table.rows_per_unit}",
        "<= {table.rows_per_unit} + 1",
        OF_ONE_PASS,
    ),
    Defence(
        "a unit of one row keeps one",
        CAPS,
        "WHERE {place} <= {limit}\n",
        "WHERE {place} <= {limit} + 1\n",
        OF_ONE_PASS,
    ),
    Defence(
        "of rows with one key a unit keeps one",
        CAPS,
        'WHERE NOT {twin}"',
        'WHERE {twin} IS NOT NULL"',
        OF_ONE_PASS,
    ),
    Defence(
        "of rows with one place a unit keeps one",
        "dpsql/engine/duckdb/database.py",
        "        if alike and first:\n",
        "        if alike and not name:\n",
        OF_BOUNDED,
    ),
    Defence(
        "rows that do not lie unit by unit end the build",
        "dpsql/engine/duckdb/database.py",
        "        if fallen or alike:\n",
        "        if not name:\n",
        ("tests/unit/owner", "tests/unit/engine/test_duckdb.py"),
    ),
    Defence(
        "units of a table in ranges are numbered one by one, or the build ends",
        "dpsql/engine/duckdb/database.py",
        "        if misnumbered:\n",
        "        if not name:\n",
        OF_ONE_PASS,
    ),
    Defence(
        "ranges of a table end in their order, whichever is ready first",
        "dpsql/engine/duckdb/ranges.py",
        "self._ended == place or self._error",
        "self._ended >= 0 or self._error",
        ("tests/unit/engine/test_ranges.py",),
    ),
    Defence(
        "rows that come in another order are not counted as if they came in theirs",
        ONE_PASS,
        "{words.call('out_of_order')}",
        "FALSE",
        OF_ONE_PASS,
    ),
    Defence(
        "a text that is not in its list is none, also where it is sorted as its place",
        "dpsql/owner/building/numbered.py",
        "ELSE {last} END",
        "ELSE 0 END",
        OF_ONE_PASS,
    ),
    Defence(
        "who has new rows keeps as many as the policy says, the stored ones among them",
        APPENDED,
        " AND NOT {moves} ",
        " ",
        OF_APPENDED,
    ),
    Defence(
        "rows of files that are gone, or hold something else, do not stay",
        "dpsql/owner/building/again.py",
        "any(now.get(file) != held for file, held in then.items())",
        "False",
        OF_APPENDED,
    ),
    Defence(
        "rows stay where the words on their table are what they were, and nowhere else",
        "dpsql/owner/building/again.py",
        'before is None or before["words"] != words',
        "before is None",
        OF_APPENDED,
    ),
    Defence(
        "which rows a unit keeps follows from a secret",
        CAPS,
        'words.call("left", words.call("secret"), str(SECRET))',
        'words.call("left", "\'0\'", str(SECRET))',
        OF_BOUNDED,
    ),
    Defence(
        "in which order a unit's rows are kept follows from the hash",
        CAPS,
        'ORDER BY {hash_}, {order})"',
        'ORDER BY {order})"',
        OF_ONE_PASS,
    ),
    Defence(
        "a decimal with places names nobody",
        BOUNDED,
        'if kind.family in ("nested", "real") or kind.places:',
        'if kind.family in ("nested", "real"):',
        ("tests/unit/owner/building/test_owners.py",),
    ),
    Defence(
        "what a database takes for equal in several texts names nobody",
        BOUNDED,
        "    if kind.alike:\n",
        "    if False:\n",
        ("tests/unit/owner/building/test_owners.py",),
    ),
    Defence(
        "every_unit is held against the data",
        "dpsql/owner/building/every_unit.py",
        "        if found.missing or found.several or found.shared:\n",
        "        if found.several:\n",
        ("tests/unit/owner/building/test_every_unit.py",),
    ),
    Defence(
        "a join multiplies the rows of a unit",
        STABILITY,
        "    ways = [left * right]\n",
        "    ways = [max(left, right)]\n",
        OF_STABILITY,
    ),
    Defence(
        "a left join keeps the unit's unmatched rows",
        STABILITY,
        "ways.append(left - 1 + right if join.outer else right)",
        "ways.append(right)",
        OF_STABILITY,
    ),
    Defence(
        "conditions on a part of a key leave as many rows as the rest of it has values",
        STABILITY,
        "    return min(rows, most_values(scan, sizes) or rows)\n",
        "    return 1\n",
        OF_STABILITY,
    ),
    Defence(
        "the rows of one unit take a part of the deadline",
        UNIT_WORK,
        "    if ns > seconds * 10**9:\n",
        "    if ns < 0:\n",
        OF_UNIT_WORK,
    ),
    Defence(
        "the rows of one unit take a part of the memory",
        UNIT_WORK,
        "    if held > memory:\n",
        "    if held < 0:\n",
        OF_UNIT_WORK,
    ),
    Defence(
        "UNION ALL adds the rows of a unit",
        STABILITY,
        "            return sum(rows_per_unit(part) for part, _ in relation.parts)\n",
        "            return max(rows_per_unit(part) for part, _ in relation.parts)\n",
        OF_STABILITY,
    ),
    Defence(
        "the NULL of a left join names no unit",
        RELATIONS,
        "    return isinstance(expression, Column) and expression.unit and not expression.facts.nullable\n",
        "    return isinstance(expression, Column) and expression.unit\n",
        ("tests/sql/test_corpus.py", *OF_STABILITY),
    ),
    Defence(
        "a tighter cap of rows is cut",
        SOURCES,
        "        cap_rows=rows < most,\n",
        "        cap_rows=False,\n",
        ("tests/attacks/test_replay_audit.py",),
    ),
    Defence(
        "a cap of groups is cut",
        SOURCES,
        "        cap_groups=bool(keys) and groups < uncut,\n",
        "        cap_groups=False,\n",
        ("tests/attacks/test_replay_audit.py",),
    ),
    Defence(
        "a cap of rows in each group is cut",
        SOURCES,
        "        cap_rows_in_group=in_group < most_in_group,\n",
        "        cap_rows_in_group=False,\n",
        ("tests/attacks/test_replay_audit.py",),
    ),
    Defence(
        "every_unit is for replacement alone: there the number of rows is public",
        "dpsql/policy/model.py",
        '        if table.every_unit and policy.neighbours != "replace_one":\n',
        "        if False:\n",
        ("tests/unit/policy",),
    ),
)
