"""What adds up released values has the interval of the sum of their noises, where these are independent."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

import dpsql
import dpsql.testing
from dpsql.answers.computed.forms import _rounded_up
from dpsql.mechanisms.noise.laws import LaplaceLaw, Law
from dpsql.mechanisms.noise.weighted import reach_of_sum
from dpsql.session import Session
from tests.sql.databases import build

LAPLACE = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace', epsilon = 1)"
COUNTED = f"SELECT {LAPLACE} district, COUNT(*) AS n FROM people GROUP BY district"
LAW = LaplaceLaw(Fraction(2))  # of one person replaced, who leaves one district for another
Terms = tuple[tuple[float, int], ...]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    with dpsql.testing.open(build("census", tmp_path_factory.mktemp("linear")), dpsql.testing.Noiseless()) as proxy:
        yield proxy.session(analyst="ana")


def half_widths(session: Session, sql: str) -> list[float | None]:
    answer = session.query(sql)
    ends = answer.interval("x")
    for value, (low, high) in zip(answer["x"], ends, strict=True):
        assert value is None or low is None or high is None or low <= value <= high
    return [None if low is None or high is None else (high - low) / 2 for low, high in ends]


def reach(*terms: tuple[float, int], chance: float = 0.05, law: Law = LAW) -> float:
    return reach_of_sum(tuple((law, weight, count) for weight, count in terms), chance)


@pytest.mark.parametrize(
    ("column", "rows"),
    [
        ("SUM(n * 1.0) OVER ()", [((1, 4),)] * 4),
        ("AVG(n) OVER ()", [((1 / 4, 4),)] * 4),
        ("AVG(n) OVER (ORDER BY district ROWS 1 PRECEDING)", [((1, 1),), *[((1 / 2, 2),)] * 3]),
        ("SUM(n / 2) OVER (ORDER BY district)", [((1 / 2, count),) for count in (1, 2, 3, 4)]),
        ("n - LAG(n) OVER (ORDER BY district) * 1.0", [None, *[((1, 2),)] * 3]),
        ("n * 1.0 - LEAD(n, 2, 7) OVER (ORDER BY district)", [((1, 2),), ((1, 2),), ((1, 1),), ((1, 1),)]),
        ("n - COALESCE(LAG(n) OVER (ORDER BY district), 0) * 1.0", [((1, 1),), *[((1, 2),)] * 3]),
        ("n * 1.0 - FIRST_VALUE(n) OVER (ORDER BY district)", [(), *[((1, 2),)] * 3]),
        ("n * 1.0 - NTH_VALUE(n, 2) OVER (ORDER BY district)", [None, (), ((1, 2),), ((1, 2),)]),
        ("n - AVG(n) OVER (PARTITION BY district < 3)", [((1 / 2, 2),)] * 4),
        ("n - (SELECT AVG(n) FROM t WHERE district < 3)", [((1 / 2, 2),)] * 2 + [((1, 1), (1 / 2, 2))] * 2),
        ("SUM(n * district) OVER () / 10.0", [((0.1, 1), (0.2, 1), (0.3, 1), (0.4, 1))] * 4),
        ("SUM(n) OVER () / COUNT(*) OVER ()", [((1 / 4, 4),)] * 4),
    ],
)
def test_a_window_has_the_noise_of_the_rows_that_it_reads(
    session: Session, column: str, rows: list[Terms | None]
) -> None:
    found = half_widths(session, f"WITH t AS ({COUNTED}) SELECT district, {column} AS x FROM t ORDER BY district")
    assert found == [None if terms is None else pytest.approx(reach(*terms), rel=1e-6) for terms in rows]


def test_whole_numbers_lie_between_whole_ones(session: Session) -> None:
    found = half_widths(session, f"WITH t AS ({COUNTED}) SELECT SUM(n) AS x FROM t")
    assert found == [int(reach((1, 4)))]


@pytest.mark.parametrize(
    ("column", "terms"),
    [
        ("SUM(n) / COUNT(*)", ((1 / 4, 4),)),
        ("AVG(n)", ((1 / 4, 4),)),
        ("AVG(n) FILTER (WHERE district = 2) - 1", ((1, 1),)),
        ("2.5 * SUM(n) - 10 * AVG(n)", ()),
    ],
)
def test_what_adds_up_an_answer_has_the_noise_of_its_rows(session: Session, column: str, terms: Terms) -> None:
    found = half_widths(session, f"WITH t AS ({COUNTED}) SELECT {column} AS x FROM t")
    assert found == [pytest.approx(reach(*terms), rel=1e-6)]


def test_a_window_of_one_stage_is_read_by_the_next(session: Session) -> None:
    before = f"SELECT district, n, LAG(n) OVER (ORDER BY district) AS p FROM ({COUNTED})"
    found = half_widths(session, f"SELECT district, (n - p) * 1.0 AS x FROM ({before}) ORDER BY district")
    assert found == [None, *[pytest.approx(reach((1, 2)), rel=1e-6)] * 3]


def test_a_window_over_windows_is_no_form(session: Session) -> None:
    """Which rows the inner one reads is asked of the answer's rows, not of those that the outer one reads."""
    before = f"SELECT district, LAG(n, 1, 0) OVER (ORDER BY district) AS p FROM ({COUNTED})"
    found = half_widths(session, f"SELECT district, SUM(p) OVER () AS x FROM ({before})")
    assert found == [None] * 4


