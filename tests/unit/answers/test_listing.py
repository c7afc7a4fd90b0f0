"""What DESCRIBE says of columns."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from dpsql.answers.listing import describe_table, descriptions, list_tables
from dpsql.errors import UnsupportedQuery
from dpsql.owner.catalog import IDENTITY
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo
from dpsql.plan.types import Facts, Type


def table(name: str, **links: str) -> TableInfo:
    return TableInfo(name, {own: ColumnInfo(own, IDENTITY, link=link) for own, link in links.items()}, unit="person")


def test_a_key_names_the_columns_of_other_tables_that_it_may_be_joined_with() -> None:
    tables = [table("claims", claim_id="claims.claim_id"), table("payments", claim="claims.claim_id")]
    tables += [table("visits", visit_id="visits.visit_id")]
    catalog = Catalog({own.name: own for own in tables}, "add_remove", "policy.yaml", 1)
    assert [describe_table(catalog, own.name).rows[0][2] for own in tables] == [
        "joins only, with payments.claim",
        "joins only, with claims.claim_id",
        "joins only; no other table refers to it",
    ]


def test_all_values_of_a_column_are_listed_and_named_where_the_table_shows_some() -> None:
    facts = Facts(Type.TEXT, nullable=True)
    cities = tuple(f"city {number:02}" for number in range(30))
    columns = {"city": ColumnInfo("city", facts, values=cities), "old": ColumnInfo("old", Facts(Type.BOOLEAN))}
    columns |= {"age": ColumnInfo("age", Facts(Type.INTEGER, Fraction(0), Fraction(99)))}
    catalog = Catalog({"people": TableInfo("people", columns, unit="person")}, "add_remove", "policy.yaml", 1)
    some = ", ".join(cities[:12])
    assert describe_table(catalog, "people").rows[0][2] == f"30 values (DESCRIBE people.city): {some}, ..."
    listed = describe_table(catalog, "People.City")
    assert (listed.columns, listed.rows) == (("city",), [*((city,) for city in cities), (None,)])
    assert describe_table(catalog, "people.old").rows[:2] == [(False,), (True,)]
    with pytest.raises(UnsupportedQuery, match=r"people\.age: its values are not listed: \[0, 99\]"):
        describe_table(catalog, "people.age")
    with pytest.raises(UnsupportedQuery, match="Did you mean city"):
        describe_table(catalog, "people.citty")


def test_descriptions_are_one_more_column_where_there_are_any() -> None:
    facts = Facts(Type.BOOLEAN)
    plain, described = ColumnInfo("old", facts), ColumnInfo("ill", facts, description="At <b>any</b> time")
    assert plain == replace(plain, description="something else")  # words make no other column
    columns = {column.name: column for column in (plain, described)}
    tables = {
        "people": TableInfo("people", columns, unit="person", description="Whoever was ever here"),
        "plain": TableInfo("plain", {"old": plain}, unit="person"),
    }
    catalog = Catalog(tables, "add_remove", "policy.yaml", 1)
    told = describe_table(catalog, "people")
    assert (told.columns[-1], [row[-1] for row in told.rows]) == ("description", [None, "At <b>any</b> time"])
    assert "At &lt;b&gt;any&lt;/b&gt; time" in told._repr_html_()
    assert descriptions(list_tables(catalog)) == ["Whoever was ever here", None]
    none = describe_table(catalog, "plain")
    assert (none.columns, descriptions(none)) == (("column", "type", "domain", "nullable", "grid"), [None])
    alone = Catalog({"plain": tables["plain"]}, "add_remove", "policy.yaml", 1)
    assert "description" not in list_tables(alone).columns
