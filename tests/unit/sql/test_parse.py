"""Statements become syntax, or a refusal that says what, where, and what to write."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.parse import normal, parse
from dpsql.sql.syntax import (
    AllColumns,
    Call,
    CaseExpression,
    Cast,
    CreateSynthetic,
    Derived,
    Describe,
    DropTable,
    Exists,
    Explain,
    Expr,
    GroupAll,
    GroupingSets,
    InList,
    InQuery,
    IntervalLiteral,
    Item,
    JoinClause,
    Literal,
    Name,
    OrderItem,
    Parameter,
    QueryStatement,
    ScalarQuery,
    Select,
    SetOption,
    ShowBudget,
    ShowTables,
    TableName,
    Union,
)

A, B, C = Name(("a",)), Name(("b",)), Name(("c",))
ONE, TWO = Literal(1), Literal(2)


def select(text: str) -> Select:
    statement = parse(text)
    assert isinstance(statement, QueryStatement)
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
        'SELECT DISTINCT p.City AS "Town", COUNT(*) n FROM visits v JOIN other.patients AS p USING (patient_id) '
        "WHERE cost > 1 GROUP BY p.city HAVING COUNT(*) > 2 ORDER BY n DESC, 1 NULLS FIRST LIMIT 10 OFFSET ?"
    )
    count = Call("count", star=True)
    assert read == Select(
        items=(Item(Name(("p", "city")), "Town", "City"), Item(count, "n", "count_star()")),
        source=JoinClause(
            TableName(("visits",), "v"), TableName(("other", "patients"), "p"), "inner", None, ("patient_id",)
        ),
        where=Call(">", (Name(("cost",)), ONE)),
        group_by=(Name(("p", "city")),),
        having=Call(">", (count, TWO)),
        order_by=(OrderItem(Name(("n",)), True, False), OrderItem(ONE, False, True)),
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
    assert parse("drop table Ages;") == DropTable("ages")
    made = parse("create synthetic table Ages with (Method = 'tree', epsilon = 0.5) as select age from people")
    assert isinstance(made, CreateSynthetic)
    assert (made.name, made.options) == ("ages", (("method", Literal("tree")), ("epsilon", Literal(Decimal("0.5")))))
    assert parse(normal(made)) == made
    assert parse('DESCRIBE main."Visits"') == Describe(TableName(("visits",), None))
    assert parse("desc visits") == Describe(TableName(("visits",), None))
    assert parse("SET epsilon = 0.5") == SetOption("epsilon", Literal(Decimal("0.5")))
    assert parse("SET intervals = on") == SetOption("intervals", Literal("on"))
    assert parse("SET Mechanism TO laplace") == SetOption("mechanism", Literal("laplace"))
    assert parse("SET x = -3") == SetOption("x", Literal(-3))
    assert parse("SET x = -0.1234567890123456789012345678901234567") == SetOption(
        "x", Literal(Decimal("-0.1234567890123456789012345678901234567"))
    )
    for text in ("RESET epsilon", "SET epsilon = DEFAULT", "SET epsilon TO default;"):
        assert parse(text) == SetOption("epsilon", Literal(None))
    assert parse("EXPLAIN SELECT 1") == Explain(QueryStatement(Select((Item(ONE, None, ""),))))


def test_positions_after_explain_are_in_the_analysts_text() -> None:
    assert refusal("EXPLAIN\n  SELECT a, sum(b) OVER w FROM t").position == (2, 20)


@pytest.mark.parametrize(
    "text",
    """INSERT INTO t VALUES (1)|UPDATE t SET a = 1|DELETE FROM t|CREATE TABLE t (a int)|DROP VIEW t|COPY t TO 'x'
    |ATTACH 'x'|PRAGMA version|CALL f()|EXPORT DATABASE 'x'|PREPARE q AS SELECT 1|EXECUTE q|BEGIN|VACUUM|LOAD json
    |INSTALL json|USE main|CHECKPOINT|EXPLAIN ANALYZE SELECT 1|EXPLAIN INSERT INTO t SELECT 1|VALUES
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
        ("CASE WHEN a THEN 1 END", CaseExpression(None, ((A, ONE),), None)),
        ("CASE a WHEN b THEN 1 WHEN c THEN 2 ELSE a END", CaseExpression(A, ((B, ONE), (C, TWO)), A)),
        ("CAST(a AS DECIMAL(18, 3))", Cast(A, "decimal(18,3)", False)),
        ("TRY_CAST(a AS Integer)", Cast(A, "integer", True)),
        ("a::double precision", Cast(A, "double precision", False)),
        ("-a::text", Call("negate", (Cast(A, "text", False),))),
        ("EXTRACT(year FROM a)", Call("date_part", (Literal("YEAR"), A))),
        ("EXTRACT('Month' FROM a)", Call("date_part", (Literal("month"), A))),
        ("*", AllColumns(None)),
        ("t.*", AllColumns("t")),
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
        ("f(a, b ORDER BY c DESC)", Call("f", (A, B), order=(OrderItem(C, True, False),))),
        ("f(1) WITHIN GROUP (ORDER BY a)", Call("f", (ONE,), order=(OrderItem(A, False, False),), within_group=True)),
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
    assert isinstance(statement, QueryStatement)
    union = statement.select
    assert isinstance(union, Union)
    assert isinstance(union.left, Union)
    assert (union.all, union.left.all) == (False, True)
    assert [name for name, _ in union.ctes] == ["x"]


