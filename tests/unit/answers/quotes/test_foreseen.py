"""What a quote expects of columns that are computed from released numbers, and the prices that make these narrow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import pytest

import dpsql.testing
from dpsql.answers.quotes.quoted import COMPUTED, QuoteColumn
from dpsql.errors import ProgrammingError
from dpsql.mechanisms.noise.laws import LaplaceLaw
from dpsql.mechanisms.noise.weighted import reach_of_sum
from dpsql.session import Session
from tests.sql.databases import build

OVER = ": over several rows"
COUNTED = "SELECT district, COUNT(*) AS n FROM people GROUP BY district"
LAPLACE = "WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplace', epsilon = 2)"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    path = build("census", tmp_path_factory.mktemp("foreseen"))
    with dpsql.testing.open(path, dpsql.testing.Noiseless()) as opened:
        yield opened.session(analyst="ana")


def columns(session: Session, sql: str) -> dict[str, QuoteColumn]:
    return {column.name: column for column in session.explain(sql).columns}


def test_a_ratio_has_a_line_of_its_own_that_costs_nothing_and_is_as_wide_as_its_parts_make_it(session: Session) -> None:
    found = columns(
        session,
        f"SELECT {LAPLACE} 100.0 * COUNT(*) FILTER (WHERE age > 40) / COUNT(*) AS share FROM people WHERE age < 90",
    )
    assert list(found) == ["share", "share: COUNT(*) FILTER (WHERE age > 40)", "share: COUNT(*)"]
    assert (found["share"].mechanism, found["share"].loss.epsilon, found["share"].scale) == (COMPUTED, 0, None)
    each = found["share: COUNT(*)"].half_width * math.log(40) / math.log(20)  # both hold at once
    rows, older = round(500 * 90 / 110), round(500 * 90 / 110 * 0.4)  # of rows_about, by the bounds of age
    low, high = 100 * (older - each) / (rows + each), 100 * (older + each) / (rows - each)
    assert found["share"].half_width == pytest.approx((high - low) / 2)


def test_what_is_computed_in_an_outer_query_is_foretold_as_well(session: Session) -> None:
    inner = f"SELECT {LAPLACE} district, SUM(age) AS s, COUNT(*) AS n FROM people GROUP BY district"
    plain = columns(session, f"SELECT {LAPLACE} district, SUM(age) / COUNT(*) AS m FROM people GROUP BY district")
    outer = columns(session, f"WITH t AS ({inner}) SELECT district, s / n AS m FROM t")
    assert outer["m"].half_width == plain["m"].half_width


@pytest.mark.parametrize("column", ["COUNT(*) > 5", "COUNT(*)", "district"])
def test_what_is_released_or_no_number_has_no_line_of_its_own(session: Session, column: str) -> None:
    found = session.explain(f"SELECT district, {column} AS x, COUNT(*) AS n FROM people GROUP BY district")
    assert COMPUTED not in {own.mechanism for own in found.columns}


def lies(middle: float, half_width: float, at_once: int) -> tuple[float, float]:
    """Where a number lies that is released by laplace, so many at once."""
    each = half_width * math.log(20 * at_once) / math.log(20)
    return middle - each, middle + each


def reach(column: QuoteColumn, chance: float, *terms: tuple[float, int]) -> float:
    """How far a weighted sum of several numbers' noises goes: of weights, and of how many numbers have each."""
    assert column.scale is not None
    law = LaplaceLaw(Fraction(column.scale).limit_denominator(1000))
    return reach_of_sum(tuple((law, weight, count) for weight, count in terms), chance)


def share(column: QuoteColumn, groups: int, about: float) -> float:
    """Half the width of the interval of a number over the sum of several, all of them alike; both hold at once."""
    own, all_of_them = reach(column, 0.025, (1, 1)), reach(column, 0.025, (1, groups))
    total = groups * about
    return ((about + own) / (total - all_of_them) - (about - own) / (total + all_of_them)) / 2


