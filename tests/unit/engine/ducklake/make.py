"""Makes the lakes beside this file, by DuckDB's own extension: see README.md for versions and commands."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb

STATEMENTS = """
CREATE TABLE visits (person INTEGER, ward VARCHAR, paid DECIMAL(9, 2), day DATE);
INSERT INTO visits SELECT i, 'W' || i % 3, i / 4, DATE '2024-02-28' + i::INTEGER FROM range(1, 15) AS t(i);
INSERT INTO visits VALUES (100, 'small', 1.5, NULL), (101, NULL, NULL, '2024-03-01');
UPDATE visits SET ward = 'moved' WHERE person IN (2, 100);
DELETE FROM visits WHERE person IN (3, 101);
ALTER TABLE visits RENAME COLUMN ward TO unit;
ALTER TABLE visits ADD COLUMN ward VARCHAR DEFAULT 'it''s';
ALTER TABLE visits ADD COLUMN sure BOOLEAN;
ALTER TABLE visits ADD COLUMN since DATE DEFAULT '2020-01-31';
ALTER TABLE visits RENAME COLUMN since TO begun;
INSERT INTO visits VALUES (200, 'unit', 2, NULL, 'own', true, NULL);
CALL ducklake_flush_inlined_data('lake');
ALTER TABLE visits ALTER COLUMN person SET DATA TYPE BIGINT;
INSERT INTO visits SELECT 1099511627776 + i, 'large', i, NULL, NULL, i > 3, NULL FROM range(12) AS t(i);
ALTER TABLE visits DROP COLUMN paid;
DELETE FROM visits WHERE person BETWEEN 4 AND 14;
INSERT INTO visits (person, ward) VALUES (300, 'last');
CREATE SCHEMA archive;
CREATE TABLE archive.stays (ward VARCHAR, nights INTEGER);
ALTER TABLE archive.stays SET PARTITIONED BY (ward);
INSERT INTO archive.stays SELECT CASE i % 3 WHEN 0 THEN 'a b' WHEN 1 THEN NULL ELSE 'x/y=é''' END, i
    FROM range(36) AS t(i);
DELETE FROM archive.stays WHERE nights BETWEEN 3 AND 30;
CALL ducklake_rewrite_data_files('lake', 'stays', schema => 'archive', delete_threshold => 0);
CREATE TABLE merged (n INTEGER);
INSERT INTO merged SELECT i FROM range(12) AS t(i);
INSERT INTO merged SELECT i FROM range(12, 24) AS t(i);
INSERT INTO merged SELECT i FROM range(24, 36) AS t(i);
CALL ducklake_merge_adjacent_files('lake');
DELETE FROM merged WHERE n % 4 = 1;
DELETE FROM merged WHERE n < 20;
CALL ducklake_flush_inlined_data('lake');
CREATE TABLE kinds (b BOOLEAN, i TINYINT, u UBIGINT, f FLOAT, d DOUBLE, m DECIMAL(38, 9), day DATE, noon TIMESTAMP,
    zoned TIMESTAMPTZ, bytes BLOB, id UUID, nested INTEGER[], wide HUGEINT, s STRUCT(x INTEGER));
