"""The 22 queries of TPC-H, asked of the proxy at epsilon 1: answered beside the truth, or refused and rewritten.

    python bench/tpch.py [--scale S] [--keep FOLDER] [--only-print]

Customers are the protected people, suppliers and parts are public: policies/tpch.yaml. The queries with TPC-H's own
parameters, and what refusals make of them, stand in bench/tpch.sql. The data come from tpchgen-cli (`.venv/bin/pip
install -e '.[bench]'`). Writes docs/tpch.md.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import asked
import duckdb
from asked import ROUNDS, Result, outcomes, refusals, statements
from page import ROOT, circumstances, kept, table

from dpsql.privacy.sampling import Sampler

QUERIES = Path(__file__).with_name("tpch.sql")
PAGE = ROOT / "docs" / "tpch.md"
POLICY = ROOT / "policies" / "tpch.yaml"
DRAWS = 100  # Of noise, for each statement: errors are root mean squared over them.
TABLES = ("customer", "orders", "lineitem", "part", "supplier", "partsupp", "nation", "region")

INTRODUCTION = """# TPC-H

The 22 queries of TPC-H, asked of the proxy at epsilon 1. The customers are the protected people: their orders and line
items are theirs, through keys. Parts, suppliers, nations and regions are public
([policies/tpch.yaml](../policies/tpch.yaml)). All statements stand in [bench/tpch.sql](../bench/tpch.sql), those of
TPC-H with its own parameters.

- **answered**: with noise. The error is |answer - truth| / |truth|, root mean squared over 100 draws of noise, for each
  column its median over the groups; one draw of Q22, whose rows depend on a mean that is released first. The truth is
  DuckDB's answer to the same text.
- **exact**: only public tables are read, so the answer is DuckDB's own, at no cost.
- **refused**: the message, and what was made of it, stand below. Where single people or orders were asked for, the
  rewritten statement asks about all of them together.
- **tuned**: the same question with limits on what one customer may contribute, so that it needs less noise."""


def generate(folder: Path, scale: float) -> None:
    """The eight tables as Parquet files, where they are not there yet."""
    if not all((folder / f"{name}.parquet").exists() for name in TABLES):
        command = Path(sys.executable).with_name("tpchgen-cli")
        if not command.exists():
            raise SystemExit("tpchgen-cli is not installed. Run: .venv/bin/pip install -e '.[bench]'")
        subprocess.run([command, "parquet", "-s", str(scale), "-o", folder], check=True)


def raw_tables(folder: Path) -> duckdb.DuckDBPyConnection:
    """The same files for DuckDB."""
    connection = duckdb.connect()
    for name in TABLES:
        connection.execute(f"CREATE VIEW {name} AS FROM '{folder / name}.parquet'")
    return connection


def results(folder: Path, sampler: Sampler | None = None, rounds: int = ROUNDS, draws: int = 1) -> Iterator[Result]:
    """What becomes of every statement, over the files of a folder; with real noise, unless a sampler is given."""
    shutil.copy(POLICY, folder)
    with raw_tables(folder) as raw:
        yield from asked.results(folder / POLICY.name, raw, statements(QUERIES), sampler, rounds, draws)


def page(found: Sequence[Result], scale: float) -> list[str]:
    """docs/tpch.md, line by line."""
    counted = [next(r for r in reversed(found) if r.statement.name == f"Q{n}" and not r.refusal) for n in range(1, 23)]
    planned = statistics.median(result.milliseconds for result in counted)
    lines = [
        *INTRODUCTION.splitlines(),
        "",
        f"Scale factor {scale:g}. Planning a query takes {planned:.1f} ms from text to price, warm: the median over",
        "the last statement of each of the 22.",
        "",
        circumstances(),
        "",
        *outcomes(found),
        "",
        "The groups that the answer has beyond the truth's are empty ones: a declared domain lists every group.",
        "",
        "## Untuned and tuned",
        "",
        "The same query as it stands, and with the limits of its tuned statement, at the same price: the errors of its",
        "columns, and how many times the tuned error the untuned one is.",
        "",
        *beside_tuned(found),
        "",
        *refusals(found),
    ]
    return lines[:-1]


def beside_tuned(found: Sequence[Result]) -> list[str]:
    """A Markdown table: one line for each query that has a tuned statement."""
    rows = []
    for tuned in (result for result in found if result.statement.kind == "tuned"):
        name = tuned.statement.name
        plain = next(r for r in found if r.statement.name == name and r.statement.kind == "original")
        for column, error in tuned.errors.items():
            own = plain.errors.get(column)
            if own is not None:
                rows.append([f"{name} {column}", f"{own:.2%}", f"{error:.2%}", f"{own / error:.2f}" if error else ""])
    return table(["query", "untuned", "tuned", "ratio"], rows)


def main() -> None:
    """Generate, ask, write."""
    arguments = argparse.ArgumentParser(description="Asks the 22 queries of TPC-H, and writes docs/tpch.md.")
    arguments.add_argument(
        "--scale", type=float, default=1, metavar="S", help="scale factor; 1 is 6 million line items"
    )
    arguments.add_argument("--keep", type=Path, metavar="FOLDER", help="where the files are, or stay")
    arguments.add_argument("--only-print", action="store_true", help="leave the page as it is")
    chosen = arguments.parse_args()
    with kept(chosen.keep) as folder:
        generate(folder, chosen.scale)
        text = "\n".join(page(list(results(folder, draws=DRAWS)), chosen.scale)) + "\n"
    print(text)
    if not chosen.only_print:
        PAGE.write_text(text)


if __name__ == "__main__":
    main()
