"""A policy file to a `Policy`, or to one error that names every line to change."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dpsql.errors import PolicyError
from dpsql.given import policy_path_given
from dpsql.policy.model import Policy
from dpsql.policy.reading import Document, Place, Problem, dotted, read_yaml

__all__ = ["load_policy"]

LARGEST_FILE = 2**20  # Bytes of a policy. It is a choice: one of a thousand columns takes a tenth of that.
MOST_PROBLEMS = 20  # Problems shown at once. It is a choice: about one screen.

# What pydantic puts into a place beside keys: the branch of a union that it took, and a mark for keys themselves.
_NO_KEYS = {"<column>", "<chain>", "<number>", "<columns>", "[key]"}
_NOT_A = {
    "string_type": "not text; write it in quotes",
    "bool_type": "neither true nor false; write one of them, without quotes",
    "int_type": "not a whole number; write digits, such as 12",
    "int_parsing_size": "too large a number; write a smaller one",
    "dict_type": "not a mapping; write key: value lines below it, or {key: value}",
    "model_type": "not a mapping; write key: value lines below it, or {key: value}",
    "tuple_type": "not a list; write [first, second]",
}


def load_policy(path: str | os.PathLike[str], *, waits: bool = True) -> Policy:
    """The policy in a YAML file, checked as far as the file alone allows.

    Args:
        path: The file.
        waits: Whether to wait for a pipe, in which a shell may hand over a policy; else anything but a file is refused.

    Raises:
        PolicyError: One line for each problem: ``file:line:column: what is wrong; what to write instead``.
    """
    file = policy_path_given(path)
    document = read_yaml(_text(file, None if waits else _at_once))
    if document.problems:
        raise _error(file, document.problems)
    if document.data is None:
        raise PolicyError(f"{file}:1:1: the file is empty; `dpsql init DATABASE` writes a first policy")
    if not isinstance(document.data, dict):
        raise PolicyError(f"{file}:1:1: the file is not a mapping; start with version: 1, name: ..., engine: ...")
    try:
        policy = Policy.model_validate(document.data)
    except ValidationError as error:
        raise _error(file, list(_problems(error, document))) from None
    policy._file = file.absolute()
    policy._lines = {place: line for place, (line, _) in document.keys.items()}
    return policy


def _text(file: Path, opener: Callable[[str, int], int] | None) -> str:
    try:
        with open(file, "rb", opener=opener) as stream:
            content = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise PolicyError(f"{file}: there is no such file; `dpsql init DATABASE` writes a first policy") from None
    except (OSError, ValueError):
        raise PolicyError(f"{file}: the file cannot be read; name a policy file that you may read") from None
    if len(content) > LARGEST_FILE:
        raise PolicyError(f"{file}: the file is larger than 1 MiB; list long domains in a public table (values_from)")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise PolicyError(f"{file}:{line}: the file is not UTF-8; save it as UTF-8") from None


def _at_once(path: str, flags: int) -> int:
    """The open file, for which nobody waits: looked at before, for opening a device may do something."""
    if stat.S_ISREG(Path(path).stat().st_mode):
        handle = os.open(path, flags | os.O_NONBLOCK)
        if stat.S_ISREG(os.fstat(handle).st_mode):  # and not something that was put there meanwhile
            return handle
        os.close(handle)
    raise OSError("it is no file")


def _error(file: Path, problems: Sequence[Problem]) -> PolicyError:
    lines = [f"{file}:{problem.line}:{problem.column}: {problem.text}" for problem in sorted(set(problems))]
    if len(lines) > MOST_PROBLEMS:
        lines[MOST_PROBLEMS:] = [f"{file}: and {len(lines) - MOST_PROBLEMS} more; mend these first"]
    return PolicyError("\n".join("".join(c if c.isprintable() else "?" for c in line) for line in lines))


def _problems(error: ValidationError, document: Document) -> Iterator[Problem]:
    for detail in error.errors(include_url=False):
        if detail["type"] == "default_factory_not_called":  # a consequence of another error in the same section
            continue
        loc: Place = ()
        for part in (*detail["loc"], *detail.get("ctx", {}).get("at", ())):
            if part not in _NO_KEYS or (*loc, part) in document.keys:
                loc = (*loc, part)
        known = document.known(loc)
        of_key = known != loc or detail["type"] == "extra_forbidden" or "[key]" in detail["loc"]
        position = (document.keys if of_key else document.values)[known]
        yield Problem(*position, dotted(loc) + _what(detail, loc))


def _what(detail: Mapping[str, Any], loc: Sequence[str | int]) -> str:
    """What is wrong with the value at ``loc``, and what to write instead."""
    context: Mapping[str, Any] = detail.get("ctx", {})
    match detail["type"]:
        case "policy":
            return str(context["message"])
        case "missing":
            return f"this is missing; write {_example(str(loc[-1]), _section(loc[:-1]))}"
        case "extra_forbidden":
            known = list(_section(loc[:-1]).get("properties", {}))
            return f"there is no such key here; {_nearest(str(loc[-1]), known)}"
        case "literal_error":
            return f"{detail['input']!s} is not one of {context['expected']}; write one of them"
        case "greater_than_equal":
            return f"{detail['input']} is below {context['ge']}; write at least {context['ge']}"
        case "less_than_equal":
            return f"{detail['input']} is above {context['le']}; write at most {context['le']}"
        case "too_short":
            return "this is empty; write at least one entry"
        case "string_type" if loc[-1] == "unit" and isinstance(detail["input"], list | tuple):
            return "a unit is one column; make one of several in a view of the data, such as clinic || '/' || patient"
        case kind if kind in _NOT_A:
            return f"this is {_NOT_A[kind]}"
        case _:
            return f"{detail['msg']}; see the policy's schema (`dpsql schema`)"


def _nearest(key: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(key, known, n=1, cutoff=0.6)
    return f"write {close[0]}" if close else f"write one of {', '.join(known)}"


def _section(loc: Sequence[str | int]) -> Mapping[str, Any]:
    """The part of the policy's schema that these keys lead to, or an empty one."""
    from dpsql.policy.schema import policy_schema  # here, so that `python -m dpsql.policy.schema` loads it once only

    root = policy_schema()
    schema: Mapping[str, Any] = root
    for part in (*loc, None):
        schema = _referred(schema, root)
        # Of a name or a section, only the section has keys; of several sections, each has its own.
        choices = [_referred(choice, root) for choice in schema.get("oneOf", ())]
        if keys := [choice["properties"] for choice in choices if "properties" in choice]:
            schema = {"properties": {name: key for section in keys for name, key in section.items()}}
        if part in schema.get("properties", {}):
            schema = schema["properties"][part]
        elif part is not None and "items" in schema:
            schema = schema["items"]
        elif part is not None and "patternProperties" in schema:
            (schema,) = schema["patternProperties"].values()
        elif part is not None and isinstance(schema.get("additionalProperties"), Mapping):
            schema = schema["additionalProperties"]
    return schema


def _referred(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema, or the one of the root's that it refers to."""
    found: Mapping[str, Any] = root["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    return found


def _example(key: str, section: Mapping[str, Any]) -> str:
    known = section.get("properties", {}).get(key, {})
    if "examples" in known:
        return f"{key}: {_flow(known['examples'][0])}"
    return f"{key}: one of {', '.join(known['enum'])}" if "enum" in known else f"{key}: ..."


def _flow(value: object) -> str:
    """The value in YAML's one-line form.

    >>> _flow({"ana": {"epsilon": 8, "bounds": [0, 1]}})
    '{ana: {epsilon: 8, bounds: [0, 1]}}'
    """
    match value:
        case dict():
            return "{" + ", ".join(f"{key}: {_flow(entry)}" for key, entry in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case _:
            return str(value)
