"""Whatever is typed becomes a statement or a refusal; and what is accepted means to us what it means to DuckDB.

DuckDB's own parser is the judge: it must accept what we accept, and find the same tree in the analyst's text and in
our canonical one, where every operator has its parentheses.
"""

from __future__ import annotations

import json
import random
import re
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpsql.errors import UnsupportedQuery
from dpsql.sql.keywords import COLUMN_ONLY, FUNCTION_ONLY, KEYWORDS, NEEDS_AS, RESERVED
from dpsql.sql.parse import normal, parse
from dpsql.sql.rewording.warehouses import as_here
from dpsql.sql.syntax import Call, Literal, Name, QueryStatement, Select, Statement
from tests.unit.sql.mutating import WORDS, mutated

MANY = 5 * settings().max_examples // 2  # 50 in `make test`, 250 in `make test-slow`
SETTINGS = settings(max_examples=MANY, deadline=None, suppress_health_check=list(HealthCheck))

CONNECTION = duckdb.connect()

CORPUS = (
    "SELECT a, b AS c, count(*) n FROM t AS x LEFT JOIN u ON t.a = u.b WHERE a > 1 AND b IN (1, 2) GROUP BY a, b "
    "HAVING count(*) > 2 ORDER BY a DESC NULLS LAST, 2 LIMIT 10 OFFSET 2",
    "WITH x AS (SELECT a FROM t), y AS (SELECT b FROM u) SELECT x.a FROM x CROSS JOIN y FULL OUTER JOIN z USING (a, b) "
    "WHERE EXISTS (SELECT 1 FROM w) AND a BETWEEN 1 AND 2 OR NOT b LIKE 'x'",
    "SELECT DISTINCT sum(a, z => 1) FILTER (WHERE a > 1), f(a ORDER BY b), CASE a WHEN 1 THEN 2 ELSE 3 END "
    "FROM (SELECT a FROM t UNION ALL SELECT b FROM u) q GROUP BY ALL",
    "SELECT a::int, CAST(b AS varchar), x.y.z, -a, a || b FROM s.t a, u b "
    "WHERE a.x IS NOT NULL AND (a, b) IN (SELECT 1, 2)",
    "SELECT mode() WITHIN GROUP (ORDER BY x) FROM t GROUP BY GROUPING SETS ((a), (a, b), ())",
    "SELECT a IS TRUE, a IS NOT DISTINCT FROM b, extract(year FROM d), left(a, 1) FROM t WHERE NOT EXISTS (SELECT ?)",
    "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = ?) COUNT(DISTINCT a, epsilon => 1) FROM t",
)


def read(text: str) -> Statement | None:
    """The statement, or None for a refusal, which must be in order."""
    try:
        return parse(text)
    except UnsupportedQuery as error:
        message = str(error)
        assert error.construct
        assert error.hint
        assert message.isprintable()
        lines = text.split("\n")
        if error.position is not None:
            line, column = error.position
            assert 1 <= column <= len(lines[line - 1]) + 1
        return None


# DuckDB as the judge


def duckdb_trees(*texts: str) -> list[Any]:
    """DuckDB's tree of each SELECT, brought to the forms that our syntax knows; None where DuckDB refuses."""
    row = CONNECTION.execute("SELECT list_transform(?, lambda x: json_serialize_sql(x))", [texts]).fetchone()
    assert row is not None
    trees = [json.loads(tree) for tree in row[0]]
    return [None if tree["error"] else plain(tree["statements"]) for tree in trees]


def plain(node: Any) -> Any:
    """The node without places, letter case and what we write in another way."""
    if isinstance(node, list):
        return [plain(part) for part in node]
    if isinstance(node, str):
        defaults = {"nulls last": "order_default", "ascending": "order_default"}
        return defaults.get(node.lower(), node.lower())
    if not isinstance(node, dict):
        return node
    places = ("query_location", "query_location_length", "alias", "is_implicit")
    node = {slot: plain(value) for slot, value in node.items() if slot not in places}
    match node:
        case {"type": "operator_is_not_null"}:
            return negated(node | {"type": "operator_is_null"})
        case {"function_name": "!~~" | "!~~*" as name}:
            return negated(node | {"function_name": name[1:], "qualified_name": {"path": [name[1:]]}})
        case {"type": "compare_between", "input": operand, "lower": low, "upper": high}:
            above = {"class": "comparison", "type": "compare_greaterthanorequalto", "left": operand, "right": low}
            below = {"class": "comparison", "type": "compare_lessthanorequalto", "left": operand, "right": high}
            return flat({"class": "conjunction", "type": "conjunction_and", "children": [above, below]})
        case {"type": "compare_distinct_from" | "compare_not_distinct_from" as name}:
            if node["right"].get("literal", {}).get("kind") == "boolean":  # IS TRUE casts its operand to BOOLEAN
                cast = node["left"].get("type_expr", {}).get("type_name") == "boolean"
                node["left"] = node["left"]["child"] if cast else node["left"]
            return node if name == "compare_distinct_from" else negated(node | {"type": "compare_distinct_from"})
        case {"type": "operator_not", "children": [operand]}:
            return negated(operand)
        case {"class": "conjunction"}:
            return flat(node)
        case {"group_expressions": keys, "group_sets": sets}:  # it numbers the keys in the order in which they come
            named = [sorted((keys[k] for k in numbers), key=json.dumps) for numbers in sets]
            return node | {"group_expressions": sorted(keys, key=json.dumps), "group_sets": named}
    return node


