"""How a CSV file writes days, numbers, booleans and NULL, for a first policy: found by a look at its first lines.

The policy is public, so nothing that a row holds is written there but types, and what is on a list here: formats, signs
and words. A type or a format is that of all but a hundredth of a column's texts, and what few texts show decides
nothing (`_shown`). It is a look at the data all the same, which no noise covers: the owner compares what is proposed
with the file, and with what is publicly known. `dpsql check` counts the texts that are read as nothing.

Tests: tests/unit/engine/test_csv_formats.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from dpsql.engine.database import CsvOption, SourceType

__all__ = ["CELLS", "LINES", "Formats", "written"]

LINES = 10_000
"""Lines of a file that are looked at. It is a choice: enough for each format to show, in a moment."""
CELLS = 500_000
"""Values of them in all: of a file with very many columns fewer lines are looked at. It is a choice: seconds."""
_FEW = 100
"""At most one text in so many is not of its column's type. It is a choice: slips are rarer, codes are not."""
_SEVERAL = 10
"""Texts that are no one person's slip, however long their column is. It is a choice: rare flags are as many."""
_NULLS = ("NULL", "null", "\\N", "#N/A")
"""Texts that stand for NULL wherever they are."""
_MARKS = ("NA", "N/A", "n/a", "na", "NaN", "nan", "None", "none", "-", "--", "?", ".", "k. A.", "k.A.")
"""Texts that stand for NULL among numbers, days and booleans; among other texts they may mean something."""
_DAYS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%y", "%d/%m/%y",
         "%m/%d/%y", "%d-%b-%Y", "%d %b %Y")  # fmt: skip
_CLOCKS = (" %H:%M", " %H:%M:%S", "T%H:%M:%S")
_SIGNS = {"d": r"\d{1,2}", "m": r"\d{1,2}", "Y": r"\d{4}", "y": r"\d{2}", "b": "[A-Za-z]{3}"} | dict.fromkeys(
    "HMS", r"\d{1,2}"
)
_NUMBERS: tuple[tuple[str, str], ...] = (
    (".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "), (",", "'"),
)  # fmt: skip
"""(sign of decimals, sign of thousands), the one that says least first: it is taken where another reads no more."""
_TRUTHS = (("ja", "nein"), ("j", "n"), ("oui", "non"), ("o", "n"), ("sí", "no"), ("si", "no"), ("sì", "no"), ("s", "n"),
           ("sim", "não"), ("wahr", "falsch"), ("vrai", "faux"), ("vero", "falso"), ("verdadero", "falso"),
           ("tak", "nie"), ("ano", "ne"), ("да", "нет"), ("on", "off"))  # fmt: skip