INSERT INTO kinds VALUES (true, -128, 18446744073709551615, 0.1, 0.1, 0.123456789, '0001-01-01',
    '2024-02-29 01:02:03.456789', '2024-02-29 01:02:03+01',
    '\\x00\\xFF\\x5C'::BLOB, '470c17d1-e77d-43f6-951d-aadf1957b7a7', [1], 7, {'x': 1}),
    (false, 0, 0, 'nan', '-inf', -1, '9999-12-31', '1960-01-01', '1960-01-01 00:00:00+00', ''::BLOB,
    NULL, NULL, NULL, NULL),
    (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE flushed AS SELECT * FROM kinds;
CREATE TABLE filed AS SELECT k.* FROM kinds AS k, range(5);
CREATE TABLE live (n INTEGER, "odd ""name" VARCHAR);
INSERT INTO live SELECT i, 'f' FROM range(30) AS t(i);
DELETE FROM live WHERE n < 15;
DELETE FROM live WHERE n IN (20, 21);
INSERT INTO live VALUES (100, 'x'), (101, 'y');
UPDATE live SET n = 102 WHERE n IN (22, 101);
ALTER TABLE live ADD COLUMN later INTEGER DEFAULT 9;
INSERT INTO live VALUES (103, 'z', NULL);
ALTER TABLE live RENAME COLUMN later TO more;
BEGIN TRANSACTION;
INSERT INTO live SELECT i, 'g', i FROM range(200, 212) AS t(i);
ALTER TABLE live ADD COLUMN last VARCHAR DEFAULT 'end';
INSERT INTO live VALUES (300, 'w', 1, 'own');
COMMIT;
CREATE TABLE empty (n INTEGER);
CREATE VIEW shown AS SELECT n FROM live;
CREATE TABLE older (n INTEGER);
INSERT INTO older SELECT i FROM range(20) AS t(i);
ALTER TABLE older ADD COLUMN told VARCHAR DEFAULT 'late';
DELETE FROM older WHERE n < 15;
CALL ducklake_rewrite_data_files('lake', 'older', delete_threshold => 0);
CREATE TABLE wrapped (n INTEGER, nested MAP(VARCHAR, INTEGER), s VARIANT, more INTEGER);
INSERT INTO wrapped SELECT i, MAP {'a': i}, {'a': i}::VARIANT, i + 1 FROM range(12) AS t(i);
"""
LEFT_OUT = ("nested", "wide", "s")
"""Columns of types that dpsql does not read."""


def main() -> None:
    """Writes duckdb.zip and sqlite.zip."""
    for kind, address in (("duckdb", "ducklake:lake.ducklake"), ("sqlite", "ducklake:sqlite:lake.sqlite")):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            made = folder / address.rpartition(":")[2]
            os.chdir(folder)  # the data path is relative to it
            expected = _made(address)
            with zipfile.ZipFile(Path(__file__).resolve().parent / f"{kind}.zip", "w", zipfile.ZIP_DEFLATED) as packed:
                packed.writestr("catalogue.sql", "\n".join(_of_sqlite(made) if kind == "sqlite" else _of_duckdb(made)))
                packed.writestr("expected.json", json.dumps(expected, ensure_ascii=False))
                for file in sorted((folder / "data").rglob("*.parquet")):
                    packed.write(file, file.relative_to(folder))


def _made(address: str) -> dict[str, dict[int, list[Sequence[Any]]]]:
    """The rows of each table, as text, at each snapshot at which the extension reads others than at the one before."""
    expected: dict[str, dict[int, list[Sequence[Any]]]] = {}
    with duckdb.connect(config={"allow_unsigned_extensions": "true"}) as connection:
        for extension in sys.argv[1:]:
            connection.execute(f"LOAD '{extension}'")
        connection.execute(f"ATTACH '{address}' AS lake (DATA_PATH 'data')")
        connection.execute("USE lake")
        for statement in STATEMENTS.split(";\n")[:-1]:
            connection.execute(statement)
        (newest,) = connection.execute("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')").fetchone() or (0,)
        for table in (
            "visits",
            "archive.stays",
            "merged",
            "kinds",
            "flushed",
            "filed",
            "live",
            "empty",
            "older",
            "wrapped",
        ):
            told: dict[int, list[Sequence[Any]]] = {}
            for snapshot in range(newest + 1):
                try:
                    relation = connection.execute(
                        f"SELECT CAST(COLUMNS(c -> c NOT IN {LEFT_OUT}) AS VARCHAR) FROM {table} "
                        f"AT (VERSION => {snapshot}) ORDER BY ALL"
                    )
                except duckdb.CatalogException:
                    continue  # it is not there yet
                rows = [[column[0] for column in relation.description], *relation.fetchall()]
                if not told or rows != list(told.values())[-1]:
                    told[snapshot] = rows
            expected[table] = told
        connection.execute("USE memory")
        connection.execute("DETACH lake")
    return expected


def _of_sqlite(file: Path) -> Iterator[str]:
    with closing(sqlite3.connect(file)) as connection, connection:
        yield from connection.iterdump()


def _of_duckdb(file: Path) -> Iterator[str]:
    """The statements that make the catalogue again: the file itself takes five megabytes."""
    with duckdb.connect(str(file), read_only=True) as connection:
        for table, sql in connection.execute("SELECT table_name, sql FROM duckdb_tables()").fetchall():
            yield sql
            names = connection.execute(f"SELECT column_name FROM duckdb_columns() WHERE table_name = '{table}'")
            quote = "chr(39)"
            quoted = [name.replace('"', '""') for (name,) in names.fetchall()]
            texts = [f'replace("{name}"::VARCHAR, {quote}, {quote} || {quote})' for name in quoted]
            values = ", ".join(f"coalesce({quote} || {text} || {quote}, 'NULL')" for text in texts)
            for row in connection.execute(f"SELECT {values} FROM {table}").fetchall():
                yield f"INSERT INTO {table} VALUES ({', '.join(row)});"


if __name__ == "__main__":
    main()
