"""What a line of `MECHANISMS` says of a mechanism before it is loaded, and that it is right."""

from __future__ import annotations

import pytest

from dpsql.mechanisms.base import Refusal, Request
from dpsql.mechanisms.late import Late
from tests.contracts.test_mechanisms import SHARES, requests
from tests.unit.mechanisms.asking import of_classes
from tests.unit.mechanisms.metric.asking import EVERY

EACH = 5
"""Every fifth request is asked: all of them would take half a minute."""


@pytest.fixture(scope="module")
def asked() -> list[Request]:
    """With and without classes of units."""
    plain = list(requests())[::EACH]
    personal = [of_classes(request, SHARES) for request in plain[::EACH] if request.price.multiple is None]
    return [*plain, *personal]


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda mechanism: mechanism.name)
def test_a_line_says_what_the_mechanism_is(mechanism: Late) -> None:
    assert (mechanism.loaded.name, mechanism.loaded.options) == (mechanism.name, mechanism.options)


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda mechanism: mechanism.name)
def test_a_mechanism_refuses_what_its_line_says_is_not_for_it(mechanism: Late, asked: list[Request]) -> None:
    for request in asked:
        if not mechanism.kind(request) and mechanism.loaded.takes(request):
            assert isinstance(mechanism.offer(request), Refusal)
            assert not mechanism.together([request, request])
