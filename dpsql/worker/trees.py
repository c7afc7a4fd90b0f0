"""Trees in JSON, as databases tell how they read a statement.

Tests: tests/unit/worker/test_verify.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["nodes"]


def nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """Every object of the tree, without recursion: depth is no limit.

    >>> sorted(node["n"] for node in nodes([{"n": 1, "parts": [{"n": 2}]}]))
    [1, 2]
    """
    rest = [tree]
    while rest:
        node = rest.pop()
        if isinstance(node, dict):
            yield node
            rest.extend(node.values())
        elif isinstance(node, list):
            rest.extend(node)
