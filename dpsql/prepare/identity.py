"""A release as text that tells it apart from any other, from its facts alone: no sentence for a reader is among them.

Two releases of one form would give the same answers to the same raw numbers and draws. Which rows and expressions they
read from the engine is left out, for the engine's own statement tells it (`Prepared.fingerprint`); so is what an offer
does not compare: what is only foretold or said of an answer, or told by another field.

Tests: tests/attacks/test_fingerprints.py.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from types import FunctionType, NoneType
from typing import Any

import numpy as np

from dpsql.errors import InvariantBroken
from dpsql.plan.needs import Source
from dpsql.plan.nodes import Expression
from dpsql.privacy.kinds import Loss
from dpsql.privacy.loss import encode

__all__ = ["canonical"]


def canonical(value: Any) -> str:
    """The facts of a release, or of a part of one, as text.

    Raises:
        InvariantBroken: A part has a type whose facts are not known to be told by its text.

    >>> canonical((Fraction(1, 2), {"b": 1, "a": None}, 0.5))
    "(Fraction(1, 2), {'a': None, 'b': 1}, 0.5)"
    """
    kind: Any = type(value)
    return _form(kind)(value)


@cache
def _form(kind: Any) -> Callable[[Any], str]:
    """How values of a type are written."""
    name = kind.__name__
    for parents, form in _FORMS:
        if issubclass(kind, parents):
            return form
    if not is_dataclass(kind):
        raise InvariantBroken(f"a {name} has no canonical form")
    told = tuple((field.name, f"{field.name}=") for field in fields(kind) if field.compare)
    return lambda value: f"{name}({', '.join([f'{at}{canonical(getattr(value, own))}' for own, at in told])})"


def _function(value: FunctionType) -> str:
    if value.__closure__ is not None or value.__name__ == "<lambda>":
        raise InvariantBroken("a function has no canonical form")
    return f"{value.__module__}.{value.__qualname__}"


_FORMS: tuple[tuple[Any, Callable[[Any], str]], ...] = (
    (Loss, lambda value: repr(encode(value))),
    (enum.Enum, lambda value: f"{type(value).__name__}.{value.name}"),
    ((NoneType, bool, int, float, str, Fraction, Decimal, date), repr),
    (FunctionType, _function),
    ((tuple, list), lambda value: f"({', '.join(map(canonical, value))})"),
    ((frozenset, set), lambda value: f"{{{', '.join(sorted(map(canonical, value)))}}}"),
    (Mapping, lambda value: f"{{{', '.join(sorted(f'{canonical(k)}: {canonical(v)}' for k, v in value.items()))}}}"),
    (np.ndarray, lambda value: f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"),
    ((Source, Expression), lambda value: type(value).__name__),
)
"""How the facts of a type and of those below it are written, the first that fits: a dataclass that none of them fits by
its fields."""
