"""A mechanism by where it is: its files are loaded when a request may be for it, or when its reasons are wanted.

`MECHANISMS` is the table of them, and nothing else loads a mechanism: a start that needs few of them is quicker.

Tests: tests/contracts/test_late.py, tests/unit/cli/test_starting.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from dpsql.mechanisms.base import Joint, Mechanism, Offer, Refusal, Request
from dpsql.plan.options import Options
from dpsql.plan.plans import Plan

__all__ = ["Late", "any_request", "choosing", "first_groups", "named", "of", "priced_by_a_metric"]

Kind = Callable[[Request], bool]
"""Whether a request may be for a mechanism, by what is loaded already; False only where it surely refuses."""


def any_request(_: Request) -> bool:
    """Every request may be."""
    return True


def of(*functions: str, classes: bool = False, chooses: bool = False) -> Kind:
    """Requests for these aggregates may be.

    Args:
        functions: The aggregates.
        classes: Whether all may be where units have classes.
        chooses: Whether those may be that choose groups.
    """
    return lambda request: (
        request.aggregate.function in functions
        or (classes and request.personal is not None)
        or (chooses and request.selects)
    )


def named(name: str) -> Kind:
    """Requests that name the mechanism may be."""
    return lambda request: request.options.mechanism == name


def choosing(request: Request) -> bool:
    """Requests that choose groups may be."""
    return request.selects


def first_groups(request: Request) -> bool:
    """Requests for the first groups of an order may be, and those that ask for that."""
    return request.top is not None or request.options.mechanism == "top_k"


def priced_by_a_metric(request: Request) -> bool:
    """Requests that a multiple of a metric prices may be."""
    return request.price.multiple is not None


@dataclass(frozen=True, slots=True)
class Late(Mechanism):
    """A line of the table.

    Attributes:
        home: The module of its class below `dpsql.mechanisms`, a colon, and the class.
        kind: Which requests may be for it.
        given: What a policy declares for it: keyword arguments of the class.
    """

    home: str = field(kw_only=True)
    kind: Kind = field(default=any_request, kw_only=True, compare=False)
    given: Mapping[str, Any] = field(default_factory=dict, kw_only=True, compare=False)

    @property
    def loaded(self) -> Mechanism:
        """The mechanism itself."""
        return _class_at(self.home)(**self.given)

    def takes(self, request: Request) -> bool:
        return self.loaded.takes(request)

    def may_answer(self, request: Request) -> bool:
        return self.kind(request) and self.takes(request)

    def reads(self, request: Request) -> frozenset[str]:
        return self.loaded.reads(request)

    def statement(self, plan: Plan, options: Options) -> tuple[Plan, Options]:
        """As the mechanism, where the options name it, or set one of its own; every other statement as it is."""
        return self.loaded.statement(plan, options) if self.is_named(options) else (plan, options)

    def offer(self, request: Request) -> Offer | Refusal:
        return self.loaded.offer(request)

    def together(self, requests: Sequence[Request]) -> Sequence[Joint]:
        return self.loaded.together(requests) if requests else ()


@cache
def _class_at(home: str) -> type[Mechanism]:
    """The class at a place of the table, which is looked up for every request."""
    module, _, name = home.partition(":")
    own: type[Mechanism] = getattr(import_module(f"dpsql.mechanisms.{module}"), name)
    return own
