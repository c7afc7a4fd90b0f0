"""What DESCRIBE says of columns."""

from __future__ import annotations

from dpsql.answers.listing import describe_table
from dpsql.owner.catalog import IDENTITY
from dpsql.plan.catalog import Catalog, ColumnInfo, TableInfo


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
