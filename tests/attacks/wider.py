"""More questions of the replay audit: every relation, every aggregate and every grouping of the widened dialect."""

from __future__ import annotations

from tests.attacks.templates import OPEN, Template

__all__ = ["WIDER", "WIDER_REFUSED"]

GAUSSIAN = {"epsilon": 1, "delta": 1e-6, "mechanism": "gaussian"}
RHO = {"rho": 0.1}

WIDER = (
    # sub-queries and CTEs
    Template("SELECT COUNT(*), SUM(twice) FROM (SELECT score * 2 AS twice FROM visits WHERE cost > 10) AS s"),
    Template(
        "WITH dear AS (SELECT * FROM visits WHERE cost > 100), one AS (SELECT patient_id, score FROM dear) "
        "SELECT SUM(score) FROM one"
    ),
    Template(
        "WITH w AS (SELECT patient_id, ward, score FROM visits) "
        "SELECT COUNT(*), SUM(a.score) FROM w a JOIN w b ON a.patient_id = b.patient_id AND a.ward = b.ward"
    ),
    Template(
        "SELECT ward, COUNT(*) FROM (SELECT ward, cost FROM (SELECT * FROM visits) a WHERE cost < 150) b GROUP BY 1"
    ),
    # joins of private tables
    Template("SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id)"),
    Template("SELECT COUNT(*) FROM visits a JOIN visits b ON a.visit_id = b.visit_id"),
    Template("SELECT COUNT(*), SUM(v.cost) FROM visits v, notes n WHERE v.patient_id = n.patient_id AND n.grade > 3"),
    Template(
        "SELECT p.sex, COUNT(*) FROM patients p JOIN visits v USING (patient_id) JOIN notes n USING (patient_id) GROUP BY 1"
    ),
    Template(
        "SELECT COUNT(*), SUM(v.score) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id AND v.cost > 100"
    ),
    Template(
        "SELECT v.ward, COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id GROUP BY v.ward"
    ),
    Template(
        "SELECT COUNT(n.grade), COUNT(n.patient_id) FROM visits v LEFT JOIN notes n ON v.patient_id = n.patient_id"
    ),
    Template(
        "SELECT COUNT(n.patient_id) FILTER (WHERE v.cost > 10), COUNT(DISTINCT n.patient_id) FILTER (WHERE v.cost > 10) "
        "FROM visits v LEFT JOIN notes n ON v.patient_id = n.patient_id"
    ),
    Template(
        "SELECT COUNT(*), COUNT(DISTINCT n.patient_id) FROM notes n RIGHT JOIN patients p ON p.patient_id = n.patient_id"
    ),
    Template(
        "SELECT COUNT(*), SUM(score) FROM visits v LEFT JOIN notes n ON v.patient_id = n.patient_id WHERE n.grade IS NULL"
    ),
    # along a declared key
    Template("SELECT drug, COUNT(*), SUM(dose) FROM treatments GROUP BY drug"),
    Template("SELECT ward, SUM(dose) FROM treatments JOIN visits USING (visit_id) GROUP BY ward"),
    Template("SELECT COUNT(*), SUM(t.dose) FROM visits v LEFT JOIN treatments t ON v.visit_id = t.visit_id"),
    Template("SELECT COUNT(*), SUM(v.score) FROM treatments t LEFT JOIN visits v ON v.visit_id = t.visit_id"),
    Template("SELECT COUNT(*) FROM visits WHERE visit_id IN (SELECT visit_id FROM treatments WHERE drug = 'a')"),
    Template(
        "SELECT COUNT(*) FROM visits v WHERE NOT EXISTS (SELECT 1 FROM treatments t WHERE t.visit_id = v.visit_id)"
    ),
    Template("SELECT AVG(n) FROM (SELECT visit_id, COUNT(*) AS n FROM treatments GROUP BY visit_id) AS t"),
    Template("SELECT COUNT(DISTINCT visit_id) FROM treatments"),
    # public tables
    Template("SELECT COUNT(*), SUM(b.beds) FROM visits v JOIN beds b ON v.ward = b.ward"),
    Template("SELECT b.floor, COUNT(*) FROM visits v LEFT JOIN beds b ON v.ward = b.ward AND b.floor < 3 GROUP BY 1"),
    Template("SELECT COUNT(*) FROM patients p LEFT JOIN cities c ON p.city = c.name AND c.km > 15"),
    Template(
        "SELECT region, COUNT(*) FROM visits JOIN patients USING (patient_id) JOIN cities ON city = name GROUP BY 1"
    ),
    Template("SELECT b.ward, COUNT(*), SUM(v.score) FROM visits v JOIN beds b ON v.score >= b.beds GROUP BY b.ward"),
    Template(
        "SELECT c.name, COUNT(*), COUNT(DISTINCT patient_id) FROM visits CROSS JOIN cities c WHERE cost > c.km GROUP BY 1"
    ),
    Template("SELECT COUNT(*), SUM(age) FROM patients p, beds b WHERE p.age > b.floor * 10"),
    Template(
        "SELECT p.city, COUNT(*) FROM patients p JOIN cities c ON p.city = c.name WHERE c.km > 15 GROUP BY p.city"
    ),
    # IN, EXISTS
    Template("SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE ward = 'C')"),
    Template(
        "SELECT ward, COUNT(*) FROM visits WHERE patient_id NOT IN (SELECT patient_id FROM notes WHERE grade > 4) GROUP BY ward"
    ),
    Template(
        "SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.score > p.age)"
    ),
    Template(
        "SELECT SUM(score) FROM visits v WHERE NOT EXISTS "
        "(SELECT 1 FROM visits w WHERE w.patient_id = v.patient_id AND w.score > v.score)"
    ),
    Template("SELECT COUNT(*) FROM patients WHERE city IN (SELECT name FROM cities WHERE region = 'south')"),
    Template("SELECT COUNT(*) FROM visits WHERE ward NOT IN (SELECT ward FROM beds WHERE floor = 3)"),
    Template("SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM beds b WHERE b.beds > v.score)"),
    # UNION ALL, DISTINCT
    Template(
        "SELECT COUNT(*), SUM(x), COUNT(DISTINCT patient_id) FROM "
        "(SELECT patient_id, score AS x FROM visits UNION ALL SELECT patient_id, grade FROM notes) AS u"
    ),
    Template("SELECT SUM(x) FROM (SELECT age AS x FROM patients UNION ALL SELECT age FROM patients) AS u"),
    Template("SELECT ward, COUNT(*) FROM (SELECT DISTINCT patient_id, ward FROM visits) AS d GROUP BY ward"),
    Template("SELECT COUNT(*), SUM(score) FROM (SELECT DISTINCT ward, score FROM visits) AS d"),
    Template("SELECT ward, COUNT(*) FROM (SELECT DISTINCT ward, diagnosis FROM visits) AS d GROUP BY ward"),
    Template("SELECT DISTINCT diagnosis FROM visits", options=OPEN),
    Template(
        "SELECT diagnosis, COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits) d GROUP BY 1", options=OPEN
    ),
    Template("SELECT COUNT(DISTINCT score), COUNT(DISTINCT ward), COUNT(DISTINCT diagnosis) FROM visits"),
    Template("SELECT ward, COUNT(DISTINCT score) FROM visits GROUP BY ward"),
    # within one unit
    Template(
        "SELECT AVG(k), SUM(s) FROM (SELECT patient_id, COUNT_IF(ward = 'A') AS k, "
        "SUM(score) FILTER (WHERE cost > 10) AS s FROM visits GROUP BY patient_id) AS t"
    ),
    Template(
        "SELECT AVG(total), COUNT(*) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) AS t"
    ),
    Template(
        "SELECT n, COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t GROUP BY n"
    ),
    Template(
        "SELECT SUM(most) FROM (SELECT patient_id, MAX(score) AS most, MIN(cost) AS least FROM visits "
        "GROUP BY patient_id HAVING COUNT(*) > 2) AS t WHERE least > 1"
    ),
    Template(
        "SELECT ward, SUM(n) FROM (SELECT patient_id, ward, COUNT(*) AS n FROM visits GROUP BY 1, 2) AS t GROUP BY ward"
    ),
    Template(
        "SELECT COUNT(*) FROM visits v JOIN (SELECT patient_id, AVG(cost) AS mean FROM visits GROUP BY patient_id) m "
        "ON v.patient_id = m.patient_id WHERE v.cost > m.mean"
    ),
    Template(
        "SELECT AVG(mean) FROM (SELECT patient_id, AVG(score) AS mean, COUNT(DISTINCT ward) AS w FROM visits GROUP BY 1) t WHERE w > 1"
    ),
    Template(
        "SELECT COUNT(*), SUM(n) FROM (SELECT patient_id, COUNT(*) AS n FROM "
        "(SELECT patient_id, ward, SUM(score) AS s FROM visits GROUP BY 1, 2) a WHERE s > 0 GROUP BY patient_id) b"
    ),
    Template(
        "SELECT SUM(s) FROM (SELECT patient_id, SUM(greatest(-9, least(9, amount))) AS s FROM notes GROUP BY 1) AS t"
    ),
    # over released answers
    Template("SELECT SUM(n), COUNT(*) FROM (SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward) AS r WHERE n > 3"),
    Template("WITH r AS (SELECT ward, AVG(cost) AS m FROM visits GROUP BY ward) SELECT MAX(m) - MIN(m) FROM r"),
    Template("SELECT MAX(n) FROM (SELECT diagnosis, COUNT(*) AS n FROM visits GROUP BY 1) AS r", options=OPEN),
    # groupings
    Template("SELECT ward, floor(score / 10) AS s, COUNT(*) FROM visits GROUP BY ROLLUP (1, 2)"),
    Template("SELECT sex, city, SUM(age), AVG(age) FROM patients GROUP BY CUBE (sex, city)"),
    Template("SELECT sex, city, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex), (city), ())"),
    Template("SELECT ward, SUM(score) FROM visits GROUP BY ROLLUP (ward)", options=GAUSSIAN),
    # aggregates that reduce to counts
    Template("SELECT COUNT(*) FILTER (WHERE cost > 100), SUM(score) FILTER (WHERE ward = 'A') FROM visits"),
    Template("SELECT ward, COUNT_IF(cost > 100), BOOL_OR(score > 15), BOOL_AND(score > 0) FROM visits GROUP BY ward"),
    Template(
        "SELECT SUM(score, contribution_bounds_per_row => (0, 5)), AVG(cost, contribution_bounds_per_row => (0, 9)) FROM visits"
    ),
    Template("SELECT ward, SUM(score, contribution_bounds_per_group => (-10, 30)) FROM visits GROUP BY ward"),
    Template("SELECT COUNT(*, contribution_bounds_per_group => (0, 2)), SUM(cost) FROM visits"),
    Template(
        "SELECT diagnosis, SUM(cost, contribution_bounds_per_group => (0, 300)) FROM visits GROUP BY 1", options=OPEN
    ),
    Template("SELECT AVG(cost, contribution_bounds_per_group => (0, 90)), SUM(score) FROM visits"),
    Template("SELECT ward, AVG(score, contribution_bounds_per_group => (-2, 9)), COUNT(*) FROM visits GROUP BY ward"),
    Template("SELECT AVG(score, contribution_bounds_per_group => (0, 5)) FROM visits", options=GAUSSIAN),
    Template("SELECT COUNT(*) AS n, DP_INTERVAL_LOW(n), DP_INTERVAL_HIGH(n) FROM visits"),
    # a public table lists the groups
    Template(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) "
        "w.ward, COUNT(*), SUM(score) FROM visits v RIGHT JOIN (VALUES ('A'), ('A'), ('Z')) AS w(ward) "
        "ON v.ward = w.ward GROUP BY w.ward"
    ),
    Template("SELECT ward, COUNT(*, report_format => 'JSON') FROM visits GROUP BY ward"),
    # rows that the statement holds
    Template("SELECT COUNT(*), SUM(score) FROM visits CROSS JOIN UNNEST([1, 2, 3]) AS x"),
    Template("SELECT x, COUNT(*) FROM visits CROSS JOIN UNNEST([1, 2, 3]) AS t(x) WHERE score >= 5 * x GROUP BY x"),
    Template(
        "SELECT n, SUM(cost) FROM visits JOIN (VALUES ('A', 1), ('A', 2), ('B', 2)) AS t(w, n) ON ward = w GROUP BY n"
    ),
    Template("SELECT COUNT(n), COUNT(*) FROM visits LEFT JOIN (VALUES ('A', 1), ('A', 2)) AS t(w, n) ON ward = w"),
    # other ways to write the same
    Template("FROM visits SELECT ward, COUNT(*) AS n, n * 2 AS twice, WHERE cost > 10 GROUP BY ward"),
    Template("SELECT ward, SUM(cost) AS s FROM visits GROUP BY ward QUALIFY RANK() OVER (ORDER BY s DESC) <= 2"),
    Template(
        "WITH a AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2) ward, COUNT(*) AS n FROM visits GROUP BY 1) "
        "SELECT SUM(n) FROM a"
    ),
    Template("SELECT diagnosis FROM visits GROUP BY diagnosis", options=OPEN),
    # choices
    Template("SELECT MEDIAN(cost) FROM visits"),
    Template("SELECT ward, MEDIAN(cost), COUNT(*) FROM visits GROUP BY ward", options={"interval": "none"}),
    Template("SELECT MIN(score), MAX(score), QUANTILE_DISC(score, 0.25), QUANTILE_CONT(score, 0.9) FROM visits"),
    Template("SELECT ward, MEDIAN(score) FROM visits GROUP BY ward"),
    Template("SELECT ward, MIN(visited_on), QUANTILE_DISC(visited_on, 0.5), MAX(visited_on) FROM visits GROUP BY ward"),
    Template("SELECT sex, MAX(age), QUANTILE_CONT(weight, 0.3) FROM patients GROUP BY sex"),
    Template("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM patients"),
    Template("SELECT MODE(ward) FROM visits"),
    Template("SELECT ward, MODE(sex), MEDIAN(age) FROM visits JOIN patients USING (patient_id) GROUP BY ward"),
    Template("SELECT MEDIAN(score), MODE(ward) FROM visits", options=RHO),
    Template("SELECT diagnosis, MEDIAN(score) FROM visits GROUP BY diagnosis", options=OPEN),
    Template("SELECT MEDIAN(total) FROM (SELECT patient_id, SUM(score) AS total FROM visits GROUP BY patient_id) AS t"),
    Template("SELECT ward, MAX(score) FROM visits GROUP BY ward", options={"max_groups_per_unit": 1}),
    # moments
    Template("SELECT VAR_POP(score), STDDEV(score) FROM visits"),
    Template("SELECT ward, VAR_SAMP(cost) FROM visits GROUP BY ward"),
    Template("SELECT VAR_SAMP(age), STDDEV_POP(weight) FROM patients"),
    Template("SELECT COVAR_POP(cost, score), COVAR_SAMP(score, cost) FROM visits"),
    Template("SELECT sex, CORR(age, weight), REGR_SLOPE(weight, age) FROM patients GROUP BY sex"),
    Template("SELECT STDDEV(score), CORR(cost, score) FROM visits", options=GAUSSIAN),
    Template(
        "SELECT ward, CORR(cost, score), COVAR_POP(score, cost), REGR_SLOPE(cost, score), REGR_SLOPE(score, cost), "
        "AVG(cost) FILTER (WHERE score IS NOT NULL), COUNT(score) FILTER (WHERE cost IS NOT NULL) "
        "FROM visits GROUP BY ward",
        options={"epsilon": 1, "mechanism": "laplace"},
    ),
    Template("SELECT STDDEV(score), AVG(score), SUM(score), COUNT(score) FROM visits", options=GAUSSIAN),
    Template("SELECT ward, REGR_SLOPE(cost, score) FROM visits GROUP BY ward", options=RHO),
    Template("SELECT VAR_POP(score) FILTER (WHERE ward = 'A') FROM visits"),
    # values as wild as a column without bounds can hold them
    Template("SELECT SUM(greatest(0, least(amount + 1, 5))), COUNT(amount * amount) FROM notes"),
    Template("SELECT AVG(greatest(-1, least(1, -amount))), COUNT(abs(amount)), COUNT(amount % 3) FROM notes"),
    Template("SELECT year(seen) AS y, COUNT(*) FROM notes GROUP BY y", options=OPEN),
    Template("SELECT seen, COUNT(*) FROM notes GROUP BY seen", options=OPEN),
    Template("SELECT seen + INTERVAL 3000 YEAR AS later, COUNT(*) FROM notes GROUP BY 1", options=OPEN),
    Template("SELECT amount, COUNT(*) FROM notes GROUP BY amount", options=OPEN),
    Template("SELECT reading, COUNT(*) FROM notes GROUP BY reading", options=OPEN),
    Template("SELECT COUNT(*) FROM notes WHERE reading * 1e280 > amount OR 1 / reading > 3 OR ln(reading) > 1"),
    Template("SELECT SUM(greatest(0, least(reading * reading - reading * 1e280, 5))) FROM notes"),
)