def negated(node: Any) -> Any:
    """NOT of a node; two of them around IS DISTINCT FROM, which is never NULL, cancel out."""
    match node:
        case {"type": "operator_not", "children": [{"type": "compare_distinct_from"} as inner]}:
            return inner
    return {"class": "operator", "type": "operator_not", "children": [node]}


def flat(node: Any) -> Any:
    """AND of ANDs as one."""
    children: list[Any] = []
    for child in node["children"]:
        same = isinstance(child, dict) and child.get("class") == "conjunction" and child["type"] == node["type"]
        children += child["children"] if same else [child]
    return node | {"children": children}


ATOMS = ("a", "b", "t.c", "1", "2", "'x'", "f(a)", "count(*)", "CASE WHEN a THEN b END", "(SELECT 1)", "NULL", "TRUE")
INFIX = (
    *"+ - * / // % || = <> != < <= > >= == AND OR LIKE ILIKE".split(),
    *("NOT LIKE", "NOT ILIKE", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"),
)


def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.builds("{} {} {}".format, inner, st.sampled_from(INFIX), inner)
    return st.one_of(
        binary,
        binary,
        st.builds("NOT {}".format, inner),
        st.builds("- {}".format, inner),
        st.builds("({})".format, inner),
        st.builds("{}::int".format, inner),
        st.builds("g({}, {})".format, inner, inner),
        st.builds("{} IS {}".format, inner, st.sampled_from(["NULL", "NOT NULL"])),
        st.builds("{} {} ({}, {})".format, inner, st.sampled_from(["IN", "NOT IN"]), inner, inner),
        st.builds("{} {} {} AND {}".format, inner, st.sampled_from(["BETWEEN", "NOT BETWEEN"]), inner, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(ATOMS), extend, max_leaves=8)


@SETTINGS
@given(EXPRESSIONS)
def test_expressions_nest_as_duckdb_nests_them(text: str) -> None:
    query = f"SELECT {text} FROM t"
    statement = read(query)
    if statement is not None:
        theirs, ours = duckdb_trees(query, normal(statement))
        assert theirs is not None
        assert theirs == ours


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_mutated_queries_mean_what_they_mean_to_duckdb_or_are_refused(chance: random.Random) -> None:
    text = mutated(chance, CORPUS)
    statement = read(text)
    if not isinstance(statement, QueryStatement):
        return
    again = normal(statement)
    assert normal(parse(again)) == again
    if "differential_privacy" in text.lower() or re.search("rollup|cube|interval", text, re.IGNORECASE):
        return  # ours alone, or written out
    theirs, ours = duckdb_trees(text, again)
    if theirs is None:
        # It knows its functions and how many arguments they take; we leave that to the resolver.
        with pytest.raises(duckdb.Error, match=r"argument|aggregate|Unknown|ORDER BY|modifier"):
            CONNECTION.execute(text)
    else:
        assert theirs == ours


@SETTINGS
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join))
def test_soups_of_words_never_raise_anything_else(text: str) -> None:
    read(text)
    read(f"SELECT {text}")
    read(f"SELECT a FROM t WHERE {text}")


@SETTINGS
@given(st.text(max_size=60))
def test_any_text_never_raises_anything_else(text: str) -> None:
    read(text)
    read(f"SELECT '{text}' FROM \"{text}\" WHERE {text}")


def test_long_and_deep_texts_never_raise_anything_else() -> None:
    for piece in (
        "(",
        "NOT ",
        "- ",
        "a+",
        "f(",
        "CASE WHEN ",
        "SELECT ",
        "a IN (",
        "((SELECT 1) UNION ",
        "a AND ",
        "a.",
    ):
        for count in (29, 31, 100, 600, 1900):
            read("SELECT " + piece * count)
            read("SELECT " + piece * count + "a")
            read("SELECT " + piece * count + "a" + ")" * count)


# Every function and every keyword of the engine


def engine_functions() -> list[str]:
    rows = CONNECTION.execute("SELECT DISTINCT function_name FROM duckdb_functions() ORDER BY 1").fetchall()
    return [name for (name,) in rows if name.isidentifier()]  # the others are operators


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)])
def test_every_function_of_the_engine_keeps_its_arguments_or_is_refused(step: int) -> None:
    functions = engine_functions()
    assert len(functions) > 700
    read_as_calls = 0
    a, b, one = Name(("a",)), Name(("b",)), Literal(1)
    for name in functions[::step]:
        for written, arguments, named in (
            ("a", (a,), ()),
            ("a, b", (a, b), ()),
            ("a, x => 1", (a,), (("x", one),)),
            ("a, b, a, b, a, b", (a, b) * 3, ()),
        ):
            statement = read(f"SELECT {name}({written}) FROM t")
            if statement is not None:
                assert isinstance(statement, QueryStatement)
                assert isinstance(statement.select, Select)
                (item,) = statement.select.items
                assert item.expression == as_here(Call(name.lower(), arguments, named))
                read_as_calls += 1
        assert read(f'SELECT "{name}"(a) FROM t') is None
    assert read_as_calls > 3 * 700 // step


