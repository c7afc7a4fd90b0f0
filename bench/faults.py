"""Writes docs/under_fire.md, "Faults": at how many steps what failed, and what of the promise did not hold then.

python bench/faults.py                    all scenes; with --scene NAME one of them, printed alone
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.page import ROOT, circumstances, table, write
from tests.faults.held import SURVEYS, tried
from tests.faults.scenes import SCENES
from tests.faults.victims import victims

WORDS = {
    "LedgerAlone": "a ledger is charged",
    "NewLedger": "a ledger is made and charged",
    "Tables": "a ledger keeps synthetic tables",
    "Queries": "a proxy is opened and asked",
    "FirstOpening": "a proxy is opened for the first time",
    "Refresh": "the tables are built anew",
}


def survey(scene: str) -> dict[str, tuple[int, list[str]]]:
    """At how many steps each fault was tried, and what did not hold."""
    with tempfile.TemporaryDirectory() as folder, victims(scene, Path(folder)) as victim:
        return {name: SURVEYS[name](victim, 0) for name in tried(scene)}


def main() -> None:
    """Tries every fault at every step of every scene, all scenes at once."""
    said = circumstances()
    with ThreadPoolExecutor(len(SCENES)) as pool:
        found = dict(zip(SCENES, pool.map(survey, SCENES), strict=True))
    every = [one for own in found.values() for one in own.values()]
    broken = [problem for _, problems in every for problem in problems]
    print(*broken, sep="\n")
    titles = ["what happens", *(WORDS[scene] for scene in SCENES)]
    rows = [[name, *(f"{own[name][0]:,}" if name in own else "" for own in found.values())] for name in SURVEYS]
    held = f"{len(broken):,} TIMES IT DID NOT HOLD" if broken else "all of it held after each"
    lines = [*table(titles, rows), "", f"{sum(points for points, _ in every):,} faults; {held}.", "", said]
    write("faults", lines, page=ROOT / "docs" / "under_fire.md")


if __name__ == "__main__":
    main()
