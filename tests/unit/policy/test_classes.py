"""The section ``privacy_classes``: one text of one row of each unit names its class."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from dpsql.policy import Policy

Load = Callable[..., Policy]
Refusal = Callable[..., str]

CLASSES = "privacy_classes: {table: people, column: consent, share: {strict: 0.25, normal: 1}}\n"
SECTION = ("tables:\n", f"{CLASSES}tables:\n")
AGE = "age: {type: integer, bounds: [0, 110]}"


def test_classes_and_their_shares_are_exact_and_in_order(load: Load) -> None:
    policy = load(SECTION)
    assert policy.classes == {"strict": Fraction(1, 4), "normal": Fraction(1)}
    assert list(policy.classes) == ["strict", "normal"]
    assert load().classes == {}


@pytest.mark.parametrize("declared", ["consent: {type: text}", "consent: {type: text, values: [normal, strict, x]}"])
def test_analysts_may_see_the_column_if_the_owner_says_so(load: Load, declared: str) -> None:
    assert load(SECTION, (AGE, declared)).classes


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (("table: people", "table: nobody"), "table: nobody is not a private table of this policy; name one of tables"),
        (("table: people", "table: towns"), "table: towns is not a private table of this policy; name one of tables"),
        (
            ("table: people", "table: visits"),
            "table: a unit may have several rows in visits, and so several classes; write rows_per_unit: 1 there",
        ),
        (("column: consent", "column: pid"), "column: pid says who somebody is; name the column with the class"),
        (("column: consent", "column: PID"), "column: PID says who somebody is; name the column with the class"),
        (("column: consent", "column: age"), "column: age is integer, a class is a text; write type: text there"),
        (("strict: 0.25", "strict: 0"), "share.strict: 0 is not a share; write a number above 0 and at most 1"),
        (("strict: 0.25", "strict: 1.25"), "share.strict: 1.25 is not a share; write a number above 0 and at most 1"),
        (("strict: 0.25", '"": 0.25'), "share: '' is not the name of a class; write printable text, such as strict"),
        (("{strict: 0.25, normal: 1}", "{}"), "share: this is empty; write at least one entry"),
    ],
)
def test_what_cannot_be_a_class_is_refused_at_its_line(
    refusal: Refusal, change: tuple[str, str], expected: str
) -> None:
    assert change[0] in CLASSES
    message = refusal(("tables:\n", f"{CLASSES.replace(*change)}tables:\n"))
    assert message.startswith("clinic.yaml:11:")
    assert f"privacy_classes.{expected}" in message
    assert len(message.splitlines()) == 1


def test_a_class_that_nobody_could_be_of_is_refused(refusal: Refusal) -> None:
    message = refusal(SECTION, (AGE, "consent: {type: text, values: [normal, open]}"))
    assert "privacy_classes.share.strict: strict is not among the values of people.consent" in message
    assert "add strict to the values there, or remove it here" in message
