"""What a statement reads is told from the plans that servers print."""

from __future__ import annotations

import pytest

from dpsql.engine.spark.plans import unexpected

SAIL = """\
== Parsed Logical Plan ==
Projection: n AS #6
  TableScan: secrets

== Analyzed Logical Plan ==
#6: Int64
Projection: q.#5 AS #6
  Filter: q.#5 > Int64(3)
    SubqueryAlias: q
      Projection: count(Int64(1)) AS n AS #5
        Aggregate: groupBy=[[]], aggr=[[count(Int64(1))]]
          Filter: EXISTS (<subquery>)
            Subquery:
              Projection: Int32(1) AS #4
                SubqueryAlias: b
                  Projection: ?table?.s$grid AS #3
                    {other}
            SubqueryAlias: a
              Projection: b12_people.a AS #0
                SubqueryAlias: b12_people
                  Projection: ?table?.a AS #0, ?table?.s$grid AS #1
                    TableScan: ?table?

== Optimized Logical Plan ==
TableScan: something
"""
INSIDE = "SubqueryAlias: b12_visits\n                      TableScan: ?table?"
BOTH = frozenset({"b12_people", "b12_visits"})


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (INSIDE, None),
        ("EmptyRelation: rows=1", None),
        ("TableScan: ?table?", "TableScan: ?table?"),
        ("TableScan: hospital.patients", "TableScan: hospital.patients"),
        ("SubqueryAlias: b13_people\n                      TableScan: ?table?", "TableScan: ?table?"),
        ("Extension: of its own", "Extension: of its own"),
        ("??", "Projection: ?table?.s$grid AS #3"),
    ],
)
def test_a_plan_reads_only_what_stands_below_an_expected_view(other: str, found: str | None) -> None:
    assert unexpected(SAIL.format(other=other), BOTH) == found


def test_a_view_that_the_statement_does_not_name_is_not_expected() -> None:
    assert unexpected(SAIL.format(other=INSIDE), frozenset({"b12_people"})) == "TableScan: ?table?"


def test_what_is_no_plan_is_not_expected() -> None:
    assert unexpected("== Physical Plan ==\nTableScan: ?table?", BOTH) == "no plan"


APACHE = """\
== Analyzed Logical Plan ==
n: bigint
Project [n#12L]
+- SubqueryAlias asked
   +- WithCTE
      :- CTERelationDef 0, false
      :  +- SubqueryAlias a
      :     +- SubqueryAlias b12_people
      :        +- View (`b12_people`, [u#3L])
      :           +- Relation [u#3L] parquet
      +- Join Inner, (u#3L = u#4L)
         :- SubqueryAlias a
         :  +- CTERelationRef 0, true, [u#3L], false, false
         +- SubqueryAlias b
            +- {other}
"""


@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("CTERelationRef 0, true, [u#4L], false, false", None),
        ("CTERelationRef 1, true, [u#4L], false, false", "CTERelationRef 1, true, [u#4L], false, false"),
        ("CTERelationDef 0, false", "CTERelationDef 0, false"),
        ("Relation [u#4L] parquet", "Relation [u#4L] parquet"),
    ],
)
def test_a_part_that_is_read_twice_is_looked_at_where_it_stands(other: str, found: str | None) -> None:
    assert unexpected(APACHE.format(other=other), BOTH) == found
    elsewhere = APACHE.format(other=other).replace("b12_people", "secrets")
    assert unexpected(elsewhere, BOTH) == "Relation [u#3L] parquet"
