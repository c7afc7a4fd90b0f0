"""The databases behind the corpus: small, deterministic, and careless with what their policies promise."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import dpsql.testing
from examples import hospital
from tests.connected import connected
from tests.settled import settled

__all__ = ["POLICIES", "build", "open_proxy"]

HERE = Path(__file__).parent
POLICIES = {
    "hospital": HERE.parents[1] / "policies" / "hospital.yaml",
    "consent": HERE.parents[1] / "policies" / "consent.yaml",
    "shop": HERE / "policies" / "shop.yaml",
    "census": HERE / "policies" / "census.yaml",
}

DEFAULTS = {
    "hospital": "\nmechanisms:\n  visits.cost: {ban: [clamped], avg: laplace, median: exponential, "
    "var: laplace, stddev: laplace}\n"
}
"""Answers without noise are compared with DuckDB's, and preprocessing moves them; statements may name it still. A clamp
of so few rows, chosen privately, would clip them."""

# Each column is a hash of the row's number, so that no engine's random numbers are involved.
_RANDOM = "CREATE TEMP MACRO pick(i, salt, n) AS (hash(i::VARCHAR || salt) % n)::INTEGER"

_SHOP = """
CREATE TABLE regions AS FROM (VALUES
    ('N', 'North', 0.19, true,  DATE '1990-05-01'), ('S', 'South', 0.07, false, DATE '1995-01-01'),
    ('E', 'East',  NULL, true,  NULL),              ('W', 'Wild west', 0.25, NULL, DATE '2001-12-31'),
    ('Ö', 'Österland', 0.1, false, DATE '2020-02-29')) AS t(code, name, tax, coastal, since);
CREATE TABLE holidays AS FROM (VALUES
    (DATE '2024-01-01', 'N', 'new year'), (DATE '2024-01-01', 'S', 'new year'), (DATE '2024-02-12', 'S', 'carnival'),
    (DATE '2024-02-13', 'S', 'carnival'), (DATE '2024-03-29', 'E', 'good friday')) AS t(day, code, title);
CREATE TABLE customers AS SELECT i AS customer_id,
    CASE pick(i, 'a', 15) WHEN 0 THEN NULL ELSE DATE '1925-01-01' + pick(i, 'born', 32000) END AS born,
    TIMESTAMP '2020-01-01' + to_seconds(pick(i, 'joined', 160000000)) AS joined,
    pick(i, 'b', 3) = 0 AS member,
    CASE pick(i, 'c', 3) WHEN 0 THEN true WHEN 1 THEN false END AS newsletter,
    ((pick(i, 'd', 700000) - 70000) / 100)::DECIMAL(9, 2) AS credit,
    ['N', 'S', 'E', 'W', 'Ö', 'nowhere', NULL][1 + pick(i, 'e', 7)] AS region,
    ['Ana', 'ana', 'Bo', 'Zoë', '', '100%', 'a_b', NULL][1 + pick(i, 'f', 8)] AS nickname,
    CASE pick(i, 'g', 12) WHEN 0 THEN 'nan'::DOUBLE WHEN 1 THEN NULL WHEN 2 THEN -0.0
        ELSE pick(i, 'h', 2000) / 1000 END AS height,
    CASE pick(i, 'i', 6) WHEN 0 THEN NULL ELSE pick(i, 'j', 12) - 1 END AS children
FROM range(1, 401) AS t(i);
CREATE TABLE orders AS SELECT i AS order_id, 1 + pick(i, 'who', 300) AS customer_id,
    TIMESTAMP '2022-12-15' + to_seconds(pick(i, 'placed', 66000000)) AS placed,
    DATE '2022-12-20' + pick(i, 'day', 750) AS day,
    CASE pick(i, 'k', 20) WHEN 0 THEN NULL WHEN 1 THEN 2500.55 ELSE pick(i, 'l', 20000) / 100 END::DECIMAL(9, 2)
        AS total,
    CASE pick(i, 'm', 9) WHEN 0 THEN NULL ELSE pick(i, 'n', 43) END AS items,
    ['open', 'paid', 'paid', 'sent', 'sent', 'returned', 'lost'][1 + pick(i, 'o', 7)] AS status,
    ['web', 'shop', NULL][1 + pick(i, 'p', 3)] AS channel,
    pick(i, 'q', 5) = 0 AS express,
    CASE pick(i, 'r', 10) WHEN 0 THEN 'inf'::DOUBLE WHEN 1 THEN 'nan'::DOUBLE ELSE pick(i, 's', 101) / 100 END
        AS discount,
    ['leave at door', 'call', 'gift', NULL][1 + pick(i, 't', 4)] AS note
FROM range(1, 1201) AS t(i);
CREATE TABLE logins AS SELECT CASE WHEN i % 50 > 0 THEN 1 + pick(i, 'who', 350) END AS customer_id,
    DATE '2023-12-28' + pick(i, 'day', 100) AS day,
    ['phone', 'phone', 'laptop', 'tablet', NULL][1 + pick(i, 'u', 5)] AS device,
    CASE pick(i, 'v', 10) WHEN 0 THEN NULL ELSE pick(i, 'w', 4000) - 5 END AS seconds,
    pick(i, 'x', 4) = 0 AS failed
FROM range(1, 801) AS t(i);
"""

_CENSUS = """
CREATE TABLE districts AS FROM (VALUES (1, 'Mill', 3.5), (2, 'Dock', 1.25), (3, 'Hill', NULL), (4, 'Moor', 9.0))
    AS t(district, title, km2);
CREATE TABLE people AS SELECT i AS person_id, pick(i, 'a', 115) AS age, 0.5 + pick(i, 'b', 160) / 100 AS height,
    CASE pick(i, 'c', 8) WHEN 0 THEN NULL ELSE pick(i, 'd', 90000) + pick(i, 'd2', 100) / 100 END AS income,
    pick(i, 'e', 2) = 0 AS employed, 1 + pick(i, 'f', 5) AS district,
    ['smith', 'baker', 'clerk', NULL][1 + pick(i, 'g', 4)] AS trade
FROM range(1, 501) AS t(i);
CREATE TABLE jobs AS SELECT 1 + pick(i, 'who', 450) AS person_id, pick(i, 'h', 900) / 10 AS hours,
    ['farm', 'plant', 'office', 'sea'][1 + pick(i, 's', 4)] AS sector
FROM range(1, 601) AS t(i);
"""


@cache
def _database(name: str) -> bytes:
    """A database file, made once in a process: it is the same every time."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.duckdb"
        if name == "hospital":
            hospital.build(file, patients=1_500, visits=4_000)
        else:
            with connected(file) as connection:
                connection.execute(_RANDOM)
                connection.execute({"shop": _SHOP, "census": _CENSUS}[name])
        return file.read_bytes()


def build(name: str, folder: Path) -> Path:
    """The policy file of one of `POLICIES` in ``folder``, with its database beside it."""
    database = "hospital" if name == "consent" else name  # two policies over the same data
    (folder / f"{database}.duckdb").write_bytes(_database(database))
    policy = folder / f"{name}.yaml"
    policy.write_text(POLICIES[name].read_text(encoding="utf-8") + DEFAULTS.get(name, ""), encoding="utf-8")
    return policy


def open_proxy(name: str, folder: Path) -> dpsql.testing.TestProxy:
    """A proxy without noise over one of `POLICIES`."""
    proxy = dpsql.testing.open(build(name, folder), sampler=dpsql.testing.Noiseless())
    proxy._backend = settled(proxy._backend)
    return proxy