def test_joins_lean_left() -> None:
    t, u, v = TableName(("t",), None), TableName(("u",), None), TableName(("v",), "w")
    assert select("SELECT 1 FROM t LEFT JOIN u ON a CROSS JOIN v AS w").source == JoinClause(
        JoinClause(t, u, "left", A, ()), v, "cross", None, ()
    )
    assert select("SELECT 1 FROM t, u").source == JoinClause(t, u, "cross", None, ())
    assert select("SELECT 1 FROM t FULL OUTER JOIN u USING (a, b)").source == JoinClause(t, u, "full", None, ("a", "b"))


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
    assert isinstance(read.source, JoinClause)
    assert read.source.right.position == (3, 13)
    assert isinstance(read.where, InList)
    assert [value.position for value in read.where.values] == [(5, 7), (5, 10)]


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


@pytest.mark.parametrize(
    ("qualified", "bare"),
    [
        ("SELECT COUNT(*) FROM public.visits", "SELECT COUNT(*) FROM visits"),
        ('SELECT AVG(main."visits".cost) FROM Main.Visits', "SELECT AVG(visits.cost) FROM visits"),
        ("SELECT public.cost FROM visits AS public", "SELECT public.cost FROM visits AS public"),
        ("SELECT public.cities.* FROM public.cities", "SELECT cities.* FROM cities"),
        ("DESCRIBE public.visits", "DESCRIBE visits"),
    ],
)
def test_the_schema_of_all_tables_may_stand_before_a_table(qualified: str, bare: str) -> None:
    assert normal(parse(qualified)) == normal(parse(bare))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TO_DATE('2022-01-31', 'YYYY-MM-DD')", date(2022, 1, 31)),
        ("to_date('31.5.2024 23', 'DD.MM.YYYY HH24')", date(2024, 5, 31)),
        ("to_timestamp('2022-01-01 07:05:09.25', 'yyyy-mm-dd hh24:mi:ss.us')", datetime(2022, 1, 1, 7, 5, 9, 250_000)),
        ("to_timestamp('2022', 'YYYY')", datetime(2022, 1, 1)),
    ],
)
def test_constants_by_template(text: str, value: date) -> None:
    assert expression(text) == Literal(value)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("to_date('2022-13-01', 'YYYY-MM-DD')", "no such moment"),
        ("to_date('May 2022', 'Mon YYYY')", "template"),
        ("to_date('05', 'MM')", "year"),
        ("to_date('2022 2022', 'YYYY YYYY')", "once"),
        ("to_date('2022-1', 'YYYY-MM-DD')", "form of its template"),
    ],
)
def test_what_is_no_constant_by_template_is_refused(text: str, wrong: str) -> None:
    with pytest.raises(UnsupportedQuery, match=wrong):
        expression(text)
