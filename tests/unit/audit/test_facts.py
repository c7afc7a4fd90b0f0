"""Facts under audit: exact counts that move too far are named, and noise that is too small is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpsql.audit.facts import FactCounts, FactsAsked, facts_asked, likelihoods, moved_too_far, reached
from dpsql.audit.measured import loss_between
from dpsql.mechanisms.noise.laws import GaussianLaw, LaplaceLaw
from dpsql.testing_samplers import FixedSampler, Noiseless
from tests.unit.audit.policies import SMALL, WIDE, loaded

DELTA = Fraction(1, 100)
SIZE = 20_000


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[FactsAsked]:
    return facts_asked(loaded(tmp_path_factory.mktemp("facts"), SMALL), Fraction(1), DELTA)


def counts(asked: FactsAsked, present: bool, **heavy: int) -> FactCounts:
    """Histograms with 40 units in each first bin, and one more unit in its last ones."""
    listed: list[int] = []
    for tally in asked.listed:
        own = [40, *[0] * (tally.cells - 1)]
        for side in range(tally.moves):
            own[-1 - side * tally.bins] += present
        listed += own
    return FactCounts(listed, [heavy])


def measured(asked: FactsAsked, sides: tuple[FactCounts, FactCounts]) -> float:
    first, second = (likelihoods(asked, side, sides, SIZE, FixedSampler("facts")) for side in (0, 1))
    return loss_between(first, second, 1.0, float(asked.foretold.delta))


def test_they_are_asked_for_with_a_delta_where_texts_are_open(asked: Sequence[FactsAsked], tmp_path: Path) -> None:
    assert [str(one) for one in asked] == ["dpsql advise --epsilon 1", "dpsql advise --epsilon 1 --delta 0.01"]
    assert isinstance(asked[0].advice.law, LaplaceLaw)
    assert isinstance(asked[1].advice.law, GaussianLaw)
    assert [one.units for one in asked] == [1, 1]
    assert {one.units for one in facts_asked(loaded(tmp_path, WIDE), Fraction(1), DELTA)} == {2}
    assert facts_asked(loaded(tmp_path, SMALL), Fraction(1, 10**13), DELTA) == []


def test_a_unit_may_be_in_one_bin_of_each_histogram_and_no_more(asked: Sequence[FactsAsked]) -> None:
    facts = asked[0]
    without, there = counts(facts, False), counts(facts, True)
    assert list(moved_too_far(facts, there, without)) == []
    twice = FactCounts([n + (at == 1) for at, n in enumerate(there.listed)], [])
    assert list(moved_too_far(facts, twice, without)) == ["rows of visits move by 2 in all"]
    assert list(moved_too_far(facts, FactCounts(there.listed[:-1], []), without)) == [
        "what is counted hangs on the data"
    ]


def test_a_unit_may_have_one_most_frequent_value_and_no_more(asked: Sequence[FactsAsked]) -> None:
    facts = asked[1]
    one, two, three = (counts(facts, False, flu=flu, cold=cold) for flu, cold in ((3, 3), (4, 3), (4, 4)))
    assert list(moved_too_far(facts, one, two)) == []
    assert list(moved_too_far(facts, one, three)) == ["values of visits.diagnosis move by 2 in all"]


def test_what_is_charged_is_used_up_and_no_more(asked: Sequence[FactsAsked]) -> None:
    plain, texts = asked
    assert reached(plain, counts(plain, True), counts(plain, False)) == pytest.approx(1)
    assert reached(texts, counts(texts, True, flu=8), counts(texts, False, flu=7)) == pytest.approx(1)
    assert 0.5 < measured(plain, (counts(plain, True), counts(plain, False))) <= 1
    assert 0.2 < measured(texts, (counts(texts, True, flu=90), counts(texts, False, flu=89))) <= 1


def test_noise_for_fewer_histograms_is_seen(asked: Sequence[FactsAsked]) -> None:
    plain = asked[0]
    assert isinstance(plain.advice.law, LaplaceLaw)
    halved = replace(plain, advice=replace(plain.advice, law=LaplaceLaw(plain.advice.law.scale / 2)))
    sides = counts(plain, True), counts(plain, False)
    assert reached(halved, *sides) == pytest.approx(2)
    assert measured(halved, sides) > 1.2


def test_a_value_of_one_side_alone_tells_all_where_no_threshold_hides_it(asked: Sequence[FactsAsked]) -> None:
    facts = asked[1]
    sides = counts(facts, False, flu=1), counts(facts, False)
    hidden = likelihoods(facts, 0, sides, 100, FixedSampler("hidden"))
    shown = replace(facts, advice=replace(facts.advice, threshold=0))
    assert np.all(hidden == 0)
    assert np.all(likelihoods(shown, 0, sides, 100, Noiseless()) > 10**6)
    assert np.all(likelihoods(shown, 1, sides, 100, Noiseless()) == 0)
