"""Groups that were found come in the order of their keys, whatever the engine's order is."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import pytest

from dpsql.answers.released.release import _candidates
from dpsql.plan.nodes import Column
from dpsql.plan.plans import Key
from dpsql.plan.types import Facts, Type, Value
from dpsql.privacy.tables import RawTable


@dataclass(frozen=True)
class Keys:
    """What is read of a plan."""

    keys: tuple[Key, ...]


def found(columns: dict[str, Any], kinds: list[Type], domain: tuple[Value, ...] | None = None) -> list[tuple[Any, ...]]:
    """Groups, found by keys of these types; the last key may have a domain."""
    domains = [None] * (len(kinds) - 1) + [domain]
    keys = [
        Key(f"k{i}", Column("t0", f"c{i}", Facts(kind)), own)
        for i, (kind, own) in enumerate(zip(kinds, domains, strict=True))
    ]
    plan: Any = Keys(tuple(keys))
    return list(_candidates(plan, RawTable(columns)))


DAYS = [date(2024, 2, 1), None, date(1999, 12, 31), date(2024, 1, 31)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("columns", "kinds"),
    [
        ([np.array([5, -3, 2**62, 0])], [Type.INTEGER]),
        ([["é", "z", "", "a"]], [Type.TEXT]),
        ([[3, None, -1, 2]], [Type.INTEGER]),
        ([np.array([1, 1, 0, 0]), np.array([7, -7, 3, 2])], [Type.INTEGER, Type.INTEGER]),
        ([["b", None, "b", "a"], DAYS], [Type.TEXT, Type.DATE]),
        ([np.array([1, 1, 0, 0]), ["b", None, "b", "a"]], [Type.INTEGER, Type.TEXT]),
        ([[True, False, None, True], np.array([1, 2, 3, 4])], [Type.BOOLEAN, Type.INTEGER]),
        ([np.array([1.5, -0.5, 1e300, 0.25])], [Type.REAL]),
    ],
)
def test_groups_come_in_the_order_of_their_keys(columns: list[Any], kinds: list[Type], seed: int) -> None:
    order = random.Random(seed).sample(range(4), 4)
    mixed = [own[order] if isinstance(own, np.ndarray) else [own[row] for row in order] for own in columns]
    groups = zip(*(own.tolist() if isinstance(own, np.ndarray) else own for own in columns), strict=True)
    wanted = sorted(groups, key=lambda group: [(value is None, 0 if value is None else value) for value in group])
    assert found({f"k{i}": own for i, own in enumerate(mixed)}, kinds) == wanted


def test_the_two_zeros_are_one_group() -> None:
    zeros = found({"k0": np.array([1.0, -0.0, 0.0])}, [Type.REAL])
    assert zeros == [(0.0,), (1.0,)]
    assert str(zeros[0][0]) == "0.0"
    assert str(found({"k0": [None, -0.0]}, [Type.REAL])[0][0]) == "0.0"


def test_what_is_in_no_domain_is_no_group() -> None:
    columns = {"k0": np.array([3, 2, 1]), "k1": ["a", "x", None]}
    assert found(columns, [Type.INTEGER, Type.TEXT], ("a", None)) == [(1, None), (3, "a")]
    assert found(columns, [Type.INTEGER, Type.TEXT], ("b",)) == []


def test_no_group_is_found_in_no_row() -> None:
    assert found({"k0": []}, [Type.TEXT]) == []
    assert found({"k0": np.empty(0, dtype=np.int64)}, [Type.INTEGER]) == []
    assert found({"k0": np.empty(0)}, [Type.REAL]) == []
