"""The rows of one unit make no statement fail: the largest statement of each kind that is possible is answered.

Statements are made here from their parts, what makes texts and what holds them, and each is made larger until it is
refused. The one before that is asked over one unit whose rows are the worst there may be, and over nobody.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Callable, Iterator

import duckdb
import pytest

import dpsql.testing
from dpsql.engine.dialect import Dialect, filled
from dpsql.engine.duckdb.dialect import DUCKDB
from dpsql.errors import UnsupportedQuery
from dpsql.plan.functions import FUNCTIONS, Function
from dpsql.plan.functions.patterns import NS_A_LETTER, check_escape, check_like, check_pattern, check_replacement
from dpsql.plan.types import Type
from dpsql.session import Session
from dpsql.testing import FixedSampler

LONG = 1_000  # Letters of a text, the most that are stored where the policy does not say.
POLICY = """
version: 1
name: ward
engine: {kind: duckdb, database: ward.duckdb, memory: 1GiB, deadline: 30s}
neighbours: add_remove
budget:
  ledger: ward.ledger.db
  composition: basic
  total: {epsilon: 1000, delta: 0.1}
  analysts: {eve: {epsilon: 1000, delta: 0.1}}
  per_query: {epsilon: 1, delta: 1.0e-6}
tables:
  patients:
    unit: patient
    key: patient
    rows_per_unit: 1
    rows_about: 100
    columns: {age: {type: integer, bounds: [0, 110]}}
  visits:
    unit: patient
    rows_per_unit: 12
    rows_about: 100
    columns: {note: {type: text}}
