"""A graphical model of noisy pairs: rows that have them all, and a refusal that names the extra where it is missing."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.mechanisms.base import Price
from dpsql.mechanisms.releases.graphical import SmallModel, graphical_rows, installed
from dpsql.mechanisms.releases.marginals import noisy_marginals, table_of
from dpsql.mechanisms.releases.payment import Payment
from dpsql.mechanisms.releases.table import plan_table
from dpsql.mechanisms.releases.workload import Wanted, default_workload
from dpsql.testing_samplers import FixedSampler
from tests.unit.mechanisms.releases.test_marginals import SIZES, chain

needs_mbi = pytest.mark.skipif(not installed(), reason="the extra synthetic is not installed")


@pytest.mark.skipif(installed(), reason="the extra synthetic is installed")
def test_without_the_extra_it_is_refused_by_name() -> None:
    domains = tuple(tuple(range(size)) for size in SIZES)
    asked = Wanted(tuple("abcd"), domains, default_workload(SIZES, (False,) * 4))
    price = Price(Fraction(1), Fraction(0))
    with pytest.raises(UnsupportedQuery, match=r"pip install '.\[synthetic\]'.* Take cells or marginals"):
        plan_table(asked, price, "add_remove", 1, "mbi")
    with pytest.raises(ImportError, match="synthetic"):
        SmallModel().candidates([], SIZES)
    assert plan_table(asked, price, "add_remove", 1, None).method != "mbi"


@needs_mbi
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_rows_have_all_pairs_that_were_chosen() -> None:
    codes, payment, sampler = chain(5000, 3), Payment("add_remove", rho=Fraction(1)), FixedSampler("model")
    released = noisy_marginals(codes, SIZES, payment, sampler, graph=SmallModel())
    assert len(released.pairs) == 5
    rows = graphical_rows(released, sampler)
    assert len(rows) == released.total
    for pair in combinations(range(4), 2):
        apart = np.abs(table_of(rows, SIZES, pair) / len(rows) - table_of(codes, SIZES, pair) / len(codes)).sum() / 2
        assert apart <= 0.03


@needs_mbi
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_pair_whose_model_is_too_large_is_no_candidate() -> None:
    sizes = (400, 400, 400, 2)
    assert set(SmallModel().candidates([(0, 1)], sizes)) == {(0, 3), (1, 3), (2, 3)}
