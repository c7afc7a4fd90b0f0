"""The figures of docs/preprocessing.md are those of its script, and its rivals are what they say."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "preprocessing.md").read_text()


@pytest.fixture(scope="module")
def accuracy() -> Iterator[Any]:
    """The script that writes the page."""
    yield from _script("accuracy")


@pytest.fixture(scope="module")
def rivals() -> Iterator[Any]:
    """The rivals it compares with."""
    yield from _script("rivals")


def _script(name: str) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        yield importlib.import_module(name)


def numbers(section: str) -> list[list[float]]:
    """The figures of each row on the page, without what stands in brackets."""
    text = PAGE.split(f"<!-- {section}:begin -->")[1].split(f"<!-- {section}:end -->")[0]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [
        [float(cell.split(" (")[0].replace(",", "")) for cell in row if cell[0].isdigit()]
        for row in rows
        if any(cell[0].isdigit() for cell in row)
    ]


@pytest.mark.parametrize("n", [1001, 10_001])
def test_the_papers_example_has_the_errors_on_the_page(accuracy: Any, n: int) -> None:
    for epsilon, *shown in numbers("example"):
        found = accuracy.example(n, Fraction(str(epsilon))).values()
        assert shown == pytest.approx(list(found), rel=0.05)


def test_a_median_chosen_by_rank_has_the_error_of_its_draws(rivals: Any) -> None:
    random = np.random.default_rng(1)
    values, edges = np.array([2, 3, 7]), np.array([0, 2, 3, 7, 10])
    chances = np.exp(-np.abs(np.arange(4) - 1.5)) * np.diff(edges)
    interval = random.choice(4, 200_000, p=chances / chances.sum())
    drawn = edges[interval] + random.random(200_000) * np.diff(edges)[interval]
    assert rivals.exponential_median(values, 1.0, bounds=(0.0, 10.0)) == pytest.approx(
        np.mean((drawn - 3) ** 2), rel=0.01
    )


def test_smooth_sensitivity_is_that_of_its_definition(rivals: Any) -> None:
    values, low, high, beta = np.array([1, 4, 5, 9, 20]), 0.0, 30.0, 0.3
    padded = [low] * 9 + values.tolist() + [high] * 9
    middle = 9 + 2
    wanted = max(
        math.exp(-beta * k) * max(padded[middle + t] - padded[middle + t - k - 1] for t in range(k + 2))
        for k in range(6)
    )
    assert rivals.smooth_sensitivity(values, beta, (low, high)) == pytest.approx(wanted)


def test_preprocessing_on_the_page_wins_or_ties_for_variances() -> None:
    rows = numbers("accuracy")[-12:]
    assert all(preprocessed <= clipped for _, _, preprocessed, clipped in rows)


@pytest.mark.slow
def test_the_errors_on_the_page_are_measured_again(accuracy: Any) -> None:
    rows = accuracy.measured({100: 1000, 1000: 300, 10_000: 200}.__getitem__)
    shown = numbers("accuracy")
    for table, (statistic, methods) in enumerate(accuracy.METHODS.items()):
        for row, (place, errors) in zip(shown[12 * table : 12 * table + 12], rows.items(), strict=True):
            for figure, name in zip(row[2:], methods, strict=True):
                error = errors[statistic][name]
                root, uncertain = (part / accuracy.UNITS[statistic] for part in (error.root, error.uncertain))
                assert abs(root - figure) <= 0.15 * figure + 4 * uncertain, (place, statistic, name, root, figure)
