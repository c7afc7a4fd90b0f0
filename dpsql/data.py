"""`dataclass` as the standard library's, with methods that are written when they are first called.

The standard one writes and compiles up to six methods for each class when its module is loaded. A start of dpsql loads
three hundred such classes, makes objects of a third of them, and compares or prints few: a fifth of its processor time
went into that. Everything else is the standard library's: fields, slots, `replace`, `fields`, `asdict` and matching.

Tests: tests/unit/test_data.py.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen=False, slots=False, eq=True, repr=True):  # noqa: A002 - the standard library's name
        """As `dataclasses.dataclass` with these arguments, and no others."""
        methods = {"__init__": _init(frozen)} | ({"__repr__": _repr} if repr else {}) | ({"__eq__": _eq} if eq else {})

        def made(cls):
            own = {*cls.__dict__}  # before the standard library adds to them
            cls = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
            for name, write in methods.items():
                if name not in own:
                    setattr(cls, name, _Late(cls, name, write))
            if eq and "__hash__" not in own:
                cls.__hash__ = _Late(cls, "__hash__", _hash) if frozen else None
            if frozen:
                _freeze(cls, own)
            return cls

        return made


Write = Callable[[type[Any]], Any]
"""Writes a method of a data class."""


class _Made:
    """Stands for an argument that was left out, whose default is made anew each time."""

    def __repr__(self) -> str:
        return "<factory>"


class _Late:
    """A method that is written, and takes this one's place in its class, when it is first looked up."""

    __slots__ = ("_cls", "_name", "_write")

    def __init__(self, cls: type[Any], name: str, write: Write) -> None:
        self._cls, self._name, self._write = cls, name, write

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        method = self._write(self._cls)
        method.__module__, method.__qualname__ = self._cls.__module__, f"{self._cls.__qualname__}.{self._name}"
        setattr(self._cls, self._name, method)
        return method.__get__(instance, owner)


_MADE = _Made()


def _run(name: str, parameters: str, lines: list[str], known: dict[str, Any]) -> Any:
    """A function of this source, in which nothing stands but names of fields; as the standard library makes it."""
    exec(f"def {name}({parameters}):\n " + "\n ".join(lines), known)  # noqa: S102 - it is no text of anybody's
    return known[name]


def _init(frozen: bool) -> Write:
    put = "__put__(self, {!r}, {})" if frozen else "self.{} = {}"

    def write(cls: type[Any]) -> Any:
        known: dict[str, Any] = {"__made__": _MADE, "__put__": object.__setattr__}
        ordinary, by_name, lines = ["self"], list[str](), list[str]()
        for field in dataclasses.fields(cls):
            name = value = parameter = field.name
            if field.default is not MISSING:
                known[f"__default_{name}__"] = field.default
                parameter += f"=__default_{name}__"
            elif field.default_factory is not MISSING:
                known[f"__default_{name}__"] = field.default_factory
                parameter += "=__made__"
                value = (
                    f"__default_{name}__() if {name} is __made__ else {name}" if field.init else f"__default_{name}__()"
                )
            if field.init:
                (by_name if field.kw_only else ordinary).append(parameter)
            if field.init or value != name:
                lines.append(put.format(name, value))
        lines += ["self.__post_init__()"] if hasattr(cls, "__post_init__") else []
        parameters = [*ordinary, "*", *by_name] if by_name else ordinary
        method = _run("__init__", ", ".join(parameters), lines or ["pass"], known)
        types = {field.name: field.type for field in dataclasses.fields(cls) if field.init}
        method.__annotations__ = types | {"return": None}
        return method

    return write


def _eq(cls: type[Any]) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]
    same = f"{_together(names, 'self')} == {_together(names, 'other')}"
    line = f"return {same} if other.__class__ is self.__class__ else NotImplemented"
    return _run("__eq__", "self, other", [line], {})


def _hash(cls: type[Any]) -> Any:
    names = [own.name for own in dataclasses.fields(cls) if (own.compare if own.hash is None else own.hash)]
    return _run("__hash__", "self", [f"return hash({_together(names, 'self')})"], {})


def _together(names: list[str], whose: str) -> str:
    """Attributes as a tuple.

    >>> _together(["x", "y"], "self")
    '(self.x,self.y,)'
    """
    return f"({''.join(f'{whose}.{name},' for name in names)})"


def _repr(cls: type[Any]) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    def write(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return recursive_repr()(write)


def _freeze(cls: type[Any], own: set[str]) -> None:
    """Nobody sets or deletes what is in an object; copies of it, and pickles, are made all the same."""
    names = frozenset(field.name for field in dataclasses.fields(cls))

    def refuse_set(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    methods = {"__setattr__": refuse_set, "__delattr__": refuse_delete}
    if "__slots__" in cls.__dict__:
        methods |= {"__getstate__": _state, "__setstate__": _set_state}
    for name, method in methods.items():
        if name not in own:
            setattr(cls, name, method)


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