def test_keywords_are_the_engines() -> None:
    rows = CONNECTION.execute("SELECT keyword_name, keyword_category FROM duckdb_keywords()").fetchall()
    by_category: dict[str, set[str]] = {}
    for name, category in rows:
        by_category.setdefault(category, set()).add(name)
    assert set(by_category) == {"reserved", "unreserved", "column_name", "type_function"}
    assert by_category["reserved"] == RESERVED
    assert by_category["column_name"] == COLUMN_ONLY
    assert by_category["type_function"] - COLUMN_ONLY == FUNCTION_ONLY
    assert {name for name, _ in rows} == KEYWORDS


def test_the_engine_takes_the_same_words_as_names_without_as() -> None:
    def taken(text: str, word: str) -> bool:
        try:
            return CONNECTION.execute(text.format(word)).description[0][0] == word
        except duckdb.Error:
            return False

    names = KEYWORDS - RESERVED - FUNCTION_ONLY
    assert {word for word in names if not taken("SELECT 1 {}", word)} == NEEDS_AS
    for text in ("SELECT * FROM (VALUES (1)) z({})", "SELECT {0}.* FROM (SELECT 1 AS {0}) {0}"):
        assert all(taken(text, word) for word in names)


PLACES = (
    "SELECT {} FROM t",
    "SELECT {} a FROM t",
    "SELECT a {} FROM t",
    "SELECT a AS {} FROM t",
    "SELECT f(a {}) FROM t",
    "SELECT a FROM {}",
    "SELECT a FROM t {}",
    "SELECT a FROM t {} u",
    "SELECT a FROM t WHERE {} > 1",
    "SELECT a FROM t WHERE a {}",
    "SELECT a FROM t WHERE a {} b",
)


@pytest.mark.parametrize(
    "keyword",
    [
        pytest.param(word, marks=[pytest.mark.slow] if place % 4 else [])  # each takes a while
        for place, word in enumerate(sorted(KEYWORDS))
    ],
)
def test_a_keyword_is_a_name_only_where_duckdb_takes_it_for_one(keyword: str) -> None:
    read_as = {query: read(query) for query in (text.format(keyword) for text in PLACES)}
    names = {query: normal(statement) for query, statement in read_as.items() if statement is not None}
    for (query, ours), theirs, again in zip(
        names.items(), duckdb_trees(*names), duckdb_trees(*names.values()), strict=True
    ):
        if theirs[0]["node"].get("qualify") is not None:  # ours has a query around it, as test_qualify says
            assert keyword == "qualify"
            continue
        assert theirs == again, (query, ours)


@pytest.mark.every(2)
@pytest.mark.parametrize(
    "text",
    """
    COUNT(*); count(); COUNT(DISTINCT city); SUM(Cost); sum(COST)+1; -n; n*2+1 > 3; n + -1; abs(-n); (n); n/2;
    n // 2; n % 2; city || 'x'; CASE WHEN n>1 THEN 'a' ELSE 'b''c' END; CASE n WHEN 1 THEN 2 END;
    n BETWEEN 1 AND 2; n BETWEEN 1 AND 2 AND b; n NOT IN (1,2); n IS NULL; n IS NOT NULL; CAST(n AS double);
    TRY_CAST(city AS date); DATE '2024-01-01'; TIMESTAMP '2024-01-01 10:00:00'; NOT b; city LIKE 'a%';
    city NOT LIKE 'a%'; city ILIKE 'a'; 1.50; 1e3; 'x'; NULL; TRUE; n IS DISTINCT FROM 2; n == 1; n <> 1;
    sum(n) FILTER (WHERE n > 1); COUNT(*) FILTER (WHERE b); date_trunc('month', d); coalesce(n, 1);
    nullif(n, 1); if(b, 1, 2); b AND b OR NOT b; b AND b AND b; b OR b OR (b AND b); left(city, 2);
    round(avg(Cost), 2); t.n + 1; year(d); sum(n) / count(*); string_agg(city, ',' ORDER BY city DESC);
    floor(n / 10) * 10; "n" + 1
    """.split(";"),
)
def test_columns_are_named_as_duckdb_names_them(text: str) -> None:
    CONNECTION.execute(
        "CREATE TABLE IF NOT EXISTS named (city VARCHAR, cost DOUBLE, n INTEGER, d DATE, b BOOLEAN)",
    )
    query = f"SELECT {text.strip()} FROM named t"
    statement = parse(query)
    assert isinstance(statement, QueryStatement)
    assert isinstance(statement.select, Select)
    described = CONNECTION.execute(query).description
    assert statement.select.items[0].name == described[0][0]