WIDER_REFUSED = (
    Template("SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward"),
    Template("SELECT COUNT(*) FROM visits WHERE ward IN (SELECT city FROM patients)"),
    Template("SELECT COUNT(*) FROM visits v WHERE EXISTS (SELECT 1 FROM notes n WHERE n.grade > v.score)"),
    Template("SELECT COUNT(*) FROM cities c LEFT JOIN patients p ON p.city = c.name"),
    Template(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) "
        "sex, COUNT(*) FROM cities c LEFT JOIN patients p ON p.city = c.name GROUP BY sex"
    ),
    Template("SELECT COUNT(*) FROM cities WHERE EXISTS (SELECT 1 FROM patients WHERE city = name)"),
    Template(
        "SELECT AVG(n) FROM (SELECT v.patient_id, COUNT(*) AS n FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY 1) t"
    ),
    Template("SELECT COUNT(*) FROM (SELECT patient_id FROM visits ORDER BY cost DESC LIMIT 1) AS t"),
    Template("SELECT COUNT(*) FROM visits v WHERE cost > (SELECT AVG(w.cost) FROM visits w WHERE w.ward = v.ward)"),
    Template("SELECT COUNT(*) OVER (PARTITION BY ward) FROM visits"),
    Template("SELECT diagnosis, ward, COUNT(*) FROM visits GROUP BY CUBE (diagnosis, ward)", options=OPEN),
    Template("SELECT VAR_POP(reading) FROM notes"),
    Template("SELECT SUM(amount) FROM notes"),
)
