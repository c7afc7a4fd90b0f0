"""Exact chances of what a choice can give, to 50 digits, and the losses between two of them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache

DIGITS = 50
ROUNDING = Decimal("1e-40")  # what 50 digits leave open, many times over


@cache
def exp(x: Fraction) -> Decimal:
    """e^x."""
    context = Context(prec=DIGITS)
    return context.exp(context.divide(Decimal(x.numerator), Decimal(x.denominator)))


def exponential(widths: Sequence[int], scores: Sequence[int], exponent: Fraction) -> list[Decimal]:
    """Of every point, where each interval holds so many points of one score."""
    with localcontext(Context(prec=DIGITS)):
        weights = [exp(exponent * score) for width, score in zip(widths, scores, strict=True) for _ in range(width)]
        total = sum(weights)
        return [weight / total for weight in weights]


def permute_and_flip(scores: Sequence[int], exponent: Fraction) -> list[Decimal]:
    """Of every candidate: of those that show, whichever of the others these are, it is one with equal chance."""
    with localcontext(Context(prec=DIGITS)):
        shown = [exp(exponent * (score - max(scores))) for score in scores]
        chances = []
        for index, own in enumerate(shown):
            showing = [Decimal(1)]  # by how many of the others show, the chance that so many do
            for p in shown[:index] + shown[index + 1 :]:
                beside = zip([*showing, Decimal(0)], [Decimal(0), *showing], strict=True)
                showing = [stays * (1 - p) + joins * p for stays, joins in beside]
            chances.append(sum((own * many / (size + 1) for size, many in enumerate(showing)), Decimal(0)))
        return chances


def loss(one: Sequence[Decimal], two: Sequence[Decimal]) -> Decimal:
    """The largest log ratio of two chances of the same outcome, either way."""
    with localcontext(Context(prec=DIGITS)):
        ratios = [a / b for a, b in zip(one, two, strict=True)]
        return max(max(ratios), 1 / min(ratios)).ln()


def renyi(one: Sequence[Decimal], two: Sequence[Decimal], order: int) -> Decimal:
    """The Renyi divergence of a whole order above 1."""
    with localcontext(Context(prec=DIGITS)):
        return sum((a * (a / b) ** (order - 1) for a, b in zip(one, two, strict=True)), Decimal(0)).ln() / (order - 1)


def within(measured: Decimal, claimed: Fraction) -> bool:
    """Whether a measured loss is within a claim, but for the rounding of 50 digits."""
    with localcontext(Context(prec=DIGITS)):
        return measured <= Decimal(claimed.numerator) / Decimal(claimed.denominator) + ROUNDING
