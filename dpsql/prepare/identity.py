"""A release as text that tells it apart from any other, from its facts alone: no sentence for a reader is among them.

Two releases of one form would give the same answers to the same raw numbers and draws. Which rows and expressions they
read from the engine is left out, for the engine's own statement tells it (`Prepared.fingerprint`); so is what an offer
does not compare: what is only foretold or said of an answer, or told by another field.

Tests: tests/attacks/test_fingerprints.py.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import cache
from types import FunctionType
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
    match value:
        case Loss():
            return repr(encode(value))
        case enum.Enum():
            return f"{type(value).__name__}.{value.name}"
        case None | bool() | int() | float() | str() | Fraction() | Decimal() | date():
            return repr(value)
        case FunctionType() if value.__closure__ is None and value.__name__ != "<lambda>":
            return f"{value.__module__}.{value.__qualname__}"
        case tuple() | list():
            return f"({', '.join(map(canonical, value))})"
        case frozenset() | set():
            return f"{{{', '.join(sorted(map(canonical, value)))}}}"
        case Mapping():
            return f"{{{', '.join(sorted(f'{canonical(k)}: {canonical(v)}' for k, v in value.items()))}}}"
        case np.ndarray():
            return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
        case _ if isinstance(value, Source | Expression):
            return type(value).__name__
        case _ if is_dataclass(value) and not isinstance(value, type):
            parts = [f"{name}={canonical(getattr(value, name))}" for name in _told(type(value))]
            return f"{type(value).__name__}({', '.join(parts)})"
    raise InvariantBroken(f"a {type(value).__name__} has no canonical form")


@cache
def _told(kind: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that are its facts."""
    return tuple(field.name for field in fields(kind) if field.compare)
