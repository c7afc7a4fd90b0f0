"""A forecast of building and asking on a cluster, from what one machine was measured to take: bench/scale.py uses it.

Each phase is simulated: equal shares of the rows as tasks, which machines take one after the other (`Cluster`), with
the network and the disks beside them. No phase overlaps another, so that the forecast is rather too long. What breaks
first is not simulated: it follows from the numbers (`limits`).
"""

from __future__ import annotations

import heapq
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from page import table

from dpsql.engine.lower import SUM_LIMIT
from dpsql.limits import MOST_ROWS
from dpsql.owner.building.builder import PATIENCE

SIZES = (10**8, 10**9, 10**10, 10**11)
MACHINES = (4, 16, 64, 256)
UNIT_BYTES, RECORD_BYTES = 24, 80
"""Of a unit: in a shuffle its key and two totals; in the record of classes 64 digits of a hash, and the class."""
FILE_BYTES = 120  # Of a file's name in an answer of the server: a folder, a build, a task, and a random name. A guess.
MESSAGE = 128 << 20  # Bytes that pyspark's client takes in one message of gRPC.
OWNER = 8 << 30  # Bytes that the machine of the proxy has for the owner's process. An assumption.
DEADLINE = 30  # Seconds of a statement, where the policy says nothing (`policy.engine`).
WIDEST = 10**38  # Spark's DECIMAL(38, 0).


@dataclass(frozen=True)
class Cluster:
    """Machines of a kind that one rents; every number is an assumption.

    Attributes:
        machines: How many.
        cores: Of each, as fast as those that were measured.
        network: Bytes a second of each machine, one way.
        disk: Bytes a second of each machine's own disk.
        store: Bytes a second that each machine reads from, or writes to, a store of objects.
        start: Seconds that a task takes to begin.
        spread: Tasks take so much more or less than their mean, at most.
        late: One task of so many takes thrice its time.
        task: Rows of one task.
    """

    machines: int
    cores: int = 16
    network: float = 1.25e9
    disk: float = 1e9
    store: float = 0.5e9
    start: float = 0.1
    spread: float = 0.3
    late: int = 200
    task: int = 5_000_000

    def tasks(self, rows: int) -> int:
        """How many tasks the rows are cut into: no core stands idle where there are rows for it."""
        return max(math.ceil(rows / self.task), min(self.machines * self.cores, math.ceil(rows / 100_000)))

    def computed(self, rows: int, each: float) -> float:
        """Seconds until all tasks are done, taken by whichever core is free, of so many processor seconds a row.

        >>> Cluster(1, cores=2, start=0, spread=0, late=10**9, task=10).computed(30, 0.1)
        2.0
        """
        tasks, chance = self.tasks(rows), random.Random(17)  # any number does; the same makes the same forecast
        mean = rows * each / tasks
        cores = [0.0] * min(self.machines * self.cores, tasks)
        for _ in range(tasks):
            late = 3 if chance.randrange(self.late) == 0 else 1
            own = mean * (1 + chance.uniform(-self.spread, self.spread)) * late
            heapq.heapreplace(cores, cores[0] + self.start + own)
        return round(max(cores), 6)

    def moved(self, size: float) -> float:
        """Seconds of bytes that go to the machine their key says, all of them at once; those that stay need none."""
        return size * (self.machines - 1) / self.machines / (self.machines * self.network)

    def spilled(self, size: float) -> float:
        """Seconds of bytes that are written to the machines' disks, and read again."""
        return 2 * size / (self.machines * self.disk)

    def stored(self, size: float) -> float:
        """Seconds of bytes read from, or written to, the store."""
        return size / (self.machines * self.store)


@dataclass(frozen=True)
class Costs:
    """What a row takes, measured.

    Attributes:
        rows: Over how many it was.
        each: Rows of a unit, on average.
        build: Processor seconds of a row while the bounded table is built.
        memory: Bytes of a row meanwhile, at the peak, where sorts stay in memory.
        source: Bytes of a row in the source.
        bounded: Bytes of a row in the bounded table.
        asked: Processor seconds of a row, for each statement.
        fixed: Seconds of the statement that took the least: the round trips, the charge, and the proxy itself.
    """

    rows: int
    each: int
    build: float
    memory: float
    source: float
    bounded: float
    asked: dict[str, float]
    fixed: float

    @classmethod
    def of(cls, rows: int, each: int, found: Any) -> Costs:
        """From what bench/scale.py measured."""
        asked = {name: one.processor / rows for name, one in found.asked.items()}
        fixed = min((one.ours for one in found.asked.values()), default=0.0)
        sizes = (found.memory / rows, found.source / rows, found.stored / rows)
        return cls(rows, each, found.processor / rows, *sizes, asked, fixed)

    def building(self, rows: int, on: Cluster) -> dict[str, float]:
        """Seconds of each part of building: all rows go to their unit's machine once, and are sorted there.

        In a shuffle, and on disks, a row takes what it takes in the source's files, thrice: a guess for what is not
        compressed and has a hash beside it. What is written in between is written and read once.
        """
        wide = 3 * (self.source + 12) * rows
        return {
            "processors": on.computed(rows, self.build),
            "network": on.moved(wide + rows / self.each * UNIT_BYTES),
            "disks": on.spilled(wide),
            "store": on.stored((2 * self.source + 3 * self.bounded) * rows),
        }

    def asking(self, name: str, rows: int, on: Cluster) -> float:
        """Seconds of a statement: whatever is added up by unit sends each unit's totals to its machine."""
        units = rows / self.each * UNIT_BYTES
        return self.fixed + on.computed(rows, self.asked[name]) + on.moved(units) + on.stored(self.bounded * rows)