"""


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    """Over one patient whose notes are as long as they may be, each of their own, and over nobody."""
    opened = []
    for name, many in (("one", 1), ("nobody", 0)):
        folder = tmp_path_factory.mktemp(name)
        (folder / "ward.yaml").write_text(POLICY)
        with duckdb.connect(str(folder / "ward.duckdb")) as source:
            source.execute(f"CREATE TABLE patients AS SELECT 1 AS patient, 107 AS age FROM range({many})")
            source.execute(
                f"CREATE TABLE visits AS SELECT 1 AS patient, chr((97 + i)::INTEGER) || repeat('é', 5000) AS note "
                f"FROM range({20 * many}) AS t(i)"
            )
        opened.append(dpsql.testing.open(folder / "ward.yaml", FixedSampler("unit work")))
    yield opened[0].session(analyst="eve"), opened[1].session(analyst="eve")
    for proxy in opened:
        proxy.close()


def numbers(many: int, name: str) -> str:
    return f"UNNEST([{', '.join(map(str, range(many)))}]) AS {name}({name})"


def rows(many: int) -> str:
    """WITH of rows of one patient, about so many, each with another number x."""
    side = max(1, round(many ** (1 / 3)))
    lists = " CROSS JOIN ".join(numbers(side, name) for name in "abc")
    return (
        f"WITH r AS (SELECT patient, (a * 1000 + b) * 1000 + c AS x FROM patients CROSS JOIN {lists} WHERE age = 107) "
    )


TEXTS = {
    "padded": "lpad(CAST(x AS VARCHAR), 1000, 'y')",
    "wide letters": "replace(lpad(CAST(x AS VARCHAR), 1000, 'y'), 'y', '\U0001f926\U0001f926')",
    "matched": "regexp_extract(lpad(CAST(x AS VARCHAR), 1000, 'yx'), '(x?y?){90}z')",
    "short": "CAST(x AS VARCHAR)",
}
"""What is worked out of a number x, another one for each row."""
HELD = {
    "distinct": "SELECT COUNT(DISTINCT TEXT) FROM r",
    "filtered": "SELECT COUNT(*) FROM r WHERE TEXT > 'b'",
    "grouped": "SELECT TEXT AS t, COUNT(*) FROM r GROUP BY t",
    "united": f"SELECT COUNT(DISTINCT t) FROM ({' UNION ALL '.join(['SELECT patient, TEXT AS t FROM r'] * 4)}) AS u",
    "per unit": "SELECT SUM(LEAST(n, 5)) FROM (SELECT patient, COUNT(DISTINCT TEXT) AS n, MIN(TEXT) AS t FROM r "
    "GROUP BY patient) AS p",
    "made one": "SELECT COUNT(*) FROM (SELECT DISTINCT patient, TEXT AS t FROM r) AS d",
    "numbered": "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient ORDER BY TEXT) AS n FROM r) AS w "
    "WHERE n > 2",
    "joined": "SELECT COUNT(*) FROM (SELECT patient, TEXT AS t FROM r) AS q JOIN visits AS v ON q.patient = v.patient "
    "WHERE contains(v.note, q.t)",
}
"""What is done with such texts of the rows r."""
ALL = [*itertools.product(TEXTS, HELD)]
SOME = [("wide letters", "distinct"), ("padded", "united"), ("matched", "filtered"), ("short", "joined")]
"""Those that are tried each time, for they take a second each: all of what makes texts, and most of what holds them."""
OF_NUMBERS = [
    "SELECT COUNT(*) FROM r AS o WHERE NOT EXISTS (SELECT 1 FROM r AS i WHERE i.patient = o.patient "
    "AND i.x < o.x - 1000000000)",
    "SELECT COUNT(i.x) FROM r AS o LEFT JOIN r AS i ON o.patient = i.patient AND o.x + 1 < i.x * 2",
    f"SELECT {', '.join(f'COUNT(DISTINCT x + {i})' for i in range(20))} FROM r",
    "SELECT COUNT(*) FROM (SELECT x, "
    f"{', '.join(f'LAG(x) OVER (PARTITION BY patient ORDER BY x % {i}) AS y{i}' for i in range(2, 12))} FROM r) AS w "
    f"WHERE x > {' + '.join(f'y{i}' for i in range(2, 12))}",
    "SELECT COUNT(*) FROM (SELECT x, MAX(x) OVER (PARTITION BY patient ORDER BY x ROWS BETWEEN 1 FOLLOWING AND "
    "UNBOUNDED FOLLOWING) AS y FROM r) AS w WHERE x > y",
    f"SELECT COUNT(DISTINCT strftime(DATE '2020-01-01' + CAST(x % 3000 AS INTEGER), '{'%Y-%m-%d %A %B ' * 6}')) FROM r",
]
"""What needs no texts of anybody's."""
OF_NOTES = [
    "SELECT COUNT(DISTINCT note) FROM visits",
    "SELECT COUNT(DISTINCT a.note || b.note) FROM visits AS a JOIN visits AS b ON a.patient = b.patient",
    "SELECT COUNT(DISTINCT replace(note, 'é', '0123456789')) FROM visits",
    "SELECT COUNT(DISTINCT lower(a.note || b.note || c.note)) FROM visits AS a JOIN visits AS b ON "
    "a.patient = b.patient JOIN visits AS c ON c.patient = a.patient",
    "SELECT COUNT(*) FROM visits WHERE regexp_matches(note, '(chest|back) pain|[a-z]+ ache|fever')",
]


def is_possible(session: Session, sql: str) -> bool:
    try:
        session.explain(sql)
    except UnsupportedQuery as refusal:
        assert re.search("one privacy unit|one row|rows together|texts of all groups", str(refusal)), refusal
        return False
    return True


def largest(session: Session, statement: Callable[[int], str]) -> str | None:
    """The largest of a row of statements, each with four times the rows of the one before; None where none is."""
    found = None
    for power in range(12):
        if not is_possible(session, statement(4**power)):
            return found
        found = statement(4**power)
    raise AssertionError("no statement is too large")


@pytest.mark.every(2)
@pytest.mark.parametrize(
    ("text", "held"), [*SOME, *(pytest.param(*both, marks=pytest.mark.slow) for both in ALL if both not in SOME)]
)
def test_the_largest_statement_that_is_possible_is_answered(
    sessions: tuple[Session, Session], text: str, held: str
) -> None:
    one, nobody = sessions
    sql = largest(one, lambda many: rows(many) + HELD[held].replace("TEXT", TEXTS[text]))
    assert sql is not None
    for session in (one, nobody):
        session.query(sql)