def test_two_aggregates_of_a_row_have_independent_noises(session: Session) -> None:
    """Each has half of the price: noise of twice the scale."""
    measured = "COUNT(*) FILTER (WHERE age > 40) - 1.0 * COUNT(*) FILTER (WHERE employed)"
    found = half_widths(session, f"SELECT {LAPLACE} district, {measured} AS x FROM people GROUP BY district")
    assert found == [pytest.approx(reach((1, 2), law=LaplaceLaw(Fraction(4))), rel=1e-6)] * 4


def test_gaussian_noise_adds_up_by_its_variances(session: Session) -> None:
    priced = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'gaussian', epsilon = 1, delta = 1e-6)"
    counted = f"SELECT {priced} district, COUNT(*) AS n FROM people GROUP BY district"
    (own, *_), (mean, *_) = (half_widths(session, f"SELECT {what} AS x FROM ({counted})") for what in ("n", "AVG(n)"))
    assert own is not None
    assert mean == pytest.approx(own / 2, rel=0.05)


def test_a_share_is_a_ratio_of_two_forms(session: Session) -> None:
    answer = session.query(f"WITH t AS ({COUNTED}) SELECT district, n / SUM(n) OVER () AS x FROM t")
    counts = session.query(f"{COUNTED}")["n"]
    own, total = reach((1, 1), chance=0.025), reach((1, 4), chance=0.025)
    for n, (low, high) in zip(counts, answer.interval("x"), strict=True):
        assert low == pytest.approx((n - own) / (sum(counts) + total))
        assert high == pytest.approx((n + own) / (sum(counts) - total))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(n) OVER () AS x FROM ({}) WHERE n > -999",  # noise decides which rows there are
        "SELECT SUM(n) OVER () AS x FROM ({}) ORDER BY n LIMIT 3",
        "SELECT SUM(GREATEST(n, 0)) OVER () AS x FROM ({})",  # or how far they are moved
    ],
)
def test_where_noise_decides_more_all_values_are_taken_at_once(session: Session, sql: str) -> None:
    counted = session.query(COUNTED)
    each = min(high - low for low, high in counted.interval("n", 1 - 0.05 / 4) if low is not None and high is not None)
    assert all(own is not None and own >= 3 * each / 2 for own in half_widths(session, sql.format(COUNTED)))


def test_totals_that_are_made_to_agree_keep_intervals_of_their_own(session: Session) -> None:
    """Their noises are not independent any more."""
    counted = f"SELECT {LAPLACE} district, COUNT(*) AS n FROM people GROUP BY ROLLUP (district)"
    own = session.query(counted).interval("n", 1 - 0.05 / 5)
    (found,) = set(half_widths(session, f"SELECT SUM(n) OVER () AS x FROM ({counted})"))
    assert found == pytest.approx(sum((high - low) / 2 for low, high in own if low is not None and high is not None))


@pytest.mark.parametrize(
    ("call", "unclipped"), [("COUNT(*)", True), ("SUM(CASE WHEN hours > 79.9 THEN hours ELSE 1 END)", False)]
)
def test_clamped_counts_that_nothing_was_clipped_of_are_noised_counts(
    session: Session, call: str, unclipped: bool
) -> None:
    """Where the clamp is all that caps allow, noise is all that moves them; elsewhere each has its interval."""
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'clamped', epsilon = 8)"
    counted = f"SELECT {options} sector, {call} AS n FROM jobs GROUP BY sector"
    answer = session.query(f"WITH t AS ({counted}) SELECT n, n - LAG(n) OVER (ORDER BY sector) * 1.0 AS x FROM t")
    low, high = answer.interval("n")[1]
    less, more = answer.interval("x")[1]
    assert None not in (low, high, less, more)
    assert any("all that the policy lets it have" in note for note in answer.notes) == unclipped
    assert ((more - less) < 1.6 * (high - low)) == unclipped


def test_few_laws_serve_a_running_sum_and_reach_no_less_far() -> None:
    laws = {_rounded_up(draws) for draws in range(1, 1001)}
    assert len(laws) < 130
    assert all(draws <= _rounded_up(draws) <= draws * 17 / 16 for draws in range(1, 1001))
