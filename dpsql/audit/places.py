"""Choices of statistics at places that are found, as another side's released numbers would have them made.

Which groups have few rows, and within which cap rows count, follows from noised numbers. A choice that rests on them is
compared under those that one side released: the loss of an answer is that of two tables under the same earlier ones.

Tests: tests/attacks/test_replay_capped.py.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.audit.replay import RunPart
from dpsql.audit.watched import Recorder
from dpsql.mechanisms.capped.statistics import CappedStatistics
from dpsql.mechanisms.choice.groups import grouped
from dpsql.mechanisms.located.release import LocatedRelease
from dpsql.mechanisms.located.search import rows_in
from dpsql.privacy.tables import RawTable, ReleasedTable
from dpsql.testing_samplers import Noiseless

__all__ = ["at_its_place", "chooses_otherwise", "lacks_choices"]


def at_its_place(part: RunPart, like: RunPart) -> RunPart:
    """A part with the choices that it makes where its groups have what another side released of them.

    Groups of one side alone are left out. Any other part, and one without a group, is as it is.
    """
    found = _within(part, like)
    if found is None or not (part.groups and like.groups):
        return part
    release, raw = found
    own = dict(zip(part.groups, grouped(raw), strict=True))
    told = dict(zip(like.groups, rows_in(ReleasedTable(like.released)), strict=True))
    shared = [group for group in part.groups if group in told]
    recorder = Recorder(Noiseless())
    release.clamp([own[group] for group in shared if told[group]["clamp"] is not None], recorder)
    for group in shared:
        if told[group]["clamp"] is None:
            release.window(*own[group], told[group]["count"], release.shares(told[group]), recorder)
    return replace(part, groups=(), choices=tuple(recorder.choices))


def chooses_otherwise(part: RunPart) -> bool:
    """Whether a release chose otherwise than its raw numbers and what it released say."""
    return part.choices != at_its_place(part, part).choices


def lacks_choices(part: RunPart) -> bool:
    """Whether a release drew fewer or more than a centre for each group that has a place, and a clamp for all others.

    What is not drawn is on no record, so that no comparison of neighbours shows it.
    """
    found = _within(part, part)
    if found is None or not part.groups:
        return False
    clamped = [clamp is not None for clamp in part.released["clamp"]]
    searched = any(clamped) and len(found[0].query.clamps.edges) > 1
    return len(part.choices) != clamped.count(False) + searched


def _within(part: RunPart, like: RunPart) -> tuple[LocatedRelease, RawTable] | None:
    """What answers within the cap that a side released, and the rows there; None for what finds no place."""
    release = part.release
    if part.ranked is None:
        return None
    if isinstance(release, CappedStatistics) and like.released["cap"]:
        cap = like.released["cap"][0]
        return release.inners[cap], release.within(part.ranked, cap)
    return (release, part.ranked) if isinstance(release, LocatedRelease) else None