@pytest.mark.every(2)
@pytest.mark.parametrize("sql", OF_NUMBERS)
def test_the_largest_statement_over_numbers_is_answered(sessions: tuple[Session, Session], sql: str) -> None:
    one, _ = sessions
    found = largest(one, lambda many: rows(many) + sql)
    assert found is not None
    one.query(found)


@pytest.mark.parametrize("sql", OF_NOTES)
def test_long_notes_of_one_patient_are_no_reason_to_fail(sessions: tuple[Session, Session], sql: str) -> None:
    for session in sessions:
        session.query(sql)


def test_a_statement_may_do_with_one_unit_only_so_much_in_all(sessions: tuple[Session, Session]) -> None:
    one, _ = sessions
    each = f"SELECT patient, {TEXTS['padded']} AS t FROM r"
    assert is_possible(one, f"{rows(6_000)}SELECT COUNT(DISTINCT t) FROM ({each}) AS u")
    assert not is_possible(one, f"{rows(6_000)}SELECT COUNT(DISTINCT t) FROM ({' UNION ALL '.join([each] * 10)}) AS u")


def test_what_guards_name_again_counts_again(sessions: tuple[Session, Session]) -> None:
    one, _ = sessions
    guarded = [f"length({TEXTS['padded']})"]
    for _ in range(7):
        guarded.append(f"(1 / {guarded[-1]})")
    sql = f"{rows(6_000)}SELECT COUNT(*) FROM r WHERE {{}} > 0"
    assert is_possible(one, sql.format(guarded[0]))
    with pytest.raises(UnsupportedQuery, match="no unit may show by the deadline"):
        one.explain(sql.format(guarded[-1]))


