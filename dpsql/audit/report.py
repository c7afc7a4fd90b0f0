"""What an audit found, as a table in plain words and as JSON.

Tests: tests/unit/audit/test_report.py.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpsql.answers.shown.screen import number, safe, text_table
from dpsql.audit.replay import Promise

__all__ = ["Row", "Verdicts"]

ROUNDED = 1e-9  # Of epsilon: what floats may add to a bound.
HEADS = ("question", "mechanism", "claimed", "at least", "reached", "draws", "verdict")


@dataclass(frozen=True)
class Row:
    """One question and what it really loses.

    Attributes:
        question: The statement.
        mechanism: What answered it.
        of: Whose loss it is, where units are not alike; else empty.
        epsilon: What the ledger charged.
        delta: And of delta.
        measured: The true epsilon is at least this, with the confidence of the report.
        reached: The largest share of the claim that a pair of neighbours implies by its exact numbers: 1 is the worst
            case; None where no single law says it.
        draws: On either side.
        problems: What the exact comparison of neighbours convicts.
    """

    question: str
    mechanism: str
    of: str
    epsilon: float
    delta: float
    measured: float
    reached: float | None
    draws: int
    problems: tuple[str, ...]

    @property
    def convicted(self) -> bool:
        """Whether more is lost than is claimed."""
        return bool(self.problems) or self.measured > self.epsilon + ROUNDED

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.problems:
            return "CONVICTED: " + ", ".join(problem.partition(":")[0] for problem in self.problems)
        return "CONVICTED: epsilon" if self.convicted else "holds"

    def cells(self) -> tuple[str, ...]:
        """As the table shows it."""
        delta = f", {number(self.delta)}" if self.delta else ""
        return (
            safe(self.question),
            f"{self.mechanism}{f', {self.of}' if self.of else ''}",
            f"{number(self.epsilon)}{delta}",
            f"{self.measured:.2f}",
            "" if self.reached is None else f"{self.reached:.0%}",
            f"{self.draws:,}",
            self.verdict,
        )


@dataclass(frozen=True)
class Verdicts:
    """What an audit found.

    Attributes:
        policy: The policy's name.
        promise: Its neighbours and composition.
        confidence: That no bound of the table is above the true epsilon.
        databases: How many were made up.
        rows: One for each question, or for each class of units.
        silent: Mechanisms that answered nothing, each with a reason.
        unfilled: Tables whose cap is larger than what was made up for one unit.
        engine: The policy's.
    """

    policy: str
    promise: Promise
    confidence: float
    databases: int
    rows: tuple[Row, ...]
    silent: Mapping[str, str]
    unfilled: tuple[str, ...]
    engine: str

    @property
    def convicted(self) -> int:
        """How many rows lose more than they claim."""
        return sum(row.convicted for row in self.rows)

    def __str__(self) -> str:
        table = text_table(
            HEADS, [row.cells() for row in self.rows], right=(False, False, True, True, True, True, False), widest=None
        )
        lines = [
            table,
            f"{len(self.rows)} lines over {self.databases} made-up databases; neighbours: {self.promise.neighbours}. "
            "No data of yours were read. A session was asked, as every other door asks one.",
            "claimed: the epsilon, and the delta, that the ledger charges. at least: what is really lost is no less "
            f"than this, with {100 * self.confidence:.6g}% confidence for the whole table. reached: how much of the "
            "claim the worst pair of made-up neighbours uses up.",
        ]
        lines += [f"{safe(name)} answered nothing here: {safe(why)}" for name, why in self.silent.items()]
        lines += [f"The cap of {safe(name)} is larger than what was made up for one unit." for name in self.unfilled]
        if self.engine != "duckdb":
            lines.append(f"Posed over DuckDB; what is {self.engine}'s own is not audited.")
        lines += [safe(f"{row.question}: {problem}") for row in self.rows for problem in row.problems]
        told = f"{self.convicted} CONVICTED: more is lost there than is claimed. Do not use them; report it."
        return "\n".join([*lines, told if self.convicted else "Nothing is convicted."])

    def to_json(self) -> str:
        """The same for programs."""
        whole: dict[str, Any] = {
            "policy": self.policy,
            "neighbours": self.promise.neighbours,
            "composition": self.promise.composition,
            "confidence": self.confidence,
            "databases": self.databases,
            "convicted": self.convicted,
            "rows": [
                {
                    "question": row.question,
                    "mechanism": row.mechanism,
                    "of": row.of,
                    "epsilon": row.epsilon,
                    "delta": row.delta,
                    "at_least": row.measured,
                    "reached": row.reached,
                    "draws": row.draws,
                    "convicted": row.convicted,
                    "problems": list(row.problems),
                }
                for row in self.rows
            ],
            "silent": dict(self.silent),
            "unfilled": list(self.unfilled),
        }
        return json.dumps(whole, indent=2)
