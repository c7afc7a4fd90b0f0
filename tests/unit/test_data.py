"""A late data class is the standard library's in all that can be seen of it, and costs a start less."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from dpsql import data


class Point:
    """Two places, one of which has a default."""

    x: int
    y: tuple[int, ...] = (1, 2)


class Held:
    """Fields of every kind."""

    first: str
    made: list[int] = dataclasses.field(default_factory=list)
    aside: int = dataclasses.field(default=3, compare=False, repr=False)
    named: int = dataclasses.field(default=4, kw_only=True)
    own: dict[str, int] = dataclasses.field(default_factory=dict, init=False, compare=False)
    hashed: int = dataclasses.field(default=5, hash=False)


class Checked:
    """One field that is looked at."""

    x: int

    def __post_init__(self) -> None:
        if self.x < 0:
            raise ValueError("below zero")


class Spoken:
    """One field, with words and a number of its own."""

    x: int

    def __repr__(self) -> str:
        return "spoken"

    def __hash__(self) -> int:
        return 7


BODIES: tuple[tuple[type[Any], tuple[Any, ...]], ...] = (
    (Point, (1,)),
    (Held, ("a", [1])),
    (Checked, (0,)),
    (Spoken, (0,)),
)
SHAPES: tuple[dict[str, bool], ...] = (
    {"frozen": True, "slots": True},
    {"frozen": True},
    {"slots": True},
    {},
    {"frozen": True, "slots": True, "eq": False},
    {"frozen": True, "slots": True, "repr": False},
)


def decorated(decorator: Callable[..., Any], body: type[Any], shape: dict[str, bool]) -> Any:
    """A fresh class of this body."""
    inside = {name: value for name, value in vars(body).items() if name not in ("__dict__", "__weakref__")}
    return decorator(**shape)(type(body.__name__, (), inside))


def outcome(ask: Callable[[], Any]) -> Any:
    """What comes of it, or its refusal."""
    try:
        return ask()
    except (AttributeError, TypeError, ValueError) as error:
        return type(error), str(error)


def seen(cls: Any, arguments: tuple[Any, ...]) -> list[Any]:
    """All that a class shows of itself."""
    made, again = cls(*arguments), cls(*arguments)
    replaced: Any = dataclasses.replace(made)

    def put(value: Any, name: str) -> Any:
        setattr(value, name, 9)
        return getattr(value, name)

    def dropped(value: Any, name: str) -> Any:
        delattr(value, name)
        return hasattr(value, name)

    first = next(field.name for field in dataclasses.fields(cls))
    equal = [made == again, made == replaced, made == 1, made != again]
    hashes = cls.__hash__ is None, cls.__hash__ is object.__hash__
    number = outcome(lambda: hash(made)) if cls.__eq__ is not object.__eq__ else None
    shown = repr(made) if cls.__repr__ is not object.__repr__ else None
    kept = [getattr(copy.deepcopy(made), field.name) for field in dataclasses.fields(cls)]
    return [
        str(inspect.signature(cls)),
        cls.__init__.__qualname__,
        cls.__match_args__,
        getattr(cls, "__slots__", None),
        equal,
        hashes,
        number,
        shown,
        kept,
        dataclasses.asdict(made),
        outcome(lambda: cls(-1)) if cls.__name__ == "Checked" else None,
        outcome(lambda: put(again, first)),
        outcome(lambda: put(again, "another")) if not hasattr(cls, "__slots__") else None,  # its message there is odd
        outcome(lambda: dropped(again, first)),
    ]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(("body", "arguments"), BODIES, ids=lambda own: getattr(own, "__name__", ""))
def test_what_is_seen_is_what_the_standard_library_shows(
    body: type[Any], arguments: tuple[Any, ...], shape: dict[str, bool]
) -> None:
    late, standard = (decorated(decorator, body, shape) for decorator in (data.dataclass, dataclasses.dataclass))
    assert seen(late, arguments) == seen(standard, arguments)


def test_no_method_is_written_before_it_is_called() -> None:
    late = decorated(data.dataclass, Point, {"frozen": True, "slots": True})
    names = ("__init__", "__repr__", "__eq__", "__hash__")
    assert not any(inspect.isfunction(vars(late)[name]) for name in names)
    assert late(1) == late(1)
    assert [name for name in names if inspect.isfunction(vars(late)[name])] == ["__init__", "__eq__"]


def test_a_class_below_another_has_fields_of_both() -> None:
    late = decorated(data.dataclass, Point, {"frozen": True, "slots": True})
    below: Any = data.dataclass(frozen=True, slots=True)(
        type("Below", (late,), {"__annotations__": {"z": "int"}, "z": 3})
    )
    assert repr(below(1, z=4)) == "Below(x=1, y=(1, 2), z=4)"
    assert below(1) != late(1)
    assert below.__slots__ == ("z",)


@data.dataclass(frozen=True, slots=True)
class Pickled:
    """A class that pickles find by its name."""

    x: int


def test_a_frozen_object_with_slots_is_pickled() -> None:
    own = pickle.dumps(Pickled(3))
    assert pickle.loads(own) == Pickled(3)  # noqa: S301 - nobody else wrote it