def test_frames_whose_first_row_moves_are_priced_by_their_rows(sessions: tuple[Session, Session]) -> None:
    """PostgreSQL looks through all of them for the largest, of each row: 5.5 s for 5,000 rows around each of 10,000."""
    one, _ = sessions
    sql = (
        "SELECT COUNT(*) FROM (SELECT x, MAX(x) OVER (PARTITION BY patient ORDER BY x {}) AS y FROM r) AS w WHERE x < y"
    )
    for frame in (
        "",
        "ROWS BETWEEN 6 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
        "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    ):
        assert is_possible(one, rows(10_000) + sql.format(frame)), frame
    for frame in (
        "ROWS BETWEEN 1 FOLLOWING AND 5000 FOLLOWING",
        "ROWS BETWEEN 3000 PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    ):
        assert not is_possible(one, rows(10_000) + sql.format(frame)), frame


def test_each_order_of_windows_is_priced(sessions: tuple[Session, Session]) -> None:
    one, _ = sessions
    for orders, possible in ((2, True), (40, False)):
        windows = ", ".join(f"RANK() OVER (PARTITION BY patient ORDER BY x % {2 + i}) AS y{i}" for i in range(orders))
        sql = f"SELECT COUNT(*) FROM (SELECT {windows} FROM r) AS w WHERE y0 < y1"
        assert is_possible(one, rows(10_000) + sql) == possible


def test_one_patient_is_in_few_of_the_groups_that_are_read(sessions: tuple[Session, Session]) -> None:
    one, _ = sessions
    assert is_possible(one, f"{rows(40_000)}SELECT x, COUNT(*) FROM r GROUP BY x")
    assert is_possible(one, f"{rows(400_000)}SELECT x % 7 AS k, COUNT(*) FROM r GROUP BY k")
    with pytest.raises(UnsupportedQuery, match="one privacy unit may be in"):
        one.explain(f"{rows(400_000)}SELECT x, COUNT(*) FROM r GROUP BY x")


# ---------------------------------------------------------------------------------------------- functions, measured

HARD: dict[object, tuple[str, ...]] = {
    check_pattern: ("(x?y?){90}z", "[xy]*x[xy]{40}z", "x*z|", "y", "[^y]+"),
    check_like: ("%" + "_" * 150 + "z%", "%x_%y_%z", "%" + "\U0001f600" * 150 + "z%"),
    check_escape: ("!",),
    check_replacement: ("\\0\\0", "q"),
}
"""Constants with which functions take long, by what is checked of them."""
OTHERS = ("y", "x" * 99 + "z", "yx" * 40)  # Other texts of up to 100 letters.
HOSTILE = (
    "repeat('yx', 500)",
    "repeat('x', 1000)",
    "repeat('é', 1000)",
    "'x' || repeat('y', 999)",
    "repeat('\U0001f600', 1000)",
)
MOST = 2_000  # Rows of such texts.
FACTOR = 10
"""So many times what is counted a function may take: a part of the thirty times of which one unit has one."""
COUNTED = 20_000_000  # Nanoseconds that are counted of the rows on which one is measured.


def calls(function: Function, words: Dialect = DUCKDB) -> Iterator[tuple[str, list[int], list[object]]]:
    """SQL of it over hostile texts, with the letters of its arguments and the constants."""
    ways: list[list[tuple[str, int, object]]] = []
    for place, kind in enumerate(function.parameters):
        check = function.constants.get(place)
        if check is not None and kind is Type.TEXT:
            texts = HARD.get(check, OTHERS) if callable(check) else tuple(check)[-1:]
            ways.append([(f"'{text}'", len(text), text) for text in texts if not callable(check) or not check(text)])
        elif kind is Type.TEXT:
            ways.append([(f"t{number}", LONG, None) for number in range(len(HOSTILE))])
        else:
            ways.append([("900", 0, 900)] if place not in function.constants else [("1", 0, 1)])
    for way in itertools.product(*ways):
        values = [value for _, _, value in way]
        if function.needs is None or place_in(function, values):
            written = [sql for sql, _, _ in way]
            yield filled(words.spelled(function.sql)[0], written), [letters for _, letters, _ in way], values


def place_in(function: Function, values: list[object]) -> bool:
    """Whether the constants fit each other; what rests on ranges is tried as it is."""
    return not any(isinstance(value, str) for value in values) or bool(function.needs and function.needs(*values))


TEXTUAL = [
    one for one in FUNCTIONS if one.parameters[:1] == (Type.TEXT,) and 0 not in one.constants and not one.variadic
]


@pytest.fixture(scope="module")
def texts() -> Iterator[duckdb.DuckDBPyConnection]:
    """A table of hostile texts, another one in each row."""
    columns = (f"right({text} || CAST(i AS VARCHAR), {LONG}) AS t{number}" for number, text in enumerate(HOSTILE))
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute(f"CREATE TABLE texts AS SELECT {', '.join(columns)} FROM range({MOST}) AS t(i)")
        yield connection


@pytest.mark.every(2)
@pytest.mark.parametrize("function", TEXTUAL, ids=lambda one: f"{one.name} {len(one.parameters)}")
def test_no_function_takes_much_longer_than_is_counted(texts: duckdb.DuckDBPyConnection, function: Function) -> None:
    for sql, letters, values in calls(function):
        counted = function.work(letters, values) if function.work else NS_A_LETTER * sum(letters)  # type: ignore[arg-type]  # values
        rows = min(MOST, COUNTED // max(counted, 1) + 1)
        most = FACTOR * max(rows * counted, COUNTED) / 10**9
        assert any(seconds(texts, sql, rows) < most for _ in range(3)), (sql, rows)  # the processor may be shared


def seconds(texts: duckdb.DuckDBPyConnection, sql: str, rows: int) -> float:
    """Of the processor, for some rows."""
    began = time.thread_time()
    texts.execute(f"SELECT max(hash({sql})) FROM (SELECT * FROM texts LIMIT {rows}) AS t")
    return time.thread_time() - began


def test_letters_that_are_looked_for_among_the_signs_of_a_constant_are_priced_by_these() -> None:
    """PostgreSQL goes through all of them for each letter: a hundred of them take it 1.8 microseconds."""
    looked_up = [one for one in TEXTUAL if one.name in ("translate", "trim", "ltrim", "rtrim") and one.parameters[1:]]
    assert len(looked_up) == 4
    for one in looked_up:
        assert one.work is not None
        assert one.work([1_000, 100, 100], ["", "b" * 100, ""]) >= 1_800_000
        assert one.work([1_000, 1, 1], ["", "b", ""]) < 100_000