def test_a_share_of_all_groups_and_a_difference_to_the_row_before_are_foretold(session: Session) -> None:
    """Four districts are listed, of 125 people each by the policy's guess."""
    found = columns(
        session,
        f"SELECT {LAPLACE} district, COUNT(*) / SUM(COUNT(*)) OVER () AS share, "
        "COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY district) AS more FROM people GROUP BY district",
    )
    each = found["share: COUNT(*)"]
    assert found["share"].half_width == pytest.approx(share(each, 4, 125), rel=0.02)
    assert found["more"].half_width == pytest.approx(reach(each, 0.05, (1, 2)))


def test_a_share_of_a_partition_is_of_as_many_groups_as_it_has(session: Session) -> None:
    found = columns(
        session,
        f"SELECT {LAPLACE} district, employed, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY district) AS share "
        "FROM people GROUP BY district, employed",
    )
    assert found["share"].half_width == pytest.approx(share(found["share: COUNT(*)"], 2, 500 // 8), rel=0.02)


@pytest.mark.parametrize(("function", "rows"), [("SUM", 2), ("AVG", 1)])
def test_of_partitions_of_one_and_of_two_groups_the_widest_row_is_foretold(
    session: Session, function: str, rows: int
) -> None:
    found = columns(
        session,
        f"SELECT {LAPLACE} km2 > 3 AS large, title, {function}(COUNT(*)) OVER (PARTITION BY km2 > 3) AS n "
        "FROM people JOIN districts USING (district) GROUP BY km2 > 3, title",  # two are large, one not, one is NULL
    )
    assert found["n"].half_width == pytest.approx(reach(found["n: COUNT(*)"], 0.05, (1, rows)))


def test_what_a_query_over_an_answer_sums_up_is_foretold(session: Session) -> None:
    inner = f"SELECT {LAPLACE} district, COUNT(*) AS n FROM people GROUP BY district"
    mean = columns(session, f"WITH t AS ({inner}) SELECT AVG(n) AS m FROM t")
    part = columns(session, f"WITH t AS ({inner}) SELECT district, n / (SELECT SUM(n) FROM t) AS share FROM t")
    assert mean["m"].half_width == pytest.approx(reach(mean["n"], 0.05, (1 / 4, 4)))
    assert part["share"].half_width == pytest.approx(share(part["n"], 4, 125), rel=0.02)


@pytest.mark.parametrize(
    ("window", "terms"),
    [
        ("SUM(n) OVER (ORDER BY district)", ((1, 4),)),  # the last row's
        ("SUM(n) OVER (ORDER BY district ROWS 1 PRECEDING)", ((1, 2),)),
        ("AVG(n) OVER (ORDER BY district ROWS 1 PRECEDING)", ((1, 1),)),  # the first row's
        ("AVG(n) OVER (ORDER BY district ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)", ((1 / 2, 2),)),
        ("n - AVG(n) OVER ()", ((3 / 4, 1), (1 / 4, 3))),
        ("LAG(n) OVER (ORDER BY district) - LEAD(n) OVER (ORDER BY district)", ((1, 2),)),
        ("n - LAG(n, 2) OVER (ORDER BY district) / 2", ((1, 1), (1 / 2, 1))),
    ],
)
def test_of_a_window_the_widest_row_is_foretold(
    session: Session, window: str, terms: tuple[tuple[float, int], ...]
) -> None:
    inner = f"SELECT {LAPLACE} district, COUNT(*) AS n FROM people GROUP BY district"
    found = columns(session, f"WITH t AS ({inner}) SELECT district, n, {window} AS x FROM t")
    assert found["x"].half_width == pytest.approx(reach(found["n"], 0.05, *terms), rel=1e-6)


def test_a_number_that_rows_are_grouped_by_is_read_and_the_widest_row_is_told(session: Session) -> None:
    found = columns(session, f"SELECT {LAPLACE} district, COUNT(*) * district AS d FROM people GROUP BY district")
    assert found["d"].half_width == pytest.approx(4 * found["d: COUNT(*)"].half_width)


def test_an_intercept_from_a_slope_is_foretold(session: Session) -> None:
    found = columns(session, f"SELECT {LAPLACE} AVG(income) - REGR_SLOPE(income, age) * AVG(age) AS b FROM people")
    assert found["b"].half_width > 10 * found["b: AVG(income)"].half_width


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT district, RANK() OVER (ORDER BY COUNT(*)) AS x FROM people GROUP BY district", OVER),
        ("SELECT trade, COUNT(*) / SUM(COUNT(*)) OVER () AS x FROM people GROUP BY trade", OVER),
        (f"SELECT SUM(n) FILTER (WHERE n > 125) AS x FROM ({COUNTED}) AS a", OVER),
        (f"SELECT n / km2 AS x FROM ({COUNTED}) AS a JOIN districts USING (district)", ""),
        (f"PIVOT (SELECT IF(n > 2, 'x', 'y') AS k, n FROM ({COUNTED}) a) ON k IN ('x') USING SUM(n)", OVER),
        (f"SELECT SUM(a.n) OVER (ORDER BY district) AS x FROM ({COUNTED}) a JOIN ({COUNTED}) b USING (district)", OVER),
        (f"SELECT a.n / SUM(b.n) OVER () AS x FROM ({COUNTED}) a JOIN ({COUNTED}) b USING (district)", OVER),
    ],
)
def test_what_cannot_be_foretold_has_a_line_that_says_so(session: Session, sql: str, said: str) -> None:
    quote = session.explain(sql, delta=1e-8)
    (column,) = (own for own in quote.columns if own.name == "x")
    assert (column.mechanism, column.error) == (COMPUTED, f"not foretold{said}")
    assert column.error in str(quote)
    assert not any("next to nothing" in note and note.startswith("x") for note in quote.notes)


