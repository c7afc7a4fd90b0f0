"""What an audit tells: in words, as JSON, and safe on a screen."""

from __future__ import annotations

import json
from dataclasses import replace

from dpsql.audit.replay import Promise
from dpsql.audit.report import Row, Verdicts

ROW = Row("SELECT 1", "laplace", "", 1.0, 0.0, 0.93, 1.0, 100_000, ())
REPORT = Verdicts(
    policy="small", promise=Promise("add_remove", "zcdp"), confidence=0.999, databases=10, rows=(ROW,),
    silent={"metric": "there is none."}, unfilled=("visits",), engine="postgres",
)  # fmt: skip


def test_a_row_is_convicted_by_its_bound_or_by_what_was_compared() -> None:
    assert (ROW.convicted, ROW.verdict) == (False, "holds")
    assert replace(ROW, measured=1.01).verdict == "CONVICTED: epsilon"
    assert replace(ROW, problems=("sensitivity: it moves by 2",)).verdict == "CONVICTED: sensitivity"


def test_the_table_says_what_its_columns_are_and_what_was_not_audited() -> None:
    text = str(REPORT)
    for told in ("holds", "99.9% confidence", "metric answered nothing here", "cap of visits", "over DuckDB"):
        assert told in text, told
    assert text.endswith("Nothing is convicted.")
    bad = replace(REPORT, rows=(replace(ROW, measured=2.0, question="SELECT \x1b[31m2"),))
    assert "1 CONVICTED" in str(bad)
    assert "\x1b" not in str(bad)


def test_json_holds_the_same() -> None:
    whole = json.loads(REPORT.to_json())
    assert whole["convicted"] == 0
    assert whole["rows"] == [
        {
            "question": "SELECT 1", "mechanism": "laplace", "of": "", "epsilon": 1.0, "delta": 0.0, "at_least": 0.93,
            "reached": 1.0, "draws": 100_000, "convicted": False, "problems": [],
        }
    ]  # fmt: skip
