"""Groups that nobody declared: how many of TPC-H's days of orders an answer shows, and how well.

    python bench/open_groups.py [--scale S] [--keep FOLDER] [--draws N] [--only-print]

The data come from tpchgen-cli (`.venv/bin/pip install -e '.[bench]'`), the policy is bench/open_groups.yaml. Writes
docs/open_groups.md.
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
from page import ROOT, circumstances, kept, table, write

import dpsql.testing
from dpsql import Session
from dpsql.mechanisms.base import Price, Request
from dpsql.mechanisms.choose import choose
from dpsql.mechanisms.gaussian import Gaussian
from dpsql.mechanisms.laplace import Laplace
from dpsql.mechanisms.noise.noised import NoisedRelease
from dpsql.mechanisms.noise.thresholds import ThresholdRelease
from dpsql.plan.catalog import ColumnInfo, TableInfo
from dpsql.plan.needs import Contribution, Source
from dpsql.plan.nodes import Aggregate, Column, Scan
from dpsql.plan.options import Options
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type
from dpsql.prepare.prices import prices
from dpsql.prepare.selection import SHARES, best_share
from dpsql.privacy.sampling import ExactSampler

POLICY = Path(__file__).with_suffix(".yaml")
PAGE = ROOT / "docs" / "open_groups.md"
DAYS = "SELECT o_orderdate, COUNT(DISTINCT o_custkey) AS n FROM orders GROUP BY 1"
MECHANISMS = (None, "threshold", "gaussian_threshold")
CAPS = (1, 2, 4, 8, 16, 45)


def generate(folder: Path, scale: float) -> None:
    """The orders as a Parquet file, where it is not there yet."""
    if not (folder / "orders.parquet").exists():
        command = Path(sys.executable).with_name("tpchgen-cli")
        if not command.exists():
            raise SystemExit("tpchgen-cli is not installed. Run: .venv/bin/pip install -e '.[bench]'")
        subprocess.run([command, "parquet", "-s", str(scale), "-T", "orders", "-o", folder], check=True)


def days(session: Session, true: Mapping[date, int], options: Mapping[str, Any]) -> tuple[float, float]:
    """(share of the days that one answer shows, its root mean square relative error over these)."""
    shown = session.query(DAYS, **options).rows
    errors = [(n - true[day]) / true[day] for day, n in shown]
    return len(shown) / len(true), math.sqrt(sum(e * e for e in errors) / len(errors)) if errors else math.nan


def by_mechanism(proxy: dpsql.testing.TestProxy, true: Mapping[date, int], draws: int) -> Iterator[list[str]]:
    """A row for each way to choose the groups; each draw is another analyst's."""
    for wanted in MECHANISMS:
        options = {} if wanted is None else {"mechanism": wanted}
        quote = proxy.session(analyst="quote").explain(DAYS, **options)
        found = [days(proxy.session(analyst=f"{wanted} {i}"), true, options) for i in range(draws)]
        seen, errors = [share for share, _ in found], [error for _, error in found if not math.isnan(error)]
        yield [
            f"`{quote.columns[0].mechanism}`" + ("" if wanted else ", unasked"),
            f"{quote.columns[0].half_width:.0f}",
            f"{min(seen):.1%} to {max(seen):.1%}",
            f"{math.sqrt(sum(e * e for e in errors) / len(errors)):.1%}" if errors else "",
        ]


def by_cap(proxy: dpsql.testing.TestProxy) -> Iterator[list[str]]:
    """A row for each number of groups that one unit may be in: both thresholds, and which is taken; no data is read."""
    session = proxy.session(analyst="quote")
    for cap in CAPS:
        quotes = [session.explain(DAYS, max_groups_per_unit=cap, mechanism=name) for name in MECHANISMS[1:]]
        taken = session.explain(DAYS, max_groups_per_unit=cap).columns[0].mechanism
        needs = [_threshold(str(quote)) for quote in quotes]
        widths = [f"{quote.columns[0].half_width:.0f}" for quote in quotes]
        yield [str(cap), needs[0], widths[0], needs[1], widths[1], f"`{taken}`"]


def _threshold(quote: str) -> str:
    """The number in the sentence that a quote has for the threshold."""
    return quote.split("A group appears from about ")[1].split(" ")[0]


Sizes = npt.NDArray[np.int64]
SHAPES: dict[str, Sizes] = {
    "2,406 of 623 each": np.full(2406, 623),
    "sizes of 1 to 100,000, even by order of magnitude": np.geomspace(1, 10**5, 2000).astype(np.int64),
    "100,000 / rank (Zipf)": 10**5 // np.arange(1, 10**4 + 1),
}
CUSTOMER = ColumnInfo("customer", Facts(Type.TEXT, nullable=False), unit=True)
HIDDEN = Aggregate("selection", "count_units", None, "choice of groups")
PRICE = Options(epsilon=Fraction(1), delta=Fraction(1, 10**6))