def test_no_price_is_sought_for_a_width_that_cannot_be_foretold(session: Session) -> None:
    sql = "SELECT district, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*)) AS place FROM people GROUP BY district"
    with pytest.raises(ProgrammingError, match="No half width is foretold of 'place'"):
        session.explain(sql, half_width={"place": 1})


def test_a_ratio_of_two_answers_has_a_line_of_its_own_as_wide_as_that_within_one(session: Session) -> None:
    first, second = (
        f"SELECT {LAPLACE} district, {measured} AS n FROM people GROUP BY district"
        for measured in ("COUNT(*)", "SUM(age)")
    )
    found = columns(
        session,
        f"WITH a AS ({first}), b AS ({second}) SELECT district, b.n / a.n AS mean, a.n AS people, b.n "
        "FROM a JOIN b USING (district)",
    )
    assert list(found) == ["mean", "people", "n"]
    low, high = lies(125, found["people"].half_width, 2)
    least, most = lies(125 * 110 / 8, found["n"].half_width, 2)
    nearer = lies(125 * 110 / 64, found["n"].half_width, 2)
    widths = [(most / low - least / high) / 2, (nearer[1] / low - nearer[0] / high) / 2]
    assert found["mean"].half_width == pytest.approx(max(widths), rel=0.2)


def test_a_share_of_another_answer_stands_under_its_own_name(session: Session) -> None:
    share = (
        "SELECT district, COUNT(*) * 100.0 / (SELECT COUNT(*) FROM people WHERE age > 1) AS pct FROM people GROUP BY 1"
    )
    (pct, *others) = session.explain(share, mechanism="laplace").columns
    assert (pct.name, pct.mechanism) == ("pct", COMPUTED)
    assert pct.half_width < others[0].half_width / 100


def test_a_ratio_of_answers_whose_divisor_may_be_0_is_said(session: Session) -> None:
    quote = session.explain(
        "SELECT (SELECT COUNT(*) FROM people WHERE age > 1) / (SELECT COUNT(*) FROM people WHERE age > 9) AS r",
        epsilon=0.004,
    )
    assert any(note.startswith("r: Expected to say next to nothing") for note in quote.notes)


def test_a_divisor_that_may_be_0_at_this_price_is_said_before_the_charge(session: Session) -> None:
    ratio = "SELECT SUM(age) / COUNT(*) AS m FROM people WHERE age < 90"
    dear, cheap = (session.explain(ratio, epsilon=epsilon) for epsilon in (50, 0.005))
    assert math.isfinite(dear.columns[0].half_width)
    assert cheap.columns[0].half_width == math.inf
    said = "m: Expected to say next to nothing: by the rows and values that are guessed its interval may have no end at"
    assert [any(note.startswith(said) for note in quote.notes) for quote in (dear, cheap)] == [False, True]
    assert "± infinite" in str(cheap)
    assert any(row[0] == "m" and row[5] == math.inf for row in cheap.to_answer().rows)


