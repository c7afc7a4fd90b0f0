"""Who asks is known in the thread of a session's question, and nowhere else."""

from __future__ import annotations

import threading

import pytest

from dpsql.asking import in_turn, who

pytestmark = pytest.mark.chance(0, "no noise is drawn")


class Session:
    """Asks on behalf of one analyst, and may ask another on the way."""

    def __init__(self, analyst: str) -> None:
        self.analyst = analyst

    @in_turn
    def asks(self, other: Session | None = None) -> list[str]:
        """Who asks before, while and after another is asked."""
        return [who(), *(other.asks() if other else ()), who()]

    @in_turn
    def fails(self) -> None:
        """As a refusal does."""
        raise ValueError(who())

    @in_turn
    def elsewhere(self) -> list[str]:
        """Who asks in a thread of somebody else."""
        found = list[str]()
        thread = threading.Thread(target=lambda: found.append(who()))
        thread.start()
        thread.join()
        return found


def test_a_question_is_its_analysts_and_afterwards_nobodys() -> None:
    assert who() == ""
    assert Session("ana").asks(Session("bob")) == ["ana", "bob", "bob", "ana"]
    assert who() == ""


def test_a_refusal_leaves_nobody_behind() -> None:
    with pytest.raises(ValueError, match="ana"):
        Session("ana").fails()
    assert who() == ""


def test_another_thread_asks_for_itself() -> None:
    assert Session("ana").elsewhere() == [""]
