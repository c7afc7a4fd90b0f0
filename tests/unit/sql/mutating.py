"""Queries with some words changed: mostly none any more, and now and then another."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

__all__ = ["WORDS", "mutated", "words_of"]

WORDS = tuple(
    """
    select from where group by having order limit offset as on using join inner left right full outer cross and or not
    is null true false in like ilike between case when then else end cast try_cast exists distinct all union with asc
    desc nulls first last filter within grouping sets rollup cube extract year date timestamp interval day over values
    semi natural lateral recursive sample a b t f ( ) , . * + - / = < > <= <> || :: => 1 'x' "q" ; ? materialized
    replace exclude unnest columns map row ignore respect window at for collate escape similar to unknown set name only
    ordinality ties percent rows if array any some list format substring trim both default zone double explain show
    differential_privacy options % // == != ! [ ] { } ' " -- /* */ $1 1e5 . ` \\ \x00 é İ
    """.split()
)


def words_of(text: str) -> list[str]:
    """The words of a query."""
    return re.findall(r"\w+|'[^']*'|\"[^\"]*\"|<=|>=|<>|!=|=>|::|\|\||//|\S", text)


def mutated(chance: random.Random, corpus: Sequence[str]) -> str:
    """A query of a corpus with a few words dropped, added, changed, swapped or taken from another query."""
    words = words_of(chance.choice(corpus))
    for _ in range(chance.choice([1, 1, 2, 3])):
        place = chance.randrange(len(words) + 1)
        match chance.randrange(5):
            case 0:
                del words[place : place + 1]
            case 1:
                words.insert(place, chance.choice(WORDS))
            case 2:
                words[place : place + 1] = [chance.choice(WORDS)]
            case 3:
                words[place : place + 2] = reversed(words[place : place + 2])
            case _:
                other = words_of(chance.choice(corpus))
                start = chance.randrange(len(other))
                words[place:place] = other[start : start + chance.randrange(1, 6)]
    return " ".join(words)
