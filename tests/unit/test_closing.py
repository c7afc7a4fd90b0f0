"""What is used by ``with`` is closed at its end, whatever happened there."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from dpsql.closing import Closing


@dataclass
class Counted(Closing):
    closed: int = 0

    def close(self) -> None:
        self.closed += 1


def test_it_is_closed_at_the_end() -> None:
    with Counted() as own:
        assert own.closed == 0
    assert own.closed == 1


def test_it_is_closed_and_the_error_goes_on() -> None:
    own = Counted()
    with pytest.raises(KeyError), own:
        raise KeyError
    assert own.closed == 1