def test_a_divisor_of_sums_whose_values_may_lie_near_0_is_said_before_the_charge(session: Session) -> None:
    """Bounds alone tell nothing of where values are: most reach much farther."""
    ratio = f"SELECT {LAPLACE} SUM(CASE WHEN age > 40 THEN income ELSE 0 END) / SUM(income) AS r FROM people"
    dear, middle, cheap = (session.explain(ratio.replace("2)", f"{epsilon})")) for epsilon in (10**6, 2, 0.01))
    assert not any(note.startswith("r: ") for note in dear.notes)
    assert any("its interval has no end, as where a divisor may be 0, if its values" in note for note in middle.notes)
    assert cheap.columns[0].half_width == math.inf


def test_values_are_guessed_through_what_an_argument_computes_of_them(session: Session) -> None:
    """A quarter of the way into the bounds of ln(income) is an income of 5; most are far above."""
    sql = f"SELECT {LAPLACE} exp(least(AVG(ln(greatest(income, 1))), 50)) AS g FROM people"
    found = columns(session, sql)
    each = found["g: AVG(ln(greatest(income, 1)))"].half_width
    assert found["g"].half_width == pytest.approx(200_000 / 8 * math.sinh(each), rel=0.01)


def test_a_condition_of_a_divisor_is_not_decided_by_a_guess_of_its_columns(session: Session) -> None:
    sql = "SELECT SUM(income) / SUM(CASE WHEN age > 40 THEN age ELSE 0 END) AS r FROM people"
    assert math.isfinite(
        columns(session, sql.replace("SELECT", f"SELECT {LAPLACE}").replace("2)", "50)"))["r"].half_width
    )


def test_the_least_price_is_found_for_a_computed_column(session: Session) -> None:
    ratio = f"SELECT {LAPLACE} SUM(age) / COUNT(*) AS m FROM people WHERE age < 90"
    quote = session.explain(ratio, half_width={"m": 9})
    assert 0.97 * 9 <= quote.columns[0].half_width <= 9
    assert session.explain(ratio.replace("2)", "1)"), half_width={"m": 9}).cost.epsilon == quote.cost.epsilon


def test_each_column_of_several_statements_is_made_as_narrow_as_wanted(session: Session) -> None:
    sql = f"SELECT {LAPLACE} SUM(age) / COUNT(*) AS m, COUNT(*) AS n, MAX(age) AS most FROM people WHERE age < 90"
    (own,) = session.quote([sql], half_width={"m": 9, "n": 3}).statements
    found = {column.name: column for column in own.columns}
    assert found["m"].half_width <= 9
    assert found["n"].half_width <= 3


@pytest.mark.parametrize(
    ("column", "takes"),
    [("district", "half_width takes one of: n, m."), ("nothing", "half_width takes one of: n, m.")],
)
def test_a_column_without_noise_is_refused_with_those_that_have_some(session: Session, column: str, takes: str) -> None:
    sql = "SELECT district, COUNT(*) AS n, SUM(age) / COUNT(*) AS m FROM people GROUP BY district"
    with pytest.raises(ProgrammingError, match=f"'{column}' is no number of the answer that holds noise. {takes}"):
        session.explain(sql, half_width={column: 3})


def test_UNION_says_before_the_charge_that_no_number_keeps_its_interval(session: Session) -> None:
    both = "SELECT COUNT(*) AS n FROM people UNION{} SELECT COUNT(*) AS n FROM people WHERE age > 50"
    bare = [note for note in session.explain(both.format("")).notes if "UNION ALL keeps every row" in note]
    assert bare
    assert not set(bare) & set(session.explain(both.format(" ALL")).notes)
    assert set(bare) <= set(session.query(both.format("")).notes)


def test_a_difference_that_is_lost_in_the_noise_of_its_totals_is_said_before_the_charge(session: Session) -> None:
    more = "SELECT district, COUNT(*) - LAG(COUNT(*)) OVER (ORDER BY district) AS more FROM people GROUP BY district"
    said = "more: Expected to say next to nothing: ±"
    quotes = [session.explain(more, epsilon=epsilon) for epsilon in (0.05, 50)]
    assert [any(note.startswith(said) for note in quote.notes) for quote in quotes] == [True, False]
