"""YAML text to plain data, keeping numbers exact and every value's place in the file.

Tests: tests/unit/policy/test_load.py, tests/unit/policy/test_metrics.py.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

__all__ = ["TO_FILL_IN", "Document", "Place", "Problem", "composed", "dotted", "read_yaml"]

TO_FILL_IN = "FILL_IN"
"""What a generated first policy writes where only the owner can decide."""

Place = tuple[str | int, ...]
"""The keys and list positions that lead to a value."""
Position = tuple[int, int]
Data = dict[str, "Data"] | list["Data"] | str | bool | int | Decimal | date | datetime | None

DEEPEST = 32
"""Levels of a file that is read. It is a choice: a policy needs six, and what is far deeper takes long to read."""
_TAG = "tag:yaml.org,2002:"
_INTEGER = re.compile(r"[-+]?[0-9]{1,80}")
_DECIMAL = re.compile(r"[-+]?([0-9]{1,80}(\.[0-9]{0,80})?|\.[0-9]{1,80})([eE][-+]?[0-9]{1,4})?")


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong in the file.

    Attributes:
        line: From 1.
        column: From 1.
        text: What is wrong, and what to write instead.
    """

    line: int
    column: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """What a file says, and where it says it.

    Attributes:
        data: Mappings, lists, and scalars; numbers with a point or an exponent are Decimal, exactly as written.
        problems: What could not be read; the data are whole only if there is none.
        keys: For the keys that lead to each value, the line and column, from 1, of the last of them.
        values: The same for the value itself, or for the key of a mapping.
    """

    data: Data
    problems: Sequence[Problem]
    keys: Mapping[Place, Position]
    values: Mapping[Place, Position]

    def known(self, loc: Place) -> Place:
        """The keys without those that the file does not have."""
        found: Place = ()
        for part in loc:
            found = (*found, part) if (*found, part) in self.keys else found
        return found


def dotted(place: Place) -> str:
    """The place as the start of a message: ``tables.visits.unit: ``, or nothing for the whole file."""
    return ".".join(map(str, place)) + ": " if place else ""


def read_yaml(text: str) -> Document:
    """The document in one YAML 1.2 text.

    Anchors, aliases, tags, directives, duplicate keys, and keys without a value are problems: a policy must mean to
    its reader what it means to the machine.
    """
    for number, directive in enumerate(text.splitlines(), start=1):
        if directive.startswith("%"):
            return _unreadable(number, 1, "directives are not used here; remove the line")
    try:
        root = composed(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        what = " ".join(part for part in (error.context, error.problem) if part)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        return _unreadable(line, column, f"this is not YAML ({what}); {_remedy(what)}")
    except RecursionError:
        return _unreadable(1, 1, "the file is nested too deeply; a policy needs six levels at most")
    except (YAMLError, ValueError):
        return _unreadable(1, 1, "the file holds characters that YAML does not allow; write plain text")
    if root is None:
        return Document(None, (), {}, {})
    reader = _Reader()
    data = reader.read(root, ())
    return Document(data, tuple(reader.problems), reader.keys, reader.values)


@lru_cache(maxsize=16)
def composed(text: str) -> Node | None:
    """The root of a text's nodes, which nobody changes: a policy is read several times, and this takes the longest.

    Raises:
        YAMLError, ValueError, RecursionError: If it is not YAML.
    """
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _Shallow
    root: Node | None = yaml.compose(text)
    return root


class _Shallow(Composer):
    """Nodes of so many levels alone."""

    _level = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """The next node.

        Raises:
            RecursionError: It is nested too deeply.
        """
        if self._level >= DEEPEST:
            raise RecursionError
        self._level += 1
        node = super().compose_node(parent, index)
        self._level -= 1
        return node


def _unreadable(line: int, column: int, text: str) -> Document:
    return Document(None, (Problem(line, column, text),), {}, {})


def _remedy(what: str) -> str:
    if "\\t" in what:
        return "indent with spaces, never with tabs"
    if "mapping values" in what:
        return "check the indentation, and quote text that holds a colon"
    if "single document" in what:
        return "keep one document, and remove the line ---"
    return "check brackets, quotes and indentation just before"


def _position(node: Node) -> Position:
    return node.start_mark.line + 1, node.start_mark.column + 1


class _Reader:
    """Turns YAML nodes into data, noting every place and every problem on the way."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.keys: dict[Place, Position] = {}
        self.values: dict[Place, Position] = {}

    def read(self, node: Node, place: Place, key: Node | None = None) -> Data:
        self.keys[place] = _position(key or node)
        # A mapping written below its key, and a value left out, are best shown by their key.
        by_key = isinstance(node, MappingNode) or node.tag == _TAG + "null"
        self.values[place] = self.keys[place] if by_key else _position(node)
        # Anchors are refused before anything below them is looked at, so a circle of aliases is never entered.
        if node.anchor is not None:
            return self._refuse(place, "anchors and aliases are not used here; write the value out")
        match node:
            case MappingNode() if node.tag == _TAG + "map":
                return self._mapping(node, place)
            case SequenceNode() if node.tag == _TAG + "seq":
                return [self.read(entry, (*place, number)) for number, entry in enumerate(node.value)]
            case ScalarNode():
                return self._scalar(str(node.tag), node.value, place)
        return self._refuse(place, f"the tag {node.tag} is not used here; remove it")

    def _mapping(self, node: MappingNode, place: Place) -> dict[str, Data]:
        result: dict[str, Data] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode) or key.tag != _TAG + "str" or key.anchor is not None:
                self._note(key, place, "this key is not plain text; write a name, in quotes if it looks like a number")
            elif not key.value.isprintable():
                self._note(key, place, "this key holds characters that do not print; write a plain name")
            elif key.value in result:
                self._note(key, place, f"the key {key.value} is written twice; keep one")
            else:
                result[key.value] = self.read(value, (*place, key.value), key)
        return result

    def _scalar(self, tag: str, text: str, place: Place) -> Data:
        if text == TO_FILL_IN:
            return self._refuse(place, "this is still to be filled in; the comments beside it say with what")
        match tag.removeprefix(_TAG):
            case "str" if text.isprintable():
                return text
            case "str":
                return self._refuse(place, "this holds characters that do not print; write plain text on one line")
            case "bool":
                return text.lower() == "true"
            case "null":
                return self._refuse(place, "there is no value here; write one, or remove the key")
            case "int" if _INTEGER.fullmatch(text):
                return int(text)
            case "int" | "float" if _DECIMAL.fullmatch(text):
                return Decimal(text)
            case "int" | "float":
                return self._refuse(place, f"{text} is not a plain number; write digits, such as 12, 0.5 or 1e-9")
            case "timestamp":
                return self._time(text, place)
        return self._refuse(place, f"the tag {tag} is not used here; remove it")

    def _time(self, text: str, place: Place) -> Data:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return self._refuse(place, f"{text} is not in the calendar; write year-month-day, such as 2024-01-31")
        if moment.tzinfo is not None:
            return self._refuse(place, "time zones are not used here; write the local time, as 2024-01-31 08:00:00")
        return moment.date() if len(text) == len("2024-01-31") else moment

    def _refuse(self, place: Place, text: str) -> Data:
        """Notes what is wrong with a value, and stands in for it."""
        self.problems.append(Problem(*self.values[place], f"{dotted(place)}{text}"))
        return None

    def _note(self, key: Node, place: Place, text: str) -> None:
        """Notes what is wrong with a key of the mapping at this place."""
        self.problems.append(Problem(*_position(key), f"{dotted(place)}{text}"))
