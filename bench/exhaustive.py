"""Every output of every pair of tiny neighbouring tables, decided exactly: a table in docs/under_fire.md.

python bench/exhaustive.py [--print] [--listed | --followed]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from page import ROOT, circumstances, table, write

sys.path.insert(0, str(Path(__file__).parent.parent))  # the laws live with the tests, outside the package

from dpsql.mechanisms.friendly_core.basic import BasicFilter, BasicSwapFilter
from tests.exhaustive.corpus import BY_MECHANISM, FOLLOWED_CASES, LEFT_OUT, PARTLY, PLANS
from tests.exhaustive.friends import filtered, parts
from tests.exhaustive.random_means import declared, means
from tests.exhaustive.statements import Case, in_step, verified
from tests.exhaustive.synthetic import ASKED, PYTHON, Synthetic, pairs_of, released_table
from tests.exhaustive.tables import FAMILIES, FOLLOWED, MOST_ROWS, RELATIONS, neighbours
from tests.exhaustive.verdicts import Verdict
from tests.exhaustive.world import TinyWorld
from tests.unit.mechanisms.asking import CONSENT

PAGE = ROOT / "docs" / "under_fire.md"
TITLES = ("mechanism", "statements and prices", "pairs", "checks", "broken", "most of epsilon", "of delta", "of rho")
GRAPHS_OF, AVERAGED = 5, 5
"""Rows, at the most, of the graphs of friends and of averaged tables. It is a choice: six would take minutes."""
PARTS = ("of_epsilon", "of_delta", "of_rho")


def listed(only_print: bool) -> bool:
    """Writes the section of laws that are listed; whether every inequality holds."""
    when, started = circumstances(), time.process_time()
    with TinyWorld() as world:
        alone, plans = measured(world, BY_MECHANISM, verified), measured(world, PLANS, verified)
    rows = [*(row(name, own) for name, own in sorted(alone.items())), row("small plans", together(plans))]
    every = together({**alone, "plans": together(plans)})
    checks = sum(verdict.checks for _, _, verdict in every)
    lines = [
        f"{checks:,} checks over {len(FAMILIES['single'].tables)} tables of up to {MOST_ROWS} units with one row each, "
        f"{len(FAMILIES['several'].tables)} of two units with up to three, and {len(FAMILIES['missing'].tables)} of "
        "two units with up to two of which values are missing. "
        f"It took {time.process_time() - started:.0f} seconds of one processor.",
        "",
        *table(TITLES, rows),
        "",
        when,
    ]
    write("exhaustive", lines, page=PAGE, only_print=only_print)
    return not any(verdict.broken for _, _, verdict in every)


def followed(only_print: bool) -> bool:
    """Writes the section of draws that are followed in step; whether every inequality holds."""
    when, started = circumstances(), time.process_time()
    with TinyWorld(FOLLOWED) as world:
        found = measured(world, FOLLOWED_CASES, in_step)
    tables, apart = synthetic(), by_part()
    rows = [row(name, own) for name, own in [*sorted(found.items()), *tables.items(), *apart.items()]]
    every = together({**found, **tables, **apart})
    lines = [
        f"{sum(verdict.checks for _, _, verdict in every):,} checks. "
        f"It took {time.process_time() - started:.0f} seconds of one processor.",
        "",
        *table(TITLES, rows),
        "",
        "Left out: " + "; ".join(f"`{name}`, for {why}" for name, why in LEFT_OUT.items()) + ".",
        "Of the others these are neither listed nor followed: "
        + "; ".join(f"`{name}`: {what}" for name, what in PARTLY.items())
        + ".",
        "",
        when,
    ]
    write("in_step", lines, page=PAGE, only_print=only_print)
    return not any(verdict.broken for _, _, verdict in every)


Measured = list[tuple[Case | Synthetic | str, int, Verdict]]


def by_part() -> dict[str, Measured]:
    """What is looked at part by part, with pairs (of graphs, for a filter) and verdicts."""
    swaps = (False, True)
    return {
        "`random_dp`, declared means": [(f"AVG {own}", *means(declared(own))) for own in (None, CONSENT)],
        "`friendly_core`, its filter": [
            (type(own).__name__, *filtered(own, rows, (Fraction(1), Fraction(4))))
            for own in (BasicFilter(), BasicSwapFilter())
            for rows in range(2, GRAPHS_OF + 1)
        ],
        "`friendly_core`, its average": [
            (str(swap), *parts(Fraction(4), Fraction(1, 16), AVERAGED, swap)) for swap in swaps
        ],
    }


def synthetic() -> dict[str, Measured]:
    """Each method's synthetic tables, with their pairs and verdicts."""
    found: dict[str, Measured] = {}
    for case in ASKED:
        for relation in RELATIONS[case.swaps :]:
            where = "in Python" if case.method in PYTHON else "`CREATE SYNTHETIC TABLE`"
            own = found.setdefault(f"{where}, `{case.method}`", [])
            own.append((case, pairs_of(case, relation), released_table(case, relation)))
            print(f"{relation}; {case}: {own[-1][2]}", file=sys.stderr, flush=True)
    return found


def measured(
    world: TinyWorld, cases: Sequence[Case], looked_at: Callable[[TinyWorld, Case, str], Verdict]
) -> dict[str, Measured]:
    """Each mechanism's statements, with their pairs and verdicts."""
    found: dict[str, Measured] = {}
    for case in cases:
        for relation in case.relations:
            pairs = sum(1 for _ in neighbours(FAMILIES[case.family], relation, world.most[case.family]))
            found.setdefault(case.mechanism, []).append((case, pairs, looked_at(world, case, relation)))
            print(f"{relation}; {case}: {found[case.mechanism][-1][2]}", file=sys.stderr, flush=True)
    return found


def together(found: Mapping[str, Measured]) -> Measured:
    """All of them."""
    return [own for each in found.values() for own in each]


def row(name: str, found: Measured) -> list[str]:
    """One line of the table."""
    shares = [max(getattr(verdict, what) for _, _, verdict in found) for what in PARTS]
    shown = [f"{share:.4f}" if share else "" for share in shares]
    statements = len({str(case) for case, _, _ in found})
    totals = [
        sum(pairs for _, pairs, _ in found),
        *(sum(getattr(v, what) for _, _, v in found) for what in ("checks", "broken")),
    ]
    return [f"`{name}`" if " " not in name else name, str(statements), *(f"{total:,}" for total in totals), *shown]


if __name__ == "__main__":
    asked, only = sys.argv[1:], "--print" in sys.argv[1:]
    sound = [own(only) for own, other in ((listed, "--followed"), (followed, "--listed")) if other not in asked]
    sys.exit(not all(sound))
