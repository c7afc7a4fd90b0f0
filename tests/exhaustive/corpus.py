"""What is asked of every tiny table: each mechanism by name, and small plans; and what is not, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tests.exhaustive.statements import Case
from tests.exhaustive.steps import FEW, FEWEST
from tests.exhaustive.tables import RELATIONS, SHAPED

__all__ = ["BY_MECHANISM", "FOLLOWED_CASES", "LEFT_OUT", "PARTLY", "PLANS", "QUICK"]

ONE = {"epsilon": 1, "mechanism": "laplace"}
CAPPED = {**ONE, "max_groups_per_unit": 1}
OPENLY = {"epsilon": 3, "delta": 1e-2, "mechanism": "threshold"}

FEW_NUMBERS = (0.5, 1.0, 3.0)
"""Prices in epsilon, and multiples of a metric."""

FEW_RHOS = (0.05, 0.5)
"""Prices in rho."""

OPEN = "SELECT h, COUNT(DISTINCT id) FROM {t} GROUP BY h"
COUNTED = "SELECT COUNT(*) FROM {t}"
SOME = "SELECT COUNT(*) FROM {t} WHERE g = 'b'"
SUMMED = "SELECT SUM(x) FROM {t}"
BY_GROUP = "SELECT g, COUNT(*) FROM {t} GROUP BY g"
PEOPLE = "SELECT g, COUNT(DISTINCT id) FROM {t} GROUP BY g"
MEAN = "SELECT AVG(x) FROM {t}"
VARIANCE = "SELECT VARIANCE(x) FROM {t}"
MODE = "SELECT MODE(g) FROM {t}"
MEDIAN = "SELECT QUANTILE_CONT(x, 0.5) FROM {t}"
NEAR = (SUMMED, "SELECT COUNT(*) FROM {t} WHERE x > 0")
BOTH = (
    "SELECT SUM(CASE WHEN g = 'b' THEN x ELSE 0 END) FROM {t}",
    "SELECT COUNT(*) FROM {t} WHERE x > 0 AND g = 'b'",
    BY_GROUP,
)
COMBINED = ("sum", "sup", "l2")
"""How the distances of attributes may make one."""
FIRST = "SELECT g, COUNT(*) AS n FROM {t} GROUP BY g ORDER BY n DESC LIMIT 1"


def _named(
    mechanism: str, sql: str, *, family: str = "single", spreads: int = 0, apart: int = FEW, **options: object
) -> Case:
    return Case(mechanism, sql, {"mechanism": mechanism, **options}, family, spreads, apart=apart)


def _by_metric(sql: str, family: str, multiple: float = 1) -> Case:
    return Case("metric", sql, {"metric": "{t}", "multiple": multiple}, family)


def _priced(mechanism: str, sql: str, **rest: object) -> list[Case]:
    return [_named(mechanism, sql, epsilon=epsilon, **rest) for epsilon in FEW_NUMBERS]  # type: ignore[arg-type]


BY_MECHANISM: tuple[Case, ...] = (
    *_priced("laplace", COUNTED, spreads=8),
    *_priced("laplace", SOME, spreads=8),
    *_priced("laplace", SUMMED, spreads=4),
    _named("laplace", MEAN, epsilon=1),
    _named("laplace", BY_GROUP, epsilon=3),
    _named("laplace", MEAN, epsilon=1, family="fixed"),
    *_priced("laplace", SUMMED, family="fixed"),
    *_priced("laplace", SUMMED, family="several", spreads=4),
    *_priced("laplace", SUMMED, family="missing", spreads=4),
    _named("laplace", MEAN, epsilon=1, family="missing"),
    _named("laplace", "SELECT COUNT(x) FROM {t}", epsilon=1, family="missing", spreads=4),
    _named("laplace", "SELECT COUNT(DISTINCT g) FROM {t}", epsilon=1, family="missing", spreads=4),
    _named("laplace", BY_GROUP, epsilon=3, family="missing", spreads=4),
    _named("laplace", PEOPLE, epsilon=3, family="missing", spreads=4),
    *_priced("gaussian", SOME, delta=1e-2, spreads=9),
    *_priced("gaussian", SUMMED, delta=1e-2, spreads=9),
    _named("gaussian", SUMMED, epsilon=1, delta=1e-2, spreads=9, family="several"),
    _named("gaussian", MEAN, epsilon=3, delta=1e-2, spreads=6),
    *(_named("gaussian", sql, rho=rho, spreads=9) for sql in (SOME, SUMMED) for rho in FEW_RHOS),
    _named("gaussian", SUMMED, rho=0.5, spreads=9, family="several"),
    _named("gaussian", SUMMED, rho=0.5, spreads=9, family="missing"),
    *(_named("threshold", OPEN, epsilon=e, delta=1e-2, spreads=w) for e, w in ((1, 9), (3, 12))),
    _named("gaussian_threshold", OPEN, epsilon=3, delta=1e-2, spreads=9),
    *(_named("gaussian_threshold", OPEN, rho=rho, delta=1e-2, spreads=9) for rho in FEW_RHOS),
    _named("gaussian_threshold", OPEN, rho=0.5, delta=1e-2, spreads=9, family="several"),
    *_priced("exponential", MEDIAN, interval="none"),
    *_priced("exponential", "SELECT MIN(x) FROM {t}", interval="none"),
    *_priced("exponential", MODE),
    *_priced("exponential", MEDIAN, interval="none", family="several"),
    _named("exponential", MEDIAN, epsilon=1, interval="none", family="missing"),
    *(_named("exponential", MEDIAN, rho=rho, interval="none") for rho in FEW_RHOS),
    *(_named("exponential", MODE, rho=rho) for rho in FEW_RHOS),
    *_priced("top_k", FIRST),
    _named("top_k", "SELECT g, COUNT(*) AS n FROM {t} GROUP BY g ORDER BY n LIMIT 2", epsilon=3),
    _named("top_k", FIRST, rho=0.5),
    _named("clamped", SUMMED, epsilon=30),
    _named("clamped", SUMMED, rho=20),
    *_priced("preprocessing", SUMMED, sensitivity=2),
    _named("preprocessing", SUMMED, sensitivity=2, rho=0.5),
    Case("public", COUNTED, {}, "fixed", relations=RELATIONS[1:]),
    _named("random_dp", BY_GROUP, epsilon=1, family="cells"),
    *(_by_metric(sql, "apart", m) for sql in NEAR for m in FEW_NUMBERS),
    *(_by_metric(sql, "apart") for sql in (MEAN, "SELECT COUNT(*), SUM(x) FROM {t}")),
    *(_by_metric(sql, f"by_{own}") for own in COMBINED for sql in (SUMMED, MEAN, MODE, *BOTH)),
    *(_by_metric(sql, shape) for shape in SHAPED["x"] for sql in (*NEAR, MEAN)),
    *(_by_metric(sql, shape) for shape in SHAPED["g"] for sql in (SOME, MODE)),
    *(_by_metric(BY_GROUP, shape) for shape in ("star", "tree", "matrix", "places")),
    *(_by_metric(sql, "none") for sql in (SUMMED, "SELECT COUNT(x) FROM {t}", BY_GROUP)),
)
"""Each mechanism that can be listed, alone in a statement."""

PLANS: tuple[Case, ...] = (
    Case("laplace", "SELECT COUNT(*), SUM(x) FROM {t} WHERE x > 0", ONE),
    Case("laplace", "SELECT SUM(CASE WHEN g = 'a' THEN x ELSE 1 END) FROM {t}", ONE, "several"),
    Case("laplace", "SELECT SUM(s) FROM (SELECT id, SUM(x) AS s FROM {t} GROUP BY id) AS per", ONE, "several"),
    Case("laplace", "SELECT COUNT(*) FROM {t} a JOIN {t} b ON a.id = b.id", ONE, "several"),
    Case("laplace", "SELECT COUNT(*) FROM {t} WHERE id IN (SELECT id FROM {t} WHERE g = 'b')", ONE, "several"),
    Case("laplace", "SELECT g, COUNT(*) FROM {t} WHERE g <> 'c' GROUP BY ROLLUP (g)", {**ONE, "epsilon": 9}),
    Case("laplace", "SELECT g, SUM(x) FROM {t} WHERE g <> 'c' GROUP BY g", CAPPED, "several", relations=RELATIONS[:1]),
    Case("laplace", "SELECT g, COUNT(DISTINCT id) FROM {t} GROUP BY g", CAPPED, "several", relations=RELATIONS[:1]),
    Case("threshold", "SELECT h, COUNT(DISTINCT id) FROM {t} WHERE g = 'a' GROUP BY h", OPENLY, "several", 12),
)
"""Small plans: conditions, cases, sub-queries inside one unit, joins, semi-joins, grouping sets, caps, open groups."""

FOLLOWED_CASES: tuple[Case, ...] = (
    _named("capped", MEDIAN, epsilon=1, family="alone", interval="none"),
    _named("capped", MEDIAN, epsilon=3, family="alone"),
    _named("capped", MEDIAN, rho=0.5, family="alone", interval="none"),
    _named("capped", MEAN, epsilon=1, family="alone", apart=FEWEST),
    replace(_named("capped", MEAN, epsilon=1, family="both", apart=FEWEST), relations=RELATIONS[:1]),
    _named("capped", VARIANCE, epsilon=1, family="first", apart=FEWEST),
    replace(_named("capped", VARIANCE, epsilon=1, family="alone", apart=FEWEST), relations=RELATIONS[:1]),
    _named("capped", MEAN, rho=0.5, family="first", apart=FEWEST),
    replace(_named("capped", MEAN, rho=0.5, family="both", apart=FEWEST), relations=RELATIONS[:1]),
    _named("capped", OPEN, epsilon=3, delta=1e-2, family="both", spreads=12),
    _named("capped", OPEN, rho=0.5, delta=1e-2, family="both", spreads=9),
    *(_named("clamped", sql, epsilon=30, family="first", apart=FEWEST) for sql in (MEAN, VARIANCE)),
    *(_named("clamped", MEAN, epsilon=30, family=family, apart=FEWEST) for family in ("alone", "both")),
    _named("located", MEAN, epsilon=1, family="lone"),
    _named("located", VARIANCE, epsilon=1, family="lone"),
    *(_named("located", sql, rho=0.5, family="lone", apart=FEWEST) for sql in (MEAN, VARIANCE)),
    *(_named("located", sql, epsilon=1, apart=FEWEST) for sql in (MEAN, VARIANCE)),
    _named("laplace", VARIANCE, epsilon=1),
    _named("laplace", "SELECT COVAR_POP(x, x) FROM {t}", epsilon=1),
    _named("laplace", "SELECT REGR_SLOPE(x, x) FROM {t}", epsilon=1),
    _named("laplace", "SELECT g, AVG(x) FROM {t} GROUP BY g", epsilon=1),
    *(_named("gaussian", sql, rho=0.5) for sql in (MEAN, VARIANCE)),
    _named("gaussian", VARIANCE, epsilon=1, delta=1e-2),
    *(_by_metric("SELECT g, SUM(x) FROM {t} GROUP BY g", f"by_{own}") for own in COMBINED),
    _named("exponential", MEDIAN, epsilon=1),
    *(_named("preprocessing", sql, epsilon=1) for sql in (MEAN, MEDIAN, VARIANCE)),
)
"""What draws too often for its law to be listed, and is followed draw by draw."""

QUICK: tuple[Case, ...] = (
    _named("laplace", SUMMED, epsilon=1, spreads=2),
    _named("laplace", MEAN, epsilon=1),
    _named("gaussian", SOME, epsilon=1, delta=1e-2, spreads=9),
    _named("threshold", OPEN, epsilon=3, delta=1e-2, spreads=12),
    _named("gaussian", SUMMED, rho=0.5, spreads=9),
    _named("exponential", MEDIAN, epsilon=1, interval="none"),
    _named("exponential", MODE, epsilon=1),
    _named("top_k", FIRST, epsilon=3),
    _named("laplace", SUMMED, epsilon=1, family="missing", spreads=2),
    _named("laplace", PEOPLE, epsilon=1, family="missing"),
)
"""What `make test` asks, of the smallest tables."""

LEFT_OUT: Mapping[str, str] = {
    "friendly_core": "what it draws depends on rows one by one; its filter and its average are looked at by "
    "themselves, but for the filter by noise, pairs of rows, and clusters",
}
"""Mechanisms that are neither listed nor followed, with the reason. Replays and draws audit them."""

PARTLY: Mapping[str, str] = {
    "capped": "variances of two units, and means of two units, and variances of two rows, where rows are replaced",
    "clamped": "variances of two units or rows",
}
"""What of the others is not."""
