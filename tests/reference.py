"""Prints docs/reference.md: every key of a policy, every option of a statement and every error, as the code has them.

``python -m tests.reference > docs/reference.md``; tests/unit/test_reference_page.py holds the page to the code.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from dpsql import errors
from dpsql.plan.options import ALIASES, Options
from dpsql.policy.schema import policy_schema

__all__ = ["page"]

HEAD = """# Reference

<!-- Made from the code; `make schema` makes it anew. -->

Every key of a policy file, every option of a statement and every error, as the code of this version has them. What they
mean together is told elsewhere: [the policy file](policy.md), [the SQL](sql.md), [the guarantee](guarantee.md).
[Functions](functions.md) of one row have a page of their own.
"""

POLICY = """
## Policy keys

A policy is one YAML file. A key that is not listed here is an error. `…` stands for a name that you choose.
"""

OPTIONS = """
## Options of a statement

They stand in `SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5, ...)`, are keyword arguments of `session.query`
and `session.explain`, or hold for a session by `SET epsilon = 0.5`. One that nothing in a statement reads is refused.

| option | means |
| --- | --- |
"""

ERRORS = """
## Errors

All are subclasses of `dpsql.Error`, and of the exceptions that Python's database standard (PEP 249) names. A refused
statement has spent nothing and read nothing. On the command line an error is one message and exit code 1.

"""


def page() -> str:
    """The whole page, in Markdown."""
    return HEAD + POLICY + "".join(_sections()) + OPTIONS + "".join(_options()) + ERRORS + "".join(_errors())


def _sections() -> Iterator[str]:
    """A heading and a table for each section of the policy, each followed by those within it."""
    root = policy_schema()
    waiting: list[tuple[str, Mapping[str, Any]]] = [("", root)]
    seen = set[str]()
    while waiting:
        name, section = waiting.pop(0)
        key, _, kind = name.partition(" ")
        heading = f"\n### `{key}`{' ' + kind if kind else ''}\n\n" if name else "\n### Top\n\n"
        yield f"{heading}{_line(section.get('description', '')) if name else 'The file itself.'}\n\n"
        yield "| key | value | means |\n| --- | --- | --- |\n"
        needed = section.get("required", ())
        within = []
        for key, value in section["properties"].items():
            yield f"| `{key}` | {_value(value, root, needed=key in needed)} | {_line(value.get('description', ''))} |\n"
            for place, part in _parts(value, root):
                title = str(part.get("title", f"{name}.{key}"))
                if title not in seen:
                    seen.add(title)
                    within.append((f"{name}.{key}{place}".lstrip("."), part))
        waiting = within + waiting


def _parts(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The sections that a value may be, or hold: each with what stands behind the key, such as ``.…``."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "properties" in schema:
        kind = schema["properties"].get("kind", {}).get("const")
        yield f" of kind {kind}" if kind else "", schema
    for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _parts(choice, root)
    for kind in (*schema.get("patternProperties", {}).values(), schema.get("additionalProperties")):
        if isinstance(kind, Mapping):
            yield from ((f".…{place}", part) for place, part in _parts(kind, root))
    if isinstance(schema.get("items"), Mapping):
        yield from _parts(schema["items"], root)


def _value(schema: Mapping[str, Any], root: Mapping[str, Any], *, needed: bool) -> str:
    """What may be written, and what holds without it."""
    text = " or ".join(dict.fromkeys(_kinds(schema, root)))
    default = schema.get("default")
    if needed:
        return f"{text}; needed"
    if default is None or default in ({}, []):
        return text
    return f"{text}; {str(default).lower() if isinstance(default, bool) else default} if absent"


def _kinds(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[str]:
    """What a value is, in a word or two for each choice."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from _kinds(choice, root)
    if "const" in schema:
        yield f"`{schema['const']}`"
    elif "laplace" in schema.get("enum", ()):
        yield "a [mechanism](mechanisms.md)"
    elif "enum" in schema:
        yield from (f"`{value}`" for value in schema["enum"])
    elif schema.get("type") == "array":
        yield "a list"
    elif schema.get("type") == "object":
        yield "keys of its own"
    elif isinstance(schema.get("type"), str):
        yield {"integer": "a whole number", "string": "a text", "boolean": "true or false"}.get(
            schema["type"], "a " + schema["type"]
        )


def _options() -> Iterator[str]:
    """A row for each option, from the words of the class that holds them."""
    told = inspect.getdoc(Options) or ""
    names = {own: other for other, own in ALIASES.items()}
    for name, means in re.findall(r"^    (\w+): (.*(?:\n     .*)*)", told, re.MULTILINE):
        also = f", `{names[name]}`" if name in names else ""
        yield f"| `{name}`{also} | {_line(means)} |\n"


def _errors() -> Iterator[str]:
    """The tree, and what each error that dpsql raises says of itself."""
    tree = (errors.__doc__ or "").split("\n\n")[1]
    yield "```text\n" + inspect.cleandoc(tree) + "\n```\n"
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and kind.__doc__ and "PEP 249's" not in kind.__doc__:
            first, _, rest = inspect.cleandoc(kind.__doc__).partition("\n\nAttributes:\n")
            held = "".join(f"\n    - `.{field}`: {_line(says)}" for field, says in _attributes(rest))
            yield f"\n- **`{name}`**: {_line(first)}{held}"
    yield "\n"


def _attributes(text: str) -> list[tuple[str, str]]:
    return re.findall(r"^    (\w+): (.*(?:\n     .*)*)", text, re.MULTILINE)


def _line(text: str) -> str:
    """The text on one line of a table; Sphinx's double backticks are single ones here."""
    plain = " ".join(text.split()).replace("``", "`").replace("|", "\\|")
    return re.sub(r"(?<![`\w])<", "&lt;", plain)


if __name__ == "__main__":
    sys.stdout.write(page())
