"""The questions that the replay audit asks: every construct of the dialect that touches private rows, and refusals."""

from __future__ import annotations

from datetime import date

from dpsql.audit.template import Template

__all__ = ["REFUSED", "TEMPLATES", "Template", "named"]

OPEN = {"epsilon": 6, "delta": 1e-3}
FOUND = {"epsilon": 10, "mechanism": "clamped"}
MANY_GROUPS = {**OPEN, "mechanism": "gaussian_threshold"}
"""A price at which groups of a few units appear."""
HIDDEN = {"epsilon": 3, "delta": 1e-3, "rest": True}
"""One at which some stay hidden."""
FIRST = {"epsilon": 2, "delta": 1e-6, "mechanism": "top_k"}


def _with(options: str, rest: str) -> str:
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS ({options}) {rest}"


TEMPLATES = (
    # one number
    Template("SELECT COUNT(*) FROM patients"),
    Template("SELECT COUNT(*), COUNT(DISTINCT patient_id) FROM patients"),
    Template("SELECT COUNT(*) FROM visits"),
    Template("SELECT COUNT(cost), COUNT(diagnosis) FROM visits"),
    Template("SELECT COUNT(reading), COUNT(*) FROM notes"),
    Template("SELECT COUNT(DISTINCT patient_id) FROM visits WHERE cost > 100"),
    Template("SELECT COUNT(DISTINCT patient_id) FILTER (WHERE cost > 100), COUNT(DISTINCT patient_id) FROM visits"),
    Template("SELECT SUM(cost) FROM visits"),
    Template("SELECT SUM(score), AVG(score) FROM visits"),
    Template("SELECT AVG(cost) FROM visits"),
    Template("SELECT AVG(weight), AVG(age), SUM(age) FROM patients"),
    Template("SELECT SUM(grade), AVG(grade) FROM notes"),
    # several answers
    Template("SELECT COUNT(*) FROM patients UNION ALL SELECT SUM(score) FROM visits"),
    Template("SELECT (SELECT SUM(cost) FROM visits WHERE cost > 1) / (SELECT COUNT(sex) FROM patients)"),
    Template("SELECT APPROX_QUANTILES(score, 4)[OFFSET(1)] FROM visits"),
    # values that are released first
    Template("SELECT COUNT(*), SUM(score) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)"),
    Template("SELECT SUM(LEAST(20, GREATEST(0, score - (SELECT COUNT(*) FROM patients)))) FROM visits"),
    Template("SELECT ward, COUNT(*) / (SELECT SUM(score) FROM visits) FROM visits GROUP BY ward"),
    Template("SELECT ward, GROUPING(ward), COUNT(*) FROM visits GROUP BY ROLLUP (ward)"),
    # expressions
    Template("SELECT SUM(cost * 2 + score) FROM visits"),
    Template("SELECT AVG(cost / (score + 6)) FROM visits"),
    Template("SELECT SUM(score * score - 3), SUM(-cost), SUM(abs(score)) FROM visits"),
    Template("SELECT SUM(CASE WHEN cost > 100 THEN 1 WHEN ward IS NULL THEN 2 ELSE 0 END) FROM visits"),
    Template("SELECT AVG(CASE WHEN sex = 'F' THEN age END) FROM patients"),
    Template("SELECT SUM(greatest(0, least(cost, 50))), SUM(floor(cost / 7)) FROM visits"),
    Template("SELECT SUM(coalesce(weight, 0)), COUNT(weight) FROM patients"),
    Template("SELECT AVG(greatest(0, least(reading, 1))) FROM notes"),
    Template("SELECT SUM(coalesce(score, 1000) * 3), AVG(nullif(score, 20)) FROM visits"),
    Template("SELECT SUM(score % 7), SUM(round(cost, 1)), AVG(sqrt(greatest(score, 0))) FROM visits"),
    # conditions
    Template("SELECT COUNT(*), SUM(cost) FROM visits WHERE cost BETWEEN 10 AND 200 AND score <> 7"),
    Template("SELECT COUNT(*) FROM visits WHERE ward IN ('A', 'B') OR diagnosis LIKE 'flu%'"),
    Template("SELECT SUM(score) FROM visits WHERE NOT (ward = 'C') AND diagnosis IS NOT NULL"),
    Template("SELECT COUNT(*) FROM notes WHERE reading > 0 OR reading < -1"),
    Template("SELECT AVG(cost) FROM visits WHERE visited_on >= ? AND score < ?", (date(2024, 3, 1), 15)),
    Template("SELECT COUNT(*) FROM patients WHERE age % 10 = 0 OR 100 / age > 2"),
    # listed groups
    Template("SELECT sex, COUNT(*) FROM patients GROUP BY sex"),
    Template("SELECT ward, COUNT(*) AS n, SUM(cost) AS total FROM visits GROUP BY ward"),
    Template("SELECT ward, COUNT(DISTINCT patient_id), AVG(cost), COUNT(score) FROM visits GROUP BY ward"),
    Template("SELECT ward, COUNT(DISTINCT CASE WHEN score > 7 THEN patient_id END) FROM visits GROUP BY ward"),
    Template("SELECT city, sex, AVG(age) FROM patients GROUP BY city, sex"),
    Template("SELECT date_trunc('month', visited_on) AS month, SUM(cost) FROM visits GROUP BY 1"),
    Template("SELECT floor(age / 10) AS decade, COUNT(*) FROM patients GROUP BY 1"),
    Template("SELECT ward, floor(score / 5) AS band, SUM(score) FROM visits GROUP BY 1, 2"),
    Template("SELECT CASE WHEN age < 50 THEN 'young' ELSE 'old' END AS stage, AVG(weight) FROM patients GROUP BY 1"),
    Template("SELECT ward, COUNT(*) FROM visits WHERE ward IN ('A', 'C') GROUP BY ward"),
    # open groups
    Template("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis", options=OPEN),
    Template("SELECT diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis", options=OPEN),
    Template("SELECT diagnosis, ward, AVG(cost), SUM(score) FROM visits GROUP BY 1, 2", options=OPEN),
    Template("SELECT upper(diagnosis) AS d, SUM(cost) FROM visits GROUP BY 1", options=OPEN),
    Template(
        _with(
            "epsilon = 6, delta = 1e-3, min_privacy_units_per_group = 3, max_groups_contributed = 1",
            "diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis",
        )
    ),
    Template(
        _with(
            "epsilon = 6, delta = 1e-3, group_selection_strategy = LAPLACE_THRESHOLD, group_selection_epsilon = 3",
            "ward, SUM(cost) FROM visits GROUP BY ward",
        )
    ),
    Template("SELECT diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis", options=MANY_GROUPS),
    Template("SELECT diagnosis, ward, SUM(score) FROM visits GROUP BY 1, 2", options=MANY_GROUPS),
    Template(
        _with(
            "rho = 4, delta = 1e-3, group_selection_strategy = GAUSSIAN_THRESHOLD",
            "ward, COUNT(DISTINCT patient_id) FROM visits GROUP BY ward",
        )
    ),
    # what stays hidden, together
    Template("SELECT diagnosis, COUNT(*), AVG(cost), VAR_POP(score) FROM visits GROUP BY 1", options=HIDDEN),
    Template(
        "SELECT upper(diagnosis) AS d, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY 1 ORDER BY n DESC",
        options={**HIDDEN, "max_groups_per_unit": 1},
    ),
    Template(
        _with(
            "rho = 4, delta = 1e-3, rest = true", "diagnosis, ward, SUM(score), COUNT(cost) FROM visits GROUP BY 1, 2"
        )
    ),
    # the first groups of an order
    Template("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1", options=FIRST),
    Template(
        "SELECT ward, floor(score / 5) AS band, SUM(score) AS s, COUNT(*) FROM visits GROUP BY 1, 2 ORDER BY s LIMIT 2",
        options=FIRST,
    ),
    Template(
        _with(
            "rho = 0.5, mechanism = 'top_k'",
            "date_trunc('month', visited_on) AS m, COUNT(DISTINCT patient_id) AS n, AVG(cost) FROM visits GROUP BY 1 "
            "ORDER BY n DESC LIMIT 2 OFFSET 1",
        )
    ),
    # listed groups, empty ones without noise
    Template(
        "SELECT ward, floor(score / 5) AS band, COUNT(*), COUNT(DISTINCT patient_id) FROM visits GROUP BY 1, 2",
        options={**OPEN, "mechanism": "threshold"},
    ),
    Template("SELECT city, sex, COUNT(*) FROM patients GROUP BY 1, 2", options={**OPEN, "mechanism": "threshold"}),
    # cells whose emptiness shows
    Template("SELECT sex, COUNT(*) FROM patients GROUP BY sex", options={"mechanism": "random_dp"}),
    Template(
        "SELECT sex = 'F' AS f, COUNT(DISTINCT patient_id) FROM patients WHERE sex <> 'X' GROUP BY 1",
        options={"mechanism": "random_dp"},
    ),
    # joins
    Template("SELECT p.sex, SUM(v.cost) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex"),
    Template("SELECT c.region, COUNT(*) FROM patients p JOIN cities c ON p.city = c.name GROUP BY c.region"),
    Template("SELECT c.name, c.region, COUNT(*) FROM patients p LEFT JOIN cities c ON p.city = c.name GROUP BY 1, 2"),
    Template("SELECT c.region, c.name, SUM(age) FROM patients p JOIN cities c ON p.city = c.name GROUP BY CUBE (1, 2)"),
    Template(
        "SELECT c.name, c.region, AVG(v.cost), COUNT(DISTINCT v.patient_id) FROM visits v JOIN patients p USING "
        "(patient_id) JOIN cities c ON c.name = p.city WHERE c.region = 'north' OR c.name < 'P' GROUP BY 1, 2"
    ),
    Template(
        "SELECT c.region, v.ward, AVG(v.cost) FROM visits v JOIN patients p ON v.patient_id = p.patient_id "
        "JOIN cities c ON c.name = p.city GROUP BY 1, 2"
    ),
    Template("SELECT COUNT(*), SUM(v.score) FROM visits v JOIN notes n ON v.patient_id = n.patient_id"),
    # windows over a unit's rows
    Template(
        "SELECT COUNT(*), SUM(cost) FROM (SELECT patient_id, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY "
        "visited_on) AS r FROM visits) AS v WHERE r <= 2"
    ),
    Template(
        "SELECT ward, SUM(score - before) FROM (SELECT ward, score, LAG(score, 1, 0) OVER (PARTITION BY patient_id "
        "ORDER BY visited_on DESC) AS before FROM visits) AS v GROUP BY ward"
    ),
    # as many groups a unit as are listed, or as its rows can differ in
    Template("SELECT ward, COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits GROUP BY ward"),
    Template(
        "SELECT sex, COUNT(*, contribution_bounds_per_group => (0, 2)) FROM visits JOIN patients USING (patient_id) "
        "GROUP BY sex"
    ),
    Template(
        "SELECT p.sex, COUNT(*, contribution_bounds_per_group => (0, 1)) FROM visits v "
        "LEFT JOIN patients p ON v.patient_id = p.patient_id AND v.ward = 'A' GROUP BY p.sex"
    ),
    Template(
        "SELECT city, COUNT(DISTINCT n.patient_id) FROM notes n JOIN patients p USING (patient_id) GROUP BY city",
        options={**OPEN, "group_selection_strategy": "LAPLACE_THRESHOLD"},
    ),
    # after the noise
    Template("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 3 ORDER BY n DESC LIMIT 2"),
    Template("SELECT sex, SUM(age) / COUNT(*) AS mean, COUNT(*) + 1 AS more FROM patients GROUP BY sex ORDER BY mean"),
    # contribution bounds
    Template("SELECT ward, SUM(cost), COUNT(*) FROM visits GROUP BY ward", options={"max_groups_per_unit": 1}),
    Template("SELECT ward, SUM(score) FROM visits GROUP BY ward", options={"max_rows_per_group": 1}),
    Template(
        "SELECT date_trunc('month', visited_on) AS m, COUNT(*), SUM(cost) FROM visits GROUP BY 1",
        options={"max_groups_per_unit": 2, "max_rows_per_group": 1},
    ),
    Template(_with("epsilon = 1, max_rows_contributed = 2", "SUM(cost), COUNT(*) FROM visits")),
    Template(_with("epsilon = 1, max_rows_contributed = 1", "COUNT(*), SUM(cost) FROM visits WHERE cost > 10")),
    # contribution bounds that are found
    Template("SELECT COUNT(*) FROM visits WHERE cost > 10", options=FOUND),
    Template("SELECT grade > 3 AS good, SUM(grade), COUNT(DISTINCT patient_id) FROM notes GROUP BY 1", options=FOUND),
    Template(
        "SELECT p.sex, SUM(v.cost), COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex",
        options={"rho": 4, "mechanism": "clamped"},
    ),
    Template("SELECT SUM(score), COUNT(score) FROM visits WHERE ward = 'A'", options=FOUND),
    # prices and mechanisms
    Template("SELECT COUNT(*, epsilon => 0.3), SUM(cost) FROM visits", options={"epsilon": 1}),
    Template(_with("epsilon = 1, delta = 1e-6, mechanism = 'gaussian'", "SUM(score) FROM visits")),
    Template(
        _with("epsilon = 1, delta = 1e-6, mechanism = 'gaussian'", "ward, COUNT(*), AVG(cost) FROM visits GROUP BY 1")
    ),
    Template(_with("rho = 0.1, mechanism = 'gaussian'", "AVG(cost), COUNT(DISTINCT patient_id) FROM visits")),
    Template(_with("rho = 0.1", "ward, floor(score / 5) AS band, COUNT(*) FROM visits GROUP BY 1, 2")),
    Template(_with("rho = 0.05, mechanism = 'laplace'", "ward, SUM(cost), AVG(score) FROM visits GROUP BY ward")),
    Template("SELECT SUM(score) FROM visits", options={"epsilon": 1, "delta": 1e-6, "mechanism": "laplace"}),
    # a left join in which one person alone has a partner, by the least stored value
    Template(
        "SELECT COUNT(*) FROM (SELECT v.patient_id, SUM(v.score) AS total FROM visits v LEFT JOIN patients p "
        "ON v.patient_id = p.patient_id AND p.weight < 2.05 GROUP BY v.patient_id) AS t WHERE total > 9"
    ),
)

REFUSED = (
    Template("SELECT * FROM visits LIMIT 5"),
    Template("SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis HAVING FIRST(cost) > 3"),
    Template("SELECT SUM(reading) FROM notes"),
    Template("SELECT COUNT(*) FROM visits WHERE patient_id = 3"),
    Template("SELECT COUNT(*) FROM visits WHERE error(diagnosis) = 'x'"),
    Template("SELECT COUNT(*) FROM visits", options={"epsilon": 2}, analyst="poor"),
    Template("SELECT COUNT(*) FROM visits", analyst="nobody"),
)


def named(*beginnings: str) -> tuple[Template, ...]:
    """The templates whose text starts so."""
    found = tuple(template for template in TEMPLATES if str(template).startswith(beginnings))
    if len(found) < len(beginnings):
        raise ValueError(f"no template for one of {beginnings}")
    return found
