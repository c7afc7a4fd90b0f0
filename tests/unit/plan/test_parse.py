"""Statements become syntax, or a refusal that says what, where, and what to write."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.plan.parse import normal, parse
from dpsql.plan.syntax import (
    Call,
    Case,
    Cast,
    Derived,
    Describe,
    Exists,
    Explain,
    Expr,
    GroupAll,
    GroupingSets,
    InList,
    InQuery,
    IntervalLiteral,
    Item,
    Join,
    Literal,
    Name,
    Order,
    Parameter,
    Query,
    ScalarQuery,
    Select,
    SetOption,
    ShowBudget,
    ShowTables,
    Star,
    TableName,
    Union,
)

A, B, C = Name(("a",)), Name(("b",)), Name(("c",))
ONE, TWO = Literal(1), Literal(2)


def select(text: str) -> Select:
    statement = parse(text)
    assert isinstance(statement, Query)
    assert isinstance(statement.select, Select)
    return statement.select


def expression(text: str) -> Expr:
    (item,) = select(f"SELECT {text}").items
    return item.expression


def refusal(text: str) -> UnsupportedQuery:
    with pytest.raises(UnsupportedQuery) as caught:
        parse(text)
    return caught.value


def negation(operand: Expr) -> Call:
    return Call("not", (operand,))


# Statements


def test_a_whole_query_keeps_every_clause() -> None:
    read = select(
        'SELECT DISTINCT p.City AS "Town", COUNT(*) n FROM visits v JOIN main.patients AS p USING (patient_id) '
        "WHERE cost > 1 GROUP BY p.city HAVING COUNT(*) > 2 ORDER BY n DESC, 1 NULLS FIRST LIMIT 10 OFFSET ?"
    )
    count = Call("count", star=True)
    assert read == Select(
        items=(Item(Name(("p", "city")), "Town", "City"), Item(count, "n", "count_star()")),
        source=Join(TableName(("visits",), "v"), TableName(("main", "patients"), "p"), "inner", None, ("patient_id",)),
        where=Call(">", (Name(("cost",)), ONE)),
        group_by=(Name(("p", "city")),),
        having=Call(">", (count, TWO)),
        order_by=(Order(Name(("n",)), True, False), Order(ONE, False, True)),
        limit=10,
        offset=Parameter(0),
        distinct=True,
    )


def test_options_belong_to_their_own_select() -> None:
    read = select(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, strategy = PUBLIC_GROUPS, scale = (1, 2), delta = ?) "
        "DISTINCT a FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rho = 1e-3) b FROM t)"
    )
    assert read.distinct
    assert [item.expression for item in read.items] == [A]
    assert read.options == (
        ("epsilon", Literal(Decimal("0.5"))),
        ("strategy", Name(("public_groups",))),
        ("scale", Call("row", (ONE, TWO))),
        ("delta", Parameter(0)),
    )
    assert isinstance(read.source, Derived)
    assert isinstance(read.source.query, Select)
    assert read.source.query.options == (("rho", Literal(Decimal("0.001"))),)


def test_a_select_without_options_has_none() -> None:
    assert select("SELECT a").options is None


@pytest.mark.parametrize(
    "text", ["OPTIONS (epsilon 0.5)", "OPTIONS ()", "OPTIONS", "OPTIONS (0.5)", "OPTIONS (a = 1, A = 2)"]
)
def test_broken_options_are_refused(text: str) -> None:
    assert refusal(f"SELECT WITH DIFFERENTIAL_PRIVACY {text} a FROM t").position


def test_the_other_statements() -> None:
    assert parse("show Budget;") == ShowBudget()
    assert parse("SHOW TABLES") == ShowTables()
    assert parse('DESCRIBE main."Visits"') == Describe(TableName(("main", "visits"), None))
    assert parse("desc visits") == Describe(TableName(("visits",), None))
    assert parse("SET epsilon = 0.5") == SetOption("epsilon", Literal(Decimal("0.5")))
    assert parse("SET Mechanism TO laplace") == SetOption("mechanism", Literal("laplace"))
    assert parse("SET x = -3") == SetOption("x", Literal(-3))
    assert parse("SET x = -0.1234567890123456789012345678901234567") == SetOption(
        "x", Literal(Decimal("-0.1234567890123456789012345678901234567"))
    )
    assert parse("RESET epsilon") == SetOption("epsilon", Literal(None))
    assert parse("EXPLAIN SELECT 1") == Explain(Query(Select((Item(ONE, None, ""),))))


def test_positions_after_explain_are_in_the_analysts_text() -> None:
    assert refusal("EXPLAIN\n  SELECT a, sum(b) OVER () FROM t").position == (2, 20)


@pytest.mark.parametrize(
    "text",
    """INSERT INTO t VALUES (1)|UPDATE t SET a = 1|DELETE FROM t|CREATE TABLE t (a int)|DROP TABLE t|COPY t TO 'x'
    |ATTACH 'x'|PRAGMA version|CALL f()|EXPORT DATABASE 'x'|PREPARE q AS SELECT 1|EXECUTE q|BEGIN|VACUUM|LOAD json
    |INSTALL json|USE main|CHECKPOINT|EXPLAIN ANALYZE SELECT 1|EXPLAIN INSERT INTO t SELECT 1|FROM t|VALUES (1)
    |PIVOT t ON a|SUMMARIZE t|TABLE t|SHOW visits|SHOW ALL TABLES|DESCRIBE SELECT 1|DESCRIBE|DESCRIBE a.|DESCRIBE a b
    |SET epsilon|SET epsilon = 1 + 1|SET SESSION x = 1|RESET|RESET a b|SET VARIABLE x = 1|17|'a'|"select" a
    |?|)""".split("|"),
)
def test_everything_else_is_refused_where_it_stands(text: str) -> None:
    error = refusal(text.strip())
    assert error.position is not None
    assert error.position[0] == 1
    assert error.hint


@pytest.mark.parametrize("text", ["", " ", ";", "-- nothing", "/* */ ;;"])
def test_nothing_is_refused(text: str) -> None:
    assert refusal(text).construct == "statement"


def test_a_second_statement_is_refused() -> None:
    error = refusal("SELECT 1; SELECT 2")
    assert (error.construct, error.position) == ("second statement", (1, 9))
    assert parse("SELECT 1 ;") == parse("SELECT 1")


# Expressions


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a.b.c", Name(("a", "b", "c"))),
        ('"A b".C', Name(("a b", "c"))),
        ("1.50", Literal(Decimal("1.5"))),
        ("'it''s'", Literal("it's")),
        ("NULL", Literal(None)),
        ("TRUE", Literal(True)),
        ("DATE '2024-02-29'", Literal(date(2024, 2, 29))),
        ("TIMESTAMP '2024-02-29 01:02'", Literal(datetime(2024, 2, 29, 1, 2))),
        ("INTERVAL '3' DAY", IntervalLiteral(3, "day")),
        ("INTERVAL 3 DAYS", IntervalLiteral(3, "day")),
        ("INTERVAL '-3 months'", IntervalLiteral(-3, "month")),
        ("a + b * c", Call("+", (A, Call("*", (B, C))))),
        ("a - b - c", Call("-", (Call("-", (A, B)), C))),
        ("a // b % c", Call("%", (Call("//", (A, B)), C))),
        ("a || b", Call("||", (A, B))),
        ("-a", Call("negate", (A,))),
        ("a != b", Call("<>", (A, B))),
        ("a == b", Call("=", (A, B))),
        ("NOT a AND b OR c", Call("or", (Call("and", (negation(A), B)), C))),
        ("a BETWEEN 1 AND 2", Call("and", (Call(">=", (A, ONE)), Call("<=", (A, TWO))))),
        ("a NOT BETWEEN 1 AND 2", negation(Call("and", (Call(">=", (A, ONE)), Call("<=", (A, TWO)))))),
        ("a IS NULL", Call("is_null", (A,))),
        ("a IS NOT NULL", negation(Call("is_null", (A,)))),
        ("a IS TRUE", negation(Call("is_distinct_from", (A, Literal(True))))),
        ("a IS NOT FALSE", Call("is_distinct_from", (A, Literal(False)))),
        ("a IS DISTINCT FROM b", Call("is_distinct_from", (A, B))),
        ("a IS NOT DISTINCT FROM b", negation(Call("is_distinct_from", (A, B)))),
        ("a LIKE 'x%'", Call("like", (A, Literal("x%")))),
        ("a NOT ILIKE 'x%'", negation(Call("ilike", (A, Literal("x%"))))),
        ("a IN (1, 2)", InList(A, (ONE, TWO), False)),
        ("a NOT IN (1)", InList(A, (ONE,), True)),
        ("NOT a IN (1)", InList(A, (ONE,), True)),
        ("(a, b)", Call("row", (A, B))),
        ("CASE WHEN a THEN 1 END", Case(None, ((A, ONE),), None)),
        ("CASE a WHEN b THEN 1 WHEN c THEN 2 ELSE a END", Case(A, ((B, ONE), (C, TWO)), A)),
        ("CAST(a AS DECIMAL(18, 3))", Cast(A, "decimal(18,3)", False)),
        ("TRY_CAST(a AS Integer)", Cast(A, "integer", True)),
        ("a::double precision", Cast(A, "double precision", False)),
        ("-a::text", Call("negate", (Cast(A, "text", False),))),
        ("EXTRACT(year FROM a)", Call("date_part", (Literal("year"), A))),
        ("EXTRACT('Month' FROM a)", Call("date_part", (Literal("month"), A))),
        ("*", Star(None)),
        ("t.*", Star("t")),
    ],
)
def test_expressions(text: str, tree: Expr) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("COUNT(*)", Call("count", star=True)),
        ("COUNT(ALL a)", Call("count", (A,))),
        ("Sum(a)", Call("sum", (A,))),
        ("count(DISTINCT a)", Call("count", (A,), distinct=True)),
        ("COUNT(*, epsilon => 1)", Call("count", star=True, named=(("epsilon", ONE),))),
        ("COUNT(DISTINCT a, epsilon => 1)", Call("count", (A,), (("epsilon", ONE),), distinct=True)),
        (
            "SUM(a, Bounds => (1, 2), b => -1)",
            Call("sum", (A,), (("bounds", Call("row", (ONE, TWO))), ("b", Call("negate", (ONE,))))),
        ),
        ("f(x => g(a, y => 1))", Call("f", (), (("x", Call("g", (A,), (("y", ONE),))),))),
        ("sum(a) FILTER (WHERE b)", Call("sum", (A,), where=B)),
        ("f(a, b ORDER BY c DESC)", Call("f", (A, B), order=(Order(C, True, False),))),
        ("f(1) WITHIN GROUP (ORDER BY a)", Call("f", (ONE,), order=(Order(A, False, False),), within_group=True)),
        ("left(a, 1)", Call("left", (A, ONE))),
        ("if(a, 1, 2)", Call("if", (A, ONE, TWO))),
        ("now_and_then()", Call("now_and_then")),
    ],
)
def test_calls_keep_all_that_was_written(text: str, tree: Call) -> None:
    assert expression(text) == tree


def test_parameters_count_in_the_order_of_the_text() -> None:
    read = select("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = ?) f(?) FROM t WHERE a = ? LIMIT ?")
    assert read.options == (("epsilon", Parameter(0)),)
    assert read.items[0].expression == Call("f", (Parameter(1),))
    assert read.limit == Parameter(3)
    assert expression("f($2, $1)") == Call("f", (Parameter(1), Parameter(0)))
    assert refusal("SELECT ?, $1").construct == "parameter"
    assert refusal("SELECT $0").construct == "parameter"


def test_sub_queries() -> None:
    inner = Select((Item(ONE, None, "1"),))
    assert expression("(SELECT 1)") == ScalarQuery(inner)
    assert expression("((SELECT 1))") == ScalarQuery(inner)
    assert expression("a NOT IN (SELECT 1)") == InQuery(A, inner, True)
    assert expression("NOT EXISTS (SELECT 1)") == Exists(inner, True)
    assert select("WITH x AS (SELECT 1) SELECT a FROM x").ctes == (("x", inner),)


def test_unions_lean_left_and_keep_their_ctes() -> None:
    statement = parse("WITH x AS (SELECT 1) SELECT a FROM x UNION ALL SELECT b UNION (SELECT c)")
    assert isinstance(statement, Query)
    union = statement.select
    assert isinstance(union, Union)
    assert isinstance(union.left, Union)
    assert (union.all, union.left.all) == (False, True)
    assert [name for name, _ in union.ctes] == ["x"]


def test_joins_lean_left() -> None:
    t, u, v = TableName(("t",), None), TableName(("u",), None), TableName(("v",), "w")
    assert select("SELECT 1 FROM t LEFT JOIN u ON a CROSS JOIN v AS w").source == Join(
        Join(t, u, "left", A, ()), v, "cross", None, ()
    )
    assert select("SELECT 1 FROM t, u").source == Join(t, u, "cross", None, ())
    assert select("SELECT 1 FROM t FULL OUTER JOIN u USING (a, b)").source == Join(t, u, "full", None, ("a", "b"))


def test_grouping_sets_are_multiplied_out() -> None:
    assert select("SELECT 1 FROM t GROUP BY ALL").group_by == GroupAll()
    assert select("SELECT 1 FROM t GROUP BY a, ROLLUP (b, c)").group_by == GroupingSets(((A, B, C), (A, B), (A,)))
    assert select("SELECT 1 FROM t GROUP BY CUBE (a, b)").group_by == GroupingSets(((A, B), (A,), (B,), ()))
    assert select("SELECT 1 FROM t GROUP BY GROUPING SETS ((a, b), c, ())").group_by == GroupingSets(((A, B), (C,), ()))


def test_every_node_knows_its_place() -> None:
    read = select("SELECT\n  SUM(x) + 1\nFROM t JOIN u ON t.i = u.i\nWHERE a\n  IN (1, 'b')")
    assert read.position == (1, 1)
    assert read.items[0].position == (2, 3)
    assert read.items[0].expression.position == (2, 3)
    assert isinstance(read.source, Join)
    assert read.source.right.position == (3, 13)
    assert isinstance(read.where, InList)
    assert [value.position for value in read.where.values] == [(5, 7), (5, 10)]


# Refusals


@pytest.mark.parametrize(
    ("text", "construct", "column"),
    [
        ("SELECT sum(a) OVER () FROM t", "window function", 15),
        ("SELECT a FROM t WINDOW w AS ()", "window function", 17),
        ("SELECT a FROM t QUALIFY a > 1", "QUALIFY", 17),
        ("SELECT a FROM t TABLESAMPLE 10", "TABLESAMPLE", 17),
        ("SELECT a FROM t USING SAMPLE 10", "USING", 17),
        ("SELECT a FROM t PIVOT (sum(a) FOR b IN (1))", "PIVOT", 17),
        ("SELECT a INTO leak FROM t", "SELECT INTO", 10),
        ("SELECT a FROM t FOR UPDATE", "FOR", 17),
        ("SELECT a COLLATE nocase FROM t", "COLLATE", 10),
        ("SELECT max(COLLATE(city, 'x, (SELECT 1)')) FROM t", "COLLATE", 12),
        ("SELECT a LIKE 'x' ESCAPE 'y'", "ESCAPE", 19),
        ("SELECT a SIMILAR TO 'x'", "SIMILAR TO", 10),
        ("SELECT a GLOB 'x'", "GLOB", 10),
        ("SELECT a ISNULL", "ISNULL", 10),
        ("SELECT a = ANY (SELECT 1)", "ANY", 12),
        ("SELECT a = ALL (SELECT 1)", "ALL", 12),
        ("SELECT ARRAY(SELECT 1)", "ARRAY", 8),
        ("SELECT lambda x: 1", ":", 16),
        ("SELECT a AT TIME ZONE 'UTC'", "AT", 10),
        ("SELECT current_date", "CURRENT_DATE", 8),
        ("SELECT now()", "now", 8),
        ("SELECT a FROM t FETCH FIRST 1 ROW ONLY", "FETCH", 17),
        ("SELECT a FROM t INTERSECT SELECT 1", "INTERSECT", 17),
        ("SELECT a FROM t EXCEPT SELECT 1", "EXCEPT", 17),
        ("WITH RECURSIVE x AS (SELECT 1) SELECT 1", "WITH RECURSIVE", 6),
        ("SELECT a FROM t, LATERAL (SELECT 1)", "LATERAL", 18),
        ("SELECT a FROM t ASOF JOIN u ON a", "ASOF JOIN", 17),
        ("SELECT a FROM t POSITIONAL JOIN u", "POSITIONAL JOIN", 17),
        ("SELECT a FROM t SEMI JOIN u ON a", "SEMI JOIN", 17),
        ("SELECT a FROM t ANTI JOIN u ON a", "ANTI JOIN", 17),
        ("SELECT a FROM t NATURAL JOIN u", "NATURAL JOIN", 17),
        ("SELECT a FROM (VALUES (1)) t", "VALUES", 16),
        ("SELECT a FROM read_csv('/etc/passwd')", "table function", 15),
        ("SELECT a FROM 'x.csv'", "file as a table", 15),
        ("SELECT a FROM (t JOIN u ON a)", "JOIN in parentheses", 18),
        ("SELECT a FROM (FROM t)", "FROM-first query", 16),
        ("SELECT COLUMNS('x') FROM t", "COLUMNS", 8),
        ("SELECT * EXCLUDE (a) FROM t", "* EXCLUDE", 10),
        ("SELECT * REPLACE (1 AS a) FROM t", "* REPLACE", 10),
        ("SELECT DISTINCT ON (a) b FROM t", "DISTINCT ON", 8),
        ("SELECT a FROM t ORDER BY ALL", "ORDER BY ALL", 26),
        ("SELECT a FROM t UNION SELECT b ORDER BY 1", "ORDER of a UNION", 41),
        ('SELECT "sum"(x) FROM t', "quoted name before a parenthesis", 8),
        ("SELECT x.lower() FROM t", "function behind a point", 10),
        ("SELECT 'a' 'b'", "value after value", 12),
        ("SELECT f('a' 'b')", "value after value", 14),
        ("SELECT a 'x' FROM t", "value after value", 10),
        ("SELECT e'x'", "value after value", 9),
        ("SELECT COUNT(*) EXPORT_STATE FROM t", "EXPORT_STATE", 17),
        ("SELECT a year FROM t", "YEAR", 10),
        ("SELECT a FROM t JOIN u USING (t.v)", "syntax", 31),
        ("SELECT (42,)", ")", 12),
        ("SELECT f(, 1)", ",", 10),
        ("SELECT a, FROM t", "FROM", 11),
        ("SELECT a AS FROM t", "FROM", 13),
        ("SELECT +a", "+", 8),
        ("SELECT a BETWEEN 1 2 AND 3", "value after value", 20),
        ("SELECT a < b < c", "comparison of a comparison", 8),
        ("SELECT a = NOT b", "comparison of a comparison", 16),
        ("SELECT a IS DISTINCT FROM b < c", "comparison of a comparison", 27),
        ("SELECT a FROM t LIMIT 5, 3", ", after LIMIT", 24),
        ("SELECT a FROM t WHERE a, b", ", after WHERE", 24),
        ("SELECT a FROM t GROUP BY a HAVING a, b", ", after HAVING", 36),
        ("SELECT a ORDER BY 1 UNION SELECT b", "UNION after ORDER", 21),
        ("SELECT a ORDER BY a ASC DESC", "DESC", 25),
        ("SELECT a IS NULL::int", "::", 17),
        ("SELECT extract(union FROM a)", "EXTRACT", 8),
        ("SELECT a::precision", "type", 11),
        ("SELECT a FROM t LIMIT 1 + 1", "LIMIT", 23),
        ("SELECT a FROM t LIMIT 1 WHERE a", "WHERE", 25),
        ("SELECT a FROM t WHERE a JOIN u ON b", "JOIN", 25),
        ("SELECT a FROM t, u JOIN v ON a", "comma and JOIN in one FROM", 15),
        ("SELECT a FROM t JOIN u", "INNER JOIN", 22),
        ("SELECT a FROM t AS x(b)", "TABLE ALIAS with COLUMNS", 20),
        ("WITH x(b) AS (SELECT 1) SELECT 1", "TABLE ALIAS with COLUMNS", 6),
        ("SELECT f(*, a)", "* in a function", 8),
        ("SELECT f(DISTINCT *)", "* in a function", 8),
        ("SELECT f(x => 1, a)", "argument after a named one", 18),
        ("SELECT f(x => 1, X => 2)", "x twice", 18),
        ("SELECT x => 1", "=>", 10),
        ("SELECT * AS a FROM t", "alias of *", 8),
        ("SELECT a FROM t GROUP BY (a, b)", "tuple in GROUP BY", 27),
        ("SELECT CAST(a AS TIMESTAMP WITH TIME ZONE)", "time zone", 18),
        ("SELECT TIMESTAMPTZ '2024-01-01'", "value after value", 20),
        ("SELECT INTERVAL (a) DAY", "INTERVAL", 8),
        ("SELECT DATE '2024-06-01' + INTERVAL '2 months ago'", "INTERVAL", 28),
        ("SELECT position('a' IN b)", "POSITION", 8),
        ("SELECT substring(a FROM 2)", "FROM", 20),
        ("SELECT int(a)", "INT", 8),
        ("SELECT negate(a)", "negate", 8),
        ("SELECT", "SELECT", 1),
        ("SELECT FROM t", "SELECT", 8),
        ("SELECT (a FROM t", "FROM", 11),
        ("SELECT a)", ")", 9),
        ("SELECT a FROM t WHERE", "the end of the statement", 17),
        ("SELECT a FROM t GROUP BY", "the end of the statement", 23),
    ],
)
def test_what_the_dialect_lacks_is_refused_in_sql_words(text: str, construct: str, column: int) -> None:
    error = refusal(text)
    assert (error.construct, error.position) == (construct, (1, column))
    assert error.hint


def test_nothing_escapes_to_the_terminal() -> None:
    for text in ("SELECT a b c d", "SELECT CASE a END", "SELECT a FROM t GROUP a", "SELECT f(a b)"):
        message = str(refusal(text))
        assert "\x1b" not in message
        assert "Line" not in message


@pytest.mark.parametrize(
    "nest", ["({})", "f({})", "(SELECT {})", "CASE WHEN a THEN {} END", "a IN (SELECT {})", "(a + {})"]
)
def test_thirty_levels_are_read_and_one_more_is_refused(nest: str) -> None:
    def nested(levels: int) -> str:
        text = "a"
        for _ in range(levels):
            text = nest.format(text)
        return f"SELECT {text} FROM t"

    parse(nested(30))
    assert refusal(nested(31)).construct == "nesting"


@pytest.mark.parametrize("chain", [" + a", " OR a = 1", " AND a", " UNION SELECT a"])
def test_long_chains_are_refused(chain: str) -> None:
    parse("SELECT a" + chain * 90)
    assert refusal("SELECT a" + chain * 300).construct == "nesting"


@pytest.mark.parametrize("prefix", ["NOT ", "- "])
def test_long_prefixes_are_refused(prefix: str) -> None:
    assert refusal("SELECT " + prefix * 900 + "a").construct == "nesting"


def test_nested_betweens_cannot_grow_without_end() -> None:
    text = "a"
    for _ in range(25):
        text = f"f({text} BETWEEN 1 AND 2)"
    assert refusal(f"SELECT {text}").construct == "BETWEEN of a BETWEEN"
    text = "a"
    for _ in range(25):
        text = f"f(1 BETWEEN {text} AND 2)"
    parse(f"SELECT {text}")


# The differences between readers that were found and confirmed


def test_a_number_with_an_exponent_ends_before_the_sign() -> None:
    ten = Literal(Decimal(10))
    assert expression("1e1+1e1") == Call("+", (ten, ten))


def test_strings_and_columns_stay_what_they_are_in_every_argument() -> None:
    assert expression("time_bucket(a, b, 'c')") == Call("time_bucket", (A, B, Literal("c")))
    assert expression("date_trunc(a, b)") == Call("date_trunc", (A, B))


@pytest.mark.parametrize(
    "text",
    [
        "regexp_extract(a, 'z', 0, 'k')",
        "regexp_replace(a, 'x', '', 'l')",
        "quantile_cont(a, .5, .9)",
        "ltrim(a, 'b', 'c')",
        "approx_quantile(a, .1, .2)",
        "struct_pack(a => 1)",
        "reduce(a, b, 100)",
        "decode(a, 'replace')",
        "bool_or(a)",
    ],
)
def test_no_argument_of_any_function_is_lost(text: str) -> None:
    call = expression(text)
    assert isinstance(call, Call)
    assert len(call.arguments) + len(call.named) == text.count(",") + 1


def test_casts_of_typed_constants_keep_both_types() -> None:
    assert expression("TIMESTAMP '2024-01-01'::VARCHAR") == Cast(Literal(datetime(2024, 1, 1)), "varchar", False)
    assert expression("DATE '2024-01-01'::TIMESTAMP") == Cast(Literal(date(2024, 1, 1)), "timestamp", False)


# The canonical text


def test_normal_forgets_spelling_alone() -> None:
    one = parse("select Sum( COST ) as N from Visits where a!=1.50 -- mine")
    two = parse('SELECT sum("cost") "N"\nFROM "visits" /* yours */ WHERE a <> 1.5')
    assert normal(one) == normal(two)
    assert normal(parse("SELECT sum(cost) AS n FROM visits WHERE a <> 1.5")) != normal(one)  # another column name


@pytest.mark.parametrize(
    "pair",
    [
        ("SELECT 'a'", "SELECT a"),
        ("SELECT 1", "SELECT 1.0"),
        ("SELECT 1", "SELECT '1'"),
        ("SELECT 1", "SELECT TRUE"),
        ("SELECT DATE '2024-01-01'", "SELECT TIMESTAMP '2024-01-01'"),
        ("SELECT DATE '2024-01-01'", "SELECT '2024-01-01'"),
        ("SELECT a - (b - c)", "SELECT a - b - c"),
        ("SELECT f(a, x => 1)", "SELECT f(a, y => 1)"),
        ("SELECT f(DISTINCT a)", "SELECT f(a)"),
        ("SELECT a FROM t, u", "SELECT a FROM u, t"),
        ("SELECT a FROM t UNION SELECT b", "SELECT a FROM t UNION ALL SELECT b"),
        ("SELECT 'a''b'", "SELECT 'a' || 'b'"),
        ("SELECT ?", "SELECT 1"),
        ("SELECT a", "EXPLAIN SELECT a"),
    ],
)
def test_normal_tells_different_statements_apart(pair: tuple[str, str]) -> None:
    assert normal(parse(pair[0])) != normal(parse(pair[1]))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, scale = (0.1, 100)) DISTINCT p.city AS x FROM v p",
        "SELECT COUNT(*, epsilon => 0.1), SUM(DISTINCT a) FILTER (WHERE b), f(a ORDER BY b DESC NULLS FIRST)",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM t GROUP BY GROUPING SETS ((a), (a, b), ())",
        "WITH x AS (SELECT 1) SELECT a FROM x UNION (SELECT b UNION ALL SELECT c)",
        "SELECT CASE a WHEN 1 THEN 2 ELSE 3 END, CASE WHEN a THEN 1 END, a::decimal(3,1), TRY_CAST(b AS date)",
        "SELECT a FROM t LEFT JOIN u ON a = b CROSS JOIN v FULL JOIN w USING (a, b) WHERE NOT EXISTS (SELECT 1)",
        "SELECT INTERVAL '-3' DAY, DATE '2024-01-01', TIMESTAMP '2024-01-01 00:00:00.5', 1e300, -0.5, NULL, 'it''s', ?",
        'SELECT "a""b", t.* FROM "x y"."z" AS "Q" ORDER BY 1 LIMIT 3 OFFSET 4',
        "EXPLAIN SELECT a",
        "SET x = 'it''s'",
        "DESCRIBE a.b",
    ],
)
def test_normal_reads_back_as_the_same_statement(text: str) -> None:
    statement = parse(text)
    again = normal(statement)
    assert normal(parse(again)) == again
