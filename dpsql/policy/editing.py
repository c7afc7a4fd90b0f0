"""A policy file's text with some values changed: every comment, blank line and order of keys stays.

Tests: tests/unit/policy/test_editing.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from ruamel.yaml.nodes import MappingNode, Node

from dpsql.errors import InvariantBroken
from dpsql.policy.reading import composed

__all__ = ["edited"]

Place = tuple[str, ...]


def edited(text: str, changes: Mapping[Place, str]) -> str:
    """The text with each place's value replaced, or written where there is none yet.

    Args:
        text: Of a policy that loads.
        changes: The keys that lead to each value, of which all but the last are there; and the value in one line of
            YAML.

    >>> print(edited("a: {b: 1}  # why\\n", {("a", "b"): "2", ("a", "c"): "[3, 4]"}), end="")
    a: {b: 2, c: [3, 4]}  # why
    """
    for place, value in changes.items():
        text = _with_value(text, place, value)
    return text


def _with_value(text: str, place: Place, value: str) -> str:
    node = composed(text)
    for key in place[:-1]:
        found = _entry(node, key)
        if found is None:
            raise InvariantBroken(f"a policy has no {key} to be changed")
        node = found
    if not isinstance(node, MappingNode) or not node.value:
        raise InvariantBroken(f"a policy has no keys at {'.'.join(place[:-1])}")
    old = _entry(node, place[-1])
    if old is not None:
        return text[: old.start_mark.index] + value + text[old.end_mark.index :]
    if node.flow_style:
        end = node.value[-1][1].end_mark.index
        return f"{text[:end]}, {place[-1]}: {value}{text[end:]}"
    return _with_line(text, node, f"{place[-1]}: {value}")


def _with_line(text: str, node: MappingNode, entry: str) -> str:
    """The text with one more line in a mapping of lines: behind its last value that stands on its key's line."""
    indent = " " * node.value[0][0].start_mark.column
    for key, value in reversed(node.value):
        if key.start_mark.line == value.end_mark.line:
            end = text.find("\n", value.end_mark.index)
            end = len(text) if end < 0 else end
            return f"{text[:end]}\n{indent}{entry}{text[end:]}"
    start = node.value[0][0].start_mark.index
    return f"{text[:start]}{entry}\n{indent}{text[start:]}"


def _entry(node: Node | None, key: str) -> Node | None:
    if not isinstance(node, MappingNode):
        return None
    return next((value for own, value in node.value if own.value == key), None)
