"""What the owner wrote stays under `dpsql advise --write`, unless `--narrow` asks for less; what cuts much is told."""

from __future__ import annotations

from pathlib import Path

import dpsql
from tests.unit.test_advising import POLICY, advised, write_orders


def shop(folder: Path, text: str) -> Path:
    write_orders(folder / "data")
    file = folder / "shop.yaml"
    file.write_text(text)
    return file


def test_what_the_owner_wrote_stays_unless_it_is_asked_to_be_narrowed(tmp_path: Path) -> None:
    policy = shop(tmp_path, POLICY.replace("bounds: auto", "bounds: [0, 100]"))
    report = advised(policy, write=True)
    assert "rows_per_unit: 64 " in policy.read_text()
    assert "bounds: [0, 100]" in policy.read_text()
    (kept,) = (line for line in report.lines if line.startswith("As you wrote them stay"))
    assert "rows_per_unit: 64 of orders, bounds of orders.price. --narrow puts what is advised" in kept
    advised(policy, write=True, narrow=True)
    assert "rows_per_unit: 4 " in policy.read_text()
    assert "bounds: [0, 41]" in policy.read_text()


def test_what_facts_say_that_a_cap_and_bounds_cut_is_noted(tmp_path: Path) -> None:
    text = POLICY.replace("bounds: auto", "bounds: [0, 8]").replace("rows_per_unit: 64", "rows_per_unit: 2")
    policy = shop(tmp_path, text)
    advised(policy)
    with dpsql.open(policy) as proxy:
        session = proxy.session(analyst="ana")
        of_price, of_rows = (
            [note for note in session.explain(f"SELECT {what} AS s FROM orders", epsilon=0.1).notes if "facts" in note]
            for what in ("SUM(price)", "COUNT(*)")
        )
    assert of_rows == of_price[:1]
    assert [note.split(" about ")[0] for note in of_price] == [
        "Of each unit at most 2 rows of orders are used (rows_per_unit): rows beyond do not count. By released facts",
        "Values of orders.price count within [0, 8] (bounds): by released facts",
    ]
