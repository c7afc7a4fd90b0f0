"""What must hold after every fault: no overspend, no lost charge, no answer that is paid for twice, nothing private."""

from __future__ import annotations

import errno
import json
import random
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tests.faults.disk import CUTS, Disk, put, steps
from tests.faults.scenes import PRICE, PRIVATE
from tests.faults.shim import DIES, NAME, ROOM, SPEAK, SYNC
from tests.faults.victims import Round, Victims

__all__ = ["QUICK", "SURVEYS", "Survey", "broken", "tried"]

Survey = Callable[[Victims, int], tuple[int, list[str]]]
"""Tries a fault at every step, from a seed: at how many, and what did not hold, in words."""


def broken(round_: Round, after: Round, *, before: int, kept: bool = True) -> Iterator[str]:
    """What does not hold, in words; nothing where all holds.

    Args:
        round_: What was said, and seen, while something failed.
        after: What was found afterwards, as `Scene.afterwards` says it.
        before: Charges that were made before.
        kept: Whether an answer that was seen must be free now. A power cut may lose it from the store, where storing it
            does not wait for the disk.
    """
    texts = json.dumps([round_.said, after.said]) + round_.printed + after.printed
    yield from (f"private: {found}" for found in set(re.findall(PRIVATE, texts)))
    if round_.printed or after.printed:
        yield f"printed: {round_.printed}{after.printed}"
    yield from (f"a bug: {one}" for one in [*round_.said, *after.said] if "bug" in one or "Invariant" in str(one))
    if len(after.said) < 2 or any("refused" in one for one in after.said):
        yield f"it does not open, or does not answer: {after.said}"
        return
    opened, *again, closed = after.said
    seen = [one for one in round_.said if "asked" in one]
    paid, found = sum(not one["free"] for one in seen), opened["charges"] - before
    if found < paid:
        yield f"of {paid} answers that were seen, {found} are charged"
    if found > paid + 1:
        yield f"{found} charges for {paid} answers: one that was under way may stand, and no more"
    if closed["charges"] != opened["charges"] + sum(not one["free"] for one in again):
        yield f"asked again: {again} gave {closed['charges'] - opened['charges']} charges"
    for account in (opened, closed):
        if abs(account["spent"] - PRICE * account["charges"]) > 1e-9:
            yield f"{account['charges']} charges add up to {account['spent']}"
    now = {one["asked"]: one for one in again}
    for one in seen:
        if kept and (not now[one["asked"]]["free"] or now[one["asked"]]["rows"] != one["rows"]):
            yield f"{one} was seen, and is {now[one['asked']]} now"


def failing(victim: Victims, seed: int, *, kinds: int, fails: int, lasting: bool = False) -> tuple[int, list[str]]:
    """Each step of these kinds fails in turn, alone or with all that follow; a `Survey`."""
    counted, before = victim.play(kinds), victim.scene.charged
    problems = [f"untouched: {problem}" for problem in broken(counted, victim.look(), before=before)]
    for step in range(1, counted.steps + 1):
        done = victim.play(kinds, fails=fails, first=step, last=2**40 if lasting else step)
        problems += [f"step {step}: {problem}" for problem in broken(done, victim.look(), before=before)]
        if fails == DIES and not (done.code == KILLED or done.said):
            problems.append(f"step {step}: not killed, and nothing said")
    return counted.steps, problems


def cut(victim: Victims, seed: int, *, name: str) -> tuple[int, list[str]]:
    """The power is cut after each step; a `Survey`."""
    victim.play(ROOM | SYNC | NAME, journal=True)
    disk, chance = Disk(victim.scene.before, victim.scene.place), random.Random(seed)
    said, looked, problems = b"", set[str](), []
    for number, step in enumerate(steps(victim.journal), 1):
        disk.do(step)
        said += step.data if step.what == "A" else b""
        left = disk.left(CUTS[name], chance)
        if (state := repr((left, said))) in looked:
            continue
        looked.add(state)
        shutil.rmtree(victim.scene.place)
        put(left, victim.scene.place)
        seen = Round([json.loads(line) for line in said.splitlines() if b'"asked"' in line], 0, "")
        found = broken(seen, victim.look(), before=victim.scene.charged, kept=victim.scene.synced)
        problems += [f"after step {number}, {step.what} {step.one} {step.two}: {problem}" for problem in found]
    return len(looked), problems


KILLED = -9
SURVEYS: Mapping[str, Survey] = {
    "killed (kill -9)": partial(failing, kinds=ROOM | SYNC | NAME | SPEAK, fails=DIES),
    "the disk is full, once": partial(failing, kinds=ROOM, fails=errno.ENOSPC),
    "the disk is full from there on": partial(failing, kinds=ROOM, fails=errno.ENOSPC, lasting=True),
    "a wait for the disk fails": partial(failing, kinds=SYNC, fails=errno.EIO),
    "a write fails": partial(failing, kinds=ROOM, fails=errno.EIO),
    "a change of a name fails": partial(failing, kinds=NAME, fails=errno.EIO),
    "the power is cut: all that was not synced is lost": partial(cut, name="safe"),
    "the power is cut: its content is lost, names stay": partial(cut, name="names"),
    "the power is cut: some of it is lost, by sectors": partial(cut, name="torn"),
}
"""What happens, at every step that it can happen to."""
QUICK = ("killed (kill -9)", "the disk is full, once", "the power is cut: all that was not synced is lost")
"""What `make test` tries of a ledger, and `make test-slow` where tables are built: their ledger is that of others."""


def tried(scene: str) -> tuple[str, ...]:
    """What is tried of a scene, by its name."""
    return QUICK if scene in ("FirstOpening", "Refresh") else tuple(SURVEYS)