def hidden_count(units: int) -> Request:
    """A hidden count of units over an open key, of which one unit is in so many groups."""
    table, key = (
        TableInfo("orders", {"customer": CUSTOMER}, unit="customer"),
        Key("k0", Column("t0", "day", Facts(Type.DATE)), domain=None),
    )
    held = Contribution(rows=units, groups=units, rows_in_group=1)
    return Request(
        aggregate=HIDDEN, source=Source(Scan(table, "t0"), (key,), held), price=Price(Fraction(1), Fraction(0)),
        neighbours="add_remove", grid=None, selects=True, rows_public=False, rows_about=10**4,
        options=Options(max_groups_per_unit=units),  # that is the cap: none is looked for
    )  # fmt: skip


def lost(request: Request, shares: Sequence[Price], sizes: Sizes, draws: int) -> float:
    """Mean sum of errors over all groups, lost ones with all of theirs, as a share of all people: a count of each."""
    selection, *values = shares
    chosen = choose(replace(request, price=selection)).release
    counts = [m.offer(replace(request, selects=False, price=values[0])) for m in (Laplace(), Gaussian())]
    value = min((offer for offer in counts if isinstance(offer, NoisedRelease)), key=lambda offer: offer.half_width)
    if not isinstance(chosen, ThresholdRelease):
        raise TypeError(chosen.mechanism)
    sampler, total = ExactSampler(), 0
    for _ in range(draws):
        shown = sizes + chosen.law.draw(sampler, len(sizes)) > chosen.threshold
        total += int(np.where(shown, np.abs(value.law.draw(sampler, len(sizes))), sizes).sum())
    return total / draws / int(sizes.sum())


def by_share(draws: int) -> Iterator[list[str]]:
    """A row for each shape: what is lost at a fifth, at the share that is taken, and at the best one for the shape."""
    for name, sizes in SHAPES.items():
        for units, count in ((1, 1), (1, 5), (45, 1), (45, 5)):
            request = hidden_count(units)
            asked = [HIDDEN, *(Aggregate(f"a{i}", "sum", None, "SUM") for i in range(count))]
            parts = {share: prices(asked, 0, share, PRICE, 1, table=False) for share in SHARES}
            errors = {share: lost(request, part, sizes, draws) for share, part in parts.items()}
            taken = best_share(request, int(sizes.sum()), parts.__getitem__)
            yield [
                name, str(units), str(count), f"{errors[Fraction(1, 5)]:.2%}",
                f"{errors[taken]:.2%} at {float(taken):g}", f"{min(errors.values()):.2%}",
            ]  # fmt: skip


def main() -> None:
    """Generate, ask, write."""
    arguments = argparse.ArgumentParser(description="Asks for open groups, and writes docs/open_groups.md.")
    arguments.add_argument("--scale", type=float, default=1, metavar="S", help="scale factor; 1 is 1.5 million orders")
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the file is, or stays")
    arguments.add_argument("--draws", type=int, default=20, metavar="N", help="draws of each answer")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        generate(folder, chosen.scale)
        shutil.copy(POLICY, folder)
        with duckdb.connect() as raw:
            text = DAYS.replace("FROM orders", f"FROM '{folder / 'orders.parquet'}'")
            true: dict[date, int] = dict(raw.execute(text).fetchall())
        with dpsql.testing.open(folder / POLICY.name, sampler=ExactSampler()) as proxy:
            titles = ("mechanism", "95% half width", "days shown", "relative error of these (RMSE)")
            lines = [
                f"{len(true)} days of {min(true.values())} to {max(true.values())} customers; epsilon 1, delta 1e-6, "
                f"{chosen.draws} draws.",
                "",
                *table(titles, by_mechanism(proxy, true, chosen.draws)),
                "",
                circumstances(),
            ]
            write("days", lines, page=PAGE, only_print=chosen.only_print)
            titles = ("groups a unit", "`threshold`", "±", "`gaussian_threshold`", "±", "taken")
            write("caps", table(titles, by_cap(proxy)), page=PAGE, only_print=chosen.only_print)
    titles = ("people in a group", "groups a unit", "aggregates", "a fifth", "taken", "the best share")
    write("shares", table(titles, by_share(chosen.draws)), page=PAGE, only_print=chosen.only_print)


if __name__ == "__main__":
    main()
