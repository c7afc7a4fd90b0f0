"""Processes that share a ledger and die: run as a script, which forks, so that the tests' own process never does.

    ledger_victims.py LEDGER MARKS spend PROCESSES ATTEMPTS LIMIT   everybody spends at once
    ledger_victims.py LEDGER MARKS kill ROUNDS SEED                 one process after another is killed
    ledger_victims.py LEDGER MARKS fork                             a child uses its parent's ledger

Prints what came out of it as JSON: "answered" are the charges after which a process went on to answer.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from dpsql.errors import BudgetExceeded, LedgerError
from dpsql.ledger.ledger import FAILPOINTS, Ledger, Pinned, PolicyLimits
from dpsql.privacy.accounting import Limits
from dpsql.privacy.kinds import Pure

PINNED = Pinned(unit="patient_id", neighbours="add_remove", composition="basic")
LOSS = Pure(Fraction(1, 10))


def limits(charges: int) -> PolicyLimits:
    """Enough for exactly that many charges."""
    enough = Limits(LOSS.epsilon * charges)
    return PolicyLimits(enough, {"*": enough})


def opened(path: Path, marks: Path, charges: int, failpoint: Callable[[str], None] = lambda _: None) -> Ledger:
    return Ledger.open(path, pinned=PINNED, limits=limits(charges), mark=marks, failpoint=failpoint)


def ask(ledger: Ledger, analyst: str = "eve") -> int:
    return ledger.charge(analyst, LOSS, statement="SELECT 1", fingerprint="f")


def spend_at_once(path: Path, marks: Path, processes: int, attempts: int, charges: int) -> dict[str, list[int]]:
    """Forks that many processes; each tries that many times."""
    gate, opener = os.pipe()
    readers = []
    for number in range(processes):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.close(opener)
            os.read(gate, 1)  # returns for all at once, when the parent closes its end
            with opened(path, marks, charges) as ledger:
                for _ in range(attempts):
                    try:
                        os.write(writer, b"%d\n" % ask(ledger, f"eve{number}"))
                    except BudgetExceeded:
                        os.write(writer, b"0\n")
            os._exit(0)
        os.close(writer)
        readers.append(reader)
    os.close(opener)
    outcomes = [int(line) for reader in readers for line in os.fdopen(reader)]
    codes = [os.wait()[1] for _ in range(processes)]
    return {"answered": [x for x in outcomes if x], "refused": [x for x in outcomes if not x], "codes": codes}


def kill_many(path: Path, marks: Path, rounds: int, seed: int) -> dict[str, list[int]]:
    """Kills a spending process at each failpoint in turn, and every other time at a random moment."""
    chance = random.Random(seed)
    answered: list[int] = []
    codes = []
    for turn in range(rounds):
        at_random = turn % 2 == 1
        point = FAILPOINTS[turn // 2 % len(FAILPOINTS)]
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            passes = chance.randrange(1, 4)

            def die(name: str, point: str = point, at_random: bool = at_random) -> None:
                nonlocal passes
                if not at_random and name == point:
                    passes -= 1
                    if passes == 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            ledger = opened(path, marks, 10**6, die)
            while True:
                os.write(writer, b"%d\n" % ask(ledger))
        os.close(writer)
        with os.fdopen(reader) as lines:
            if at_random:
                if turn % 4 == 3:  # while it spends; else perhaps while it opens the ledger
                    answered.append(int(lines.readline()))
                time.sleep(chance.uniform(0.0, 0.06))
                os.kill(child, signal.SIGKILL)
            answered += [int(line) for line in lines]
        codes.append(os.waitpid(child, 0)[1])
    return {"answered": answered, "codes": codes}


def use_after_fork(path: Path, marks: Path) -> dict[str, list[int]]:
    """Charges in a child with its parent's ledger; the child's code is 7 where that was refused."""
    with opened(path, marks, 10) as ledger:
        if os.fork() == 0:
            try:
                ask(ledger)
            except LedgerError:
                os._exit(7)
            os._exit(0)
        return {"answered": [], "codes": [os.waitstatus_to_exitcode(os.wait()[1])]}


def main(path: str, marks: str, job: str, *numbers: str) -> None:
    jobs: dict[str, Callable[..., dict[str, list[int]]]] = {
        "spend": spend_at_once,
        "kill": kill_many,
        "fork": use_after_fork,
    }
    json.dump(jobs[job](Path(path), Path(marks), *map(int, numbers)), sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
