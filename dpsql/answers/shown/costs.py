"""A loss in words.

Tests: tests/unit/answers/test_answer.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import ROUND_CEILING

from dpsql.answers.shown.screen import number, safe
from dpsql.privacy.loss import PrivacyLoss

__all__ = ["cost_text"]


def cost_text(loss: PrivacyLoss) -> str:
    """A loss in words, rounded up.

    >>> cost_text(PrivacyLoss(epsilon=0.5, delta=1e-9))
    'epsilon 0.5, delta 1e-09'
    >>> cost_text(PrivacyLoss(epsilon=math.inf, rho=0.01))
    'rho 0.01'
    """
    amounts = {"epsilon": loss.epsilon, "delta": loss.delta, "rho": loss.rho, "gamma": loss.gamma}
    parts = [f"{name} {_up(amount)}" for name, amount in amounts.items() if amount and math.isfinite(amount)]
    for metric, multiples in loss.metric.items():
        each = multiples if isinstance(multiples, Mapping) else {"": multiples}
        inner = ", ".join(f"{attribute} {_up(multiple)}".lstrip() for attribute, multiple in each.items())
        parts.append(f"{inner} times metric {metric}")
    parts += [f"epsilon {_up(amount)} for class {name}" for name, amount in loss.classes.items()]
    return safe(", ".join(parts)) or "nothing"


def _up(amount: float) -> str:
    return number(amount, max(6, len(f"{amount:.0f}") + 3), ROUND_CEILING)