def limits(costs: Costs) -> list[tuple[str, float, str]]:
    """(what, with how many rows it breaks, why), the first first."""
    task = Cluster(1).task
    found = [
        ("a policy with classes", OWNER / RECORD_BYTES * costs.each,
         "the record of classes, one hash a unit, is fetched whole by the owner's process (8 GiB assumed)"),
        ("a mean under `random_dp`", OWNER / 16 * costs.each, "one row a unit comes to the proxy"),
        ("one unit with 1% of all rows", 100 * PATIENCE / costs.build,
         "its rows are sorted by one task, which takes longer than the hour that another process waits"),
        ("the list of files", MESSAGE / FILE_BYTES * task,
         "the names of all files of a table come in one message, at each opening"),
        ("driver's table of a shuffle", math.sqrt(8 * 2**30) * task,
         "a bit for each task that writes and each that reads: 1 GiB in Spark's driver"),
        ("the public cap on rows", MOST_ROWS, "`MOST_ROWS`, 2^40: no table has more, by declaration"),
        ("DECIMAL(38, 0)", MOST_ROWS * WIDEST / SUM_LIMIT,
         "the largest sum that is let through at the cap is 2^126, below 10^38: never before the cap"),
    ]  # fmt: skip
    largest = Cluster(MACHINES[-1])
    dear = max(costs.asked, key=lambda name: costs.asked[name])
    found.append(
        (f"the default deadline of {DEADLINE} s ({dear})", _reached(DEADLINE, lambda n: costs.asking(dear, n, largest)),
         f"the dearest of these statements, on {largest.machines} machines; `engine.deadline` may be longer")
    )  # fmt: skip
    hour = _reached(PATIENCE, lambda n: sum(costs.building(n, largest).values()))
    found.append(("an hour of building", hour, f"on {largest.machines} machines: others who wait for it give up"))
    return sorted(found, key=lambda one: one[1])


def _reached(seconds: float, takes: Callable[[int], float]) -> float:
    """With how many rows something takes so long, to a tenth."""
    rows = 10**6
    while takes(rows) < seconds and rows < MOST_ROWS:
        rows = rows * 11 // 10
    return rows


def forecast(costs: Costs) -> list[str]:
    """The section of docs/scale.md."""
    rows = []
    for size, machines in zip(SIZES, MACHINES, strict=True):
        on = Cluster(machines)
        parts = costs.building(size, on)
        asked = [f"{costs.asking(name, size, on):.1f}" for name in costs.asked]
        shares = " + ".join(f"{own:,.0f}" for own in parts.values())
        rows.append([power(size), str(machines), f"{sum(parts.values()):,.0f}", shares, f"{on.tasks(size):,}", *asked])
    titles = [
        "rows",
        "machines",
        "building, s",
        "processors + network + disks + store",
        "files",
        *(f"{name}, s" for name in costs.asked),
    ]
    one = Cluster(1)
    return [
        f"From {costs.rows:,} rows on Sail: {costs.build * 1e6:.2f} µs of a processor for each row that is built, "
        f"{costs.memory:.0f} bytes of memory at the peak (of the fewest rows, whose sorts stay in memory), "
        f"{costs.source:.1f} bytes in the source and "
        f"{costs.bounded:.1f} in the bounded table; for each row that is asked "
        f"{', '.join(f'{each * 1e9:.0f} ns ({name})' for name, each in costs.asked.items())}.",
        "",
        f"Assumed: machines of {one.cores} such cores, a network of {one.network * 8e-9:.0f} Gbit/s each, own disks of "
        f"{one.disk / 1e9:g} GB/s and a store of {one.store / 1e9:g} GB/s each; tasks of {one.task:,} rows begin in "
        f"{one.start:g} s, take up to {one.spread:.0%} more or less, and thrice as long one time in {one.late}; and "
        f"memory for all cores at once, {costs.memory * one.task * one.cores / 2**30:.0f} GiB a machine.",
        "",
        *table(titles, rows),
        "",
        "What breaks, and with how many rows:",
        "",
        *table(["what", "rows", "why"], [[what, f"{count:.1g}", why] for what, count, why in limits(costs)]),
        "",
    ]


def power(size: int) -> str:
    """A power of ten.

    >>> power(1000)
    '10^3'
    """
    return f"10^{round(math.log10(size))}"


def picture(costs: Costs, file: Path) -> None:
    """Seconds of building, and of the dearest statement, over rows, for each number of machines."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "scale"  # the same file each time
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.8), layout="constrained")
    dearest = max(costs.asked, key=lambda name: costs.asked[name], default=None)
    kinds: Sequence[tuple[str, Any]] = [
        ("building", lambda size, on: sum(costs.building(size, on).values())),
        (f"asking: {dearest}", lambda size, on: costs.asking(str(dearest), size, on)),
    ]
    for axes, (title, seconds) in zip(figure.subplots(1, 2), kinds, strict=True):
        for machines in MACHINES:
            axes.plot(SIZES, [seconds(size, Cluster(machines)) for size in SIZES], "o-", label=f"{machines} machines")
        axes.axhline(PATIENCE if title == "building" else 300, color="grey", linestyle=":")
        axes.set(xscale="log", yscale="log", xlabel="rows", ylabel="seconds", title=title)
        axes.legend(frameon=False)
    figure.savefig(file, metadata={"Date": None})
