"""What keeps prices, charges and their record right."""

from __future__ import annotations

from tests.attacks.defences.defence import Defence

__all__ = ["LEDGER"]

PRICES = "dpsql/prepare/prices.py"
LEDGER_ITSELF = "dpsql/ledger/ledger.py"
WRITING = "dpsql/ledger/writing.py"
FILE = "dpsql/ledger/file.py"
GRANTING = "dpsql/ledger/granting.py"
ACCOUNTING = "dpsql/privacy/accounting.py"
BUYING = "dpsql/buying.py"
OF_BUYING = ("tests/unit/test_buying.py", "tests/attacks/test_batches.py")
OF_LEDGER = ("tests/unit/ledger",)

LEDGER = (
    Defence(
        "aggregates share the statement's delta",
        PRICES,
        "/ (len(aggregates) * sets) // DELTA_UNIT",
        "/ sets // DELTA_UNIT",
        ("tests/unit/prepare/test_prices.py", "tests/sql/test_corpus.py"),
    ),
    Defence(
        "grouping sets share the statement's price",
        PRICES,
        "    return share if sets == 1 else _down(share / sets)\n",
        "    return _down(share)\n",
        ("tests/unit/prepare/test_prices.py", "tests/sql/test_corpus.py"),
    ),
    Defence(
        "two prices are two releases",
        "dpsql/prepare/identity.py",
        "    (Loss, lambda value: repr(encode(value))),\n",
        '    (Loss, lambda value: "a loss"),\n',
        ("tests/unit/prepare/test_batch.py", "tests/attacks/test_fingerprints.py"),
    ),
    Defence(
        "all that an engine is told tells two statements apart",
        "dpsql/engine/base.py",
        "for field in fields(self))",
        "for field in fields(self)[:2])",
        ("tests/unit/prepare/test_fingerprint.py",),
    ),
    Defence(
        "the charge is made before anybody looks",
        BUYING,
        "        charge, notices = self._charged(",
        "        for index in batch.fresh:\n"
        "            self._release(batch.together[index], batch.draws(index), dict(drawn))\n"
        "        charge, notices = self._charged(",
        OF_BUYING,
    ),
    Defence(
        "what follows the charge is tried before it",
        BUYING,
        "            self._backend.post_process.rehearse(prepared.plan)",
        "            pass",
        OF_BUYING,
    ),
    Defence(
        "answers of too many rows together are refused before the charge",
        "dpsql/plan/over_answers/origins.py",
        "    refuse_too_many(relation, parts, len(kept) + len(named))\n",
        "",
        ("tests/unit/plan/over_answers/test_joined_answers.py",),
    ),
    Defence(
        "what is too much for an engine is refused before the charge",
        "dpsql/plan/resolve.py",
        "    refuse_heavy(plan, query.position, catalog)\n",
        "",
        ("tests/unit/plan/over_answers/test_work.py",),
    ),
    Defence(
        "what may take too long, or hold too much, of one unit's rows is refused before the charge",
        "dpsql/plan/over_answers/work.py",
        "        refuse_heavy_unit(plan, catalog)\n",
        "",
        ("tests/unit/plan/over_answers/test_work.py",),
    ),
    Defence(
        "what is public is found before the charge of what it stands beside",
        BUYING,
        "None if is_priced(own) or _pays(own) else self._free(own)",
        "None",
        ("tests/unit/plan/over_answers/test_work.py",),
    ),
    Defence(
        "whole numbers saturate between queries over an answer",
        "dpsql/engine/released.py",
        "o.expression if last else between_stages(o.expression)",
        "o.expression",
        ("tests/unit/plan/values/test_ranges.py",),
    ),
    Defence(
        "pairs of rows that take too long to compare are refused before the charge",
        "dpsql/plan/over_answers/joined_answers.py",
        "if pairs > MOST_COMPARED and _compares(relation):",
        "if False:",
        ("tests/unit/plan/over_answers/test_joined_answers.py",),
    ),
    Defence(
        "an engine that does not stand is charged nothing",
        BUYING,
        "                    backend.engine.verify(statement)\n",
        "                    pass\n",
        OF_BUYING,
    ),
    Defence(
        "an overrun of the deadline is counted",
        BUYING,
        "            self._backend.ledger.record_overrun(self._analyst)\n",
        "            pass\n",
        OF_BUYING,
    ),
    Defence(
        "an answer is stored as it leaves, not as soon as it is there",
        BUYING,
        "            self._backend.times.at_leaving(store)\n",
        "            store()\n",
        ("tests/attacks/test_timing.py",),
    ),
    Defence(
        "who buys something has the turn until the answer leaves",
        "dpsql/backend.py",
        "                    self.times.at_leaving(turn.pop_all().close)\n",
        "                    pass\n",
        ("tests/attacks/test_timing.py",),
    ),
    Defence(
        "three overruns suspend",
        GRANTING,
        "        if self._state.suspended(analyst):\n            raise",
        "        if False:\n            raise",
        OF_LEDGER,
    ),
    Defence(
        "all analysts together are bounded by the total",
        GRANTING,
        'tightest((who, own), ("all analysts together have", total))',
        'tightest((who, own), ("all analysts together have", None))',
        OF_LEDGER,
    ),
    Defence(
        "an analyst is bounded by their own account",
        GRANTING,
        'tightest((who, own), ("all analysts together have", total))',
        'tightest((who, None), ("all analysts together have", total))',
        OF_LEDGER,
    ),
    Defence(
        "a zCDP account bounds delta, too",
        ACCOUNTING,
        "        return by_epsilon or (spent.rho <= self.rho and spent.outside <= self.delta)\n",
        "        return by_epsilon or spent.rho <= self.rho\n",
        ("tests/unit/privacy/test_accounting.py",),
    ),
    Defence(
        "two filters of one account share its delta",
        ACCOUNTING,
        "            delta=(delta / 4) // DELTA_UNIT,\n",
        "            delta=(delta / 2) // DELTA_UNIT,\n",
        ("tests/attacks/test_ledger_moving_bound.py",),
    ),
    Defence(
        "classes of units have limits of their own",
        ACCOUNTING,
        "            if short := bound.shortfall(spent.of_class(name), asked.of_class(name)):\n",
        "            if (short := bound.shortfall(spent.of_class(name), asked.of_class(name))) and False:\n",
        ("tests/unit/privacy/test_accounting.py", "tests/attacks/test_classes.py"),
    ),
    Defence(
        "the same question asked at the same moment is charged once",
        LEDGER_ITSELF,
        "            if any(self._file.find(own) for own in (fingerprint, *beside)):\n",
        "            if False:\n",
        (*OF_LEDGER, "tests/attacks/test_asked_at_once.py"),
    ),
    Defence(
        "each charge is held against the mark",
        WRITING,
        "                    self._catch_up()\n                    self._check_mark()\n                    yield\n",
        "                    self._catch_up()\n                    yield\n",
        (*OF_LEDGER, "tests/attacks/test_ledger_rollback.py"),
    ),
    Defence(
        "an opening is held against the mark",
        LEDGER_ITSELF,
        "            self._state.catch_up(self._file)\n            self._check_mark()\n            if",
        "            self._state.catch_up(self._file)\n            if",
        (*OF_LEDGER, "tests/attacks/test_ledger_rollback.py"),
    ),
    Defence(
        "a ledger that was deleted or exchanged is charged no more",
        WRITING,
        "            try:\n                self._file.refuse_replaced()\n                with self._marked",
        "            try:\n                with self._marked",
        ("tests/attacks/test_ledger_rollback.py",),
    ),
    Defence(
        "a ledger does not survive a fork",
        WRITING,
        "            if os.getpid() != self._process:\n",
        "            if False:\n",
        (*OF_LEDGER, "tests/attacks/test_ledger_processes.py"),
    ),
    Defence(
        "an answer is stored under the charge that paid for it",
        LEDGER_ITSELF,
        '            if record is None or record.kind != "charge" or fingerprint not in paid:\n',
        "            if record is None:\n",
        OF_LEDGER,
    ),
    Defence(
        "a table that a restored ledger does not have is not drawn again for nothing",
        "dpsql/ledger/once.py",
        "                self.owed.clear()\n",
        "                pass\n",
        OF_LEDGER,
    ),
    Defence(
        "the ledger's records are a chain of hashes",
        FILE,
        "                if record.sequence != after + 1 or record.hash != _hash(digest, *row[:-1]):\n",
        "                if record.sequence != after + 1:\n",
        (*OF_LEDGER, "tests/attacks/test_ledger_tampering.py"),
    ),
    Defence(
        "a stored answer is the one that was given",
        FILE,
        "        if charge is None or row[2] != _release_hash(charge, fingerprint, row[1]):\n",
        "        if charge is None:\n",
        (*OF_LEDGER, "tests/attacks/test_ledger_tampering.py"),
    ),
    Defence(
        "nobody else may read the ledger",
        FILE,
        "    if mode & 0o077:\n",
        "    if False:\n",
        OF_LEDGER,
    ),
    Defence(
        "a charge waits for the disk",
        FILE,
        "PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}",
        "PRAGMA synchronous = {'NORMAL' if durable else 'NORMAL'}",
        OF_LEDGER,
    ),
    Defence(
        "the mark does not lie beside its ledger",
        "dpsql/ledger/opening.py",
        "    if folder == path.parent:\n",
        "    if False:\n",
        OF_LEDGER,
    ),
    Defence(
        "a ledger that was there is not made anew",
        "dpsql/ledger/opening.py",
        "    if marks.at_path(path) is not None:\n",
        "    if False:\n",
        ("tests/attacks/test_ledger_rollback.py", *OF_LEDGER),
    ),
    Defence(
        "a new ledger is not taken for the one that was there",
        "dpsql/ledger/mark.py",
        "        if self.at_path(path) not in (None, ledger):\n",
        "        if False:\n",
        ("tests/attacks/test_ledger_rollback.py", *OF_LEDGER),
    ),
    Defence(
        "a large price waits for the owner",
        "dpsql/charging.py",
        "        return price.epsilon > above\n",
        "        return False\n",
        ("tests/unit/test_charging.py",),
    ),
)
