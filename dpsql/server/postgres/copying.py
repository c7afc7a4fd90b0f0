"""COPY of a query's rows to the client: which query, in which format, and each row as its bytes.

Source: PostgreSQL 17 documentation, "COPY", with the syntax of before version 9.0, which psql's users still write.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsql.plan.types import Parameters
from dpsql.server.postgres.inquiry import Around, CopyForm, Inquiry, Result
from dpsql.server.postgres.messages import ResultColumn
from dpsql.server.postgres.scan import Word
from dpsql.server.postgres.states import PgRefusal

__all__ = ["CopyOut", "Enclosed", "enclosed"]

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""How the binary format begins: its name, no flags, and nothing more."""
ESCAPED = {b"\\": b"\\\\", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n", b"\r": b"\\r", b"\t": b"\\t", b"\v": b"\\v"}
"""How the text format writes signs that would end a value or a row."""
OLD = {"csv": "csv", "binary": "binary"}
"""Formats that the syntax without brackets names by a word of their own."""
TAKEN = "FORMAT (text, csv or binary), HEADER, DELIMITER, NULL, QUOTE, ESCAPE and FORCE_QUOTE * are taken."
TRUE, FALSE = ("true", "on", "1"), ("false", "off", "0")


@dataclass(frozen=True, slots=True)
class Enclosed:
    """A query in brackets within a statement.

    Attributes:
        text: The query.
        before: Characters before it.
        rest: The words behind its bracket.
    """

    text: str
    before: int
    rest: Sequence[Word]


def enclosed(text: str, found: Sequence[Word]) -> Enclosed | None:
    """The query that a COPY begins with, which goes to the client; None where it is another COPY.

    >>> from dpsql.server.postgres.scan import words
    >>> copy = "COPY (SELECT (1)) TO STDOUT CSV"
    >>> own = enclosed(copy, list(words(copy)))
    >>> own and (own.text, own.before, [word.text for word in own.rest])
    ('SELECT (1)', 6, ['csv'])
    """
    depth = 0
    for at, word in enumerate(found[1:], 1):
        if word.kind == "other":
            depth += {"(": 1, ")": -1}.get(word.text, 0)
        if depth == 0:
            begun, ended = found[1].end, word.start
            to = [own.text for own in found[at + 1 : at + 3]]
            return Enclosed(text[begun:ended], begun, found[at + 3 :]) if at > 1 and to == ["to", "stdout"] else None
    return None


class CopyOut(Around):
    """COPY (SELECT ..) TO STDOUT: the query is asked, and charged, as if it stood alone.

    Args:
        query: What is asked.
        own: Where it stands, and the options behind it.
    """

    def __init__(self, query: Inquiry, own: Enclosed) -> None:
        super().__init__(query, own.before)
        self._rest = own.rest

    def columns(self) -> tuple[ResultColumn, ...] | None:
        """None, for rows of COPY are not described; its options are looked at."""
        _form(self._rest)
        return super().columns()

    def answered(self, values: Parameters) -> Result:
        form = _form(self._rest)
        result = self.query.answered(values)
        return Result("COPY {}", result.columns, result.rows, result.notices, copied=form)


# ------------------------------------------------------------------------------------------------------------- options


def _form(rest: Sequence[Word]) -> CopyForm:
    """The format that options ask for.

    Raises:
        PgRefusal: One of them is not known, or has no such value.
    """
    own = [word for at, word in enumerate(rest) if at or word.text != "with"]
    options = _listed(own[1:-1]) if own and own[0].text == "(" and own[-1].text == ")" else _old(own)
    encoding = _string(options.pop("encoding", "utf8")).lower()
    if encoding not in ("utf8", "utf-8", "unicode"):
        raise PgRefusal("0A000", "COPY is in UTF-8 alone.", "Write ENCODING 'UTF8', or nothing.")
    kind = _string(options.pop("format", "text")).lower()
    if kind == "binary" and not options:
        return _Binary()
    if kind not in ("text", "csv") or not options.keys() <= (CSV if kind == "csv" else PLAIN):
        raise PgRefusal("0A000", "COPY has an option that is not served, or not in this format.", TAKEN)
    header = _switch(options.get("header", "off"))
    quoted = options.get("force_quote", "")
    if quoted not in ("", "*"):
        raise PgRefusal("0A000", "FORCE_QUOTE of single columns is not served.", "Write FORCE_QUOTE *.")
    null = _string(options.get("null", "''" if kind == "csv" else r"'\N'")).encode()
    delimiter = _sign(options, "delimiter", "," if kind == "csv" else "\t")
    if kind == "text":
        return _Text(header, delimiter, null)
    quote = _sign(options, "quote", '"')
    escape = _sign(options, "escape", quote.decode())
    if quote == delimiter:
        raise PgRefusal("22023", "COPY delimiter and quote must be different")
    return _Csv(header, delimiter, null, quote, escape, bool(quoted))


PLAIN = {"header", "delimiter", "null"}
CSV = PLAIN | {"quote", "escape", "force_quote"}


def _listed(found: Sequence[Word]) -> dict[str, str]:
    """Options in brackets, each with what follows its name."""
    options, name = dict[str, str](), ""
    for word in found:
        if word.text == "," and word.kind == "other" and name:
            name = ""
        elif not name:
            name = word.text
            if name in options:
                raise PgRefusal("42601", "conflicting or redundant options")
            options[name] = ""
        else:
            options[name] += word.text
    return options


def _old(found: Sequence[Word]) -> dict[str, str]:
    """Options without brackets."""
    options, names = dict[str, str](), [word.text for word in found if word.text != "as"]
    while names:
        name = names.pop(0)
        if name in OLD:
            options["format"] = OLD[name]
        elif name == "header":
            options["header"] = "on"
        elif name == "force" and names[:2] == ["quote", "*"]:
            options["force_quote"], names = "*", names[2:]
        elif name in CSV and names:
            options[name] = names.pop(0)
        else:
            raise PgRefusal("0A000", "COPY has an option that is not served.", TAKEN)
    return options


def _string(text: str) -> str:
    """A constant without its quotes; ``E'\\t'`` is a tab, as people write it."""
    if text[:2] in ("E'", "e'"):
        return re.sub(r"\\(.)", lambda own: {"t": "\t"}.get(own[1], own[1]), text[2:-1].replace("''", "'"))
    return text[1:-1].replace("''", "'") if text.startswith("'") else text


def _switch(text: str) -> bool:
    own = _string(text).lower()
    if own not in ("", *TRUE, *FALSE):
        raise PgRefusal("22023", "HEADER is true or false here.")
    return own not in FALSE


def _sign(options: Mapping[str, str], name: str, otherwise: str) -> bytes:
    """One sign, of one byte."""
    sign = _string(options[name]).encode() if name in options else otherwise.encode()
    if len(sign) != 1 or sign in b"\r\n" or (name == "delimiter" and re.fullmatch(rb"[\\.a-z0-9]", sign)):
        raise PgRefusal("22023", f"COPY {name} must be a single one-byte character, and none that values are made of")
    return sign


# ------------------------------------------------------------------------------------------------------------- formats


class _Binary(CopyForm):
    """PostgreSQL's binary format; clients expect each row in a message, the first one behind the signature."""

    binary = True

    def begun(self, columns: Sequence[ResultColumn]) -> bytes:
        return SIGNATURE

    def row(self, values: Sequence[bytes | None]) -> bytes:
        parts = [b"\xff\xff\xff\xff" if value is None else struct.pack(">i", len(value)) + value for value in values]
        return struct.pack(">H", len(values)) + b"".join(parts)

    def ended(self) -> bytes:
        return b"\xff\xff"


class _Text(CopyForm):
    """Values with a sign between them, and backslashes before what would end one."""

    def __init__(self, header: bool, delimiter: bytes, null: bytes) -> None:
        self._header, self._delimiter, self._null = header, delimiter, null
        self._escaped = ESCAPED | {delimiter: ESCAPED.get(delimiter, b"\\" + delimiter)}
        self._special = re.compile(b"[" + re.escape(b"".join(self._escaped)) + b"]")

    def begun(self, columns: Sequence[ResultColumn]) -> bytes:
        return self.row([column.name.encode() for column in columns]) if self._header else b""

    def row(self, values: Sequence[bytes | None]) -> bytes:
        return self._delimiter.join(self._null if value is None else self._written(value) for value in values) + b"\n"

    def _written(self, value: bytes) -> bytes:
        return self._special.sub(lambda found: self._escaped[found[0]], value)


class _Csv(_Text):
    """Values with a sign between them, in quotes where they hold one, or would be read as NULL."""

    def __init__(self, header: bool, delimiter: bytes, null: bytes, quote: bytes, escape: bytes, quoted: bool) -> None:
        super().__init__(header, delimiter, null)
        self._quote, self._escape, self._quoted = quote, escape, quoted
        self._special = re.compile(b"[" + re.escape(delimiter + quote + b"\r\n") + b"]")

    def _written(self, value: bytes) -> bytes:
        if not self._quoted and value not in (self._null, b"\\.") and not self._special.search(value):
            return value
        own = value if self._escape == self._quote else value.replace(self._escape, self._escape * 2)
        return self._quote + own.replace(self._quote, self._escape + self._quote) + self._quote
