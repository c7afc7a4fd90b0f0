"""A made-up hospital in a DuckDB file: cities (public), patients, and their visits.

    python examples/hospital.py [PATH] [--patients N] [--visits N]

The same arguments give the same rows, whatever the machine's number of threads: every "random" number is a hash of
the row's number. Nobody in it is real; the cities are (GeoNames, CC BY; see data/us_cities_50k.SOURCE.md).

As real data do, they break some of the promises of policies/hospital.yaml: a few ages above 110, costs below 0 or
above 20,000, missing costs, dates after 2025, visits of nobody, and patients with more than 12 visits.
`dpsql check` finds them, and the proxy's answers stay private all the same.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import duckdb

__all__ = ["build"]

_CITIES_CSV = Path(__file__).parent / "data" / "us_cities_50k.csv"

# Kilometres from 39 N, 98 W on a plane: right to a few percent in the contiguous states. One degree is 111.32 km.
_CITIES = """
CREATE TABLE cities AS
SELECT name || ', ' || state AS name,
       state,
       round((lon + 98) * 111.32 * cos(radians(39)), 1) AS x_km,
       round((lat - 39) * 111.32, 1) AS y_km,
       population::INTEGER AS population,
       elevation_m::INTEGER AS elevation_m
FROM read_csv($cities, header = true)
ORDER BY population DESC, name
"""

# hashed(row, salt) is 128 bits; u(bits, k) is the k-th number between 0 and 1 in it, k from 0 to 3; normal is
# Box and Muller's.
_MACROS = """
CREATE TEMP MACRO hashed(i, salt) AS md5_number(salt || i::VARCHAR);
CREATE TEMP MACRO u(bits, k) AS (((bits >> (32 * k)::UHUGEINT) & 4294967295)::DOUBLE + 0.5) / 4294967296;
CREATE TEMP MACRO normal(p, q) AS sqrt(-2 * ln(p)) * cos(2 * pi() * q);
"""

# Cities weigh as much as they have people: a patient lives where their number falls in the running total.
_PATIENTS = """
CREATE TABLE patients AS
WITH drawn AS (
    SELECT i AS patient_id, hashed(i, 'patient') AS a, hashed(i, 'person') AS b
    FROM range(1, $patients + 1) AS numbers(i)
), people AS (
    SELECT patient_id, a, b,
           CASE WHEN u(b, 3) < 0.0003 THEN 111 + floor(u(a, 0) * 20)::INTEGER         -- mistyped
                ELSE round(102 * pow(u(a, 0), 1.25))::INTEGER END AS age,
           CASE WHEN u(a, 2) < 0.508 THEN 'F' WHEN u(a, 2) < 0.994 THEN 'M' ELSE 'X' END AS sex,
           u(a, 3) * (SELECT sum(population) FROM cities) AS lives
    FROM drawn
), ladder AS (
    SELECT name, sum(population) OVER (ORDER BY population DESC, name) - population AS starts FROM cities
)
SELECT patient_id, age, sex, ladder.name AS city,
       CASE WHEN u(b, 0) >= 0.04                                                      -- 4% were never weighed
            THEN round(greatest(2.5, (CASE WHEN age < 18 THEN 4 + 3.4 * age WHEN sex = 'M' THEN 86 ELSE 73 END)
                                     * exp(0.18 * normal(u(b, 1), u(b, 2)))), 1) END AS weight,
       CASE WHEN u(a, 1) < 0.1 THEN 'strict' ELSE 'normal' END AS consent
FROM people ASOF JOIN ladder ON people.lives >= ladder.starts
ORDER BY patient_id
"""

_COMMON = """
hypertension;cold;back pain;flu;type 2 diabetes;anxiety;asthma;bronchitis;sprained ankle;migraine;depression;
urinary infection;eczema;knee osteoarthritis;pneumonia;gastritis;allergic rhinitis;otitis media;anaemia;
atrial fibrillation;heart failure;gallstones;kidney stones;hip fracture;appendicitis;stroke;sepsis
"""
_DISORDERS = (
    "abscess;benign tumour;burn;contusion;cyst;fracture;infection;inflammation;laceration;malignant tumour;pain"
)
_SITES = """
ankle;bladder;breast;cheek;chin;colon;ear;elbow;eye;femur;finger;foot;forearm;hand;heel;hip;jaw;kidney;knee;larynx;
liver;lung;neck;nose;ovary;pancreas;pelvis;prostate;rib;scalp;shin;shoulder;skin;skull;spine;spleen;stomach;thigh;
thumb;thyroid;toe;tongue;tonsil;ureter;wrist
"""

_DIAGNOSES = """
CREATE TEMP TABLE diagnoses AS
SELECT row_number() OVER (ORDER BY place, md5(name)) - 1 AS rank, name
FROM (SELECT unnest($common) AS name, unnest(range(len($common))) AS place
      UNION ALL
      SELECT d || ' of the ' || s, 1000 FROM unnest($disorders) AS disorders(d), unnest($sites) AS sites(s))