_READ = (frozenset({"true", "t", "yes", "y"}), frozenset({"false", "f", "no", "n"}))
"""What columns of type boolean hold without a word in the policy."""
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(:\d{2}([.]\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?")
_CODE = re.compile(r"[-+]?(0\d+|\d{19,})")  # What begins with 0, or is too long for a number, is a code.
_LIKE = datetime(2024, 12, 31, 23, 59)
"""An example in comments, the time of no row. It is a choice: its day is no month."""

Texts = Counter[str]
Reads = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Formats:
    """What a file is taken to hold.

    Attributes:
        types: The family of each column's type; those of which nothing is known are left out.
        options: What a policy writes under ``csv``.
        seen: What is to be said of some columns beside their types.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    options: Sequence[CsvOption] = ()
    seen: Mapping[str, str] = field(default_factory=dict)

    def typed(self, columns: Sequence[tuple[str, SourceType]]) -> tuple[tuple[str, SourceType], ...]:
        """The columns with the types that were found."""
        return tuple((name, SourceType("CSV", self.types.get(name, kind.family))) for name, kind in columns)


def written(columns: Mapping[str, Sequence[str | None]]) -> Formats:
    """What the texts of each column are taken for, and how they are written.

    >>> found = written({"day": ["31.12.2024", "01.02.2024"], "cost": ["1.234,50", "NULL"]})
    >>> dict(found.types), [(option.name, option.value) for option in found.options]  # doctest: +NORMALIZE_WHITESPACE
    ({'day': 'date', 'cost': 'real'},
     [('dateformat', '%d.%m.%Y'), ('decimal_separator', ','), ('thousands', '.'), ('nullstr', ('NULL',))])
    """
    texts = {name: Counter(text for text in held if text is not None) for name, held in columns.items()}
    plain = {
        name: Counter({text: n for text, n in held.items() if text not in (*_NULLS, *_MARKS)})
        for name, held in texts.items()
    }
    plain = {name: held for name, held in plain.items() if held}
    read = {signs: sum(_numbers(held, signs) for held in plain.values()) for signs in _NUMBERS}
    signs = max(read, key=lambda signs: read[signs])
    number, whole = _number(signs), _number(signs, whole=True)
    types: dict[str, str] = {}
    options: list[CsvOption] = []
    for name, held in plain.items():
        if _numbers(held, signs):
            parts = sum(n for text, n in held.items() if number.fullmatch(text) and not whole.fullmatch(text))
            types[name] = "real" if _shown(parts, held) else "integer"
    rest = {name: held for name, held in plain.items() if name not in types}
    days = {"": "%Y-%m-%d"} | {day: day for day in _DAYS}
    options += _moments(rest, types, "date", "dateformat", {name: _by(own) for name, own in days.items()})
    times = {day + clock: _by(day + clock) for day in _DAYS for clock in _CLOCKS}
    options += _moments(rest, types, "timestamp", "timestampformat", {"": _iso_time} | times)
    if signs[0] == ",":
        options.append(CsvOption("decimal_separator", ",", "numbers such as 1234,56"))
    if signs[1]:
        either = signs[1] == "," and read[",", ""] == read[signs]
        more = '; or decimal_separator: ",", which reads these lines as well' if either else ""
        options.append(CsvOption("thousands", signs[1], f"numbers such as 1{signs[1]}234{more}"))
    options += _booleans({name: held for name, held in rest.items() if name not in types}, types)
    seen = _seen({name: held for name, held in plain.items() if types.get(name, "integer") == "integer"}, types, signs)
    types |= {name: "text" for name in plain if name not in types}
    options += _nulls(texts, types)
    return Formats({name: types[name] for name in columns if name in types}, options, seen)


def _seen(columns: Mapping[str, Texts], types: Mapping[str, str], signs: tuple[str, str]) -> dict[str, str]:
    """Of whole numbers that they are written with a 0 behind the sign; of texts that most are days, times or numbers.

    Args:
        columns: Those of whole numbers, and those that stay texts.
        types: Of the former.
        signs: Of decimals and of thousands.
    """
    number = _number(signs)
    kinds: dict[str, Reads] = {f"days such as {_LIKE:%Y-%m-%d}": _by("%Y-%m-%d")}
    kinds |= {f"days such as {_LIKE.strftime(day)}": _by(day) for day in _DAYS}
    kinds |= {f"times such as {_LIKE:%Y-%m-%d %H:%M}": _iso_time}
    kinds |= {f"times such as {_LIKE.strftime(day + clock)}": _by(day + clock) for day in _DAYS for clock in _CLOCKS}
    kinds |= {"numbers": lambda text: bool(number.fullmatch(text)) and not _CODE.fullmatch(text)}
    found = dict[str, str]()
    for name, held in columns.items():
        if name in types:
            if _shown(sum(n for text, n in held.items() if signs[0] in text), held):
                found[name] = f"written as 1{signs[0]}0; type: real, if decimals may come"
            continue
        for kind, reads in kinds.items():
            fit = sum(n for text, n in held.items() if reads(text))
            if 2 * fit > held.total() and not _most(held, reads):
                found[name] = f"most are {kind}, but fewer than 99 of 100: see what the others are"
                break
    return found


def _most(held: Texts, reads: Reads) -> int:
    """How many texts a column has, where all but a few are read; else 0. So a few choose between no two formats."""
    fit = sum(n for text, n in held.items() if reads(text))
    return held.total() if fit and (held.total() - fit) * _FEW <= held.total() else 0


def _shown(found: int, held: Texts) -> bool:
    """Whether so many of a column's texts say something of how it is written: several, or more than a few of it."""
    return found >= _SEVERAL or found * _FEW > held.total()


def _number(signs: tuple[str, str], *, whole: bool = False) -> re.Pattern[str]:
    """What a number is, as so written; or a whole one, also with one 0 behind the sign, as where some were missing."""
    decimal, thousands = map(re.escape, signs)
    digits = rf"([1-9]\d{{0,2}}({thousands}\d{{3}})+|\d+)" if thousands else r"\d+"
    if whole:
        return re.compile(rf" *[-+]?{digits}({decimal}0)? *")
    return re.compile(rf" *[-+]?({digits}({decimal}\d*)?|{decimal}\d+)([eE][-+]?\d{{1,3}})? *")


def _numbers(held: Texts, signs: tuple[str, str]) -> int:
    """How many texts a column of numbers has, as so written; 0 where it holds codes, or other texts."""
    number = _number(signs)
    return _most(held, lambda text: bool(number.fullmatch(text)) and not _CODE.fullmatch(text))


def _iso_time(text: str) -> bool:
    """Whether a text is a time of ISO 8601."""
    with suppress(ValueError):
        return _ISO_TIME.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    return False


def _by(format_: str) -> Reads:
    """Whether a text is a day or a time as a format says, in as many digits."""
    parts = re.split("%(.)", format_)
    shape = re.compile("".join(_SIGNS[part] if at % 2 else re.escape(part) for at, part in enumerate(parts)))

    def reads(text: str) -> bool:
        with suppress(ValueError):
            return shape.fullmatch(text) is not None and bool(datetime.strptime(text, format_))
        return False

    return reads


def _moments(
    columns: Mapping[str, Texts], types: dict[str, str], type_: str, name: str, formats: Mapping[str, Reads]
) -> list[CsvOption]:
    """The format that reads most of the days or times; notes the types of the columns that it reads.

    A table has one format: columns that are written in another one are texts.

    Args:
        formats: What each reads; that of ISO 8601 is '', which a policy does not say.
    """
    each = {
        one: {own: n for own, held in columns.items() if (n := _most(held, reads))} for one, reads in formats.items()
    }
    best = max(each, key=lambda one: sum(each[one].values()))
    types |= dict.fromkeys(each[best], type_)
    if not best:
        return []
    why = f"such as {_LIKE.strftime(best)}"
    if alike := [one for one in formats if one != best and each[one] == each[best]]:
        why += f"; or {alike[0]}, which reads these lines as well"
    if any(found.keys() - each[best].keys() for found in each.values()):
        why += f"; each {type_} that is written otherwise stays text"
    return [CsvOption(name, best, why)]


def _booleans(columns: Mapping[str, Texts], types: dict[str, str]) -> list[CsvOption]:
    """The words for true and false that are not read without; notes the types of the columns that hold them."""
    words: tuple[dict[str, None], dict[str, None]] = {}, {}
    pairs = [(frozenset({true}), frozenset({false})) for true, false in _TRUTHS]
    for name, held in columns.items():
        pair = next((pair for pair in (_READ, *pairs) if _of_two(held, *pair)), None)
        if pair is not None:
            types[name] = "boolean"
            for part, read, own in zip(pair, _READ, words, strict=True):
                told = (text for text, n in held.items() if text.lower() in part - read and _shown(n, held))
                own |= dict.fromkeys(sorted(told))
    true, false = (tuple(own) for own in words)
    return [
        *([CsvOption("true_values", true, "what is true, in these very letters")] if true else []),
        *([CsvOption("false_values", false, "what is false, in these very letters")] if false else []),
    ]


def _of_two(held: Texts, true: frozenset[str], false: frozenset[str]) -> bool:
    """Whether a column holds words for true and words for false, and but a few others."""
    counts = [sum(n for text, n in held.items() if text.lower() in part) for part in (true, false)]
    return bool(_most(held, lambda text: text.lower() in true | false)) and all(_shown(n, held) for n in counts)


def _nulls(texts: Mapping[str, Texts], types: Mapping[str, str]) -> list[CsvOption]:
    """The texts for NULL that there are."""
    found = [one for one in _NULLS if any(_shown(held[one], held) for held in texts.values())]
    found += [
        one
        for one in _MARKS
        if any(_shown(held[one], held) and types.get(name, "text") != "text" for name, held in texts.items())
    ]
    return [CsvOption("nullstr", tuple(found), "nothing, in every column of this table")] if found else []
