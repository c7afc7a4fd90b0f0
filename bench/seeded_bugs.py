"""Plants bugs, each in 20 databases of its own, and shows that its audit convicts every one.

python -m bench.seeded_bugs [RUNS]
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))  # the bugs live with the tests, outside the package

from tests.attacks.seeded_bugs import BUGS, convictions, small_world


def main(runs: int) -> bool:
    """Prints the table; whether all bugs were caught in every run, and nothing without a bug."""
    caught: Counter[str] = Counter()
    false_alarms: Counter[str] = Counter()
    started = time.monotonic()
    for seed in range(runs):
        with small_world(seed) as world:
            for bug in BUGS:
                caught[bug.name] += bool(convictions(world, bug, seed)[bug.audit])
            for audit, found in convictions(world, None, seed).items():
                false_alarms[audit] += bool(found)
    print(f"| bug | planted | audit | caught in {runs} runs |")
    print("| --- | --- | --- | --- |")
    for bug in BUGS:
        print(f"| {bug.name} | {bug.planted} | {bug.audit} | {caught[bug.name]} |")
    alarms = ", ".join(f"{audit} {count}" for audit, count in false_alarms.items())
    print(f"\nRuns without a bug in which an audit fired, of {runs}: {alarms}.")
    print(f"{time.monotonic() - started:.0f} s.")
    return all(caught[bug.name] == runs for bug in BUGS) and not any(false_alarms.values())


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 20))