"""

# A patient of rank r among n comes in proportion to (r/n)^(-1/3): the busiest far more often than the rest. The
# ranks run through the patients in steps of a number without a common factor, so that being busy does not show in
# the patient_id. Diagnoses fall off steeply too: the commonest are a percent and more each, and most of what is typed
# by hand occurs once.
_VISITS = """
CREATE TABLE visits AS
WITH drawn AS (
    SELECT i AS visit_id, hashed(i, 'visit') AS a, hashed(i, 'event') AS b
    FROM range(1, $visits + 1) AS numbers(i)
), events AS (
    SELECT visit_id, a, b,
           1 + (floor($patients * pow(u(a, 0), 1.5))::BIGINT * $stride) % $patients AS patient_id,
           CASE WHEN u(a, 3) < 0.01 THEN 5000 * pow(u(a, 1), -0.6667)                 -- a heavy tail
                ELSE exp(5.5 + 0.85 * normal(u(a, 1), u(a, 2))) END AS price
    FROM drawn
)
SELECT visit_id,
       CASE WHEN u(b, 0) >= 0.0002 THEN patient_id END AS patient_id,                 -- visits of nobody
       CASE WHEN u(b, 0) >= 0.98 THEN NULL                                            -- 2% not billed yet
            WHEN u(b, 0) >= 0.9797 THEN -round(price, 2)                              -- refunds
            ELSE round(price, 2) END AS cost,
       DATE '2020-01-01' + floor(2192.4 * u(b, 1))::INTEGER AS visited_on,            -- 2,192 days to the end of 2025
       CASE WHEN u(b, 2) < 0.05 THEN NULL                                             -- 5% without
            WHEN u(a, 3) >= 0.99                                                      -- typed by hand
            THEN diagnoses.name || ', since ' || (1950 + floor(7500 * (u(a, 3) - 0.99))::INTEGER)::VARCHAR
            ELSE diagnoses.name END AS diagnosis,
       ['emergency', 'medicine', 'surgery', 'paediatrics', 'radiology'][1 + floor(5 * pow(u(b, 3), 1.4))::INTEGER]
           AS department
FROM events JOIN diagnoses ON diagnoses.rank = floor($diagnoses * pow(greatest(u(b, 2) - 0.05, 0) / 0.95, 3))::BIGINT
ORDER BY visit_id
"""


def build(path: str | Path, patients: int = 100_000, visits: int = 600_000) -> None:
    """Writes the database, in place of any that is there; ten million visits take about a minute.

    Args:
        path: The DuckDB file.
        patients: Rows of ``patients``, >= 1.
        visits: Rows of ``visits``, >= 0.

    Raises:
        ValueError: If there are no patients, or fewer than no visits.
    """
    if patients < 1 or visits < 0:
        raise ValueError(f"a hospital of {patients} patients and {visits} visits; give at least 1 and 0")
    common, disorders, sites = ([name.strip() for name in text.split(";")] for text in (_COMMON, _DISORDERS, _SITES))
    finished = Path(path)
    started = finished.with_name(finished.name + ".part")
    started.unlink(missing_ok=True)
    with duckdb.connect(str(started)) as connection:
        connection.execute(_MACROS)
        connection.execute(_CITIES, {"cities": str(_CITIES_CSV)})
        connection.execute(_PATIENTS, {"patients": patients})
        connection.execute(_DIAGNOSES, {"common": common, "disorders": disorders, "sites": sites})
        connection.execute(
            _VISITS,
            {
                "patients": patients,
                "visits": visits,
                "stride": _stride(patients),
                "diagnoses": len(common) + len(disorders) * len(sites),
            },
        )
    started.replace(finished)


def _stride(patients: int) -> int:
    """A prime that does not divide the number of patients: steps of it visit every patient once."""
    return next(prime for prime in (7919, 7907, 7901, 7883, 7879, 7877, 7873, 7867) if patients % prime)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description="Makes a hospital database, the same one every time.")
    arguments.add_argument("path", nargs="?", default="hospital.duckdb", metavar="PATH")
    arguments.add_argument("--patients", type=int, default=100_000, metavar="N")
    arguments.add_argument("--visits", type=int, default=600_000, metavar="N")
    chosen = arguments.parse_args()
    build(chosen.path, chosen.patients, chosen.visits)
    print(f"{chosen.path}: {chosen.patients:,} patients, {chosen.visits:,} visits")
