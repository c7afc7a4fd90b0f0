"""The SQL that caps the rows of each unit: which come first, by what they say, never by where they stand.

What a function of this file keeps of a unit, and in which order, follows from that unit's own rows and the secret. No
more is needed for privacy; that it goes by a keyed hash makes the choice a fair one, whatever the rows say.

Tests: tests/unit/owner/building/test_bounded.py, tests/unit/engine/test_ranked.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.engine.dialect import Dialect
from dpsql.plan.catalog import RANK

__all__ = ["first_rows", "one_of_each", "placed", "shown_hash"]

TWIN = "$twin"  # Whether a row may have the key of another; no name of a policy has a $.
SECRET = 32
"""Hexadecimal digits of the secret, 128 bits, before what is hashed of each row: with short keys it is one block of
SHA-256 then."""
SHOWN = 8
"""Hexadecimal digits of a hash by which rows are placed: 32 bits, which are sorted faster than more. It is a choice: of
two rows of a unit 1 in 4 * 10^9 are alike in them, and ordered by what they say."""


def first_rows(
    relation: str, columns: list[str], partition: list[str], limit: int, words: Dialect, beside: Sequence[str] = ()
) -> str:
    """SQL of at most ``limit`` rows per partition, chosen by what the rows say, never by where they stand.

    The first are taken by (keyed hash of the row, then every column, NULLS FIRST). The hash is SHA-256 of the secret
    and an encoding of the row in which no two different rows are alike: each value with its length before it, or N.
    Only partitions above the limit are hashed.

    Args:
        relation: What to write after FROM.
        columns: All its columns that the choice goes by.
        partition: Some of them, without NULLs.
        limit: At least 1.
        words: The database's.
        beside: Its other columns.
    """
    names, parts = (", ".join(map(words.quoted, some)) for some in ([*columns, *beside], partition))
    crowded, hashed, hash_, place = map(words.quoted, ("$crowded", "$hashed", "$hash", "$place"))
    same = " AND ".join(f"r.{words.quoted(name)} = c.{words.quoted(name)}" for name in partition)
    is_crowded = f"EXISTS (SELECT 1 FROM {crowded} AS c WHERE {same})"
    encoded = " || ".join(words.call("told_apart", words.quoted(name)) for name in columns)
    order = ", ".join(f"{words.quoted(name)} NULLS FIRST" for name in columns)
    return f"""
        WITH {crowded} AS (SELECT {parts} FROM {relation} AS r GROUP BY {parts} HAVING count(*) > {limit}),
        {hashed} AS (
            SELECT {names}, {words.call("hash", words.call("secret"), encoded)} AS {hash_}
            FROM {relation} AS r WHERE {is_crowded}
        )
        SELECT {names} FROM {relation} AS r WHERE NOT {is_crowded}
        UNION ALL
        SELECT {names} FROM (
            SELECT *, row_number() OVER (PARTITION BY {parts} ORDER BY {hash_}, {order}) AS {place} FROM {hashed}
        ) AS h WHERE {place} <= {limit}
    """


def shown_hash(columns: Sequence[str], unit: str, key: Sequence[str], words: Dialect) -> str:
    """SQL of the hash by which a unit's rows are placed, in hexadecimal digits; see `placed`."""
    said = [unit, *key] if key else [name for name in columns if f"{name}$grid" not in columns]
    secret = words.call("left", words.call("secret"), str(SECRET))
    if words.has("parts_told_apart"):
        parts = [words.call("parts_told_apart", words.quoted(name)) for name in said]
    else:
        parts = [" || ".join(words.call("told_apart", words.quoted(name)) for name in said)]
    return words.call("left", words.call("hash", secret, *parts), str(SHOWN))


def placed(rows: str, columns: list[str], unit: str, key: list[str], words: Dialect) -> str:
    """SQL of rows with the place of each within its unit (`RANK`), from 1: the order in which all caps keep them.

    They stand in the order of (a keyed hash, then all that tells them apart), which follows from the unit's own rows
    and the secret. Where a key tells a unit's rows apart it alone is hashed and ordered by, and rows of one key have
    one place (`one_of_each`). Elsewhere all columns are: hashed without numbers whose grid integers stand beside them,
    and ordered by, NULLS FIRST; equal rows are alike.

    Args:
        rows: SQL of the rows.
        columns: All their columns.
        unit: That of the unit.
        key: Those that are unique within each unit, never NULL; or none.
        words: The database's.
    """
    names = ", ".join(map(words.quoted, columns))
    hash_ = words.quoted("$hash")
    order = ", ".join(f"{words.quoted(name)} NULLS FIRST" for name in key or columns)
    window = f"OVER (PARTITION BY {words.quoted(unit)} ORDER BY {hash_}, {order})"
    near = " OR ".join(f"coalesce({side}({hash_}) {window} = {hash_}, FALSE)" for side in ("lag", "lead"))
    place = (
        f"dense_rank() {window} AS {words.quoted(RANK)}, {near}"
        if key
        else f"row_number() {window} AS {words.quoted(RANK)}, FALSE"
    )
    hashed = f"SELECT {names}, {shown_hash(columns, unit, key, words)} AS {hash_} FROM ({rows}) AS r"
    return f"SELECT {names}, {place} AS {words.quoted(TWIN)} FROM ({hashed}) AS h"


def one_of_each(relation: str, columns: list[str], unit: str, key: list[str], words: Dialect) -> str:
    """SQL of rows of which no two of a unit have one key, with their places, out of those of `placed`.

    Theorem. They are the first of each key by `first_rows`, whatever their places, and no two of a unit have one place.

    Proof. Rows of one key have one hash, so each of them stands beside another and is marked, and has one place. Of
    these, and of rows of different keys that are alike in what is shown of their hash, the first of each key is taken;
    all others are alone with their key. Rows of different keys have different places.  QED
    """
    names, twin = ", ".join(map(words.quoted, [*columns, RANK])), words.quoted(TWIN)
    alone = f"SELECT {names} FROM {relation} AS p WHERE NOT {twin}"
    if not key:
        return alone
    twins = f"(SELECT {names} FROM {relation} AS p WHERE {twin})"
    firsts = first_rows(twins, columns, list(dict.fromkeys([unit, *key])), 1, words, [RANK])
    return f"{alone} UNION ALL SELECT * FROM ({firsts}) AS f"
