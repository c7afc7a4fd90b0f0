-- One number
SELECT COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT sex, SUM(1) AS "Number of Records", SUM(1) FILTER (WHERE age > 64) AS old FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: sex text, Number of Records integer, old integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 64, 1

SELECT years, COUNT(*) AS n FROM (SELECT patient_id, COUNT(DISTINCT year(visited_on)) AS years FROM visits GROUP BY patient_id) GROUP BY years
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 6]; 7 values: 0, 1, 2, ..., 5, 6
-- a0: count_rows
-- columns: years integer [0, 6], n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."v0" AS "k0" FROM (SELECT "k0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", year("t0"."visited_on") AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q GROUP BY "k0"

SELECT AVG(main.patients.age) AS mean FROM main.patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: mean real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT count(*) AS n FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

SELECT COUNT(cost), COUNT(diagnosis), COUNT(*) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- a1: count of real [0, 20000]; grid 0.01 from 0 to 20000
-- a2: count of text or NULL
-- columns: count("cost") integer, count(diagnosis) integer, count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT "t0"."cost" AS "x0", "t0"."diagnosis" AS "x1" FROM "bounded"."main"."visits" AS "t0") AS q

SELECT COUNT(DISTINCT patient_id) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT patient_id) integer
-- engine: SELECT CAST(COALESCE(SUM(CASE WHEN "$rank" = 1 THEN "$rows" END), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

SELECT COUNT(patient_id) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count(patient_id) integer
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

SELECT SUM(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: sum("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) AS HUGEINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

SELECT AVG(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t

SELECT mean(age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: mean(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT SUM(age), AVG(age), SUM(weight), AVG(weight) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of integer [0, 110]; grid 1 from 0 to 110
-- a1: sum of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a3: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: sum(age) integer, avg(age) real, sum(weight) real, avg(weight) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(1260 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "t0"."age" AS "x0", "t0"."weight$grid" AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(SUM("units") AS BIGINT) AS "units", CAST(SUM("signs") AS BIGINT) AS "signs", CAST(SUM("total") AS HUGEINT) AS "total" FROM (SELECT "$bin" AS "bin", "$units" AS "units", "$signs" AS "signs", "$total" AS "total" FROM "bounded"."main"."patients$sizes" AS t WHERE "$of" = 1) AS q GROUP BY "bin" ORDER BY "bin"

SELECT Count(*) AS "How many?", avg(Age) AS AvgAge FROM Patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: How many? integer, AvgAge real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT() FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

-- Conditions
SELECT COUNT(*) FROM patients WHERE age >= 65
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($1 AS BIGINT))) AS q
-- values: 65

SELECT COUNT(*) FROM patients WHERE age BETWEEN 18 AND 64 AND sex = 'F'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT)) AND ("t0"."sex" = CAST($3 AS VARCHAR))) AS q
-- values: 18, 64, 'F'

SELECT COUNT(*) FROM patients WHERE age NOT BETWEEN 18 AND 64
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT (("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))))) AS q
-- values: 18, 64

SELECT COUNT(*) FROM patients WHERE NOT (sex = 'F' OR age < 18)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT (("t0"."sex" = CAST($1 AS VARCHAR)) OR ("t0"."age" < CAST($2 AS BIGINT))))) AS q
-- values: 'F', 18

SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'X') AND age NOT IN (0, 1, 2)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))) AND (NOT ("t0"."age" IN (CAST($3 AS BIGINT), CAST($4 AS BIGINT), CAST($5 AS BIGINT))))) AS q
-- values: 'F', 'X', 0, 1, 2

SELECT COUNT(*) FROM patients WHERE weight IS NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."weight" IS NULL)) AS q

SELECT COUNT(*) FROM patients WHERE weight IS NOT NULL AND weight / 2 > age
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."weight" IS NULL)) AND (("t0"."weight" / CAST($1 AS DOUBLE)) > CAST("t0"."age" AS DOUBLE))) AS q
-- values: 2.0

SELECT COUNT(*) FROM patients WHERE age IS DISTINCT FROM 40 AND sex IS NOT DISTINCT FROM 'F'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" IS DISTINCT FROM CAST($1 AS BIGINT)) AND (NOT ("t0"."sex" IS DISTINCT FROM CAST($2 AS VARCHAR)))) AS q
-- values: 40, 'F'

SELECT COUNT(*) FROM patients WHERE (age > 40) IS TRUE AND (weight > 70) IS NOT TRUE
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT (("t0"."age" > CAST($1 AS BIGINT)) IS DISTINCT FROM CAST($2 AS BOOLEAN))) AND (("t0"."weight" > CAST($3 AS DOUBLE)) IS DISTINCT FROM CAST($2 AS BOOLEAN))) AS q
-- values: 40, True, 70.0

SELECT COUNT(*) FROM patients WHERE city LIKE 'San %' OR city ILIKE '%springfield%'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."city" LIKE CAST($1 AS VARCHAR)) OR ("t0"."city" ILIKE CAST($2 AS VARCHAR)))) AS q
-- values: 'San %', '%springfield%'

SELECT COUNT(*) FROM patients WHERE city LIKE 'a!_%' ESCAPE '!' OR NOT (city NOT ILIKE 'b$%' || '%' ESCAPE '$')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (like_escape("t0"."city", CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)) OR (NOT not_ilike_escape("t0"."city", CAST($3 AS VARCHAR), CAST($4 AS VARCHAR))))) AS q
-- values: 'a!_%', '!', 'b$%%', '$'

SELECT COUNT(*) FROM patients WHERE city NOT LIKE '%, CA'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."city" LIKE CAST($1 AS VARCHAR)))) AS q
-- values: '%, CA'

SELECT COUNT(*) FROM patients WHERE (age > 40) = (weight > 70)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."age" > CAST($1 AS BIGINT)) = ("t0"."weight" > CAST($2 AS DOUBLE)))) AS q
-- values: 40, 70.0

SELECT COUNT(*) FROM patients WHERE age = 40 AND age <> 41 AND age != 42 AND age == 40
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" = CAST($1 AS BIGINT)) AND ("t0"."age" <> CAST($2 AS BIGINT)) AND ("t0"."age" <> CAST($3 AS BIGINT)) AND ("t0"."age" = CAST($1 AS BIGINT))) AS q
-- values: 40, 41, 42

SELECT COUNT(*) FROM patients WHERE true
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE CAST($1 AS BOOLEAN)) AS q
-- values: True

SELECT COUNT(*) FROM patients WHERE false
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE CAST($1 AS BOOLEAN)) AS q
-- values: False

SELECT COUNT(*) FROM patients WHERE NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE CAST(NULL AS BOOLEAN)) AS q

SELECT COUNT(*), COUNT(*) FILTER (WHERE cost < -1) AS none FROM visits WHERE cost > 5
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: count_star() integer, none integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: 5.0
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."cost" < CAST($1 AS DOUBLE)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($3 AS DOUBLE))) AS q
-- values: -1.0, 1, 5.0

SELECT COUNT(*) FROM visits WHERE visited_on >= DATE '2024-01-01'
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($1 AS DATE))) AS q
-- values: 2024-01-01

SELECT COUNT(*) FROM visits WHERE visited_on >= '2024-01-01' AND visited_on < '2024-07-01'
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($1 AS DATE)) AND ("t0"."visited_on" < CAST($2 AS DATE))) AS q
-- values: 2024-01-01, 2024-07-01

SELECT COUNT(*) FROM visits WHERE year(visited_on) = 2023 AND month(visited_on) IN (6, 7, 8)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (year("t0"."visited_on") = CAST($1 AS BIGINT)) AND (month("t0"."visited_on") IN (CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT)))) AS q
-- values: 2023, 6, 7, 8

SELECT COUNT(*) FROM visits WHERE extract(year FROM visited_on) = 2023
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (year("t0"."visited_on") = CAST($1 AS BIGINT))) AS q
-- values: 2023

SELECT COUNT(*) FROM visits WHERE cost > 0.1e3 AND cost < 2.5e+2
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."cost" < CAST($2 AS DOUBLE))) AS q
-- values: 100.0, 250.0

-- parameters: [40, "F"]
SELECT COUNT(*) FROM patients WHERE age > ? AND sex = ?
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND ("t0"."sex" = CAST($2 AS VARCHAR))) AS q
-- values: 40, 'F'

-- parameters: ["F", 40]
SELECT COUNT(*) FROM patients WHERE age > $2 AND sex = $1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND ("t0"."sex" = CAST($2 AS VARCHAR))) AS q
-- values: 40, 'F'

-- parameters: [null]
SELECT COUNT(*) FROM patients WHERE age > ?
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST(NULL AS BIGINT))) AS q

-- parameters: [12.5, true]
SELECT COUNT(*) FROM patients WHERE weight > ? AND ?
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."weight" > CAST($1 AS DOUBLE)) AND CAST($2 AS BOOLEAN)) AS q
-- values: 12.5, True

-- Arithmetic
SELECT SUM(cost * 2) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 40000]; grid 0.01 from 0 to 40000
-- columns: sum(("cost" * 2)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 4000000 ELSE greatest(0, least(4000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."cost" * CAST($1 AS DOUBLE)) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 2.0, 100.0, 0.0, 40000.0

SELECT AVG(cost / 100) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 200]; grid 0.0001 from 0 to 200
-- columns: avg(("cost" / 100)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."cost" / CAST($1 AS DOUBLE)) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 100.0, 10000.0, 0.0, 200.0

SELECT SUM(age * age - 3 * age + 1) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [-329, 12101]; grid 1 from -329 to 12101
-- columns: sum((((age * age) - (3 * age)) + 1)) integer
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 1128 THEN CASE WHEN "size" <= 188 THEN CASE WHEN "size" <= 94 THEN CASE WHEN "size" <= 70 THEN CASE WHEN "size" <= 47 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 141 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 564 THEN CASE WHEN "size" <= 376 THEN CASE WHEN "size" <= 282 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 752 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 6016 THEN CASE WHEN "size" <= 3008 THEN CASE WHEN "size" <= 2256 THEN CASE WHEN "size" <= 1504 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 4512 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 12032 THEN CASE WHEN "size" <= 9024 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 12101 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN -329 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 12101 ELSE greatest(-329, least(12101, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ((("t0"."age" * "t0"."age") - (CAST($1 AS BIGINT) * "t0"."age")) + CAST($2 AS BIGINT)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"
-- values: 3, 1, 1.0, -329.0, 12101.0

SELECT SUM(-age), SUM(age + 1), SUM(age - weight) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [1, 111]; grid 1 from 1 to 111
-- a1: sum of real [-250, 108] or NULL; grid 0.0001 from -250 to 108
-- a2: sum of integer [-110, 0]; grid 1 from -110 to 0
-- columns: sum((-(age))) integer, sum((age + 1)) integer, sum((age - weight)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 1 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 111 ELSE greatest(1, least(111, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN -110 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 0 ELSE greatest(-110, least(0, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT ("t0"."age" + CAST($1 AS BIGINT)) AS "x0", (-"t0"."age") AS "x1" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1, 1.0, 111.0, -110.0, 0.0
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 234360 THEN CASE WHEN "size" <= 39060 THEN CASE WHEN "size" <= 19530 THEN CASE WHEN "size" <= 14647 THEN CASE WHEN "size" <= 9765 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 29295 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 117180 THEN CASE WHEN "size" <= 78120 THEN CASE WHEN "size" <= 58590 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 156240 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 1249920 THEN CASE WHEN "size" <= 624960 THEN CASE WHEN "size" <= 468720 THEN CASE WHEN "size" <= 312480 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 937440 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 2499840 THEN CASE WHEN "size" <= 1874880 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 2500000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN -2500000 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 1080000 ELSE greatest(-2500000, least(1080000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT (CAST("t0"."age" AS DOUBLE) - "t0"."weight") AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"
-- values: 10000.0, -250.0, 108.0

SELECT SUM(age // 10), SUM(age % 10), SUM(mod(age, 7)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 10]; grid 1 from 0 to 10
-- a1: sum of integer [0, 11]; grid 1 from 0 to 11
-- a2: sum of integer [0, 7]; grid 1 from 0 to 7
-- columns: sum((age // 10)) integer, sum((age % 10)) integer, sum(mod(age, 7)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x2"), 0) AS HUGEINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 10 ELSE greatest(0, least(10, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 11 ELSE greatest(0, least(11, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 7 ELSE greatest(0, least(7, CAST(round(CAST("x2" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x2" FROM (SELECT ("t0"."age" % CAST($1 AS BIGINT)) AS "x0", ("t0"."age" // CAST($1 AS BIGINT)) AS "x1", ("t0"."age" % CAST($6 AS BIGINT)) AS "x2" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 10, 1.0, 0.0, 10.0, 11.0, 7, 7.0

SELECT AVG(weight / (age + 1)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0.018018018018, 250] or NULL; grid 0.0001 from 0.018 to 250
-- columns: avg((weight / (age + 1))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1250090 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 180 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2500000 ELSE greatest(180, least(2500000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."weight" / CAST(("t0"."age" + CAST($1 AS BIGINT)) AS DOUBLE)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1, 10000.0, 0.018, 250.0

SELECT SUM(CASE WHEN cost > 1000 THEN 1 ELSE 0 END) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sum(CASE  WHEN (("cost" > 1000)) THEN (1) ELSE 0 END) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 1000.0, 1, 0, 1.0, 0.0

SELECT AVG(CASE WHEN sex = 'F' THEN age END) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: avg(CASE  WHEN ((sex = 'F')) THEN (age) ELSE NULL END) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 'F', 1.0, 0.0, 110.0

SELECT SUM(CASE sex WHEN 'F' THEN 1 WHEN 'M' THEN 2 ELSE 3 END) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [1, 3]; grid 1 from 1 to 3
-- columns: sum(CASE  WHEN ((sex = 'F')) THEN (1) WHEN ((sex = 'M')) THEN (2) ELSE 3 END) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN 1 WHEN CAST("x0" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 3 ELSE greatest(1, least(3, CAST(round(CAST("x0" AS DOUBLE) * CAST($6 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) WHEN ("t0"."sex" = CAST($3 AS VARCHAR)) THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 'F', 1, 'M', 2, 3, 1.0, 3.0

-- reference: SELECT AVG((age > 65)::INTEGER) FROM patients
SELECT AVG(age > 65) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 1]; grid 1 from 0 to 1
-- columns: avg((age > 65)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CAST(("t0"."age" > CAST($1 AS BIGINT)) AS BIGINT) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 65, 1.0, 0.0

SELECT SUM(cost > 1000) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sum(("cost" > 1000)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CAST(("t0"."cost" > CAST($1 AS DOUBLE)) AS BIGINT) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 1000.0, 1.0, 0.0

-- with: mechanism='laplace'
SELECT SUM(COALESCE(cost, 0)), SUM(IFNULL(weight, 70)) FROM visits JOIN patients USING (patient_id)
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- a1: sum of real [2, 250]; grid 0.0001 from 2 to 250
-- columns: sum(COALESCE("cost", 0)) real, sum(COALESCE(weight, 70)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($1 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN 20000 WHEN CAST("x1" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 2500000 ELSE greatest(20000, least(2500000, CAST(round(CAST("x1" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT COALESCE("t0"."cost", CAST($1 AS DOUBLE)) AS "x0", COALESCE("t1"."weight", CAST($4 AS DOUBLE)) AS "x1" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS r) AS q
-- values: 0.0, 100.0, 20000.0, 70.0, 10000.0, 2.0, 250.0

SELECT SUM(NULLIF(age, 0.5)), SUM(NULLIF(cost, 1)) FROM visits JOIN patients USING (patient_id)
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: sum("nullif"(age, 0.5)) integer, sum("nullif"("cost", 1)) real
-- engine: SELECT CAST(SUM("x0") AS BIGINT) AS "x0", CAST(SUM("x1") AS BIGINT) AS "x1" FROM (SELECT "u", CAST("x0" AS TINYINT) AS "x0", CAST("x1" AS INTEGER) AS "x1" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t0"."$number" AS "u", CASE WHEN "t1"."age" = CAST($1 AS DOUBLE) THEN NULL ELSE "t1"."age" END AS "x0", CASE WHEN "t0"."cost" = CAST($2 AS DOUBLE) THEN NULL ELSE "t0"."cost" END AS "x1" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS r) AS q) AS q GROUP BY "u"
-- values: 0.5, 1.0, 0.0, 110.0, 100.0, 20000.0

SELECT SUM(NULLIF(age, 0)), AVG(NULLIF(cost, 0)) FROM visits v JOIN patients p ON v.patient_id = p.patient_id
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: sum("nullif"(age, 0)) integer, avg("nullif"("cost", 0)) real
-- engine: SELECT CAST(SUM("x0") AS BIGINT) AS "x0", CAST(SUM("x1") AS BIGINT) AS "x1", CAST(COUNT("x1") AS BIGINT) AS "x2" FROM (SELECT "u", CAST("x0" AS TINYINT) AS "x0", CAST("x1" AS INTEGER) AS "x1" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t0"."$number" AS "u", CASE WHEN "t1"."age" = CAST($1 AS BIGINT) THEN NULL ELSE "t1"."age" END AS "x0", CASE WHEN "t0"."cost" = CAST($3 AS DOUBLE) THEN NULL ELSE "t0"."cost" END AS "x1" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS r) AS q) AS q GROUP BY "u"
-- values: 0, 1.0, 0.0, 110.0, 100.0, 20000.0

SELECT AVG(LEAST(cost, 500)), AVG(GREATEST(cost, 100, age)) FROM visits JOIN patients USING (patient_id)
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [100, 20000]; grid 0.01 from 100 to 20000
-- a1: avg of real [0, 500]; grid 0.0001 from 0 to 500
-- columns: avg(least("cost", 500)) real, avg(greatest("cost", 100, age)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1005000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(2500000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($1 AS DOUBLE) THEN 10000 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 2000000 ELSE greatest(10000, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 5000000 ELSE greatest(0, least(5000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT greatest("t0"."cost", CAST($1 AS DOUBLE), CAST("t1"."age" AS DOUBLE)) AS "x0", least("t0"."cost", CAST($3 AS DOUBLE)) AS "x1" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS r) AS q
-- values: 100.0, 20000.0, 500.0, 10000.0, 0.0

SELECT SUM(floor(cost / 100)), SUM(ceil(cost / 100)), SUM(round(cost)), SUM(round(cost, -2)), SUM(trunc(cost)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 200]; grid 1 from 0 to 200
-- a1: sum of real [0, 200]; grid 1 from 0 to 200
-- a2: sum of real [0, 20000]; grid 1 from 0 to 20000
-- a3: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- a4: sum of real [0, 20000]; grid 1 from 0 to 20000
-- columns: sum(floor(("cost" / 100))) real, sum(ceil(("cost" / 100))) real, sum(round("cost")) real, sum(round("cost", -2)) real, sum(trunc("cost")) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x2"), 0) AS HUGEINT) AS "m2", CAST(COALESCE(SUM("x3"), 0) AS HUGEINT) AS "m3", CAST(COALESCE(SUM("x4"), 0) AS HUGEINT) AS "m4" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 200 ELSE greatest(0, least(200, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 200 ELSE greatest(0, least(200, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 20000 ELSE greatest(0, least(20000, CAST(round(CAST("x2" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x2", CASE WHEN "x3" IS NULL OR isnan(CAST("x3" AS DOUBLE)) THEN NULL WHEN CAST("x3" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x3" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x3" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x3", CASE WHEN "x4" IS NULL OR isnan(CAST("x4" AS DOUBLE)) THEN NULL WHEN CAST("x4" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x4" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 20000 ELSE greatest(0, least(20000, CAST(round(CAST("x4" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x4" FROM (SELECT ceil(("t0"."cost" / CAST($1 AS DOUBLE))) AS "x0", floor(("t0"."cost" / CAST($1 AS DOUBLE))) AS "x1", round("t0"."cost") AS "x2", round("t0"."cost", CAST(CAST($6 AS BIGINT) AS INTEGER)) AS "x3", trunc("t0"."cost") AS "x4" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 100.0, 1.0, 0.0, 200.0, 20000.0, -2

SELECT AVG(sqrt(cost)), AVG(ln(cost + 1)), AVG(log10(cost + 1)), AVG(log2(cost + 1)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 9.9035375513]; grid 1e-06 from 0 to 9.903538
-- a1: avg of real [0, 4.30105170985]; grid 1e-06 from 0 to 4.301052
-- a2: avg of real [0, 14.2877845125]; grid 1e-05 from 0 to 14.28779
-- a3: avg of real [0, 141.421356237]; grid 0.0001 from 0 to 141.4214
-- columns: avg(sqrt("cost")) real, avg(ln(("cost" + 1))) real, avg(log10(("cost" + 1))) real, avg(log2(("cost" + 1))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(4951769 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(2150526 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3", CAST(COALESCE(SUM("x2"), 0) - CAST(714389 AS HUGEINT) * COUNT("x2") AS HUGEINT) AS "m4", CAST(COUNT("x2") AS BIGINT) AS "m5", CAST(COALESCE(SUM("x3"), 0) - CAST(707107 AS HUGEINT) * COUNT("x3") AS HUGEINT) AS "m6", CAST(COUNT("x3") AS BIGINT) AS "m7" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 9903538 ELSE greatest(0, least(9903538, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 4301052 ELSE greatest(0, least(4301052, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 1428779 ELSE greatest(0, least(1428779, CAST(round(CAST("x2" AS DOUBLE) * CAST($6 AS DOUBLE)) AS BIGINT))) END AS "x2", CASE WHEN "x3" IS NULL OR isnan(CAST("x3" AS DOUBLE)) THEN NULL WHEN CAST("x3" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x3" AS DOUBLE) >= CAST($9 AS DOUBLE) THEN 1414214 ELSE greatest(0, least(1414214, CAST(round(CAST("x3" AS DOUBLE) * CAST($8 AS DOUBLE)) AS BIGINT))) END AS "x3" FROM (SELECT ln(("t0"."cost" + CAST($1 AS DOUBLE))) AS "x0", log10(("t0"."cost" + CAST($1 AS DOUBLE))) AS "x1", log2(("t0"."cost" + CAST($1 AS DOUBLE))) AS "x2", sqrt("t0"."cost") AS "x3" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 1.0, 1000000.0, 0.0, 9.903538, 4.301052, 100000.0, 14.28779, 10000.0, 141.4214

SELECT SUM(abs(age - 50)), SUM(sign(age - 50)), SUM(pow(age, 2)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 60]; grid 1 from 0 to 60
-- a1: sum of real [0, 12100]; grid 0.01 from 0 to 12100
-- a2: sum of integer [-1, 1]; grid 1 from -1 to 1
-- columns: sum(abs((age - 50))) integer, sum(sign((age - 50))) integer, sum(pow(age, 2)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 60 ELSE greatest(0, least(60, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN -1 WHEN CAST("x1" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 1 ELSE greatest(-1, least(1, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT abs(("t0"."age" - CAST($1 AS BIGINT))) AS "x0", CAST(sign(("t0"."age" - CAST($1 AS BIGINT))) AS BIGINT) AS "x1" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 50, 1.0, 0.0, 60.0, -1.0
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(COUNT(*) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 113424 THEN CASE WHEN "size" <= 18904 THEN CASE WHEN "size" <= 9452 THEN CASE WHEN "size" <= 7089 THEN CASE WHEN "size" <= 4726 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 14178 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 56712 THEN CASE WHEN "size" <= 37808 THEN CASE WHEN "size" <= 28356 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 75616 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 604928 THEN CASE WHEN "size" <= 302464 THEN CASE WHEN "size" <= 226848 THEN CASE WHEN "size" <= 151232 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 453696 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 1209856 THEN CASE WHEN "size" <= 907392 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 1210000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", "x0" AS "size" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1210000 ELSE greatest(0, least(1210000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT pow(CAST("t0"."age" AS DOUBLE), CAST($1 AS BIGINT)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"
-- values: 2, 100.0, 0.0, 12100.0

SELECT AVG(CAST(age AS DOUBLE)), SUM(age::DOUBLE / 3) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of real [0, 36.6666666667]; grid 0.333333333333 from 0 to 36.6666666667
-- a1: avg of real [0, 110]; grid 1 from 0 to 110
-- columns: avg(CAST(age AS DOUBLE)) real, sum((CAST(age AS DOUBLE) / 3)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT (CAST("t0"."age" AS DOUBLE) / CAST($1 AS DOUBLE)) AS "x0", CAST("t0"."age" AS DOUBLE) AS "x1" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 3.0, 0.0, 36.666666666666664, 1.0, 110.0

SELECT SUM(CAST(cost AS BIGINT)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 20000]; grid 1 from 0 to 20000
-- columns: sum(CAST("cost" AS BIGINT)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 20000 ELSE greatest(0, least(20000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CAST("t0"."cost" AS BIGINT) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 20000.0

SELECT AVG(length(city)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 4294967296]; grid 1 from 0 to 4294967296
-- columns: avg(length(city)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2147483648 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 4294967296 ELSE greatest(0, least(4294967296, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT length("t0"."city") AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 4294967296.0

-- with: mechanism='laplace'
SELECT SUM(2 + 3 * age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [2, 332]; grid 1 from 2 to 332
-- columns: sum((2 + (3 * age))) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 2 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 332 ELSE greatest(2, least(332, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT (CAST($1 AS BIGINT) + (CAST($2 AS BIGINT) * "t0"."age")) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 2, 3, 1.0, 2.0, 332.0

SELECT SUM(if(age > 50, 1, 0)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sum("if"((age > 50), 1, 0)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 50, 1, 0, 1.0, 0.0

SELECT SUM(age - (10 - (4 - 2))) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [-8, 102]; grid 1 from -8 to 102
-- columns: sum((age - (10 - (4 - 2)))) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN -8 WHEN CAST("x0" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 102 ELSE greatest(-8, least(102, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."age" - (CAST($1 AS BIGINT) - (CAST($2 AS BIGINT) - CAST($3 AS BIGINT)))) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 10, 4, 2, 1.0, -8.0, 102.0

-- with: mechanism='laplace'
SELECT SUM(date_diff('day', visited_on, DATE '2025-12-31')) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 2191]; grid 1 from 0 to 2191
-- columns: sum(date_diff('day', visited_on, CAST('2025-12-31' AS DATE))) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 2191 ELSE greatest(0, least(2191, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT date_diff(CAST($1 AS VARCHAR), "t0"."visited_on", CAST($2 AS DATE)) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 'day', 2025-12-31, 1.0, 0.0, 2191.0

-- with: mechanism='laplace'
SELECT SUM(DATE '2025-12-31' - visited_on) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 2191]; grid 1 from 0 to 2191
-- columns: sum((CAST('2025-12-31' AS DATE) - visited_on)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2191 ELSE greatest(0, least(2191, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT (CAST($1 AS DATE) - "t0"."visited_on") AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 2025-12-31, 1.0, 0.0, 2191.0

-- Groups
SELECT sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex AS s, COUNT(*) FROM patients GROUP BY s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: s text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, COUNT(*) FROM patients GROUP BY 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, consent, COUNT(*), AVG(age) FROM patients GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, consent text, count_star() integer, avg(age) real
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

SELECT COUNT(*), sex FROM patients GROUP BY sex, consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: count_star() integer, sex text
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

SELECT city, COUNT(*) AS n FROM patients GROUP BY city ORDER BY n DESC, city LIMIT 10
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- a0: count_rows
-- columns: city text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT age, COUNT(*) FROM patients GROUP BY age
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 111 values: 0, 1, 2, ..., 109, 110
-- a0: count_rows
-- columns: age integer [0, 110], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT floor(age / 10) AS decade, COUNT(*), AVG(weight) FROM patients GROUP BY decade ORDER BY decade
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: real [0, 11]; 12 values: 0.0, 1.0, 2.0, ..., 10.0, 11.0
-- a0: count_rows
-- a1: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: decade real [0, 11], count_star() integer, avg(weight) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(1260 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT floor((CAST("t0"."age" AS DOUBLE) / CAST($1 AS DOUBLE))) AS "k0", "t0"."weight$grid" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 10.0

SELECT age // 10 * 10 AS decade, SUM(weight) FROM patients GROUP BY 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 12 values: 0, 10, 20, ..., 100, 110
-- a0: sum of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: decade integer [0, 110], sum(weight) real
-- engine: SELECT "k0", CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(COUNT(*) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "k0", "x0", CASE WHEN "size" <= 216 THEN CASE WHEN "size" <= 36 THEN CASE WHEN "size" <= 18 THEN CASE WHEN "size" <= 13 THEN CASE WHEN "size" <= 9 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 27 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 108 THEN CASE WHEN "size" <= 72 THEN CASE WHEN "size" <= 54 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 144 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 1152 THEN CASE WHEN "size" <= 576 THEN CASE WHEN "size" <= 432 THEN CASE WHEN "size" <= 288 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 864 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 2304 THEN CASE WHEN "size" <= 1728 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 2500 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "k0", "x0", "x0" AS "size" FROM (SELECT (("t0"."age" // CAST($1 AS BIGINT)) * CAST($1 AS BIGINT)) AS "k0", "t0"."weight$grid" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "k0", "bin" ORDER BY "k0", "bin"
-- values: 10

SELECT age % 2 = 0 AS even, COUNT(*) FROM patients GROUP BY even
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: even boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (("t0"."age" % CAST($1 AS BIGINT)) = CAST($2 AS BIGINT)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 2, 0

SELECT CASE WHEN age < 18 THEN 'child' WHEN age < 65 THEN 'adult' ELSE 'old' END AS stage, COUNT(*) FROM patients GROUP BY stage
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'adult', 'child', 'old'
-- a0: count_rows
-- columns: stage text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."age" < CAST($1 AS BIGINT)) THEN CAST($2 AS VARCHAR) WHEN ("t0"."age" < CAST($3 AS BIGINT)) THEN CAST($4 AS VARCHAR) ELSE CAST($5 AS VARCHAR) END AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 18, 'child', 65, 'adult', 'old'

SELECT upper(sex) || '!' AS sex, COUNT(*) FROM patients GROUP BY 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F!', 'M!', 'X!'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (upper("t0"."sex") || CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: '!'

SELECT date_trunc('month', visited_on) AS month, SUM(cost) FROM visits GROUP BY month ORDER BY month
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: timestamp [2020-01-01 00:00:00, 2025-12-01 00:00:00]; 72 values: 2020-01-01 00:00:00, 2020-02-01 00:00:00, 2020-03-01 00:00:00, ..., 2025-11-01 00:00:00, 2025-12-01 00:00:00
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: month timestamp [2020-01-01 00:00:00, 2025-12-01 00:00:00], sum("cost") real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."visited_on") AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 'month'

SELECT year(visited_on) AS y, quarter(visited_on) AS q, COUNT(*) FROM visits GROUP BY y, q
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: integer [1, 4]; 4 values: 1, 2, 3, 4
-- k1: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: y integer [2020, 2025], q integer [1, 4], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT quarter("t0"."visited_on") AS "k0", year("t0"."visited_on") AS "k1" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0", "k1"

SELECT floor(cost / 1000) AS thousands, COUNT(*) FROM visits GROUP BY 1
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: real [0, 20]; 21 values: 0.0, 1.0, 2.0, ..., 19.0, 20.0
-- a0: count_rows
-- columns: thousands real [0, 20], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT floor(("t0"."cost" / CAST($1 AS DOUBLE))) AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 1000.0

SELECT sex, COUNT(*) FROM patients WHERE sex IN ('F', 'M') GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'F', 'M'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)))) AS q GROUP BY "k0"
-- values: 'F', 'M'

SELECT age, COUNT(*) FROM patients WHERE age BETWEEN 30 AND 34 GROUP BY age
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 5 values: 30, 31, 32, 33, 34
-- a0: count_rows
-- columns: age integer [0, 110], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))) AS q GROUP BY "k0"
-- values: 30, 34

SELECT visited_on, COUNT(*) FROM visits WHERE visited_on >= '2025-12-01' GROUP BY visited_on
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: date [2020-01-01, 2025-12-31]; 31 values: 2025-12-01, 2025-12-02, 2025-12-03, ..., 2025-12-30, 2025-12-31
-- a0: count_rows
-- columns: visited_on date [2020-01-01, 2025-12-31], count_star() integer
-- engine: SELECT CAST(CASE WHEN "k0" BETWEEN CAST($1 AS DATE) AND CAST($2 AS DATE) THEN ("k0" - CAST($1 AS DATE)) ELSE 31 END AS TINYINT) AS "k0", "u" FROM (SELECT "t0"."visited_on" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($1 AS DATE))) AS q
-- values: 2025-12-01, 2025-12-31

SELECT diagnosis, COUNT(DISTINCT patient_id) AS people FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- a0: count_units; chooses the groups
-- columns: diagnosis text or NULL, people integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- The hidden count of units chooses the groups.
SELECT diagnosis, AVG(cost) FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- selection: count_units; chooses the groups
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: diagnosis text or NULL, avg("cost") real
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

SELECT diagnosis, COUNT(*) FROM visits WHERE diagnosis IN ('flu', 'cold') GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 2
-- k0: text or NULL; 2 values: 'cold', 'flu'
-- a0: count_rows
-- columns: diagnosis text, count_star() integer
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 ELSE 2 END AS TINYINT) AS "k0", "u" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" IN (CAST($2 AS VARCHAR), CAST($1 AS VARCHAR)))) AS q
-- values: 'cold', 'flu'

SELECT diagnosis, sex, COUNT(*) FROM visits JOIN patients USING (patient_id) GROUP BY diagnosis, sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- k1: text; 3 values: 'F', 'M', 'X'
-- selection: count_units; chooses the groups
-- a0: count_rows
-- columns: diagnosis text or NULL, sex text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COUNT(*) AS BIGINT) AS "m1" FROM (SELECT "t0"."diagnosis" AS "k0", "t1"."sex" AS "k1", "t0"."patient_id" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q GROUP BY "k0", "k1" ORDER BY "k0" NULLS LAST, "k1" NULLS LAST

SELECT left(diagnosis, 1) AS letter, COUNT(DISTINCT patient_id) FROM visits GROUP BY letter
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- a0: count_units; chooses the groups
-- columns: letter text or NULL, count(DISTINCT patient_id) integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT left("t0"."diagnosis", CAST($1 AS BIGINT)) AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST
-- values: 1

SELECT lower(substr(city, 1, 3)) AS start, COUNT(*) FROM patients GROUP BY start
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 426 values: 'abi', 'akr', 'ala', ..., 'yuc', 'yum'
-- a0: count_rows
-- columns: start text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT lower(substr("t0"."city", CAST($1 AS BIGINT), CAST($2 AS BIGINT))) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 1, 3

-- After the noise
SELECT SUM(cost) / COUNT(*) AS mean FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- a1: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: mean real or NULL
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0", CAST(COALESCE(SUM("cost$sum"), 0) AS HUGEINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t

-- What a mean is made of is found with the totals of people: the rows are looked at once.
SELECT COUNT(*), AVG(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- a1: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: count_star() integer, avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0", CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m2" FROM "bounded"."main"."visits$ranks" AS t

SELECT sex, COUNT(*), SUM(age), AVG(cost) FROM visits JOIN patients USING (patient_id) GROUP BY sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: sum of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: sex text, count_star() integer, sum(age) integer, avg("cost") real
-- engine: SELECT "k0", "u", CAST(SUM("x0") AS BIGINT) AS "x0", CAST(COUNT(*) AS BIGINT) AS "x1", CAST(SUM("x1") AS BIGINT) AS "x2", CAST(COUNT("x1") AS BIGINT) AS "x3" FROM (SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", "u", CAST("x0" AS TINYINT) AS "x0", CAST("x1" AS INTEGER) AS "x1" FROM (SELECT "t1"."sex" AS "k0", "t0"."$number" AS "u", "t1"."age" AS "x0", "t0"."cost$grid" AS "x1" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q) AS q GROUP BY "k0", "u" ORDER BY "u"
-- values: 'F', 'M', 'X'

SELECT sex, 100.0 * SUM(CASE WHEN age > 64 THEN 1 ELSE 0 END) / COUNT(*) AS percent FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sex text, percent real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."sex" AS "k0", CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 64, 1, 0, 1.0, 0.0

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 100
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, AVG(age) AS a FROM patients GROUP BY sex HAVING a > 1 AND SUM(weight) > 0
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, a real
-- engine: SELECT CAST("k0" AS BIGINT) AS "k0", CAST("bin" AS BIGINT) AS "bin", CAST(SUM("units") AS BIGINT) AS "units", CAST(SUM("signs") AS BIGINT) AS "signs", CAST(SUM("total") AS HUGEINT) AS "total" FROM (SELECT "sex$place" AS "k0", "$bin" AS "bin", "$units" AS "units", "$signs" AS "signs", "$total" AS "total" FROM "bounded"."main"."patients$sizes" AS t WHERE "$of" = 1) AS q GROUP BY "k0", "bin" ORDER BY "k0", "bin"
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY 2 DESC, 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT age, COUNT(*) FROM patients GROUP BY age ORDER BY age LIMIT 5 OFFSET 10
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 111 values: 0, 1, 2, ..., 109, 110
-- a0: count_rows
-- columns: age integer [0, 110], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- parameters: [3, 1]
SELECT age, COUNT(*) FROM patients GROUP BY age ORDER BY age DESC LIMIT ? OFFSET ?
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 111 values: 0, 1, 2, ..., 109, 110
-- a0: count_rows
-- columns: age integer [0, 110], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT round(AVG(weight), 1), CAST(SUM(age) AS DOUBLE) / COUNT(age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [0, 110]; grid 1 from 0 to 110
-- a1: sum of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: round(avg(weight), 1) real, (CAST(sum(age) AS DOUBLE) / count(age)) real or NULL
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(1260 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "t0"."age" AS "x0", "t0"."weight$grid" AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT CASE WHEN COUNT(*) > 100 THEN 'many' ELSE 'few' END AS verdict FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: verdict text
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT upper(sex) AS s, -COUNT(*) AS n, COUNT(*) * 2 + 1 FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: s text, n integer, ((count_star() * 2) + 1) integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT COUNT(*), COUNT(*) AS again, COUNT(*) + COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer, again integer, (count_star() + count_star()) integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT 'all' AS label, 1 AS one, COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: label text, one integer [1, 1], count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT sex, COUNT(*) > 100 AS many FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, many boolean
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT 0
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT greatest(COUNT(*), 0), least(AVG(age), 100) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: greatest(count_star(), 0) integer [0, NULL], least(avg(age), 100) real [NULL, 100]
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT coalesce(sex, 'none') AS sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT year(visited_on) - 2000 AS y, COUNT(*) FROM visits GROUP BY year(visited_on) HAVING year(visited_on) > 2021
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: y integer [20, 25], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

-- Joins
SELECT p.sex, AVG(v.cost) FROM visits v JOIN patients p USING (patient_id) GROUP BY p.sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: sex text, avg(v."cost") real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."sex" AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q GROUP BY "k0"

SELECT p.sex, COUNT(*) FROM visits v JOIN patients p ON v.patient_id = p.patient_id AND p.age > 50 GROUP BY p.sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", "u", CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", "u" FROM (SELECT "t1"."sex" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE ("t1"."age" > CAST($4 AS BIGINT))) AS q) AS q GROUP BY "k0", "u" ORDER BY "u"
-- values: 'F', 'M', 'X', 50

SELECT sex, SUM(cost) FROM patients, visits WHERE patients.patient_id = visits.patient_id AND cost > 10 GROUP BY sex
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of real [0, 20000]; grid 0.01 from 10 to 20000
-- columns: sex text, sum("cost") real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "k0", CASE WHEN "x0" < 1000 THEN 1000 WHEN "x0" > 2000000 THEN 2000000 ELSE "x0" END AS "x0" FROM (SELECT "t0"."sex" AS "k0", "t1"."cost$grid" AS "x0" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE ("t1"."cost" > CAST($1 AS DOUBLE))) AS r) AS q GROUP BY "k0"
-- values: 10.0

SELECT COUNT(*) FROM patients INNER JOIN visits ON patients.patient_id = visits.patient_id
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q

SELECT COUNT(DISTINCT v.patient_id) FROM visits v JOIN patients p USING (patient_id) WHERE p.age < v.cost
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT v.patient_id) integer
-- engine: SELECT CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."patient_id" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE (CAST("t1"."age" AS DOUBLE) < "t0"."cost")) AS q

-- with: mechanism='laplace'
SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id)
-- unit: visits.patient_id = visits.patient_id
-- rows per unit: 144, in one group 144, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q

SELECT c.state, COUNT(*) FROM patients p JOIN cities c ON p.city = c.name GROUP BY c.state
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 50 values: 'AK', 'AL', 'AR', ..., 'WV', 'WY'
-- a0: count_rows
-- columns: state text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."state" AS "k0" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name") AS q GROUP BY "k0"

SELECT c.state, AVG(v.cost), COUNT(DISTINCT v.patient_id) FROM cities c JOIN patients p ON c.name = p.city JOIN visits v ON v.patient_id = p.patient_id GROUP BY c.state
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 50 values: 'AK', 'AL', 'AR', ..., 'WV', 'WY'
-- a0: count_units
-- a1: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: state text, avg(v."cost") real, count(DISTINCT v.patient_id) integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."state" AS "k0", "t1"."patient_id" AS "u", "t2"."cost$grid" AS "x0" FROM "bounded"."main"."patients" AS "t1" JOIN "bounded"."main"."cities" AS "t0" ON "t1"."city" = "t0"."name" JOIN "bounded"."main"."visits" AS "t2" ON "t1"."patient_id" = "t2"."patient_id") AS q GROUP BY "k0"

SELECT SUM(c.population) FROM patients JOIN cities c ON city = name WHERE c.elevation_m > 100
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [50005, 8175133]; grid 1 from 50005 to 8175133
-- columns: sum(c.population) integer
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(COUNT(*) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 766416 THEN CASE WHEN "size" <= 127736 THEN CASE WHEN "size" <= 63868 THEN CASE WHEN "size" <= 47901 THEN CASE WHEN "size" <= 31934 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 95802 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 383208 THEN CASE WHEN "size" <= 255472 THEN CASE WHEN "size" <= 191604 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 510944 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 4087552 THEN CASE WHEN "size" <= 2043776 THEN CASE WHEN "size" <= 1532832 THEN CASE WHEN "size" <= 1021888 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 3065664 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 8175104 THEN CASE WHEN "size" <= 6131328 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 8175133 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", "x0" AS "size" FROM (SELECT "t1"."population" AS "x0" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name" WHERE ("t1"."elevation_m" > CAST($1 AS BIGINT))) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"
-- values: 100

SELECT c.population > 1000000 AS big, COUNT(*) FROM patients JOIN cities c ON city = name GROUP BY big
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: big boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t1"."population" > CAST($1 AS BIGINT)) AS "k0" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name") AS q GROUP BY "k0"
-- values: 1000000

-- Options
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-8, mechanism = 'gaussian') sex, AVG(age), SUM(weight) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, avg(age) real, sum(weight) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."weight$grid" AS "x0", "t0"."age" AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, mechanism = laplace) COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rho = 0.1) COUNT(*), AVG(age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: count_star() integer, avg(age) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_groups_contributed = 2) year(visited_on) AS y, COUNT(*), SUM(cost) FROM visits GROUP BY y
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 2; cut to so many groups
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- a1: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: y integer [2020, 2025], count_star() integer, sum("cost") real
-- engine: SELECT CAST(CASE WHEN "k0" BETWEEN CAST($1 AS BIGINT) AND CAST($2 AS BIGINT) THEN "k0" - CAST($1 AS BIGINT) ELSE 6 END AS TINYINT) AS "k0", "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT year("t0"."visited_on") AS "k0", "t0"."$row" AS "u", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q
-- values: 2020, 2025

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_rows_contributed = 3) SUM(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 3, in one group 3, in groups 1; cut to so many rows
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: sum("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) AS HUGEINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t WHERE "$rank" <= 3

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_rows_per_group = 1) year(visited_on), SUM(cost) FROM visits GROUP BY 1
-- unit: visits.patient_id
-- rows per unit: 12, in one group 1, in groups 6; cut to so many rows in a group
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: "year"(visited_on) integer [2020, 2025], sum("cost") real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "u", "k0", "x0", "r0" FROM (SELECT "u", "k0", "x0", "r0", row_number() OVER (PARTITION BY "u", "k0" ORDER BY "r0") AS "place" FROM (SELECT year("t0"."visited_on") AS "k0", "t0"."patient_id" AS "u", "t0"."$rank" AS "r0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q) AS q WHERE "place" <= 1) AS q GROUP BY "k0"

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, min_privacy_units_per_group = 20) diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- a0: count_units; chooses the groups
-- columns: diagnosis text or NULL, count(DISTINCT patient_id) integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, rest = true, max_groups_per_unit = 1) diagnosis, COUNT(DISTINCT patient_id) AS n, AVG(cost) FROM visits GROUP BY diagnosis HAVING COUNT(*) > 20 ORDER BY n DESC
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1; cut to so many groups
-- k0: text or NULL; open
-- a0: count_rows
-- a1: count_units; chooses the groups
-- a2: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: diagnosis text or NULL, n integer, avg("cost") real, is_rest boolean
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m2", CAST(COUNT("x0") AS BIGINT) AS "m3" FROM (WITH "own" AS (SELECT "t0"."diagnosis" AS "k0", "t0"."patient_id" AS "u", "t0"."$rank" AS "r0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0"), "groups" AS (SELECT "u", "k0" FROM (SELECT "u", "k0", row_number() OVER (PARTITION BY "u" ORDER BY MIN("r0"), "k0" NULLS FIRST) AS "place" FROM "own" GROUP BY "u", "k0") AS q WHERE "place" <= 1) SELECT q."u", q."k0", q."x0", q."r0" FROM "own" AS q JOIN "groups" AS g ON q."u" = g."u" AND q."k0" IS NOT DISTINCT FROM g."k0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, group_selection_strategy = PUBLIC_GROUPS) sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, group_selection_strategy = LAPLACE_THRESHOLD, group_selection_epsilon = 0.5) city, AVG(age) FROM patients GROUP BY city
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- selection: count_units; chooses the groups
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: city text, avg(age) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."city" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, privacy_unit_column = patient_id) COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT(*, epsilon => 0.1), AVG(age, epsilon => 0.3), SUM(weight) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: sum of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a2: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: count_star() integer, avg(age) real, sum(weight) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(SUM("units") AS BIGINT) AS "units", CAST(SUM("signs") AS BIGINT) AS "signs", CAST(SUM("total") AS HUGEINT) AS "total" FROM (SELECT "$bin" AS "bin", "$units" AS "units", "$signs" AS "signs", "$total" AS "total" FROM "bounded"."main"."patients$sizes" AS t WHERE "$of" = 1) AS q GROUP BY "bin" ORDER BY "bin"

SELECT COUNT(DISTINCT patient_id, epsilon => 0.25) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT patient_id) integer
-- engine: SELECT CAST(COALESCE(SUM(CASE WHEN "$rank" = 1 THEN "$rows" END), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

-- with: epsilon=2, confidence=0.9
SELECT COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

-- with: epsilon=2, delta=1e-6, max_groups_per_unit=1
SELECT diagnosis, SUM(cost) FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1; cut to so many groups
-- k0: text or NULL; open
-- selection: count_units; chooses the groups
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: diagnosis text or NULL, sum("cost") real
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (WITH "own" AS (SELECT "t0"."diagnosis" AS "k0", "t0"."patient_id" AS "u", "t0"."$rank" AS "r0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0"), "groups" AS (SELECT "u", "k0" FROM (SELECT "u", "k0", row_number() OVER (PARTITION BY "u" ORDER BY MIN("r0"), "k0" NULLS FIRST) AS "place" FROM "own" GROUP BY "u", "k0") AS q WHERE "place" <= 1) SELECT q."u", q."k0", q."x0", q."r0" FROM "own" AS q JOIN "groups" AS g ON q."u" = g."u" AND q."k0" IS NOT DISTINCT FROM g."k0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- with: rho=0.5, delta=1e-6
SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- selection: count_units; chooses the groups
-- a0: count_rows
-- columns: diagnosis text or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COUNT(*) AS BIGINT) AS "m1" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- parameters: [0.5]
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = ?) COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

-- Spelling
select /* how many */ count(*) -- of them
from patients;
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT
    sex,
    COUNT(*) AS n
FROM patients
WHERE age > 10
GROUP BY sex
ORDER BY n DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 10

SELECT "sex", COUNT(*) FROM "patients" GROUP BY "sex"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT PATIENTS.sex, COUNT(*) FROM patients GROUP BY Patients.sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

(SELECT COUNT(*) FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT ALL COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT(*) AS "a ""quoted"" name", COUNT(*) AS größe FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: a "quoted" name integer, größe integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT(*) FROM visits WHERE diagnosis = 'it''s'
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" = CAST($1 AS VARCHAR))) AS q
-- values: 'it''s'

SELECT COUNT(*) FROM visits WHERE diagnosis = '-- no comment /* nor this */; DROP TABLE patients'
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" = CAST($1 AS VARCHAR))) AS q
-- values: '-- no comment /* nor this */; DROP TABLE patients'

-- Sub-queries
SELECT AVG(total) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 240000]; grid 0.01 from 0 to 240000
-- columns: avg(total) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(12000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 24000000 ELSE greatest(0, least(24000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST((CAST(SUM("x0") AS DOUBLE) / CAST($1 AS DOUBLE)) AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS r) AS q
-- values: 100.0, 0.0, 240000.0

SELECT AVG(total) FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id HAVING COUNT(*) > 2) AS t
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 240000]; grid 0.01 from 0 to 240000
-- columns: avg(total) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(12000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 24000000 ELSE greatest(0, least(24000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST((CAST(SUM("x0") AS DOUBLE) / CAST($1 AS DOUBLE)) AS DOUBLE) AS "v0", CAST(COUNT(*) AS BIGINT) AS "v1" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE ("t1"."v1" > CAST($4 AS BIGINT))) AS r) AS q
-- values: 100.0, 0.0, 240000.0, 2

SELECT COUNT(*) FROM (SELECT age FROM patients WHERE sex = 'F') AS women WHERE age > 40
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."age" > CAST($2 AS BIGINT))) AS q
-- values: 'F', 40

WITH old AS (SELECT * FROM patients WHERE age > 64) SELECT sex, COUNT(*) FROM old GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 64

WITH old AS (SELECT patient_id, age FROM patients WHERE age > 64), rich AS (SELECT patient_id FROM visits WHERE cost > 1000) SELECT COUNT(DISTINCT o.patient_id) FROM old o JOIN rich r USING (patient_id)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT o.patient_id) integer
-- engine: SELECT CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."patient_id" AS "u" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND ("t1"."cost" > CAST($2 AS DOUBLE))) AS q
-- values: 64, 1000.0

-- reference: WITH n AS (SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex) SELECT SUM(n)::BIGINT FROM n
WITH n AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT SUM(n) FROM n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT MAX(n) FROM (SELECT city, COUNT(*) AS n FROM patients WHERE city IS NOT NULL GROUP BY city)
SELECT MAX(n) FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- a0: count_rows
-- columns: max(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 1000)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."patient_id" = "t1"."patient_id"))) AS q
-- values: 1000.0

SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t0"."patient_id" = "t1"."patient_id")))) AS q

SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND v.cost > 100)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t1"."patient_id" = "t0"."patient_id"))) AS q
-- values: 100.0

SELECT COUNT(*) FROM patients p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."patient_id" = "t0"."patient_id")))) AS q

SELECT COUNT(*) FROM patients WHERE city IN (SELECT name FROM cities WHERE state = 'TX')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."cities" AS "t1" WHERE ("t1"."state" = CAST($1 AS VARCHAR)) AND ("t0"."city" = "t1"."name"))) AS q
-- values: 'TX'

-- Joins
SELECT p.sex, COUNT(v.cost) FROM patients p LEFT JOIN visits v USING (patient_id) GROUP BY p.sex
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: sex text, count(v."cost") integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t1"."cost" AS "x0" FROM "bounded"."main"."patients" AS "t0" LEFT JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q GROUP BY "k0"

SELECT COUNT(*) FROM patients p LEFT JOIN cities c ON p.city = c.name
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" LEFT JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name") AS q

-- Sets
SELECT COUNT(*) FROM (SELECT patient_id FROM patients UNION ALL SELECT patient_id FROM visits)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 13, in one group 13, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 6 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 4 THEN 3 ELSE 4 END END ELSE CASE WHEN size <= 12 THEN CASE WHEN size <= 8 THEN 5 ELSE 6 END ELSE CASE WHEN size <= 13 THEN 7 ELSE 8 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 13 THEN 13 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t2"."c0" AS "u" FROM (SELECT "t0"."patient_id" AS "c0" FROM "bounded"."main"."patients" AS "t0" UNION ALL SELECT "t1"."patient_id" AS "c0" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0

SELECT COUNT(*) FROM (SELECT DISTINCT patient_id, diagnosis FROM visits)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t1"."c0" AS "u" FROM (SELECT DISTINCT "t0"."patient_id" AS "c0", "t0"."diagnosis" AS "c1" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0

SELECT DISTINCT sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Aggregates
SELECT COUNT_IF(age > 64) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: count_if((age > 64)) integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 64, 1

SELECT BOOL_OR(age > 100), BOOL_AND(age > 0) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: bool_or((age > 100)) boolean, bool_and((age > 0)) boolean
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (NOT ("t0"."age" > CAST($3 AS BIGINT))) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 100, 1, 0

SELECT COUNT(*) FILTER (WHERE age > 64) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: count_star() FILTER (WHERE (age > 64)) integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 64, 1

SELECT SUM(cost) FILTER (WHERE cost > 100) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 20000] or NULL; grid 0.01 from 100 to 20000
-- columns: sum("cost") FILTER (WHERE ("cost" > 100)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($1 AS DOUBLE) THEN 10000 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 2000000 ELSE greatest(10000, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 100.0, 20000.0

-- Grouping sets
-- reference: SELECT sex, consent, COUNT(*) FROM patients GROUP BY ROLLUP (sex, consent)
SELECT sex, consent, COUNT(*) FROM patients GROUP BY ROLLUP (sex, consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- sets: (k0, k1), (k0), ()
-- columns: sex text, consent text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."consent" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0", "k1"
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q

-- reference: SELECT sex, consent, COUNT(*) FROM patients GROUP BY CUBE (sex, consent)
SELECT sex, consent, COUNT(*) FROM patients GROUP BY CUBE (sex, consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- sets: (k0, k1), (k0), (k1), ()
-- columns: sex text, consent text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."consent" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0", "k1"
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k1"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q

-- reference: SELECT sex, consent, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex), (consent), ())
SELECT sex, consent, COUNT(*) FROM patients GROUP BY GROUPING SETS ((sex), (consent), ())
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- sets: (k0), (k1), ()
-- columns: sex text, consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k1"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q

-- reference: SELECT sex, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((sex), (), (sex), ())
SELECT sex, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((sex), (), (sex), ())
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- sets: (k0), ()
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q

-- reference: SELECT sex, GROUPING(sex) AS g, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, sex) HAVING COUNT(*) > 0 ORDER BY n, sex LIMIT 5
SELECT sex, GROUPING(sex) AS g, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, sex) HAVING COUNT(*) > 0 ORDER BY n, sex LIMIT 5
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- sets: (k0), ()
-- columns: sex text, g integer [0, 1], n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q

-- reference: SELECT SUM(n) AS total FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, CUBE (sex))
SELECT SUM(n) AS total FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex, CUBE (sex))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- sets: (k0)
-- columns: total integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q GROUP BY "k0"

-- Released numbers within constants
SELECT EXP(GREATEST(0, LEAST(COUNT(*), 500))) AS x, DATE '2020-01-01' + CAST(GREATEST(0, LEAST(COUNT(*), 500)) AS INTEGER) AS d FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: x real [0.999999999999, 1.40359221785e+217], d date [2020-01-01, 2021-05-15]
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

-- Named arguments
-- reference: SELECT SUM(LEAST(COALESCE(t, 0), 200)) FROM (SELECT SUM(cost) AS t FROM visits GROUP BY patient_id)
SELECT SUM(cost, contribution_bounds_per_group => (0, 200)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of real [0, 240000]; grid 0.01 from 0 to 200
-- columns: sum("cost") real
-- engine: SELECT "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT "t0"."$number" AS "u", "t0"."cost$sum" AS "x0" FROM "bounded"."main"."visits$totals" AS "t0") AS q

-- reference: SELECT AVG(LEAST(age, 100)) FROM patients
SELECT AVG(age, contribution_bounds_per_row => (0, 100)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 100
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(50 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" < 0 THEN 0 WHEN "x0" > 100 THEN 100 ELSE "x0" END AS "x0" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q

-- Aggregates from other mechanisms
SELECT MIN(age), MAX(age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: min of integer [0, 110]; grid 1 from 0 to 110
-- a1: max of integer [0, 110]; grid 1 from 0 to 110
-- columns: min(age) integer, max(age) integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT MEDIAN(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: quantile_cont of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: median("cost") real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."visits$counts" AS t WHERE "$of" = 0

SELECT sex, MEDIAN(age) AS middle, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, middle real, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

SELECT QUANTILE_CONT(age, 0.9) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: quantile_cont(age, 0.9) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT diagnosis, MIN(visited_on) AS first, QUANTILE_DISC(visited_on, 0.5) AS middle FROM visits WHERE diagnosis IN ('flu', 'cold') GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 2
-- k0: text or NULL; 2 values: 'cold', 'flu'
-- a0: min of integer [0, 2191]; grid 1 from 0 to 2191
-- a1: quantile_disc of integer [0, 2191]; grid 1 from 0 to 2191
-- columns: diagnosis text, first date [2020-01-01, 2025-12-31], middle date [2020-01-01, 2025-12-31]
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 2191 ELSE greatest(0, least(2191, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."diagnosis" AS "k0", date_diff(CAST($1 AS VARCHAR), CAST($2 AS DATE), "t0"."visited_on") AS "x0" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" IN (CAST($6 AS VARCHAR), CAST($7 AS VARCHAR)))) AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"
-- values: 'day', 2020-01-01, 1.0, 0.0, 2191.0, 'flu', 'cold'

SELECT QUANTILE_DISC(last, 0.9) AS recent, MAX(last) - MIN(first) AS days FROM (SELECT patient_id, MIN(visited_on) AS first, MAX(visited_on) AS last FROM visits WHERE visited_on >= DATE '2023-01-01' GROUP BY patient_id) AS v
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: min of integer [-1096, 1095]; grid 1 from 0 to 1095
-- a1: max of integer [-1096, 1095]; grid 1 from 0 to 1095
-- a2: quantile_disc of integer [-1096, 1095]; grid 1 from 0 to 1095
-- columns: recent date [2023-01-01, 2025-12-31], days integer [-1095, 1095]
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 1095 ELSE greatest(0, least(1095, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT date_diff(CAST($1 AS VARCHAR), CAST($2 AS DATE), "t1"."v0") AS "x0" FROM (SELECT "k0", CAST(min("x0") AS DATE) AS "v0", CAST(max("x1") AS DATE) AS "v1" FROM (SELECT "k0", "x0" AS "x0", "x1" AS "x1" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."visited_on" AS "x0", "t0"."visited_on" AS "x1" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($2 AS DATE))) AS r) AS r GROUP BY "k0") AS "t1") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 'day', 2023-01-01, 1.0, 0.0, 1095.0
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 1095 ELSE greatest(0, least(1095, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT date_diff(CAST($1 AS VARCHAR), CAST($2 AS DATE), "t1"."v1") AS "x0" FROM (SELECT "k0", CAST(min("x0") AS DATE) AS "v0", CAST(max("x1") AS DATE) AS "v1" FROM (SELECT "k0", "x0" AS "x0", "x1" AS "x1" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."visited_on" AS "x0", "t0"."visited_on" AS "x1" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($2 AS DATE))) AS r) AS r GROUP BY "k0") AS "t1") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 'day', 2023-01-01, 1.0, 0.0, 1095.0

SELECT QUANTILE_CONT(age, 0.25) AS low, QUANTILE_DISC(age, 0.5) AS middle, QUANTILE_CONT(age, 0.75) AS high FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: low real, middle integer, high real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: quantile_cont of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: quantile_cont(0.5 ORDER BY "cost") real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."visits$counts" AS t WHERE "$of" = 0

SELECT VAR_POP(age), VAR_SAMP(age), STDDEV(cost) FROM patients JOIN visits USING (patient_id)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: var_pop of integer [0, 110]; grid 1 from 0 to 110
-- a1: var_samp of integer [0, 110]; grid 1 from 0 to 110
-- a2: stddev_samp of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: var_pop(age) real, var_samp(age) real, stddev("cost") real
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COALESCE(SUM((CAST("x0" AS BIGINT) - 55) * (CAST("x0" AS BIGINT) - 55)), 0) AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3", CAST(COALESCE(SUM("x1"), 0) - CAST(40000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m4", CAST(COALESCE(SUM((CAST("x1" AS BIGINT) - 40000) * (CAST("x1" AS BIGINT) - 40000)), 0) AS HUGEINT) AS "m5" FROM (SELECT "t0"."age" AS "x0", "t1"."cost$grid" AS "x1" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q

SELECT sex, STDDEV_POP(weight) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: stddev_pop of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: sex text, stddev_pop(weight) real
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(1260 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COALESCE(SUM((CAST("x0" AS BIGINT) - 1260) * (CAST("x0" AS BIGINT) - 1260)), 0) AS HUGEINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."weight$grid" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT CORR(age, weight), COVAR_POP(age, weight), REGR_SLOPE(weight, age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: covar_pop of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: regr_slope of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a2: corr of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: corr(age, weight) real, covar_pop(age, weight) real, regr_slope(weight, age) real
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(1260 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COALESCE(SUM((CAST("x0" AS BIGINT) - 1260) * (CAST("x1" AS BIGINT) - 55)), 0) AS HUGEINT) AS "m3", CAST(COALESCE(SUM((CAST("x2" AS BIGINT) - 55) * (CAST("x2" AS BIGINT) - 55)), 0) AS HUGEINT) AS "m4", CAST(COALESCE(SUM((CAST("x0" AS BIGINT) - 1260) * (CAST("x0" AS BIGINT) - 1260)), 0) AS HUGEINT) AS "m5" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 20 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2500 ELSE greatest(20, least(2500, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x2" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x2" FROM (SELECT CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."weight" ELSE CAST(NULL AS DOUBLE) END AS "x0", CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ((NOT ("t0"."weight" IS NULL)) AND (NOT ("t0"."age" IS NULL))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 10.0, 2.0, 250.0, 1.0, 0.0, 110.0

SELECT MODE(sex) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: mode of text
-- columns: "mode"(sex) text or NULL
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"

SELECT COUNT(DISTINCT sex) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_distinct of text
-- columns: count(DISTINCT sex) integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT(DISTINCT diagnosis) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_distinct of text or NULL
-- columns: count(DISTINCT diagnosis) integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."diagnosis" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q

SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND a.visit_id = b.visit_id
-- unit: visits.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" AND "t0"."visit_id" = "t1"."visit_id") AS q) AS q GROUP BY "u"

-- Public tables, as they are, and constants alone
SELECT 1
-- unit: none, the tables are public
-- columns: 1 integer [1, 1]
-- engine: SELECT CAST($1 AS BIGINT) AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0"
-- values: 1

SELECT 'a' AS x, 1 + 1, upper(x) AS y, NULL WHERE TRUE
-- unit: none, the tables are public
-- columns: x text, (1 + 1) integer [2, 2], y text, NULL null or NULL
-- engine: SELECT CAST($3 AS VARCHAR) AS "c0", (CAST($1 AS BIGINT) + CAST($1 AS BIGINT)) AS "c1", CAST($4 AS VARCHAR) AS "c2", CAST(NULL AS BIGINT) AS "c3" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0" WHERE CAST($2 AS BOOLEAN)
-- values: 1, True, 'a', 'A'

SELECT x FROM (SELECT 1 AS x UNION ALL SELECT 2) ORDER BY x
-- unit: none, the tables are public
-- columns: x integer [1, 2]
-- engine: SELECT "t2"."c0" AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t1") AS "t2" ORDER BY "t2"."c0" ASC NULLS LAST
-- values: 1, 2

SELECT sex, COUNT(*) AS n FROM patients JOIN (SELECT 'F' AS sex) AS f USING (sex) GROUP BY sex UNION ALL SELECT 'none', 0
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 1 values: 'F'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS BIGINT) AS "c0") AS "t1" WHERE ("t0"."sex" = CAST($2 AS VARCHAR))) AS q GROUP BY "k0"
-- values: 1, 'F'
-- unit: none, the tables are public
-- columns: 'none' text, 0 integer [0, 0]
-- engine: SELECT CAST($2 AS VARCHAR) AS "c0", CAST($3 AS BIGINT) AS "c1" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0"
-- values: 1, 'none', 0
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."k1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

-- PIVOT is a side of UNION, as in DuckDB
PIVOT (SELECT sex, age FROM patients) ON sex USING AVG(age) UNION ALL PIVOT (SELECT sex, age FROM patients WHERE age > 30) ON sex USING AVG(age) ORDER BY 1 DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a2: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: F real, M real, X real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3", CAST(COALESCE(SUM("x2"), 0) - CAST(55 AS HUGEINT) * COUNT("x2") AS HUGEINT) AS "m4", CAST(COUNT("x2") AS BIGINT) AS "m5" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x2" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x2" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($6 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 'F', 1.0, 0.0, 110.0, 'M', 'X'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 31 to 110
-- a1: avg of integer [0, 110] or NULL; grid 1 from 31 to 110
-- a2: avg of integer [0, 110] or NULL; grid 1 from 31 to 110
-- columns: F real, M real, X real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(70 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(70 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3", CAST(COALESCE(SUM("x2"), 0) - CAST(70 AS HUGEINT) * COUNT("x2") AS HUGEINT) AS "m4", CAST(COUNT("x2") AS BIGINT) AS "m5" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 31 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(31, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 31 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(31, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 31 WHEN CAST("x2" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(31, least(110, CAST(round(CAST("x2" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x2" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($6 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($7 AS BIGINT))) AS r) AS q
-- values: 'F', 1.0, 31.0, 110.0, 'M', 'X', 30
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."part" AS "c3", "t2"."row0" AS "c4" FROM (SELECT "t0"."a0" AS "c0", "t0"."a1" AS "c1", "t0"."a2" AS "c2", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."a0" AS "c0", "t1"."a1" AS "c1", "t1"."a2" AS "c2", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST, "t2"."c2" ASC NULLS LAST
-- values: 0, 1
-- columns: F real, M real, X real

-- Few numbers of a window leave as many rows, however they are compared
SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) AS r FROM visits) AS v WHERE r BETWEEN 1 AND 2
-- unit: visits.patient_id
-- rows per unit: 2, in one group 2, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", ROW_NUMBER() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c1" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visited_on" AS "c1", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" >= CAST($1 AS BIGINT)) AND ("t2"."w0" <= CAST($2 AS BIGINT))) AS q
-- values: 1, 2

SELECT COUNT(*) FROM (SELECT patient_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) AS r FROM visits) AS v WHERE NOT (2 < r)
-- unit: visits.patient_id
-- rows per unit: 2, in one group 2, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", ROW_NUMBER() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c1" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visited_on" AS "c1", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE (NOT (CAST($1 AS BIGINT) < "t2"."w0"))) AS q
-- values: 2

-- A second column of one name has a number, as in DuckDB
-- reference: SELECT SUM(m)::DOUBLE - SUM(n) AS d FROM (SELECT COUNT(*) AS n, COUNT(*) + 1 AS m FROM patients WHERE sex IS NOT NULL GROUP BY sex)
SELECT SUM(n_1) - SUM(n) AS d FROM (SELECT sex, COUNT(*) AS n, COUNT(*) + 1 AS n FROM patients GROUP BY sex) AS a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: d real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, COUNT(*) AS n, COUNT(*) + 1 AS N_1, 1 AS one FROM patients WHERE sex IS NOT NULL GROUP BY sex
SELECT *, 1 AS one FROM (SELECT sex, COUNT(*) AS n, COUNT(*) + 1 AS N FROM patients GROUP BY sex) AS a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer, N_1 integer, one integer [1, 1]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- A SELECT that is known to have no row adds none to the others
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT sex, COUNT(*) FROM patients WHERE sex IS NULL GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0
-- columns: sex text, n integer

SELECT name, population FROM cities WHERE population > 2000000 ORDER BY name
-- unit: none, the tables are public
-- columns: name text, population integer [50005, 8175133]
-- engine: SELECT "t0"."name" AS "c0", "t0"."population" AS "c1" FROM "bounded"."main"."cities" AS "t0" WHERE ("t0"."population" > CAST($1 AS BIGINT)) ORDER BY "t0"."name" ASC NULLS LAST
-- values: 2000000

SELECT COUNT(*) FROM cities
-- unit: none, the tables are public
-- columns: count_star() integer
-- engine: SELECT COUNT(*) AS "c0" FROM "bounded"."main"."cities" AS "t0"

-- reference: SELECT state, SUM(population)::BIGINT, COUNT(*), MAX(elevation_m) FROM cities GROUP BY state HAVING COUNT(*) > 10
SELECT state, SUM(population), COUNT(*), MAX(elevation_m) FROM cities GROUP BY state HAVING COUNT(*) > 10
-- unit: none, the tables are public
-- columns: state text, sum(population) integer or NULL, count_star() integer, max(elevation_m) integer or NULL
-- engine: SELECT "t0"."state" AS "c0", TRY_CAST(SUM("t0"."population") AS BIGINT) AS "c1", COUNT(*) AS "c2", MAX("t0"."elevation_m") AS "c3" FROM "bounded"."main"."cities" AS "t0" GROUP BY "t0"."state" HAVING (COUNT(*) > CAST($1 AS BIGINT)) ORDER BY "t0"."state" ASC NULLS LAST
-- values: 10

-- policy: shop
-- Dates and times
SELECT date_trunc('year', born) AS y, COUNT(*) FROM customers GROUP BY y
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: timestamp [1930-01-01 00:00:00, 2010-01-01 00:00:00]; 81 values: 1930-01-01 00:00:00, 1931-01-01 00:00:00, 1932-01-01 00:00:00, ..., 2009-01-01 00:00:00, 2010-01-01 00:00:00
-- a0: count_rows
-- columns: y timestamp [1930-01-01 00:00:00, 2010-01-01 00:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."born") AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"
-- values: 'year'

-- policy: shop
SELECT date_trunc('quarter', placed) AS q, SUM(total) FROM orders WHERE placed >= TIMESTAMP '2024-01-01 00:00:00' GROUP BY q
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: timestamp [2023-01-01 00:00:00, 2024-10-01 00:00:00]; 4 values: 2024-01-01 00:00:00, 2024-04-01 00:00:00, 2024-07-01 00:00:00, 2024-10-01 00:00:00
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: q timestamp [2023-01-01 00:00:00, 2024-10-01 00:00:00], sum(total) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."placed") AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($2 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 'quarter', 2024-01-01 00:00:00

-- policy: shop
SELECT year(placed) AS y, month(placed) AS m, COUNT(*) FROM orders GROUP BY y, m ORDER BY y, m
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [1, 12]; 12 values: 1, 2, 3, ..., 11, 12
-- k1: integer [2023, 2024]; 2 values: 2023, 2024
-- a0: count_rows
-- columns: y integer [2023, 2024], m integer [1, 12], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT month("t0"."placed") AS "k0", year("t0"."placed") AS "k1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT hour(placed) AS h, COUNT(*) FROM orders GROUP BY h
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [0, 23]; 24 values: 0, 1, 2, ..., 22, 23
-- a0: count_rows
-- columns: h integer [0, 23], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT hour("t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT dayofweek(day) AS d, isodow(day) AS i, COUNT(*) FROM orders GROUP BY ALL
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [0, 6]; 7 values: 0, 1, 2, ..., 5, 6
-- k1: integer [1, 7]; 7 values: 1, 2, 3, ..., 6, 7
-- a0: count_rows
-- columns: d integer [0, 6], i integer [1, 7], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT dayofweek("t0"."day") AS "k0", isodow("t0"."day") AS "k1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT extract('isodow' FROM day) AS d FROM orders GROUP BY 1 HAVING COUNT(*) > 0
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [1, 7]; 7 values: 1, 2, 3, ..., 6, 7
-- a0: count_rows
-- columns: d integer [1, 7]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT isodow("t0"."day") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT day, COUNT(*) FROM logins GROUP BY day
-- unit: logins.customer_id
-- rows per unit: 3, in one group 3, in groups 3
-- k0: date [2024-01-01, 2024-03-31]; 91 values: 2024-01-01, 2024-01-02, 2024-01-03, ..., 2024-03-30, 2024-03-31
-- a0: count_rows
-- columns: day date [2024-01-01, 2024-03-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."day" AS "k0" FROM "bounded"."main"."logins" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT day, COUNT(*) FROM logins WHERE day BETWEEN '2024-02-01' AND '2024-02-07' GROUP BY day
-- unit: logins.customer_id
-- rows per unit: 3, in one group 3, in groups 3
-- k0: date [2024-01-01, 2024-03-31]; 7 values: 2024-02-01, 2024-02-02, 2024-02-03, ..., 2024-02-06, 2024-02-07
-- a0: count_rows
-- columns: day date [2024-01-01, 2024-03-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."day" AS "k0" FROM "bounded"."main"."logins" AS "t0" WHERE ("t0"."day" >= CAST($1 AS DATE)) AND ("t0"."day" <= CAST($2 AS DATE))) AS q GROUP BY "k0"
-- values: 2024-02-01, 2024-02-07

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed BETWEEN '2023-06-01 12:00:00' AND '2023-06-30'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP)) AND ("t0"."placed" <= CAST($2 AS TIMESTAMP))) AS q
-- values: 2023-06-01 12:00:00, 2023-06-30 00:00:00

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed >= DATE '2024-06-01'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP))) AS q
-- values: 2024-06-01 00:00:00

-- policy: shop
SELECT COUNT(*) FROM orders WHERE day + 30 > DATE '2024-12-31'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (("t0"."day" + CAST(CAST($1 AS BIGINT) AS INTEGER)) > CAST($2 AS DATE))) AS q
-- values: 30, 2024-12-31

-- policy: shop
SELECT COUNT(*) FROM orders WHERE day + INTERVAL 30 DAY > DATE '2024-12-31'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (("t0"."day" + to_days(CAST(CAST($1 AS BIGINT) AS INTEGER))) > CAST($2 AS TIMESTAMP))) AS q
-- values: 30, 2024-12-31 00:00:00

-- policy: shop
SELECT COUNT(*) FROM orders WHERE day - INTERVAL '1' MONTH < DATE '2023-02-01'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (("t0"."day" + to_months(CAST(CAST($1 AS BIGINT) AS INTEGER))) < CAST($2 AS TIMESTAMP))) AS q
-- values: -1, 2023-02-01 00:00:00

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed + INTERVAL '36 hours' > TIMESTAMP '2024-12-30'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (("t0"."placed" + to_seconds(CAST(CAST($1 AS BIGINT) AS DOUBLE))) > CAST($2 AS TIMESTAMP))) AS q
-- values: 129600, 2024-12-30 00:00:00

-- policy: shop
SELECT AVG(date_diff('week', day, DATE '2024-12-31')) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: avg of integer [0, 104]; grid 1 from 0 to 104
-- columns: avg(date_diff('week', "day", CAST('2024-12-31' AS DATE))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(52 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 104 ELSE greatest(0, least(104, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT date_diff(CAST($1 AS VARCHAR), "t0"."day", CAST($2 AS DATE)) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 'week', 2024-12-31, 1.0, 0.0, 104.0

-- policy: shop
SELECT AVG(date_diff('month', DATE '2023-01-01', day)), AVG(day - DATE '2023-01-01') FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: avg of integer [0, 23]; grid 1 from 0 to 23
-- a1: avg of integer [0, 730]; grid 1 from 0 to 730
-- columns: avg(date_diff('month', CAST('2023-01-01' AS DATE), "day")) real, avg(("day" - CAST('2023-01-01' AS DATE))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(11 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(365 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 23 ELSE greatest(0, least(23, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 730 ELSE greatest(0, least(730, CAST(round(CAST("x1" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT date_diff(CAST($1 AS VARCHAR), CAST($2 AS DATE), "t0"."day") AS "x0", ("t0"."day" - CAST($2 AS DATE)) AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 'month', 2023-01-01, 1.0, 0.0, 23.0, 730.0

-- policy: shop
SELECT SUM(date_diff('hour', TIMESTAMP '2023-01-01 00:00:00', placed)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of integer [0, 17543]; grid 1 from 0 to 17543
-- columns: sum(date_diff('hour', CAST('2023-01-01 00:00:00' AS TIMESTAMP), placed)) integer
-- engine: SELECT "u", CAST("x0" AS SMALLINT) AS "x0" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 17543 ELSE greatest(0, least(17543, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."$number" AS "u", date_diff(CAST($1 AS VARCHAR), CAST($2 AS TIMESTAMP), "t0"."placed") AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 'hour', 2023-01-01 00:00:00, 1.0, 0.0, 17543.0

-- policy: shop
SELECT CAST(placed AS DATE) AS d, COUNT(*) FROM orders WHERE day = DATE '2023-05-05' GROUP BY d
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: date [2023-01-01, 2024-12-31]; 731 values: 2023-01-01, 2023-01-02, 2023-01-03, ..., 2024-12-30, 2024-12-31
-- a0: count_rows
-- columns: d date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST("t0"."placed" AS DATE) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."day" = CAST($1 AS DATE))) AS q GROUP BY "k0"
-- values: 2023-05-05

-- policy: shop
SELECT COUNT(*) FROM customers WHERE born IS NULL OR dayofyear(born) > 180
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."born" IS NULL) OR (dayofyear("t0"."born") > CAST($1 AS BIGINT)))) AS q
-- values: 180

-- policy: shop
SELECT week(day) AS w, COUNT(*) FROM orders GROUP BY w
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [1, 53]; 52 values: 1, 2, 3, ..., 51, 52
-- a0: count_rows
-- columns: w integer [1, 53], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT week("t0"."day") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"

-- policy: shop
-- Booleans
SELECT member, COUNT(*) FROM customers GROUP BY member
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: member boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."member" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT newsletter, COUNT(*) FROM customers GROUP BY newsletter
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: newsletter boolean or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."newsletter" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) FROM customers WHERE member
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE "t0"."member") AS q

-- policy: shop
SELECT COUNT(*) FROM customers WHERE NOT member AND newsletter IS NOT FALSE
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (NOT "t0"."member") AND ("t0"."newsletter" IS DISTINCT FROM CAST($1 AS BOOLEAN))) AS q
-- values: False

-- policy: shop
SELECT COUNT(*) FROM customers WHERE member = true OR newsletter IS NULL
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."member" = CAST($1 AS BOOLEAN)) OR ("t0"."newsletter" IS NULL))) AS q
-- values: True

-- policy: shop
SELECT member, newsletter, COUNT(*), SUM(member) FROM customers GROUP BY member, newsletter
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- k1: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- a1: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: member boolean, newsletter boolean or NULL, count_star() integer, sum(member) integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "k0", "k1", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."member" AS "k0", "t0"."newsletter" AS "k1", CAST("t0"."member" AS BIGINT) AS "x0" FROM "bounded"."main"."customers" AS "t0") AS r) AS q GROUP BY "k0", "k1"
-- values: 1.0, 0.0

-- policy: shop
-- reference: SELECT AVG(newsletter::INTEGER), SUM(member::INTEGER) FROM customers
SELECT AVG(newsletter), SUM(member::INTEGER) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 1]; grid 1 from 0 to 1
-- a1: avg of integer [0, 1] or NULL; grid 1 from 0 to 1
-- columns: avg(newsletter) real, sum(CAST(member AS INTEGER)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x1" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT CAST("t0"."member" AS BIGINT) AS "x0", CAST("t0"."newsletter" AS BIGINT) AS "x1" FROM "bounded"."main"."customers" AS "t0") AS r) AS q
-- values: 1.0, 0.0

-- policy: shop
SELECT member OR coalesce(newsletter, false) AS reached, COUNT(*) FROM customers GROUP BY reached
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: reached boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."member" OR COALESCE("t0"."newsletter", CAST($1 AS BOOLEAN))) AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"
-- values: False

-- policy: shop
-- Decimals and reals
SELECT SUM(total), AVG(total), COUNT(total) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count of real [0, 2000]; grid 0.001 from 0 to 2000
-- a1: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- a2: avg of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: sum(total) real, avg(total) real, count(total) integer
-- engine: SELECT CAST(COALESCE(SUM("total$count"), 0) AS BIGINT) AS "m0", CAST(COALESCE(SUM("total$sum"), 0) - CAST(1000000 AS HUGEINT) * COALESCE(SUM("total$count"), 0) AS HUGEINT) AS "m1" FROM "bounded"."main"."orders$ranks" AS t

-- policy: shop
SELECT AVG(credit), SUM(credit) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of real [-500, 5000]; grid 0.001 from -500 to 5000
-- a1: avg of real [-500, 5000]; grid 0.001 from -500 to 5000
-- columns: avg(credit) real, sum(credit) real
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(SUM("units") AS BIGINT) AS "units", CAST(SUM("signs") AS BIGINT) AS "signs", CAST(SUM("total") AS HUGEINT) AS "total" FROM (SELECT "$bin" AS "bin", "$units" AS "units", "$signs" AS "signs", "$total" AS "total" FROM "bounded"."main"."customers$sizes" AS t WHERE "$of" = 0) AS q GROUP BY "bin" ORDER BY "bin"
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2250000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."credit$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0") AS q

-- policy: shop
SELECT SUM(total * (1 - discount)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: sum((total * (1 - discount))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."total" * (CAST($1 AS DOUBLE) - "t0"."discount")) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 1.0, 1000.0, 0.0, 2000.0

-- policy: shop
SELECT AVG(discount), SUM(discount) FROM orders WHERE discount > 0.25
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 1]; grid 0.01 from 0.25 to 1
-- a1: avg of real [0, 1]; grid 0.01 from 0.25 to 1
-- columns: avg(discount) real, sum(discount) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(62 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" < 25 THEN 25 WHEN "x0" > 100 THEN 100 ELSE "x0" END AS "x0" FROM (SELECT "t0"."discount$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."discount" > CAST($1 AS DOUBLE))) AS r) AS q
-- values: 0.25

-- policy: shop
SELECT SUM(total * 1.19) FROM orders WHERE total >= 19.99
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 2380]; grid 0.001 from 23.788 to 2380
-- columns: sum((total * 1.19)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 23788 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2380000 ELSE greatest(23788, least(2380000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."total" * CAST($1 AS DOUBLE)) AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."total" >= CAST($5 AS DOUBLE))) AS r) AS q
-- values: 1.19, 1000.0, 23.788, 2380.0, 19.99

-- policy: shop
SELECT AVG(total / (items + 1)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: avg of real [0, 2000] or NULL; grid 0.001 from 0 to 2000
-- columns: avg((total / (items + 1))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."total" / CAST(("t0"."items" + CAST($1 AS BIGINT)) AS DOUBLE)) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 1, 1000.0, 0.0, 2000.0

-- policy: shop
SELECT round(SUM(total) / SUM(items), 2) AS price FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of integer [0, 40] or NULL; grid 1 from 0 to 40
-- a1: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: price real or NULL
-- engine: SELECT CAST(COALESCE(SUM("items$sum"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("total$sum"), 0) AS HUGEINT) AS "m1" FROM "bounded"."main"."orders$ranks" AS t

-- policy: shop
SELECT COUNT(height) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of real
-- columns: count(height) integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."height" AS "x0" FROM "bounded"."main"."customers" AS "t0") AS q

-- policy: shop
SELECT COUNT(*) FROM customers WHERE height > 1.5 OR height < 0.1
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."height" > CAST($1 AS DOUBLE)) OR ("t0"."height" < CAST($2 AS DOUBLE)))) AS q
-- values: 1.5, 0.1

-- policy: shop
SELECT AVG(GREATEST(0, LEAST(height, 2.5))) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 2.5]; grid 1e-06 from 0 to 2.5
-- columns: avg(greatest(0, least(height, 2.5))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1250000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($1 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 2500000 ELSE greatest(0, least(2500000, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT greatest(CAST($1 AS DOUBLE), least("t0"."height", CAST($2 AS DOUBLE))) AS "x0" FROM "bounded"."main"."customers" AS "t0") AS r) AS q
-- values: 0.0, 2.5, 1000000.0

-- policy: shop
SELECT SUM(CASE WHEN height BETWEEN 1 AND 2 THEN 1 ELSE 0 END) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sum(CASE  WHEN ((height BETWEEN 1 AND 2)) THEN (1) ELSE 0 END) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN (("t0"."height" >= CAST($1 AS DOUBLE)) AND ("t0"."height" <= CAST($2 AS DOUBLE))) THEN CAST($3 AS BIGINT) ELSE CAST($4 AS BIGINT) END AS "x0" FROM "bounded"."main"."customers" AS "t0") AS r) AS q
-- values: 1.0, 2.0, 1, 0, 0.0

-- policy: shop
-- with: mechanism='laplace'
SELECT SUM(LEAST(600, GREATEST(0, seconds))) FROM logins
-- unit: logins.customer_id
-- rows per unit: 3, in one group 3, in groups 1
-- a0: sum of integer [0, 600]; grid 1 from 0 to 600
-- columns: sum(least(600, greatest(0, "seconds"))) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 600 ELSE greatest(0, least(600, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT least(CAST($1 AS BIGINT), greatest(CAST($2 AS BIGINT), "t0"."seconds")) AS "x0" FROM "bounded"."main"."logins" AS "t0") AS r) AS q
-- values: 600, 0, 1.0, 0.0, 600.0

-- policy: shop
SELECT floor(total / 50) AS band, COUNT(*) FROM orders GROUP BY band ORDER BY band
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: real [0, 40]; 41 values: 0.0, 1.0, 2.0, ..., 39.0, 40.0
-- a0: count_rows
-- columns: band real [0, 40], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT floor(("t0"."total" / CAST($1 AS DOUBLE))) AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"
-- values: 50.0

-- policy: shop
SELECT SUM(exp(discount)), AVG(sqrt(total)), AVG(ln(total + 1)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0.999999999999, 2.71828182846]; grid 1e-06 from 0.999999 to 2.718282
-- a1: avg of real [0, 7.60140233459]; grid 1e-06 from 0 to 7.601403
-- a2: avg of real [0, 44.72135955]; grid 1e-05 from 0 to 44.72136
-- columns: sum(exp(discount)) real, avg(sqrt(total)) real, avg(ln((total + 1))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) - CAST(3800701 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2", CAST(COALESCE(SUM("x2"), 0) - CAST(2236068 AS HUGEINT) * COUNT("x2") AS HUGEINT) AS "m3", CAST(COUNT("x2") AS BIGINT) AS "m4" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 999999 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2718282 ELSE greatest(999999, least(2718282, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 7601403 ELSE greatest(0, least(7601403, CAST(round(CAST("x1" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($8 AS DOUBLE) THEN 4472136 ELSE greatest(0, least(4472136, CAST(round(CAST("x2" AS DOUBLE) * CAST($7 AS DOUBLE)) AS BIGINT))) END AS "x2" FROM (SELECT exp("t0"."discount") AS "x0", ln(("t0"."total" + CAST($4 AS DOUBLE))) AS "x1", sqrt("t0"."total") AS "x2" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 1000000.0, 0.999999, 2.718282, 1.0, 0.0, 7.601403, 100000.0, 44.72136

-- policy: shop
SELECT SUM(children), AVG(children), COUNT(children) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [0, 9] or NULL; grid 1 from 0 to 9
-- a1: sum of integer [0, 9] or NULL; grid 1 from 0 to 9
-- a2: avg of integer [0, 9] or NULL; grid 1 from 0 to 9
-- columns: sum(children) integer, avg(children) real, count(children) integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(4 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1" FROM (SELECT "t0"."children" AS "x0" FROM "bounded"."main"."customers" AS "t0") AS q

-- policy: shop
SELECT children, COUNT(*) FROM customers GROUP BY children
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 9] or NULL; 11 values: 0, 1, 2, ..., 9, NULL
-- a0: count_rows
-- columns: children integer [0, 9] or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."children" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT coalesce(children, -1) AS c, COUNT(*) FROM customers GROUP BY c
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [-1, 9]; 11 values: -1, 0, 1, ..., 8, 9
-- a0: count_rows
-- columns: c integer [-1, 9], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT COALESCE("t0"."children", CAST($1 AS BIGINT)) AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"
-- values: -1

-- policy: shop
-- Text
SELECT nickname, COUNT(*) FROM customers GROUP BY nickname
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; open
-- a0: count_rows; chooses the groups
-- columns: nickname text or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."nickname" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- policy: shop
SELECT upper(nickname) AS n, COUNT(DISTINCT customer_id) FROM customers GROUP BY n
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; open
-- a0: count_units; chooses the groups
-- columns: n text or NULL, count(DISTINCT customer_id) integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT upper("t0"."nickname") AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- policy: shop
SELECT COUNT(*) FROM customers WHERE nickname LIKE 'a\_b' OR nickname LIKE '%\%'
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."nickname" LIKE CAST($1 AS VARCHAR)) OR ("t0"."nickname" LIKE CAST($2 AS VARCHAR)))) AS q
-- values: 'a\_b', '%\%'

-- policy: shop
SELECT COUNT(*) FROM customers WHERE nickname LIKE 'a_%' AND nickname ILIKE 'ANA'
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE ("t0"."nickname" LIKE CAST($1 AS VARCHAR)) AND ("t0"."nickname" ILIKE CAST($2 AS VARCHAR))) AS q
-- values: 'a_%', 'ANA'

-- policy: shop
SELECT COUNT(*) FROM customers WHERE nickname = '' OR length(nickname) = 3
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."nickname" = CAST($1 AS VARCHAR)) OR (length("t0"."nickname") = CAST($2 AS BIGINT)))) AS q
-- values: '', 3

-- policy: shop
SELECT COUNT(*) FROM customers WHERE starts_with(nickname, 'A') OR ends_with(nickname, 'b') OR contains(nickname, 'o')
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE ((starts_with("t0"."nickname", CAST($1 AS VARCHAR)) OR ends_with("t0"."nickname", CAST($2 AS VARCHAR))) OR contains("t0"."nickname", CAST($3 AS VARCHAR)))) AS q
-- values: 'A', 'b', 'o'

-- policy: shop
SELECT concat(region, '/', nickname) AS place, COUNT(*) FROM customers WHERE region = 'Ö' AND nickname = 'Zoë' GROUP BY place
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 1 values: 'Ö/Zoë'
-- a0: count_rows
-- columns: place text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT concat("t0"."region", CAST($1 AS VARCHAR), "t0"."nickname") AS "k0" FROM "bounded"."main"."customers" AS "t0" WHERE ("t0"."region" = CAST($2 AS VARCHAR)) AND ("t0"."nickname" = CAST($3 AS VARCHAR))) AS q GROUP BY "k0"
-- values: '/', 'Ö', 'Zoë'

-- policy: shop
SELECT replace(nickname, 'a', 'o') AS n, COUNT(*) FROM customers WHERE nickname IN ('ana', 'Bo') GROUP BY n
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'Bo', 'ono'
-- a0: count_rows
-- columns: n text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT replace("t0"."nickname", CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)) AS "k0" FROM "bounded"."main"."customers" AS "t0" WHERE ("t0"."nickname" IN (CAST($3 AS VARCHAR), CAST($4 AS VARCHAR)))) AS q GROUP BY "k0"
-- values: 'a', 'o', 'ana', 'Bo'

-- policy: shop
SELECT trim(nickname) || '?' AS n, COUNT(*) FROM customers WHERE nickname = 'Ana' GROUP BY n
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 1 values: 'Ana?'
-- a0: count_rows
-- columns: n text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (trim("t0"."nickname") || CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."customers" AS "t0" WHERE ("t0"."nickname" = CAST($2 AS VARCHAR))) AS q GROUP BY "k0"
-- values: '?', 'Ana'

-- policy: shop
SELECT status, channel, COUNT(*) FROM orders GROUP BY status, channel
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text or NULL; 3 values: 'web', 'shop', NULL
-- k1: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- a0: count_rows
-- columns: status text, channel text or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."channel" AS "k0", "t0"."status" AS "k1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT status, COUNT(*) FROM orders WHERE status <> 'open' GROUP BY status
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: text; 3 values: 'paid', 'returned', 'sent'
-- a0: count_rows
-- columns: status text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."status" AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."status" <> CAST($1 AS VARCHAR))) AS q GROUP BY "k0"
-- values: 'open'

-- policy: shop
SELECT note, SUM(total) FROM orders GROUP BY note
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; open
-- selection: count_units; chooses the groups
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: note text or NULL, sum(total) real
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "t0"."note" AS "k0", "t0"."$number" AS "u", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- policy: shop
SELECT reverse(status) AS r, right(status, 2) AS e, COUNT(*) FROM orders GROUP BY r, e
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; 4 values: 'denruter', 'diap', 'nepo', 'tnes'
-- k1: text; 4 values: 'ed', 'en', 'id', 'nt'
-- a0: count_rows
-- columns: r text, e text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT reverse("t0"."status") AS "k0", right("t0"."status", CAST($1 AS BIGINT)) AS "k1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1"
-- values: 2

-- policy: shop
SELECT device, failed, COUNT(DISTINCT customer_id) FROM logins GROUP BY device, failed
-- unit: logins.customer_id
-- rows per unit: 3, in one group 3, in groups 3
-- k0: text; open
-- k1: boolean; 2 values: False, True
-- a0: count_units; chooses the groups
-- columns: device text or NULL, failed boolean, count(DISTINCT customer_id) integer
-- engine: SELECT "k0", "k1", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."device" AS "k0", "t0"."failed" AS "k1", "t0"."$number" AS "u" FROM "bounded"."main"."logins" AS "t0") AS q GROUP BY "k0", "k1" ORDER BY "k0" NULLS LAST, "k1" NULLS LAST

-- policy: shop
-- Several tables
SELECT region, COUNT(*), SUM(total) FROM customers c JOIN orders o USING (customer_id) GROUP BY region
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_rows
-- a1: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: region text, count_star() integer, sum(total) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "t0"."region" AS "k0", "t1"."total$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id") AS q GROUP BY "k0"

-- policy: shop
SELECT r.name, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code GROUP BY r.name
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- a0: count_rows
-- columns: name text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."name" AS "k0" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0"

-- policy: shop
SELECT r.coastal, AVG(o.total) FROM orders o JOIN customers c USING (customer_id) JOIN regions r ON r.code = c.region GROUP BY r.coastal
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: avg of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: coastal boolean or NULL, avg(o.total) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(60000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t2"."coastal" AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."regions" AS "t2" ON "t1"."region" = "t2"."code") AS q GROUP BY "k0"

-- policy: shop
SELECT SUM(o.total * r.tax) FROM orders o, customers c, regions r WHERE o.customer_id = c.customer_id AND c.region = r.code
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 500] or NULL; grid 0.0001 from 0 to 500
-- columns: sum((o.total * r.tax)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 5000000 ELSE greatest(0, least(5000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."total" * "t2"."tax") AS "x0" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."regions" AS "t2" ON "t1"."region" = "t2"."code") AS r) AS q
-- values: 10000.0, 0.0, 500.0

-- policy: shop
SELECT h.title, COUNT(*) FROM logins l JOIN holidays h ON l.day = h.day GROUP BY h.title
-- unit: logins.customer_id
-- rows per unit: 6, in one group 6, in groups 3
-- k0: text; 3 values: 'carnival', 'good friday', 'new year'
-- a0: count_rows
-- columns: title text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."title" AS "k0" FROM "bounded"."main"."logins" AS "t0" JOIN "bounded"."main"."holidays" AS "t1" ON "t0"."day" = "t1"."day") AS q GROUP BY "k0"

-- policy: shop
-- Keys that are columns of one public table
SELECT r.name, r.coastal, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code GROUP BY r.name, r.coastal
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- k1: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- together: k0, k1; 5 of the public table
-- a0: count_rows
-- columns: name text, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."coastal" AS "k0", "t1"."name" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT r.since, c.member, r.tax, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code GROUP BY r.since, c.member, r.tax
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- k1: date [1990-05-01, 2020-02-29] or NULL; 5 values: 1990-05-01, 1995-01-01, 2001-12-31, 2020-02-29, NULL
-- k2: real [0.07, 0.25] or NULL; 5 values: 0.07, 0.1, 0.19, 0.25, NULL
-- together: k1, k2; 5 of the public table
-- a0: count_rows
-- columns: since date [1990-05-01, 2020-02-29] or NULL, member boolean, tax real [0.07, 0.25] or NULL, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."member" AS "k0", "t1"."since" AS "k1", "t1"."tax" AS "k2" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0", "k1", "k2"

-- policy: shop
SELECT r.name, r.coastal, r.since, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code AND r.coastal GROUP BY r.name, r.coastal, r.since
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- k1: text or NULL; 6 values: 'East', 'North', 'South', 'Wild west', 'Österland', NULL
-- k2: date [1990-05-01, 2020-02-29] or NULL; 5 values: 1990-05-01, 1995-01-01, 2001-12-31, 2020-02-29, NULL
-- together: k0, k1, k2; 6 of the public table
-- a0: count_rows
-- columns: name text or NULL, coastal boolean or NULL, since date [1990-05-01, 2020-02-29] or NULL, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."coastal" AS "k0", "t1"."name" AS "k1", "t1"."since" AS "k2" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" AND "t1"."coastal") AS q GROUP BY "k0", "k1", "k2"

-- policy: shop
SELECT r.name, r.coastal, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code WHERE r.coastal OR r.name > 'S' OR r.name IS NULL GROUP BY r.name, r.coastal
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- k1: text or NULL; 6 values: 'East', 'North', 'South', 'Wild west', 'Österland', NULL
-- together: k0, k1; 6 of the public table
-- a0: count_rows
-- columns: name text or NULL, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."coastal" AS "k0", "t1"."name" AS "k1" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (("t1"."coastal" OR ("t1"."name" > CAST($1 AS VARCHAR))) OR ("t1"."name" IS NULL))) AS q GROUP BY "k0", "k1"
-- values: 'S'

-- policy: shop
SELECT r.name, r.coastal, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code WHERE r.coastal = (r.name = 'North') GROUP BY r.name, r.coastal
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- k1: text or NULL; 6 values: 'East', 'North', 'South', 'Wild west', 'Österland', NULL
-- together: k0, k1; 3 of the public table
-- a0: count_rows
-- columns: name text or NULL, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."coastal" AS "k0", "t1"."name" AS "k1" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE ("t1"."coastal" = ("t1"."name" = CAST($1 AS VARCHAR)))) AS q GROUP BY "k0", "k1"
-- values: 'North'

-- policy: shop
-- reference: SELECT r.code, r.coastal, c.member, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code GROUP BY ROLLUP (r.code, r.coastal, c.member)
SELECT r.code, r.coastal, c.member, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code GROUP BY ROLLUP (r.code, r.coastal, c.member)
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- k1: boolean or NULL; 3 values: False, True, NULL
-- k2: boolean; 2 values: False, True
-- together: k0, k1; 5 of the public table
-- a0: count_rows
-- sets: (k0, k1, k2), (k0, k1), (k0), ()
-- columns: code text, coastal boolean or NULL, member boolean, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."code" AS "k0", "t1"."coastal" AS "k1", "t0"."member" AS "k2" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t1"."code" IS NULL)) AND (NOT ("t0"."member" IS NULL))) AS q GROUP BY "k0", "k1", "k2"
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."code" AS "k0", "t1"."coastal" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t1"."code" IS NULL)) AND (NOT ("t0"."member" IS NULL))) AS q GROUP BY "k0", "k1"
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."code" AS "k0" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t1"."code" IS NULL)) AND (NOT ("t0"."member" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t1"."code" IS NULL)) AND (NOT ("t0"."member" IS NULL))) AS q

-- policy: shop
-- reference: SELECT r.code, r.coastal, c.member, SUM(c.credit) FROM customers c LEFT JOIN regions r ON c.region = r.code GROUP BY GROUPING SETS ((r.coastal, c.member), (c.member, r.code), (r.coastal), ())
SELECT r.code, r.coastal, c.member, SUM(c.credit) FROM customers c LEFT JOIN regions r ON c.region = r.code GROUP BY GROUPING SETS ((r.coastal, c.member), (c.member, r.code), (r.coastal), ())
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- k1: boolean; 2 values: False, True
-- k2: text or NULL; 6 values: 'E', 'N', 'S', 'W', 'Ö', NULL
-- together: k0, k2; 6 of the public table
-- a0: sum of real [-500, 5000]; grid 0.001 from -500 to 5000
-- sets: (k0, k1), (k1, k2), (k0), ()
-- columns: code text or NULL, coastal boolean or NULL, member boolean, sum(c.credit) real
-- engine: SELECT "k0", "k1", CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(xor(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END, 0)) AS BIGINT) AS "signs", CAST(SUM(xor("x0", 0)) AS HUGEINT) AS "total" FROM (SELECT "k0", "k1", "x0", CASE WHEN "size" <= 468744 THEN CASE WHEN "size" <= 78124 THEN CASE WHEN "size" <= 39062 THEN CASE WHEN "size" <= 29296 THEN CASE WHEN "size" <= 19531 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 58593 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 234372 THEN CASE WHEN "size" <= 156248 THEN CASE WHEN "size" <= 117186 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 312496 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 2499968 THEN CASE WHEN "size" <= 1249984 THEN CASE WHEN "size" <= 937488 THEN CASE WHEN "size" <= 624992 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 1874976 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 4999936 THEN CASE WHEN "size" <= 3749952 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 5000000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "k0", "k1", "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT "t1"."coastal" AS "k0", "t0"."member" AS "k1", "t0"."credit$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t0"."member" IS NULL))) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "k0", "k1", "bin" ORDER BY "k0", "k1", "bin"
-- engine: SELECT "k1", "k2", CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(xor(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END, 0)) AS BIGINT) AS "signs", CAST(SUM(xor("x0", 0)) AS HUGEINT) AS "total" FROM (SELECT "k1", "k2", "x0", CASE WHEN "size" <= 468744 THEN CASE WHEN "size" <= 78124 THEN CASE WHEN "size" <= 39062 THEN CASE WHEN "size" <= 29296 THEN CASE WHEN "size" <= 19531 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 58593 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 234372 THEN CASE WHEN "size" <= 156248 THEN CASE WHEN "size" <= 117186 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 312496 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 2499968 THEN CASE WHEN "size" <= 1249984 THEN CASE WHEN "size" <= 937488 THEN CASE WHEN "size" <= 624992 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 1874976 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 4999936 THEN CASE WHEN "size" <= 3749952 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 5000000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "k1", "k2", "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT "t0"."member" AS "k1", "t1"."code" AS "k2", "t0"."credit$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t0"."member" IS NULL))) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "k1", "k2", "bin" ORDER BY "k1", "k2", "bin"
-- engine: SELECT "k0", CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(xor(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END, 0)) AS BIGINT) AS "signs", CAST(SUM(xor("x0", 0)) AS HUGEINT) AS "total" FROM (SELECT "k0", "x0", CASE WHEN "size" <= 468744 THEN CASE WHEN "size" <= 78124 THEN CASE WHEN "size" <= 39062 THEN CASE WHEN "size" <= 29296 THEN CASE WHEN "size" <= 19531 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 58593 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 234372 THEN CASE WHEN "size" <= 156248 THEN CASE WHEN "size" <= 117186 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 312496 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 2499968 THEN CASE WHEN "size" <= 1249984 THEN CASE WHEN "size" <= 937488 THEN CASE WHEN "size" <= 624992 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 1874976 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 4999936 THEN CASE WHEN "size" <= 3749952 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 5000000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "k0", "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT "t1"."coastal" AS "k0", "t0"."credit$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t0"."member" IS NULL))) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "k0", "bin" ORDER BY "k0", "bin"
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(xor(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END, 0)) AS BIGINT) AS "signs", CAST(SUM(xor("x0", 0)) AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 468744 THEN CASE WHEN "size" <= 78124 THEN CASE WHEN "size" <= 39062 THEN CASE WHEN "size" <= 29296 THEN CASE WHEN "size" <= 19531 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 58593 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 234372 THEN CASE WHEN "size" <= 156248 THEN CASE WHEN "size" <= 117186 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 312496 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 2499968 THEN CASE WHEN "size" <= 1249984 THEN CASE WHEN "size" <= 937488 THEN CASE WHEN "size" <= 624992 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 1874976 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 4999936 THEN CASE WHEN "size" <= 3749952 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 5000000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT "t0"."credit$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE (NOT ("t0"."member" IS NULL))) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"

-- policy: shop
SELECT h.day, h.title, l.failed, COUNT(*) FROM logins l JOIN holidays h ON l.day = h.day GROUP BY h.day, h.title, l.failed
-- unit: logins.customer_id
-- rows per unit: 6, in one group 6, in groups 6
-- k0: boolean; 2 values: False, True
-- k1: date [2024-01-01, 2024-03-29]; 4 values: 2024-01-01, 2024-02-12, 2024-02-13, 2024-03-29
-- k2: text; 3 values: 'carnival', 'good friday', 'new year'
-- together: k1, k2; 4 of the public table
-- a0: count_rows
-- columns: day date [2024-01-01, 2024-03-29], title text, failed boolean, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."failed" AS "k0", "t1"."day" AS "k1", "t1"."title" AS "k2" FROM "bounded"."main"."logins" AS "t0" JOIN "bounded"."main"."holidays" AS "t1" ON "t0"."day" = "t1"."day") AS q GROUP BY "k0", "k1", "k2"

-- policy: shop
SELECT h.code, h.title, COUNT(*) AS n FROM logins l JOIN holidays h ON l.day = h.day GROUP BY h.code, h.title HAVING COUNT(*) > 2 ORDER BY n DESC, h.code LIMIT 3
-- unit: logins.customer_id
-- rows per unit: 6, in one group 6, in groups 6
-- k0: text; 3 values: 'E', 'N', 'S'
-- k1: text; 3 values: 'carnival', 'good friday', 'new year'
-- together: k0, k1; 4 of the public table
-- a0: count_rows
-- columns: code text, title text, n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."code" AS "k0", "t1"."title" AS "k1" FROM "bounded"."main"."logins" AS "t0" JOIN "bounded"."main"."holidays" AS "t1" ON "t0"."day" = "t1"."day") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT upper(r.name) AS u, year(r.since) AS y, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code GROUP BY upper(r.name), year(r.since)
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text or NULL; 6 values: 'EAST', 'NORTH', 'SOUTH', 'WILD WEST', 'ÖSTERLAND', NULL
-- k1: integer [1990, 2020] or NULL; 5 values: 1990, 1995, 2001, 2020, NULL
-- together: k0, k1; 6 of the public table
-- a0: count_rows
-- columns: u text or NULL, y integer [1990, 2020] or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT upper("t1"."name") AS "k0", year("t1"."since") AS "k1" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT r.name, q.coastal, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code JOIN regions q ON c.region = q.code GROUP BY r.name, q.coastal
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- k1: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: name text, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."name" AS "k0", "t2"."coastal" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" JOIN "bounded"."main"."regions" AS "t2" ON "t0"."region" = "t2"."code") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT c.region, r.coastal, COUNT(*) FROM customers c JOIN regions r ON c.region = r.code GROUP BY c.region, r.coastal
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- k1: boolean or NULL; 3 values: False, True, NULL
-- together: k0, k1; 5 of the public table
-- a0: count_rows
-- columns: region text, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0", "t1"."coastal" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT s.label, s.coastal, COUNT(*) FROM customers c LEFT JOIN (SELECT code, coalesce(name, 'none') AS label, coastal FROM regions WHERE tax > 0.1) AS s ON c.region = s.code GROUP BY s.label, s.coastal
-- unit: customers.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text or NULL; open
-- k1: boolean or NULL; 3 values: False, True, NULL
-- selection: count_units; chooses the groups
-- a0: count_rows
-- columns: label text or NULL, coastal boolean or NULL, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COUNT(*) AS BIGINT) AS "m1" FROM (SELECT "t2"."c1" AS "k0", "t2"."c2" AS "k1", "t0"."customer_id" AS "u" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN (SELECT "t1"."code" AS "c0", COALESCE("t1"."name", CAST($1 AS VARCHAR)) AS "c1", "t1"."coastal" AS "c2" FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."tax" > CAST($2 AS DOUBLE))) AS "t2" ON "t0"."region" = "t2"."c0") AS q GROUP BY "k0", "k1" ORDER BY "k0" NULLS LAST, "k1" NULLS LAST
-- values: 'none', 0.1

-- policy: shop
SELECT name, coastal, COUNT(*), SUM(n) FROM (SELECT customer_id, r.name, r.coastal, COUNT(*) AS n FROM orders o JOIN customers c USING (customer_id) JOIN regions r ON c.region = r.code GROUP BY customer_id, r.name, r.coastal) AS t GROUP BY name, coastal
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- k1: boolean or NULL; 3 values: False, True, NULL
-- together: k0, k1; 5 of the public table
-- a0: count_rows
-- a1: sum of integer [1, 5]; grid 1 from 1 to 5
-- columns: name text, coastal boolean or NULL, count_star() integer, sum(n) integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "t3"."k1" AS "k0", "t3"."k2" AS "k1", "t3"."v0" AS "x0" FROM (SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0", "k1", "k2" FROM (SELECT "t0"."customer_id" AS "k0", "t2"."name" AS "k1", "t2"."coastal" AS "k2" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."regions" AS "t2" ON "t1"."region" = "t2"."code") AS r) AS r GROUP BY "k0", "k1", "k2") AS "t3") AS q GROUP BY "k0", "k1"

-- policy: shop
SELECT v.a, v.b, COUNT(*) FROM customers c JOIN (VALUES ('N', 1), ('S', 2), ('E', 2)) AS v(a, b) ON c.region = v.a GROUP BY v.a, v.b
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'E', 'N', 'S'
-- k1: integer [1, 2]; 2 values: 1, 2
-- together: k0, k1; 3 of the public table
-- a0: count_rows
-- columns: a text, b integer [1, 2], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c0" AS "k0", "t1"."c1" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN (SELECT CAST($1 AS VARCHAR) AS "c0", CAST($2 AS BIGINT) AS "c1" UNION ALL SELECT CAST($3 AS VARCHAR) AS "c0", CAST($4 AS BIGINT) AS "c1" UNION ALL SELECT CAST($5 AS VARCHAR) AS "c0", CAST($4 AS BIGINT) AS "c1") AS "t1" ON "t0"."region" = "t1"."c0") AS q GROUP BY "k0", "k1"
-- values: 'N', 1, 'S', 2, 'E'

-- policy: shop
SELECT COUNT(*) FROM logins JOIN holidays USING (day)
-- unit: logins.customer_id
-- rows per unit: 6, in one group 6, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."logins" AS "t0" JOIN "bounded"."main"."holidays" AS "t1" ON "t0"."day" = "t1"."day") AS q

-- policy: shop
SELECT COUNT(*), COUNT(DISTINCT c.customer_id) FROM customers c JOIN orders o ON c.customer_id = o.customer_id JOIN logins l ON l.customer_id = c.customer_id
-- unit: customers.customer_id = orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 1
-- a0: count_rows
-- a1: count_units
-- columns: count_star() integer, count(DISTINCT c.customer_id) integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t2"."$number" AS "u" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."logins" AS "t2" ON "t0"."customer_id" = "t2"."customer_id") AS q) AS q GROUP BY "u"

-- policy: shop
SELECT SUM(o.total) FROM orders o JOIN logins l ON o.customer_id = l.customer_id AND o.day = l.day
-- unit: orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 1
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: sum(o.total) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."logins" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" AND "t0"."day" = "t1"."day") AS q

-- policy: shop
SELECT o.status, l.failed, COUNT(*) FROM orders o JOIN logins l USING (customer_id) GROUP BY ALL
-- unit: orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 8
-- k0: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- k1: boolean; 2 values: False, True
-- a0: count_rows
-- columns: status text, failed boolean, count_star() integer
-- engine: SELECT "k0", CAST(CASE WHEN "k1" = CAST($1 AS BOOLEAN) THEN 0 WHEN "k1" = CAST($2 AS BOOLEAN) THEN 1 ELSE 2 END AS TINYINT) AS "k1", "u" FROM (SELECT "t0"."status$place" AS "k0", "t1"."failed" AS "k1", "t1"."$number" AS "u" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."logins" AS "t1" ON "t0"."customer_id" = "t1"."customer_id") AS q ORDER BY "u"
-- values: False, True

-- policy: shop
SELECT COUNT(*) FROM customers c JOIN customers d ON c.customer_id = d.customer_id WHERE c.member = d.newsletter
-- unit: customers.customer_id = customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" AND "t0"."member" = "t1"."newsletter") AS q

-- policy: shop
-- Queries inside queries
SELECT AVG(n) FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS per_customer
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [1, 5]; grid 1 from 1 to 5
-- columns: avg(n) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(3 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0" FROM (SELECT "t0"."customer_id" AS "k0" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q

-- policy: shop
SELECT region, AVG(spent) FROM (SELECT customer_id, SUM(total) AS spent FROM orders GROUP BY customer_id) o JOIN customers c USING (customer_id) GROUP BY region
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: avg of real [0, 10000]; grid 0.001 from 0 to 10000
-- columns: region text, avg(spent) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(5000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 10000000 ELSE greatest(0, least(10000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."region" AS "k0", "t1"."v0" AS "x0" FROM (SELECT "k0", CAST((CAST(SUM("x0") AS DOUBLE) / CAST($1 AS DOUBLE)) AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."customer_id" AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" JOIN "bounded"."main"."customers" AS "t2" ON "t1"."k0" = "t2"."customer_id") AS r) AS q GROUP BY "k0"
-- values: 1000.0, 0.0, 10000.0

-- policy: shop
SELECT n, COUNT(*) FROM (SELECT customer_id, COUNT(*) AS n FROM orders GROUP BY customer_id) AS t GROUP BY n
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [1, 5]; 5 values: 1, 2, 3, 4, 5
-- a0: count_rows
-- columns: n integer [1, 5], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."v0" AS "k0" FROM (SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0" FROM (SELECT "t0"."customer_id" AS "k0" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) FROM (SELECT customer_id, MAX(total) AS most, MIN(total) AS least FROM orders GROUP BY customer_id) WHERE most > 2 * least
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0", CAST(min("x1") AS DOUBLE) AS "v1" FROM (SELECT "k0", "x0" AS "x0", "x1" AS "x1" FROM (SELECT "t0"."customer_id" AS "k0", "t0"."total" AS "x0", "t0"."total" AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE ("t1"."v0" > (CAST($1 AS DOUBLE) * "t1"."v1"))) AS q
-- values: 2.0

-- policy: shop
SELECT status, AVG(total) FROM (SELECT status, total FROM orders WHERE express) AS e GROUP BY status
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- a0: avg of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: status text, avg(total) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(60000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."status" AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE "t0"."express") AS q GROUP BY "k0"

-- policy: shop
WITH big AS (SELECT customer_id, total, status FROM orders WHERE total > 100) SELECT status, COUNT(*), SUM(total) FROM big GROUP BY status
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- a0: count_rows
-- a1: sum of real [0, 2000]; grid 0.001 from 100 to 2000
-- columns: status text, count_star() integer, sum(total) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" < 100000 THEN 100000 WHEN "x0" > 2000000 THEN 2000000 ELSE "x0" END AS "x0" FROM (SELECT "t0"."status" AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."total" > CAST($1 AS DOUBLE))) AS r) AS q GROUP BY "k0"
-- values: 100.0

-- policy: shop
WITH big AS (SELECT * FROM orders WHERE total > 100), late AS (SELECT customer_id, status FROM big WHERE day > '2024-01-01') SELECT COUNT(*) FROM late
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."total" > CAST($1 AS DOUBLE)) AND ("t0"."day" > CAST($2 AS DATE))) AS q
-- values: 100.0, 2024-01-01

-- policy: shop
SELECT COUNT(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE status = 'returned')
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."orders" AS "t1" WHERE ("t1"."status" = CAST($1 AS VARCHAR)) AND ("t0"."customer_id" = "t1"."customer_id"))) AS q
-- values: 'returned'

-- policy: shop
SELECT COUNT(*) FROM orders WHERE customer_id NOT IN (SELECT customer_id FROM logins WHERE failed)
-- unit: orders.customer_id = logins.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."logins" AS "t1" WHERE "t1"."failed" AND ("t0"."customer_id" = "t1"."customer_id")))) AS q

-- policy: shop
SELECT COUNT(*) FROM orders WHERE day NOT IN (SELECT day FROM holidays WHERE code <> 'E')
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t0"."day" = "t1"."day"))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t0"."day" IS NULL))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t1"."day" IS NULL)))) AS q
-- values: 'E'

-- policy: shop
SELECT COUNT(*) FROM orders WHERE channel NOT IN (SELECT title FROM holidays)
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t0"."channel" = "t1"."title"))) AND (NOT ("t0"."channel" IS NULL)) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."title" IS NULL)))) AS q

-- policy: shop
SELECT COUNT(*) FROM orders WHERE channel NOT IN (SELECT title FROM holidays WHERE code = 'none')
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" = CAST($1 AS VARCHAR)) AND ("t0"."channel" = "t1"."title"))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" = CAST($1 AS VARCHAR)) AND ("t0"."channel" IS NULL))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."holidays" AS "t1" WHERE ("t1"."code" = CAST($1 AS VARCHAR)) AND ("t1"."title" IS NULL)))) AS q
-- values: 'none'

-- policy: shop
SELECT COUNT(*) FROM orders WHERE discount NOT IN (SELECT tax FROM regions)
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t0"."discount" = "t1"."tax"))) AND (NOT ("t0"."discount" IS NULL)) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."tax" IS NULL)))) AS q

-- policy: shop
SELECT COUNT(*) FROM orders WHERE NOT (discount IN (SELECT tax FROM regions WHERE code <> 'E'))
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t0"."discount" = "t1"."tax"))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t0"."discount" IS NULL))) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."code" <> CAST($1 AS VARCHAR)) AND ("t1"."tax" IS NULL)))) AS q
-- values: 'E'

-- policy: shop
SELECT COUNT(*) FROM customers c JOIN orders o ON c.customer_id = o.customer_id WHERE NOT channel IN (SELECT 'web' FROM (VALUES (1)) AS v(x))
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" WHERE (NOT EXISTS (SELECT 1 FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t2" WHERE ("t1"."channel" = CAST($2 AS VARCHAR)))) AND (NOT ("t1"."channel" IS NULL)) AND (NOT EXISTS (SELECT 1 FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t2" WHERE (CAST($2 AS VARCHAR) IS NULL)))) AS q
-- values: 1, 'web'

-- policy: shop
SELECT COUNT(*) FROM customers c JOIN (SELECT o.customer_id, COUNT(*) AS n FROM orders o JOIN logins l ON o.customer_id = l.customer_id GROUP BY o.customer_id HAVING COUNT(*) > 1) AS b ON c.customer_id = b.customer_id WHERE c.children = 1
-- unit: customers.customer_id = orders.customer_id = logins.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" JOIN (SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0" FROM (SELECT "t1"."customer_id" AS "k0" FROM "bounded"."main"."orders" AS "t1" JOIN "bounded"."main"."logins" AS "t2" ON "t1"."customer_id" = "t2"."customer_id") AS r) AS r GROUP BY "k0") AS "t3" ON "t0"."customer_id" = "t3"."k0" WHERE ("t3"."v0" > CAST($1 AS BIGINT)) AND ("t0"."children" = CAST($1 AS BIGINT))) AS q
-- values: 1

-- policy: shop
SELECT SUM(total) FROM orders o WHERE EXISTS (SELECT 1 FROM logins l WHERE l.customer_id = o.customer_id AND l.day = o.day)
-- unit: orders.customer_id = logins.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: sum(total) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."logins" AS "t1" WHERE ("t1"."customer_id" = "t0"."customer_id") AND ("t1"."day" = "t0"."day"))) AS q

-- policy: shop
SELECT COUNT(*) FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.customer_id) AND member
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE "t0"."member" AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."orders" AS "t1" WHERE ("t1"."customer_id" = "t0"."customer_id")))) AS q

-- policy: shop
SELECT COUNT(*) FROM customers WHERE region IN (SELECT code FROM regions WHERE tax > 0.1)
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE ("t1"."tax" > CAST($1 AS DOUBLE)) AND ("t0"."region" = "t1"."code"))) AS q
-- values: 0.1

-- policy: shop
SELECT c.member, COUNT(o.total), SUM(o.total) FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY c.member
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count of real [0, 2000] or NULL; grid 0.001 from 0 to 2000
-- a1: sum of real [0, 2000] or NULL; grid 0.001 from 0 to 2000
-- columns: member boolean, count(o.total) integer, sum(o.total) real
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COALESCE(SUM(xor("x0", 0)), 0) AS HUGEINT) AS "m1" FROM (SELECT "t0"."member" AS "k0", "t1"."total$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) FROM customers c LEFT JOIN orders o ON c.customer_id = o.customer_id AND o.total > 100 WHERE o.total IS NULL
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" AND ("t1"."total" > CAST($1 AS DOUBLE)) WHERE ("t1"."total" IS NULL)) AS q
-- values: 100.0

-- policy: shop
SELECT r.name, COUNT(*) FROM customers c LEFT JOIN regions r ON c.region = r.code GROUP BY r.name
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text or NULL; 6 values: 'East', 'North', 'South', 'Wild west', 'Österland', NULL
-- a0: count_rows
-- columns: name text or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."name" AS "k0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) FROM (SELECT customer_id, day FROM orders UNION ALL SELECT customer_id, day FROM logins) AS seen WHERE day >= '2024-02-01'
-- unit: orders.customer_id = logins.customer_id
-- rows per unit: 8, in one group 8, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE 6 END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 8 THEN 8 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t2"."c0" AS "u" FROM (SELECT "t0"."customer_id" AS "c0", "t0"."day" AS "c1" FROM "bounded"."main"."orders" AS "t0" UNION ALL SELECT "t1"."customer_id" AS "c0", "t1"."day" AS "c1" FROM "bounded"."main"."logins" AS "t1") AS "t2" WHERE ("t2"."c1" >= CAST($1 AS DATE))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 2024-02-01

-- policy: shop
SELECT COUNT(*) FROM (SELECT DISTINCT customer_id, status FROM orders) AS t
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT DISTINCT "t0"."customer_id" AS "c0", "t0"."status" AS "c1" FROM "bounded"."main"."orders" AS "t0") AS "t1") AS q

-- policy: shop
SELECT status, COUNT(*) FROM (SELECT DISTINCT customer_id, status FROM orders) AS t GROUP BY status
-- unit: orders.customer_id
-- rows per unit: 5, in one group 1, in groups 4
-- k0: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- a0: count_rows
-- columns: status text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c1" AS "k0" FROM (SELECT DISTINCT "t0"."customer_id" AS "c0", "t0"."status" AS "c1" FROM "bounded"."main"."orders" AS "t0") AS "t1") AS q GROUP BY "k0"

-- policy: shop
-- with: mechanism='laplace'
SELECT COUNT(*) FILTER (WHERE total > 50), SUM(items) FILTER (WHERE express), AVG(total) FILTER (WHERE status = 'paid') FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: sum of integer [0, 40] or NULL; grid 1 from 0 to 40
-- a2: avg of real [0, 2000] or NULL; grid 0.001 from 0 to 2000
-- columns: count_star() FILTER (WHERE (total > 50)) integer, sum(items) FILTER (WHERE express) integer, avg(total) FILTER (WHERE (status = 'paid')) real
-- engine: SELECT CAST(COUNT("x2") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(60000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 40 ELSE greatest(0, least(40, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2" FROM (SELECT CASE WHEN "t0"."express" THEN "t0"."items" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."status" = CAST($4 AS VARCHAR)) THEN "t0"."total" ELSE CAST(NULL AS DOUBLE) END AS "x1", CASE WHEN ("t0"."total" > CAST($7 AS DOUBLE)) THEN CAST($8 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 40.0, 'paid', 1000.0, 2000.0, 50.0, 1

-- policy: shop
SELECT status, COUNT_IF(express), BOOL_OR(total > 199) FROM orders GROUP BY status
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: text; 4 values: 'open', 'paid', 'sent', 'returned'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: status text, count_if(express) integer, bool_or((total > 199)) boolean
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT "t0"."status" AS "k0", CASE WHEN ("t0"."total" > CAST($1 AS DOUBLE)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN "t0"."express" THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"
-- values: 199.0, 1

-- policy: census
-- One person replaced by another
SELECT COUNT(*) FROM people
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."people" AS "t0") AS q

-- policy: census
SELECT AVG(age), SUM(age), AVG(income) FROM people
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of real [0, 200000] or NULL; grid 0.01 from 0 to 200000
-- columns: avg(age) real, sum(age) integer, avg(income) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(10000000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "t0"."age" AS "x0", "t0"."income$grid" AS "x1" FROM "bounded"."main"."people" AS "t0") AS q

-- policy: census
SELECT employed = (SELECT COUNT(*) > 5 FROM people) AS k, COUNT(*) FROM people GROUP BY k
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: (count_star() > 5) boolean
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."people" AS "t0") AS q
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: k boolean or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."employed" = CAST($1 AS BOOLEAN)) AS "k0" FROM "bounded"."main"."people" AS "t0") AS q GROUP BY "k0"
-- values: (the boolean that is released first)

-- policy: census
SELECT CASE WHEN employed OR (SELECT AVG(age) > 40 FROM people) THEN 1 ELSE 0 END AS k, COUNT(*) FROM people GROUP BY k
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: (avg(age) > 40) boolean
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."people" AS "t0") AS q
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 1]; 2 values: 0, 1
-- a0: count_rows
-- columns: k integer [0, 1], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."employed" OR CAST($1 AS BOOLEAN)) THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END AS "k0" FROM "bounded"."main"."people" AS "t0") AS q GROUP BY "k0"
-- values: (the boolean that is released first), 1, 0

-- policy: census
SELECT COUNT(*) FROM people WHERE employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."people" AS "t0" WHERE "t0"."employed") AS q

-- policy: census
SELECT district, COUNT(*), AVG(height) FROM people GROUP BY district
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [1, 4]; 4 values: 1, 2, 3, 4
-- a0: count_rows
-- a1: avg of real [0.3, 2.5]; grid 0.01 from 0.3 to 2.5
-- columns: district integer [1, 4], count_star() integer, avg(height) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(140 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."district" AS "k0", "t0"."height$grid" AS "x0" FROM "bounded"."main"."people" AS "t0") AS q GROUP BY "k0"

-- policy: census
SELECT employed, SUM(income) FROM people GROUP BY employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: sum of real [0, 200000] or NULL; grid 0.01 from 0 to 200000
-- columns: employed boolean, sum(income) real
-- engine: SELECT CAST("k0" AS BIGINT) AS "k0", CAST("bin" AS BIGINT) AS "bin", CAST(SUM("units") AS BIGINT) AS "units", CAST(SUM("signs") AS BIGINT) AS "signs", CAST(SUM("total") AS HUGEINT) AS "total" FROM (SELECT "employed$place" AS "k0", "$bin" AS "bin", "$units" AS "units", "$signs" AS "signs", "$total" AS "total" FROM "bounded"."main"."people$sizes" AS t WHERE "$of" = 2) AS q GROUP BY "k0", "bin" ORDER BY "k0", "bin"

-- policy: census
SELECT AVG(height) FROM people WHERE age > 17
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0.3, 2.5]; grid 0.01 from 0.3 to 2.5
-- columns: avg(height) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(140 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."height$grid" AS "x0" FROM "bounded"."main"."people" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q
-- values: 17

-- policy: census
SELECT sector, COUNT(*), SUM(hours), COUNT(DISTINCT person_id) FROM jobs GROUP BY sector
-- unit: jobs.person_id
-- rows per unit: 2, in one group 2, in groups 2
-- k0: text; 3 values: 'farm', 'plant', 'office'
-- a0: count_rows
-- a1: count_units
-- a2: sum of real [0, 80]; grid 1e-05 from 0 to 80
-- columns: sector text, count_star() integer, sum("hours") real, count(DISTINCT person_id) integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m1" FROM (SELECT "t0"."sector" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."jobs" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "k0", "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT "t0"."sector$place" AS "k0", "t0"."$number" AS "u", "t0"."hours$grid" AS "x0" FROM "bounded"."main"."jobs" AS "t0") AS q

-- policy: census
SELECT SUM(hours * income) FROM jobs JOIN people USING (person_id)
-- unit: jobs.person_id = people.person_id
-- rows per unit: 2, in one group 2, in groups 1
-- a0: sum of real [0, 16000000] or NULL; grid 0.01 from 0 to 16000000
-- columns: sum(("hours" * income)) real
-- engine: SELECT CAST(SUM("x0") AS BIGINT) AS "x0" FROM (SELECT "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 1600000000 ELSE greatest(0, least(1600000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."$number" AS "u", ("t0"."hours" * "t1"."income") AS "x0" FROM "bounded"."main"."jobs" AS "t0" JOIN "bounded"."main"."people" AS "t1" ON "t0"."person_id" = "t1"."person_id") AS r) AS q) AS q GROUP BY "u"
-- values: 100.0, 0.0, 16000000.0

-- policy: census
SELECT d.title, AVG(age) FROM people p JOIN districts d ON p.district = d.district GROUP BY d.title
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 4 values: 'Dock', 'Hill', 'Mill', 'Moor'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: title text, avg(age) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."title" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."people" AS "t0" JOIN "bounded"."main"."districts" AS "t1" ON "t0"."district" = "t1"."district") AS q GROUP BY "k0"

-- policy: census
-- with: epsilon=1, delta=1e-6, mechanism='gaussian'
SELECT COUNT(*), AVG(height) FROM people WHERE employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of real [0.3, 2.5]; grid 0.01 from 0.3 to 2.5
-- columns: count_star() integer, avg(height) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(140 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."height$grid" AS "x0" FROM "bounded"."main"."people" AS "t0" WHERE "t0"."employed") AS q

SELECT sex, COUNT(*) FROM patients GROUP BY ALL ORDER BY ALL DESC NULLS FIRST
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT DATE(visited_on) AS day, COUNT(*) FROM visits GROUP BY DATE(visited_on) ORDER BY ALL
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: date [2020-01-01, 2025-12-31]; 2192 values: 2020-01-01, 2020-01-02, 2020-01-03, ..., 2025-12-30, 2025-12-31
-- a0: count_rows
-- columns: day date [2020-01-01, 2025-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."visited_on" AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

-- policy: census
SELECT district % 2 AS odd, floor(age / 25) AS quarter, COUNT(*) FROM people GROUP BY ALL ORDER BY 1, 2
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 2]; 2 values: 0, 1
-- k1: real [0, 4]; 5 values: 0.0, 1.0, 2.0, 3.0, 4.0
-- a0: count_rows
-- columns: odd integer [0, 2], quarter real [0, 4], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."district" % CAST($1 AS BIGINT)) AS "k0", floor((CAST("t0"."age" AS DOUBLE) / CAST($2 AS DOUBLE))) AS "k1" FROM "bounded"."main"."people" AS "t0") AS q GROUP BY "k0", "k1"
-- values: 2, 25.0

-- Functions of one row
SELECT COUNT(*) FROM patients WHERE regexp_matches(city, '^San')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE regexp_matches("t0"."city", CAST($1 AS VARCHAR))) AS q
-- values: '^San'

SELECT COUNT(*) FROM patients WHERE regexp_replace(city, '[aeiou]+', '_', 'g') LIKE '%\_%' OR regexp_extract(city, '(b|B)(.)', 2) = 'e'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((regexp_replace("t0"."city", CAST($1 AS VARCHAR), CAST($2 AS VARCHAR), CAST($3 AS VARCHAR)) LIKE CAST($4 AS VARCHAR)) OR (regexp_extract("t0"."city", CAST($5 AS VARCHAR), CAST(CAST($6 AS BIGINT) AS INTEGER)) = CAST($7 AS VARCHAR)))) AS q
-- values: '[aeiou]+', '_', 'g', '%\_%', '(b|B)(.)', 2, 'e'

SELECT strftime(visited_on, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text; 72 values: '2020-01', '2020-02', '2020-03', ..., '2025-11', '2025-12'
-- a0: count_rows
-- columns: m text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT strftime("t0"."visited_on", CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: '%Y-%m'

-- reference: SELECT CASE WHEN age >= 100 THEN 11 ELSE CAST(floor(age / 10) AS BIGINT) + 1 END AS b, COUNT(*) FROM patients GROUP BY b
SELECT width_bucket(age, 0, 100, 10) AS b, COUNT(*) FROM patients GROUP BY b
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 11]; 11 values: 1, 2, 3, ..., 10, 11
-- a0: count_rows
-- columns: b integer [0, 11], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST(CASE WHEN CAST("t0"."age" AS DOUBLE) < CAST($1 AS DOUBLE) THEN 0 WHEN CAST("t0"."age" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN CAST($3 AS BIGINT) + 1 WHEN CAST("t0"."age" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN least(CAST($3 AS BIGINT), CAST(floor((((CAST("t0"."age" AS DOUBLE) - CAST($1 AS DOUBLE)) / (CAST($2 AS DOUBLE) - CAST($1 AS DOUBLE))) * CAST($3 AS BIGINT))) AS BIGINT) + 1) END AS BIGINT) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 0.0, 100.0, 10

SELECT COUNT(*) FROM patients WHERE strpos(city, 'e') > 2 OR split_part(city, ' ', 2) <> '' OR instr(city, 'B') = 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (((strpos("t0"."city", CAST($1 AS VARCHAR)) > CAST($2 AS BIGINT)) OR (split_part("t0"."city", CAST($3 AS VARCHAR), CAST($2 AS BIGINT)) <> CAST($4 AS VARCHAR))) OR (instr("t0"."city", CAST($5 AS VARCHAR)) = CAST($6 AS BIGINT)))) AS q
-- values: 'e', 2, ' ', '', 'B', 1

SELECT last_day(visited_on) AS d, COUNT(*) FROM visits GROUP BY d
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: date [2020-01-31, 2025-12-31]; 72 values: 2020-01-31, 2020-02-29, 2020-03-31, ..., 2025-11-30, 2025-12-31
-- a0: count_rows
-- columns: d date [2020-01-31, 2025-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT last_day("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

SELECT AVG(pi() * age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 345.575191895]; grid 0.0001 from 0 to 345.5752
-- columns: avg((pi() * age)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1727876 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 3455752 ELSE greatest(0, least(3455752, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT (pi() * CAST("t0"."age" AS DOUBLE)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 10000.0, 0.0, 345.5752

SELECT AVG(date_sub('month', visited_on, DATE '2026-01-01')) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of integer [0, 72]; grid 1 from 0 to 72
-- columns: avg(date_sub('month', visited_on, CAST('2026-01-01' AS DATE))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(36 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 72 ELSE greatest(0, least(72, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT date_sub(CAST($1 AS VARCHAR), "t0"."visited_on", CAST($2 AS DATE)) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 'month', 2026-01-01, 1.0, 0.0, 72.0

SELECT AVG(pow(age, 0.5)) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 10.4880884817]; grid 1e-05 from 0 to 10.48809
-- columns: avg(pow(age, 0.5)) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(524404 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1048809 ELSE greatest(0, least(1048809, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT pow(CAST("t0"."age" AS DOUBLE), CAST($1 AS DOUBLE)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 0.5, 100000.0, 0.0, 10.48809

SELECT COUNT(*) FROM visits WHERE extract(epoch FROM visited_on) > 1
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (epoch("t0"."visited_on") > CAST($1 AS DOUBLE))) AS q
-- values: 1.0

-- policy: shop
SELECT extract('dow' FROM day), COUNT(*) FROM orders GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [0, 6]; 7 values: 0, 1, 2, ..., 5, 6
-- a0: count_rows
-- columns: date_part('dow', "day") integer [0, 6], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT dayofweek("t0"."day") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"

SELECT AVG(cost::DECIMAL(10, 1)), SUM(TRY_CAST(cost AS SMALLINT)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of integer [0, 20000]; grid 1 from 0 to 20000
-- a1: avg of real [0, 20000]; grid 0.1 from 0 to 20000
-- columns: avg(CAST("cost" AS DECIMAL(10, 1))) real, sum(TRY_CAST("cost" AS SMALLINT)) integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) - CAST(4000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 20000 ELSE greatest(0, least(20000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 200000 ELSE greatest(0, least(200000, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT CAST("t0"."cost" AS BIGINT) AS "x0", CAST(TRY_CAST("t0"."cost" AS DECIMAL(10,1)) AS DOUBLE) AS "x1" FROM "bounded"."main"."visits" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 20000.0, 10.0

SELECT left(upper(city), 2) AS c, COUNT(*) FROM patients GROUP BY c
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 148 values: 'AB', 'AK', 'AL', ..., 'YO', 'YU'
-- a0: count_rows
-- columns: c text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT left(upper("t0"."city"), CAST($1 AS BIGINT)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 2

SELECT lpad(concat('age ', age // 10), 8, '.') AS decade, COUNT(*) FROM patients GROUP BY decade
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 13 values: '....age ', '...age 0', '...age 1', ..., '..age 10', '..age 11'
-- a0: count_rows
-- columns: decade text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT lpad(concat(CAST($1 AS VARCHAR), CAST(("t0"."age" // CAST($2 AS BIGINT)) AS VARCHAR)), CAST(CAST($3 AS BIGINT) AS INTEGER), CAST($4 AS VARCHAR)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 'age ', 10, 8, '.'

SELECT sex, AVG(CASE WHEN age % 7 = 0 THEN NULL ELSE 100 / (age + 1) END) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of real [0.900900900901, 100] or NULL; grid 1e-05 from 0.9009 to 100
-- columns: sex text, avg(CASE  WHEN (((age % 7) = 0)) THEN (NULL) ELSE (100 / (age + 1)) END) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(5045045 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN 90090 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 10000000 ELSE greatest(90090, least(10000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."sex" AS "k0", CASE WHEN (("t0"."age" % CAST($1 AS BIGINT)) = CAST($2 AS BIGINT)) THEN CAST(NULL AS DOUBLE) ELSE (CAST($3 AS DOUBLE) / CAST(("t0"."age" + CAST($4 AS BIGINT)) AS DOUBLE)) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 7, 0, 100.0, 1, 100000.0, 0.9009

SELECT dayname(visited_on) AS d, AVG(ln(cost + 1)) FROM visits GROUP BY d
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 7
-- k0: text; 7 values: 'Friday', 'Monday', 'Saturday', ..., 'Tuesday', 'Wednesday'
-- a0: avg of real [0, 9.9035375513]; grid 1e-06 from 0 to 9.903538
-- columns: d text, avg(ln(("cost" + 1))) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(4951769 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 9903538 ELSE greatest(0, least(9903538, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT dayname("t0"."visited_on") AS "k0", ln(("t0"."cost" + CAST($1 AS DOUBLE))) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 1.0, 1000000.0, 0.0, 9.903538

-- reference: SELECT COUNT(*) FROM visits WHERE year(visited_on) IN (2020, 2024)
SELECT COUNT(*) FROM visits WHERE make_date(year(visited_on), 2, 29) IS NOT NULL
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (NOT (CASE WHEN year("t0"."visited_on") BETWEEN 1 AND 9999 AND CAST($1 AS BIGINT) BETWEEN 1 AND 12 AND CAST($2 AS BIGINT) BETWEEN 1 AND 31 THEN TRY_CAST(CAST(year("t0"."visited_on") AS VARCHAR) || '-' || CAST(CAST($1 AS BIGINT) AS VARCHAR) || '-' || CAST(CAST($2 AS BIGINT) AS VARCHAR) AS DATE) END IS NULL))) AS q
-- values: 2, 29

-- reference: SELECT COUNT(*) FROM visits
SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL 8000 YEAR IS NULL
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (CASE WHEN ("t0"."visited_on" + to_months(CAST(CAST($1 AS BIGINT) AS INTEGER))) BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999' THEN ("t0"."visited_on" + to_months(CAST(CAST($1 AS BIGINT) AS INTEGER))) END IS NULL)) AS q
-- values: 96000

SELECT COUNT(*) FROM visits WHERE translate(diagnosis, 'ab', 'xy') = diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (translate("t0"."diagnosis", CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)) = "t0"."diagnosis")) AS q
-- values: 'ab', 'xy'

-- Means at the data's own scale: exact where no row lies far from the others
-- with: mechanism='friendly_core', epsilon=60, delta=1e-6, scale=(1, 1000)
SELECT AVG(age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: avg(age) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- with: mechanism='friendly_core', epsilon=60, delta=1e-6, scale=(1, 1000)
SELECT age >= 50 AS older, AVG(age) FROM patients GROUP BY older
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: older boolean, avg(age) real
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT ("t0"."age" >= CAST($1 AS BIGINT)) AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"
-- values: 50

-- with: mechanism='friendly_core', epsilon=60, delta=1e-6, scale=(10, 100000)
SELECT AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) AS t
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [1, 12]; grid 1 from 1 to 12
-- columns: avg(n) real
-- engine: SELECT "u", CAST("x0" AS TINYINT) AS "x0" FROM (SELECT "t0"."$number" AS "u", "t0"."$rows" AS "x0" FROM "bounded"."main"."visits$totals" AS "t0") AS q

-- with: mechanism='friendly_core', rho=9, delta=1e-6, scale=(1, 10000)
-- reference: SELECT AVG(age) FILTER (WHERE weight IS NOT NULL), AVG(weight) FILTER (WHERE age IS NOT NULL) FROM patients
SELECT AVG_VECTOR(age, weight) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: avg(age) real, avg(weight) real
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 1.0, 0.0, 110.0
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 20 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2500 ELSE greatest(20, least(2500, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."weight" ELSE CAST(NULL AS DOUBLE) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 10.0, 2.0, 250.0

-- reference: SELECT AVG(age) FILTER (WHERE weight IS NOT NULL), AVG(weight) FILTER (WHERE age IS NOT NULL) FROM patients
SELECT AVG_VECTOR(age, weight) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: avg(age) real, avg(weight) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(1260 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 20 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 2500 ELSE greatest(20, least(2500, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ((NOT ("t0"."age" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) THEN "t0"."weight" ELSE CAST(NULL AS DOUBLE) END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 110.0, 10.0, 2.0, 250.0

-- policy: shop
-- with: mechanism='friendly_core', epsilon=60, delta=1e-6, scale=(0.01, 1000)
SELECT AVG(height) FROM customers
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real
-- columns: avg(height) real
-- engine: SELECT CAST("x0" AS BIGINT) AS "value" FROM (SELECT CASE WHEN "x0" < -9007199254740992 THEN -9007199254740992 WHEN "x0" > 9007199254740992 THEN 9007199254740992 ELSE "x0" END AS "x0" FROM (SELECT "t0"."height$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0") AS r) AS q WHERE "x0" IS NOT NULL

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, interval = 'none') MEDIAN(cost), MAX(cost), COUNT(*) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- a1: max of real [0, 20000]; grid 0.01 from 0 to 20000
-- a2: quantile_cont of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: median("cost") real, max("cost") real, count_star() integer
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."visits$counts" AS t WHERE "$of" = 0

-- Preprocessed statistics: exact where the data are as the policy's centre and spread say
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, mechanism = 'preprocessing', sensitivity = 24) MEDIAN(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: quantile_cont of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: median("cost") real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."visits$counts" AS t WHERE "$of" = 0

-- with: mechanism='preprocessing', sensitivity=240, centre=50
SELECT sex, MEDIAN(age), AVG(age), VAR_SAMP(age) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a2: var_samp of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, median(age) real, avg(age) real, var_samp(age) real
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

-- with: mechanism='preprocessing', sensitivity=240000
SELECT MIN(cost), MAX(cost), SUM(cost) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- a1: min of real [0, 20000]; grid 0.01 from 0 to 20000
-- a2: max of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: min("cost") real, max("cost") real, sum("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) AS HUGEINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."visits$counts" AS t WHERE "$of" = 0

-- reference: SELECT avg(age) FROM (SELECT age, row_number() OVER (ORDER BY age) AS r, count(*) OVER () AS n FROM patients) WHERE r > floor(n * 0.1) AND r <= n - floor(n * 0.1)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing') TRIMMED_MEAN(age, 0.1) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: trimmed_mean of integer [0, 110]; grid 1 from 0 to 110
-- columns: trimmed_mean(age, 0.1) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT avg(s) FROM (SELECT s, row_number() OVER (ORDER BY s) AS r, count(*) OVER () AS n FROM (SELECT SUM(cost) AS s FROM visits GROUP BY patient_id) WHERE s IS NOT NULL) WHERE r > floor(n * 0.25) AND r <= n - floor(n * 0.25)
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, sensitivity = 3000, centre = 1500)
       TRIMMED_MEAN(s, 0.25) FROM (SELECT patient_id, SUM(cost) AS s FROM visits GROUP BY patient_id) AS t
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: trimmed_mean of real [0, 240000]; grid 0.01 from 0 to 240000
-- columns: trimmed_mean(s, 0.25) real
-- engine: SELECT "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT "t0"."$number" AS "u", "t0"."cost$sum" AS "x0" FROM "bounded"."main"."visits$totals" AS "t0") AS q

-- policy: shop
-- with: sensitivity=1, centre=1.6
SELECT region, MEDIAN(height) FROM customers GROUP BY region
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: quantile_cont of real
-- columns: region text, median(height) real
-- engine: SELECT CAST(COALESCE(enum_code(TRY_CAST("k0" AS ENUM('E', 'N', 'S', 'W', 'Ö'))), 5) AS TINYINT) AS "k0", CAST("x0" AS BIGINT) AS "value" FROM (SELECT "k0", CASE WHEN "x0" < -9007199254740992 THEN -9007199254740992 WHEN "x0" > 9007199254740992 THEN 9007199254740992 ELSE "x0" END AS "x0" FROM (SELECT "t0"."region" AS "k0", "t0"."height$grid" AS "x0" FROM "bounded"."main"."customers" AS "t0") AS r) AS q WHERE "x0" IS NOT NULL

-- Classes of units
-- policy: consent
-- with: mechanism='preprocessing', epsilon=0.5
-- reference: SELECT CAST(floor(SUM(CASE "class" WHEN 'strict' THEN 0.25 ELSE 1 END) + 0.5) AS BIGINT) AS n FROM patients JOIN "$classes" ON unit = patient_id
SELECT COUNT(*) AS n FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN -250000 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 250000 ELSE greatest(-250000, least(250000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN -1000000 WHEN CAST("x1" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 1000000 ELSE greatest(-1000000, least(1000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT CASE WHEN ("class_a0"."class" = CAST($1 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("class_a0"."class" = CAST($5 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x1" FROM (SELECT "unit", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "unit" FROM (SELECT "t0"."patient_id" AS "unit" FROM "bounded"."main"."patients" AS "t0") AS r) AS r GROUP BY "unit") AS "of_a0" JOIN "bounded"."main"."$classes" AS "class_a0" ON "of_a0"."unit" = "class_a0"."unit") AS r) AS q
-- values: 'strict', 1000000.0, -0.25, 0.25, 'normal', -1.0, 1.0

-- policy: consent
-- with: mechanism='preprocessing', epsilon=0.5
-- reference: SELECT sex, CAST(floor(SUM(least(age, CASE "class" WHEN 'strict' THEN 27.5 ELSE 110 END)) + 0.5) AS BIGINT) AS years FROM patients JOIN "$classes" ON unit = patient_id GROUP BY sex
SELECT sex, SUM(age) AS years FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, years integer
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN -275000 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 275000 ELSE greatest(-275000, least(275000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN -1100000 WHEN CAST("x1" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 1100000 ELSE greatest(-1100000, least(1100000, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "of_a0"."k0" AS "k0", CASE WHEN ("class_a0"."class" = CAST($1 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("class_a0"."class" = CAST($5 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x1" FROM (SELECT "unit", "k0", CAST(SUM("x0") AS BIGINT) AS "v0" FROM (SELECT "unit", "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "unit", "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS r GROUP BY "unit", "k0") AS "of_a0" JOIN "bounded"."main"."$classes" AS "class_a0" ON "of_a0"."unit" = "class_a0"."unit") AS r) AS q GROUP BY "k0"
-- values: 'strict', 10000.0, -27.5, 27.5, 'normal', -110.0, 110.0

-- policy: consent
-- with: mechanism='laplace', epsilon=0.5
-- reference: SELECT SUM(least(total, CASE "class" WHEN 'strict' THEN 60000 ELSE 240000 END)) AS total FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id) JOIN "$classes" ON unit = patient_id WHERE total IS NOT NULL
SELECT SUM(cost) AS total FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: total real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) AS HUGEINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

-- policy: consent
-- with: mechanism='preprocessing', epsilon=0.5
-- reference: SELECT CAST(floor(SUM(CASE "class" WHEN 'strict' THEN 0.25 ELSE 1 END) + 0.5) AS BIGINT) AS n FROM (SELECT DISTINCT patient_id FROM visits WHERE cost > 100) JOIN "$classes" ON unit = patient_id
SELECT COUNT(DISTINCT patient_id) AS n FROM visits WHERE cost > 100
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: n integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN -250000 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 250000 ELSE greatest(-250000, least(250000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($6 AS DOUBLE) THEN -1000000 WHEN CAST("x1" AS DOUBLE) >= CAST($7 AS DOUBLE) THEN 1000000 ELSE greatest(-1000000, least(1000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT CASE WHEN ("class_a0"."class" = CAST($1 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("class_a0"."class" = CAST($5 AS VARCHAR)) THEN "of_a0"."v0" ELSE CAST(NULL AS BIGINT) END AS "x1" FROM (SELECT "unit", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "unit" FROM (SELECT "t0"."patient_id" AS "unit" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($8 AS DOUBLE))) AS r) AS r GROUP BY "unit") AS "of_a0" JOIN "bounded"."main"."$classes" AS "class_a0" ON "of_a0"."unit" = "class_a0"."unit") AS r) AS q
-- values: 'strict', 1000000.0, -0.25, 0.25, 'normal', -1.0, 1.0, 100.0

-- policy: consent
SELECT AVG(age) AS mean FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: mean real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

-- policy: census
-- Random differential privacy: the cells of the base partition, unions of them, and conditions made of them
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') district, employed, COUNT(*) FROM people WHERE district > 0 GROUP BY district, employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [1, 4]; 4 values: 1, 2, 3, 4
-- k1: boolean; 2 values: False, True
-- a0: count_rows
-- columns: district integer [1, 4], employed boolean, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST((SELECT COUNT(*) FROM "bounded"."main"."people" AS "t0") AS BIGINT) AS "m1" FROM (SELECT "t0"."district" AS "k0", "t0"."employed" AS "k1" FROM "bounded"."main"."people" AS "t0" WHERE ("t0"."district" > CAST($1 AS BIGINT)) AND (NOT ("t0"."district" IS NULL)) AND (NOT ("t0"."employed" IS NULL))) AS q GROUP BY "k0", "k1"
-- values: 0

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp', gamma = 0.05) district > 2 AS far, COUNT(DISTINCT person_id) FROM people WHERE employed OR district = 1 GROUP BY 1
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_units
-- columns: far boolean, count(DISTINCT person_id) integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST((SELECT COUNT(*) FROM "bounded"."main"."people" AS "t0") AS BIGINT) AS "m1" FROM (SELECT ("t0"."district" > CAST($1 AS BIGINT)) AS "k0" FROM "bounded"."main"."people" AS "t0" WHERE ("t0"."employed" OR ("t0"."district" = CAST($2 AS BIGINT))) AND (NOT ("t0"."district" IS NULL)) AND (NOT ("t0"."employed" IS NULL))) AS q GROUP BY "k0"
-- values: 2, 1

-- policy: census
-- reference: SELECT COUNT(*) FROM people WHERE employed AND district IS NOT NULL
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') COUNT(*) FROM people WHERE employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."people" AS "t0" WHERE "t0"."employed" AND (NOT ("t0"."district" IS NULL)) AND (NOT ("t0"."employed" IS NULL))) AS q

-- policy: census
-- with: mechanism='metric', metric='near', multiple=0.5
-- Under a metric: rows are counted by cell, whatever is asked
SELECT COUNT(*) FROM people WHERE age BETWEEN 18 AND 65 OR employed
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "d0", "d1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "d0", "t0"."employed" AS "d1" FROM "bounded"."main"."people$as$near" AS "t0") AS q GROUP BY "d0", "d1"

-- policy: census
-- with: mechanism='metric', metric='near', multiple=0.5
SELECT district, COUNT(*) AS n, SUM(age), AVG(CASE WHEN employed THEN age END) FROM people GROUP BY district
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [1, 4]; 4 values: 1, 2, 3, 4
-- a0: count_rows
-- a1: sum of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: district integer [1, 4], n integer, sum(age) integer, avg(CASE  WHEN (employed) THEN (age) ELSE NULL END) real
-- engine: SELECT "d0", "d1", "d2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "d0", "t0"."employed" AS "d1", "t0"."district" AS "d2" FROM "bounded"."main"."people$as$near" AS "t0") AS q GROUP BY "d0", "d1", "d2"

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (metric = 'near', multiple = 2) d.title, COUNT(*) FILTER (WHERE p.age < 30)
FROM people p JOIN districts d USING (district) WHERE d.km2 > 1 GROUP BY d.title HAVING COUNT(*) > 3 ORDER BY 2 DESC
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 4 values: 'Dock', 'Hill', 'Mill', 'Moor'
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: title text, count_star() FILTER (WHERE (p.age < 30)) integer
-- engine: SELECT "d0", "d2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "d0", "t0"."district" AS "d2" FROM "bounded"."main"."people$as$near" AS "t0") AS q GROUP BY "d0", "d2"

-- policy: census
-- with: metric='near', multiple=1
-- reference: SELECT employed, age // 20 AS score, COUNT(*) FROM people GROUP BY ROLLUP (employed, score)
SELECT employed, age // 20 AS score, COUNT(*) FROM people GROUP BY ROLLUP (employed, score)
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- k1: integer [0, 5]; 6 values: 0, 1, 2, 3, 4, 5
-- a0: count_rows
-- sets: (k0, k1), (k0), ()
-- columns: employed boolean, score integer [0, 5], count_star() integer
-- engine: SELECT "d0", "d1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "d0", "t0"."employed" AS "d1" FROM "bounded"."main"."people$as$near" AS "t0") AS q GROUP BY "d0", "d1"

-- policy: census
-- with: metric='near', multiple=1
-- reference: SELECT SUM(n)::BIGINT AS "sum(n)" FROM (SELECT age, COUNT(*) AS n FROM people WHERE age < 20 GROUP BY age) AS t
SELECT SUM(n) FROM (SELECT age, COUNT(*) AS n FROM people WHERE age < 20 GROUP BY age) AS t
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 110]; 20 values: 0, 1, 2, ..., 18, 19
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "d0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."age" AS "d0" FROM "bounded"."main"."people$as$near" AS "t0") AS q GROUP BY "d0"

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp', delta = 1e-6) AVG(age) FROM people WHERE age >= 18
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 18 to 110
-- columns: avg(age) real
-- engine: SELECT COALESCE(CAST("x0" AS BIGINT), 0) AS "value", CAST(("x0" IS NOT NULL) AS BIGINT) AS "rows" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 18 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(18, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."person_id" AS "u", CASE WHEN ("t0"."age" >= CAST($1 AS BIGINT)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."people" AS "t0") AS r) AS q ORDER BY sha256(concat(CAST($5 AS VARCHAR), CASE WHEN "u" IS NULL THEN 'N' ELSE concat(length(CAST("u" AS VARCHAR)), ':', CAST("u" AS VARCHAR)) END)), "u"
-- values: 18, 1.0, 18.0, 110.0, (the secret key)

-- Windows go over the groups of an answer, after the noise.
SELECT sex, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer, r integer [1, 1099511627776]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, COUNT(*) * 100.0 / SUM(COUNT(*)) OVER () AS share FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, share real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, n / SUM(n) OVER () AS share FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT sex, n / SUM(n) OVER () AS share FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, share real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT year(visited_on) AS y, COUNT(*) AS n, SUM(COUNT(*)) OVER (ORDER BY year(visited_on)) AS running,
       COUNT(*) - LAG(COUNT(*), 1, 0) OVER (ORDER BY year(visited_on)) AS change,
       AVG(COUNT(*)) OVER (ORDER BY year(visited_on) ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS moving
FROM visits GROUP BY y
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: y integer [2020, 2025], n integer, running integer [-1.15292150461e+18, 1.15292150461e+18] or NULL, change integer or NULL, moving real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

SELECT year(visited_on), LEAD(year(visited_on), 2) OVER (ORDER BY year(visited_on) DESC NULLS FIRST),
       NTILE(2) OVER (ORDER BY year(visited_on)), PERCENT_RANK() OVER (ORDER BY COUNT(*)),
       CUME_DIST() OVER (ORDER BY COUNT(*)), SUM(COUNT(*)) OVER (ORDER BY year(visited_on) ROWS 2 PRECEDING),
       MAX(COUNT(*)) OVER (ORDER BY year(visited_on) RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)
FROM visits GROUP BY 1
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: "year"(visited_on) integer [2020, 2025], lead("year"(visited_on), 2) OVER (ORDER BY "year"(visited_on) DESC NULLS FIRST) integer [2020, 2025] or NULL, ntile(2) OVER (ORDER BY "year"(visited_on)) integer [1, 1099511627776], percent_rank() OVER (ORDER BY count_star()) real [0, 1], cume_dist() OVER (ORDER BY count_star()) real [0, 1], sum(count_star()) OVER (ORDER BY "year"(visited_on) ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) integer [-1.15292150461e+18, 1.15292150461e+18] or NULL, max(count_star()) OVER (ORDER BY "year"(visited_on) RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

SELECT c.state, p.sex, COUNT(*) AS n, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY c.state) AS share,
       DENSE_RANK() OVER (PARTITION BY c.state ORDER BY COUNT(*) DESC) AS place,
       FIRST_VALUE(p.sex) OVER (PARTITION BY c.state ORDER BY COUNT(*) DESC) AS most,
       LAST_VALUE(p.sex) OVER (PARTITION BY c.state ORDER BY COUNT(*) DESC RANGE BETWEEN UNBOUNDED PRECEDING AND
                               UNBOUNDED FOLLOWING) AS least,
       NTH_VALUE(p.sex, 2) OVER (PARTITION BY c.state ORDER BY p.sex) AS second
FROM patients p JOIN cities c ON p.city = c.name WHERE c.state IN ('CA', 'NY') GROUP BY c.state, p.sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 2 values: 'CA', 'NY'
-- a0: count_rows
-- columns: state text, sex text, n integer, share real or NULL, place integer [1, 1099511627776], most text or NULL, least text or NULL, second text or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t1"."state" AS "k1" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name" WHERE ("t1"."state" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)))) AS q GROUP BY "k0", "k1"
-- values: 'CA', 'NY'

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*) > 20 ORDER BY ROW_NUMBER() OVER (ORDER BY COUNT(*))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, AVG(age) AS a, AVG(age) - MAX(AVG(age)) OVER () AS below FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, a real, below real or NULL
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT sex, CASE WHEN RANK() OVER (ORDER BY COUNT(*) DESC) = 1 THEN 'most' ELSE 'fewer' END AS word
FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, word text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT * FROM (SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC, city) AS r FROM patients GROUP BY city) WHERE r <= 3 ORDER BY r
SELECT * FROM (SELECT city, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC, city) AS r FROM patients GROUP BY city)
WHERE r <= 3 ORDER BY r
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- a0: count_rows
-- columns: city text, n integer, r integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT SUM(n)::BIGINT AS total, MAX(SUM(n)) OVER ()::BIGINT AS most FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) GROUP BY sex
SELECT SUM(n) AS total, MAX(SUM(n)) OVER () AS most FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: total integer or NULL, most integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT name, population, RANK() OVER (PARTITION BY state ORDER BY population DESC) AS r FROM cities ORDER BY name LIMIT 3
-- unit: none, the tables are public
-- columns: name text, population integer [50005, 8175133], r integer [1, 1099511627776]
-- engine: SELECT "t0"."name" AS "c0", "t0"."population" AS "c1", RANK() OVER (PARTITION BY "t0"."state" ORDER BY "t0"."population" DESC NULLS LAST) AS "c2" FROM "bounded"."main"."cities" AS "t0" ORDER BY "t0"."name" ASC NULLS LAST LIMIT 3

-- Words of a window are names outside it, and where nothing of a window follows.
SELECT COUNT(*) AS preceding, SUM(age) AS range FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: preceding integer, range integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

-- What aggregates inside CASE makes one row of many.
-- reference: SELECT CASE WHEN COUNT(*) > 1 THEN 'several' ELSE 'one' END AS word FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT CASE WHEN COUNT(*) > 1 THEN 'several' ELSE 'one' END AS word
FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: word text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- A sub-query as a value reads the answer that FROM reads.
-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n / (SELECT SUM(n) FROM a) AS share FROM a
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n / (SELECT SUM(n) FROM a) AS share FROM a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, share real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Keys whose few values follow from their form, whatever columns they read
SELECT cost > 500 AS dear, COUNT(*) FROM visits GROUP BY dear
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 2
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: dear boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."cost" > CAST($1 AS DOUBLE)) AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 500.0

SELECT diagnosis LIKE 'f%' AS f, diagnosis IS NULL AS missing, COUNT(*) FROM visits GROUP BY ALL
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: boolean; 2 values: False, True
-- k1: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: f boolean or NULL, missing boolean, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."diagnosis" IS NULL) AS "k0", ("t0"."diagnosis" LIKE CAST($1 AS VARCHAR)) AS "k1" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0", "k1"
-- values: 'f%'

SELECT CASE WHEN cost > 500 THEN 'dear' WHEN diagnosis = 'flu' THEN 'flu' END AS kind, COUNT(*) FROM visits GROUP BY kind
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 3
-- k0: text or NULL; 3 values: 'dear', 'flu', NULL
-- a0: count_rows
-- columns: kind text or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN CAST($2 AS VARCHAR) WHEN ("t0"."diagnosis" = CAST($3 AS VARCHAR)) THEN CAST($3 AS VARCHAR) ELSE CAST(NULL AS VARCHAR) END AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 500.0, 'dear', 'flu'

-- reference: SELECT CAST(CASE WHEN cost > 500 THEN 1.5 WHEN diagnosis = 'flu' THEN 0.25 ELSE 2 END AS DOUBLE) AS weight, COUNT(*) FROM visits GROUP BY weight
SELECT CASE WHEN cost > 500 THEN 1.5 WHEN diagnosis = 'flu' THEN 0.25 ELSE 2 END AS weight, COUNT(*) FROM visits GROUP BY weight
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 3
-- k0: real [0.25, 2]; 3 values: 0.25, 1.5, 2.0
-- a0: count_rows
-- columns: weight real [0.25, 2], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN CAST($2 AS DOUBLE) WHEN ("t0"."diagnosis" = CAST($3 AS VARCHAR)) THEN CAST($4 AS DOUBLE) ELSE CAST($5 AS DOUBLE) END AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 500.0, 1.5, 'flu', 0.25, 2.0

SELECT CASE WHEN v.cost > 500 THEN p.sex ELSE 'all' END AS kind, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY kind
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 4
-- k0: text; 4 values: 'F', 'M', 'X', 'all'
-- a0: count_rows
-- columns: kind text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN "t1"."sex" ELSE CAST($2 AS VARCHAR) END AS "k0" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q GROUP BY "k0"
-- values: 500.0, 'all'

SELECT floor(weight / 100) * 100 AS about, weight IS NULL AS missing, COUNT(*) FROM patients GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: real [0, 200] or NULL; 4 values: 0.0, 100.0, 200.0, NULL
-- k1: boolean; 2 values: False, True
-- a0: count_rows
-- columns: about real [0, 200] or NULL, missing boolean, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (floor(("t0"."weight" / CAST($1 AS DOUBLE))) * CAST($1 AS DOUBLE)) AS "k0", ("t0"."weight" IS NULL) AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"
-- values: 100.0

SELECT upper(CASE WHEN cost > 500 THEN 'dear' ELSE 'cheap' END) AS kind, COUNT(*) FROM visits GROUP BY kind
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 2
-- k0: text; 2 values: 'CHEAP', 'DEAR'
-- a0: count_rows
-- columns: kind text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT upper(CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN CAST($2 AS VARCHAR) ELSE CAST($3 AS VARCHAR) END) AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: 500.0, 'dear', 'cheap'

-- What a condition names, in either order, with OR
SELECT diagnosis, COUNT(*) FROM visits WHERE 'flu' = diagnosis OR diagnosis IN ('cold', 'asthma') GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 3
-- k0: text or NULL; 3 values: 'asthma', 'cold', 'flu'
-- a0: count_rows
-- columns: diagnosis text, count_star() integer
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", "u" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ((CAST($3 AS VARCHAR) = "t0"."diagnosis") OR ("t0"."diagnosis" IN (CAST($2 AS VARCHAR), CAST($1 AS VARCHAR))))) AS q
-- values: 'asthma', 'cold', 'flu'

-- Timestamps within bounds, by the day or hour
-- policy: shop
SELECT date_trunc('month', placed) AS month, COUNT(*) FROM orders GROUP BY month
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00]; 24 values: 2023-01-01 00:00:00, 2023-02-01 00:00:00, 2023-03-01 00:00:00, ..., 2024-11-01 00:00:00, 2024-12-01 00:00:00
-- a0: count_rows
-- columns: month timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"
-- values: 'month'

-- policy: shop
SELECT placed::DATE AS d, COUNT(*) FROM orders WHERE placed >= TIMESTAMP '2024-12-20 15:00:00' GROUP BY d
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: date [2023-01-01, 2024-12-31]; 12 values: 2024-12-20, 2024-12-21, 2024-12-22, ..., 2024-12-30, 2024-12-31
-- a0: count_rows
-- columns: d date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST("t0"."placed" AS DATE) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 2024-12-20 15:00:00

-- policy: shop
SELECT dayname(placed) AS weekday, COUNT(*) FROM orders GROUP BY weekday
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; 7 values: 'Friday', 'Monday', 'Saturday', ..., 'Tuesday', 'Wednesday'
-- a0: count_rows
-- columns: weekday text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT dayname("t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT strftime(placed, '%Y-%m') AS month, strftime(placed, '%H') >= '12' AS late, COUNT(*) FROM orders GROUP BY ALL
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: boolean; 2 values: False, True
-- k1: text; 24 values: '2023-01', '2023-02', '2023-03', ..., '2024-11', '2024-12'
-- a0: count_rows
-- columns: month text, late boolean, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (strftime("t0"."placed", CAST($1 AS VARCHAR)) >= CAST($2 AS VARCHAR)) AS "k0", strftime("t0"."placed", CAST($3 AS VARCHAR)) AS "k1" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1"
-- values: '%H', '12', '%Y-%m'

-- policy: shop
SELECT date_trunc('hour', placed) AS hour, COUNT(*) FROM orders WHERE placed BETWEEN TIMESTAMP '2024-03-01 10:30:00' AND TIMESTAMP '2024-03-01 13:30:00' GROUP BY hour
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: timestamp [2023-01-01 00:00:00, 2024-12-31 23:00:00]; 4 values: 2024-03-01 10:00:00, 2024-03-01 11:00:00, 2024-03-01 12:00:00, 2024-03-01 13:00:00
-- a0: count_rows
-- columns: hour timestamp [2023-01-01 00:00:00, 2024-12-31 23:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($2 AS TIMESTAMP)) AND ("t0"."placed" <= CAST($3 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 'hour', 2024-03-01 10:30:00, 2024-03-01 13:30:00

-- The policy's own delta, declined
-- with: epsilon=1, delta=0
SELECT sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT * FROM a WHERE n > 20) SELECT sex, n / (SELECT SUM(b.n) + 1 FROM b AS b) AS share FROM b ORDER BY n - (SELECT MIN(n) FROM b)
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT * FROM a WHERE n > 20) SELECT sex, n / (SELECT SUM(b.n) + 1 FROM b AS b) AS share FROM b ORDER BY n - (SELECT MIN(n) FROM b)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, share real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT COUNT(*) AS cities, MAX(n - (SELECT AVG(n) FROM a)) AS above FROM a WHERE n > (SELECT AVG(n) FROM a WHERE n > 1)
WITH a AS (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT COUNT(*) AS cities, MAX(n - (SELECT AVG(n) FROM a)) AS above FROM a WHERE n > (SELECT AVG(n) FROM a WHERE n > 1)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- a0: count_rows
-- columns: cities integer, above real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, RANK() OVER (ORDER BY n / (SELECT SUM(n) FROM a)) AS place FROM a
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, RANK() OVER (ORDER BY n / (SELECT SUM(n) FROM a)) AS place FROM a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, place integer [1, 1099511627776]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Listed numbers are bounds.
-- policy: census
SELECT SUM(district), AVG(district), STDDEV_POP(district), MEDIAN(district) FROM people
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [1, 4]; grid 1 from 1 to 4
-- a1: avg of integer [1, 4]; grid 1 from 1 to 4
-- a3: stddev_pop of integer [1, 4]; grid 1 from 1 to 4
-- a2: quantile_cont of integer [1, 4]; grid 1 from 1 to 4
-- columns: sum(district) integer, avg(district) real, stddev_pop(district) real, median(district) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM((CAST("x0" AS BIGINT) - 2) * (CAST("x0" AS BIGINT) - 2)), 0) AS HUGEINT) AS "m2" FROM (SELECT "t0"."district" AS "x0" FROM "bounded"."main"."people" AS "t0") AS q
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."district" AS "x0" FROM "bounded"."main"."people" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"

-- The mean of what each unit has on average, each unit weighing the same
-- reference: SELECT AVG(LEAST(500, GREATEST(0, m))) FROM (SELECT patient_id, AVG("cost") AS m FROM visits GROUP BY patient_id) WHERE m IS NOT NULL
SELECT AVG(cost, contribution_bounds_per_group => (0, 500)) FROM visits
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000]; grid 0.0001 from 0 to 500
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2500000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 5000000 ELSE greatest(0, least(5000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "totals_a0"."v0" AS "x0" FROM (SELECT "unit", (CAST((CAST(SUM("x0") AS DOUBLE) / CAST($4 AS DOUBLE)) AS DOUBLE) / NULLIF(COUNT("x0"), 0)) AS "v0" FROM (SELECT "unit", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "unit", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "unit") AS "totals_a0") AS r) AS q
-- values: 10000.0, 0.0, 500.0, 100.0

-- reference: SELECT y, AVG(LEAST(500, GREATEST(0, m))) FROM (SELECT year(visited_on) AS y, patient_id, AVG("cost") AS m FROM visits GROUP BY y, patient_id) WHERE m IS NOT NULL AND y IS NOT NULL GROUP BY y
SELECT year(visited_on) AS y, AVG(cost, contribution_bounds_per_group => (0, 500)) FROM visits GROUP BY y
-- unit: visits.patient_id
-- rows per unit: 7, in one group 1, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: avg of real [0, 20000]; grid 0.0001 from 0 to 500
-- columns: y integer [2020, 2025], avg("cost") real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(2500000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 5000000 ELSE greatest(0, least(5000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "totals_a0"."k0" AS "k0", "totals_a0"."v0" AS "x0" FROM (SELECT "unit", "k0", (CAST((CAST(SUM("x0") AS DOUBLE) / CAST($4 AS DOUBLE)) AS DOUBLE) / NULLIF(COUNT("x0"), 0)) AS "v0" FROM (SELECT "unit", "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "unit", year("t0"."visited_on") AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "unit", "k0") AS "totals_a0") AS r) AS q GROUP BY "k0"
-- values: 10000.0, 0.0, 500.0, 100.0

-- Names of the same SELECT
SELECT COUNT(*) AS n, n * 2, n + 1 AS m, m + n AS more FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer, (n * 2) integer, m integer, more integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT sex, COUNT(*) AS n, COUNT(*) FILTER (WHERE age >= 65) AS old, 100.0 * old / n AS percent FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: sex text, n integer, old integer, percent real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", CASE WHEN ("t0"."age" >= CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 65, 1

SELECT floor(age / 10) AS decade, decade * 10 AS start, COUNT(*) FROM patients GROUP BY decade
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: real [0, 11]; 12 values: 0.0, 1.0, 2.0, ..., 10.0, 11.0
-- a0: count_rows
-- columns: decade real [0, 11], start real [0, 110], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT floor((CAST("t0"."age" AS DOUBLE) / CAST($1 AS DOUBLE))) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 10.0

-- A column goes before a name
SELECT sex, AVG(age) AS weight, MEDIAN(weight) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: sex text, weight real, median(weight) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."weight$grid" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

SELECT AVG(twice) FROM (SELECT patient_id, SUM(cost) AS total, total * 2 AS twice FROM visits GROUP BY patient_id)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 480000]; grid 0.01 from 0 to 480000
-- columns: avg(twice) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(24000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 48000000 ELSE greatest(0, least(48000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t1"."v0" * CAST($1 AS DOUBLE)) AS "x0" FROM (SELECT "k0", CAST((CAST(SUM("x0") AS DOUBLE) / CAST($2 AS DOUBLE)) AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS r) AS q
-- values: 2.0, 100.0, 0.0, 480000.0

SELECT COUNT(*) FROM (SELECT age * 2 AS a, a + 1 AS b FROM patients) WHERE b > 9
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((("t0"."age" * CAST($1 AS BIGINT)) + CAST($2 AS BIGINT)) > CAST($3 AS BIGINT))) AS q
-- values: 2, 1, 9

-- reference: SELECT n, n / 2, n / 4 FROM (SELECT COUNT(*) AS n FROM patients)
SELECT n, n / 2 AS half, half / 2 AS quarter FROM (SELECT COUNT(*) AS n FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer, half real, quarter real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

SELECT name, population AS p, p / 1000 AS thousands FROM cities ORDER BY p DESC, name LIMIT 3
-- unit: none, the tables are public
-- columns: name text, p integer [50005, 8175133], thousands real [50.005, 8175.133]
-- engine: SELECT "t0"."name" AS "c0", "t0"."population" AS "c1", (CAST("t0"."population" AS DOUBLE) / CAST($1 AS DOUBLE)) AS "c2" FROM "bounded"."main"."cities" AS "t0" ORDER BY "t0"."population" DESC NULLS LAST, "t0"."name" ASC NULLS LAST LIMIT 3
-- values: 1000.0

-- FROM first
FROM patients SELECT COUNT(*)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

FROM patients SELECT sex, COUNT(*), WHERE age >= 18 GROUP BY sex HAVING COUNT(*) > 100 ORDER BY 2 DESC LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 18

WITH old AS (FROM patients SELECT sex WHERE age > 60) FROM old SELECT sex, COUNT(*) GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 60

SELECT COUNT(*) FROM (FROM patients) WHERE patient_id IN (FROM visits SELECT patient_id WHERE cost > 5000)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."patient_id" = "t1"."patient_id"))) AS q
-- values: 5000.0

-- reference: SELECT COUNT(*) FROM patients
FROM (FROM patients SELECT sex, COUNT(*) AS n GROUP BY sex) SELECT SUM(n)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

FROM cities ORDER BY name LIMIT 2
-- unit: none, the tables are public
-- columns: name text, state text, x_km real [-5178.5, 2400.2], y_km real [-1969.6, 2473.3], population integer [50005, 8175133], elevation_m integer [2, 2137]
-- engine: SELECT "t0"."name" AS "c0", "t0"."state" AS "c1", "t0"."x_km" AS "c2", "t0"."y_km" AS "c3", "t0"."population" AS "c4", "t0"."elevation_m" AS "c5" FROM "bounded"."main"."cities" AS "t0" ORDER BY "t0"."name" ASC NULLS LAST LIMIT 2

-- A comma behind the last column
SELECT COUNT(*), AVG(age), FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: count_star() integer, avg(age) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

-- QUALIFY
-- reference: SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 2
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, age >= 65 AS old, COUNT(*) AS n, RANK() OVER (PARTITION BY age >= 65 ORDER BY COUNT(*) DESC) AS place FROM patients WHERE age IS NOT NULL GROUP BY sex, old QUALIFY place <= 2 ORDER BY old, n DESC LIMIT 3
SELECT sex, age >= 65 AS old, COUNT(*) AS n, RANK() OVER (PARTITION BY old ORDER BY n DESC) AS place FROM patients GROUP BY ALL QUALIFY place <= 2 ORDER BY old, n DESC LIMIT 3
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, old boolean, n integer, place integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."age" >= CAST($1 AS BIGINT)) AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"
-- values: 65

-- reference: SELECT year(visited_on) AS y, COUNT(*) FROM visits WHERE visited_on IS NOT NULL GROUP BY y HAVING COUNT(*) > 10 QUALIFY ROW_NUMBER() OVER (ORDER BY year(visited_on)) > 1 ORDER BY 2 DESC
SELECT year(visited_on) AS y, COUNT(*) FROM visits GROUP BY y HAVING COUNT(*) > 10 QUALIFY ROW_NUMBER() OVER (ORDER BY year(visited_on)) > 1 ORDER BY 2 DESC
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: y integer, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

-- Options where the answer is released that another SELECT asks
-- reference: SELECT SUM(n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT SUM(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n / (SELECT SUM(n) FROM a) FROM a
WITH a AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n / (SELECT SUM(n) FROM a) FROM a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, (n / (SELECT sum("n") FROM "a")) real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- A bound of NULL is the policy's own
-- reference: SELECT sex, COUNT(*) FROM patients GROUP BY sex
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = NULL) sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Groups of an open domain alone
-- reference: SELECT diagnosis FROM visits GROUP BY diagnosis ORDER BY COUNT(DISTINCT patient_id) DESC LIMIT 3
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-9) diagnosis FROM visits GROUP BY diagnosis
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; open
-- selection: count_units; chooses the groups
-- columns: diagnosis text or NULL
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."diagnosis" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- Constants that an interval moves are constants
-- policy: shop
SELECT placed::DATE AS d, COUNT(*) FROM orders WHERE placed >= TIMESTAMP '2024-03-05' AND placed < TIMESTAMP '2024-03-05' + INTERVAL 3 DAY GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: date [2023-01-01, 2024-12-31]; 3 values: 2024-03-05, 2024-03-06, 2024-03-07
-- a0: count_rows
-- columns: d date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST("t0"."placed" AS DATE) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP)) AND ("t0"."placed" < CAST($2 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 2024-03-05 00:00:00, 2024-03-08 00:00:00

-- policy: shop
SELECT placed::DATE AS d, COUNT(*) FROM orders WHERE placed BETWEEN DATE '2024-03-05' - INTERVAL 90 MINUTE AND DATE '2024-03-05' + INTERVAL 36 HOUR - INTERVAL 1 SECOND GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: date [2023-01-01, 2024-12-31]; 3 values: 2024-03-04, 2024-03-05, 2024-03-06
-- a0: count_rows
-- columns: d date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST("t0"."placed" AS DATE) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP)) AND ("t0"."placed" <= CAST($2 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 2024-03-04 22:30:00, 2024-03-06 11:59:59

-- policy: shop
SELECT day, COUNT(*) FROM orders WHERE day >= DATE '2024-01-31' + INTERVAL 1 MONTH AND day < DATE '2024-02-28' + 3 GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 2
-- k0: date [2023-01-01, 2024-12-31]; 2 values: 2024-02-29, 2024-03-01
-- a0: count_rows
-- columns: day date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."day" AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE (CAST("t0"."day" AS TIMESTAMP) >= CAST($1 AS TIMESTAMP)) AND ("t0"."day" < CAST($2 AS DATE))) AS q GROUP BY "k0"
-- values: 2024-02-29 00:00:00, 2024-03-02

-- Days and hours of a moved timestamp
-- policy: shop
SELECT (placed - INTERVAL 5 HOUR)::DATE AS d, COUNT(*) FROM orders GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: date [2022-12-31, 2024-12-31]; 732 values: 2022-12-31, 2023-01-01, 2023-01-02, ..., 2024-12-30, 2024-12-31
-- a0: count_rows
-- columns: d date [2022-12-31, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CAST(("t0"."placed" + to_seconds(CAST(CAST($1 AS BIGINT) AS DOUBLE))) AS DATE) AS "k0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"
-- values: -18000

-- policy: shop
SELECT date_trunc('hour', placed - INTERVAL 90 MINUTE) AS h, COUNT(*) FROM orders WHERE placed < TIMESTAMP '2023-01-01 03:00:00' GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 4
-- k0: timestamp [2022-12-31 22:00:00, 2024-12-31 22:00:00]; 4 values: 2022-12-31 22:00:00, 2022-12-31 23:00:00, 2023-01-01 00:00:00, 2023-01-01 01:00:00
-- a0: count_rows
-- columns: h timestamp [2022-12-31 22:00:00, 2024-12-31 22:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), ("t0"."placed" + to_seconds(CAST(CAST($2 AS BIGINT) AS DOUBLE)))) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" < CAST($3 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 'hour', -5400, 2023-01-01 03:00:00

-- policy: shop
SELECT strftime(placed + INTERVAL 1 MONTH - INTERVAL 2 DAY, '%Y-%m') AS m, dayname(placed - INTERVAL 5 HOUR) AS d, COUNT(*) FROM orders WHERE placed >= '2024-06-01' GROUP BY 1, 2
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; 7 values: 'Friday', 'Monday', 'Saturday', ..., 'Tuesday', 'Wednesday'
-- k1: text; 8 values: '2024-06', '2024-07', '2024-08', ..., '2024-12', '2025-01'
-- a0: count_rows
-- columns: m text, d text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT dayname(("t0"."placed" + to_seconds(CAST(CAST($1 AS BIGINT) AS DOUBLE)))) AS "k0", strftime((("t0"."placed" + to_months(CAST(CAST($2 AS BIGINT) AS INTEGER))) + to_days(CAST(CAST($3 AS BIGINT) AS INTEGER))), CAST($4 AS VARCHAR)) AS "k1" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($5 AS TIMESTAMP))) AS q GROUP BY "k0", "k1"
-- values: -18000, 1, -2, '%Y-%m', 2024-06-01 00:00:00

-- FILTER and COUNT_IF inside one unit are CASE
-- policy: shop
SELECT AVG(k), AVG(s) FROM (SELECT customer_id, COUNT(*) FILTER (WHERE express) AS k, SUM(total) FILTER (WHERE status = 'paid') AS s FROM orders GROUP BY customer_id) AS t
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 5]; grid 1 from 0 to 5
-- a1: avg of real [0, 10000] or NULL; grid 0.001 from 0 to 10000
-- columns: avg(k) real, avg(s) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(5000000 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "x0" AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 10000000 ELSE greatest(0, least(10000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t1"."v0" AS "x0", "t1"."v1" AS "x1" FROM (SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "v0", CAST((CAST(SUM("x1") AS DOUBLE) / CAST($1 AS DOUBLE)) AS DOUBLE) AS "v1" FROM (SELECT "k0", "x0" AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t0"."customer_id" AS "k0", CASE WHEN "t0"."express" THEN CAST($4 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."status" = CAST($5 AS VARCHAR)) THEN "t0"."total" ELSE CAST(NULL AS DOUBLE) END AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS r) AS q
-- values: 1000.0, 0.0, 10000.0, 1, 'paid', 2000.0

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, COUNT(DISTINCT day) FILTER (WHERE express) AS k FROM orders GROUP BY customer_id HAVING COUNT_IF(express) > 0) AS t
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 5]; grid 1 from 0 to 5
-- columns: avg(k) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "v0", CAST(COUNT("x1") AS BIGINT) AS "v1" FROM (SELECT "k0", "x0" AS "x0", "x1" AS "x1" FROM (SELECT "t0"."customer_id" AS "k0", CASE WHEN "t0"."express" THEN "t0"."day" ELSE CAST(NULL AS DATE) END AS "x0", CASE WHEN "t0"."express" THEN CAST($1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE ("t1"."v1" > CAST($2 AS BIGINT))) AS q
-- values: 1, 0

-- policy: shop
SELECT COUNT(*) FROM customers WHERE region IN (SELECT code FROM holidays GROUP BY code HAVING COUNT(*) FILTER (WHERE title = 'carnival') > 1)
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE EXISTS (SELECT 1 FROM (SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t1"."code" AS "k0", CASE WHEN ("t1"."title" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."holidays" AS "t1") AS r) AS r GROUP BY "k0") AS "t2" WHERE ("t2"."v0" > CAST($2 AS BIGINT)) AND ("t0"."region" = "t2"."k0"))) AS q
-- values: 'carnival', 1

-- A private key that equals a column of a public table
-- policy: shop
SELECT c.region, COUNT(*) AS n FROM customers c JOIN regions r ON r.code = c.region WHERE r.coastal GROUP BY 1
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- together: k0; 2 of the public table
-- a0: count_rows
-- columns: region text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE "t1"."coastal") AS q GROUP BY "k0"

-- policy: shop
SELECT region, COUNT(*) AS n FROM customers WHERE region IN (SELECT code FROM regions WHERE coastal) GROUP BY 1
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- together: k0; 2 of the public table
-- a0: count_rows
-- columns: region text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."regions" AS "t1" WHERE "t1"."coastal" AND ("t0"."region" = "t1"."code"))) AS q GROUP BY "k0"

-- policy: shop
SELECT region, COUNT(*) AS n FROM customers JOIN (SELECT code AS region FROM regions WHERE coastal) AS r USING (region) GROUP BY 1
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- together: k0; 2 of the public table
-- a0: count_rows
-- columns: region text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" WHERE "t1"."coastal") AS q GROUP BY "k0"

-- policy: shop
SELECT c.region, COUNT(*) AS n FROM customers c LEFT JOIN regions r ON r.code = c.region AND r.coastal GROUP BY 1
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_rows
-- columns: region text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."regions" AS "t1" ON "t0"."region" = "t1"."code" AND "t1"."coastal") AS q GROUP BY "k0"

-- policy: shop
SELECT c.region, o.channel, COUNT(*) AS n FROM customers c JOIN orders o USING (customer_id) JOIN regions r ON r.code = c.region WHERE r.name < 'P' GROUP BY 1, 2
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- k1: text or NULL; 3 values: 'web', 'shop', NULL
-- together: k0; 2 of the public table
-- a0: count_rows
-- columns: region text, channel text or NULL, n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0", "t1"."channel" AS "k1" FROM "bounded"."main"."customers" AS "t0" JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."regions" AS "t2" ON "t0"."region" = "t2"."code" WHERE ("t2"."name" < CAST($1 AS VARCHAR))) AS q GROUP BY "k0", "k1"
-- values: 'P'

-- A public table on no equal column: each row may meet all of its rows, as after LEFT JOIN
SELECT COUNT(*) FROM patients p JOIN cities c ON p.age > c.population
-- unit: patients.patient_id
-- rows per unit: 827, in one group 827, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 48 THEN CASE WHEN size <= 8 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 6 THEN CASE WHEN size <= 4 THEN 3 ELSE 4 END ELSE 5 END END ELSE CASE WHEN size <= 24 THEN CASE WHEN size <= 16 THEN CASE WHEN size <= 12 THEN 6 ELSE 7 END ELSE 8 END ELSE CASE WHEN size <= 32 THEN 9 ELSE 10 END END END ELSE CASE WHEN size <= 256 THEN CASE WHEN size <= 128 THEN CASE WHEN size <= 96 THEN CASE WHEN size <= 64 THEN 11 ELSE 12 END ELSE 13 END ELSE CASE WHEN size <= 192 THEN 14 ELSE 15 END END ELSE CASE WHEN size <= 768 THEN CASE WHEN size <= 512 THEN CASE WHEN size <= 384 THEN 16 ELSE 17 END ELSE 18 END ELSE CASE WHEN size <= 827 THEN 19 ELSE 20 END END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 827 THEN 827 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t0"."patient_id" AS "u" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN "bounded"."main"."cities" AS "t1" WHERE ("t0"."age" > "t1"."population")) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0

SELECT COUNT(*) FROM cities, patients WHERE 1 = 1
-- unit: patients.patient_id
-- rows per unit: 827, in one group 827, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 48 THEN CASE WHEN size <= 8 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 6 THEN CASE WHEN size <= 4 THEN 3 ELSE 4 END ELSE 5 END END ELSE CASE WHEN size <= 24 THEN CASE WHEN size <= 16 THEN CASE WHEN size <= 12 THEN 6 ELSE 7 END ELSE 8 END ELSE CASE WHEN size <= 32 THEN 9 ELSE 10 END END END ELSE CASE WHEN size <= 256 THEN CASE WHEN size <= 128 THEN CASE WHEN size <= 96 THEN CASE WHEN size <= 64 THEN 11 ELSE 12 END ELSE 13 END ELSE CASE WHEN size <= 192 THEN 14 ELSE 15 END END ELSE CASE WHEN size <= 768 THEN CASE WHEN size <= 512 THEN CASE WHEN size <= 384 THEN 16 ELSE 17 END ELSE 18 END ELSE CASE WHEN size <= 827 THEN 19 ELSE 20 END END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 827 THEN 827 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t1"."patient_id" AS "u" FROM "bounded"."main"."patients" AS "t1" CROSS JOIN "bounded"."main"."cities" AS "t0" WHERE (CAST($1 AS BIGINT) = CAST($1 AS BIGINT))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 1

-- policy: shop
SELECT r.name, COUNT(*) AS n FROM orders o JOIN regions r ON o.discount >= r.tax GROUP BY r.name
-- unit: orders.customer_id
-- rows per unit: 25, in one group 5, in groups 5
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- a0: count_rows
-- columns: name text, n integer
-- engine: SELECT CAST(COALESCE(enum_code(TRY_CAST("k0" AS ENUM('East', 'North', 'South', 'Wild west', 'Österland'))), 5) AS TINYINT) AS "k0", "u" FROM (SELECT "t1"."name" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."regions" AS "t1" WHERE ("t0"."discount" >= "t1"."tax")) AS q ORDER BY "u"

-- policy: shop
SELECT r.name, COUNT(*) AS n, COUNT(DISTINCT o.customer_id) AS people FROM orders o, regions r WHERE o.discount >= r.tax AND r.coastal GROUP BY r.name
-- unit: orders.customer_id
-- rows per unit: 25, in one group 5, in groups 5
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- together: k0; 2 of the public table
-- a0: count_rows
-- a1: count_units
-- columns: name text, n integer, people integer
-- engine: SELECT CAST(COALESCE(enum_code(TRY_CAST("k0" AS ENUM('East', 'North', 'South', 'Wild west', 'Österland'))), 5) AS TINYINT) AS "k0", "u" FROM (SELECT "t1"."name" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."regions" AS "t1" WHERE ("t0"."discount" >= "t1"."tax") AND "t1"."coastal") AS q ORDER BY "u"
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t1"."name" AS "k0", "t0"."customer_id" AS "u" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."regions" AS "t1" WHERE ("t0"."discount" >= "t1"."tax") AND "t1"."coastal") AS q GROUP BY "k0"

-- policy: shop
SELECT r.name, SUM(o.total) AS paid FROM orders o JOIN regions r ON true WHERE o.placed::DATE > r.since GROUP BY r.name
-- unit: orders.customer_id
-- rows per unit: 25, in one group 5, in groups 5
-- k0: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- a0: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: name text, paid real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t1"."name" AS "k0", "t0"."total$grid" AS "x0" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."regions" AS "t1" WHERE CAST($1 AS BOOLEAN) AND (CAST("t0"."placed" AS DATE) > "t1"."since")) AS q GROUP BY "k0"
-- values: True

-- policy: shop
SELECT h.title, r.name, COUNT(*) AS n FROM orders o CROSS JOIN holidays h JOIN regions r ON r.code = h.code WHERE o.day <= h.day GROUP BY 1, 2
-- unit: orders.customer_id
-- rows per unit: 25, in one group 10, in groups 15
-- k0: text; 3 values: 'carnival', 'good friday', 'new year'
-- k1: text; 5 values: 'East', 'North', 'South', 'Wild west', 'Österland'
-- a0: count_rows
-- columns: title text, name text, n integer
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", CAST(COALESCE(enum_code(TRY_CAST("k1" AS ENUM('East', 'North', 'South', 'Wild west', 'Österland'))), 5) AS TINYINT) AS "k1", "u" FROM (SELECT "t1"."title" AS "k0", "t2"."name" AS "k1", "t0"."$number" AS "u" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."holidays" AS "t1" JOIN "bounded"."main"."regions" AS "t2" ON "t1"."code" = "t2"."code" WHERE ("t0"."day" <= "t1"."day")) AS q ORDER BY "u"
-- values: 'carnival', 'good friday', 'new year'

-- policy: shop
SELECT COUNT(*) AS n FROM holidays h, orders o, customers c WHERE o.day <= h.day AND c.customer_id = o.customer_id AND c.born < h.day
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 25, in one group 25, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t1"."$number" AS "u" FROM "bounded"."main"."orders" AS "t1" JOIN "bounded"."main"."customers" AS "t2" ON "t1"."customer_id" = "t2"."customer_id" CROSS JOIN "bounded"."main"."holidays" AS "t0" WHERE ("t1"."day" <= "t0"."day") AND ("t2"."born" < "t0"."day")) AS q) AS q GROUP BY "u"

-- policy: shop
SELECT AVG(n) AS busy FROM (SELECT o.customer_id, COUNT(*) AS n FROM orders o JOIN holidays h ON o.day <= h.day GROUP BY o.customer_id) AS t
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [1, 25]; grid 1 from 1 to 25
-- columns: busy real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(13 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t2"."v0" AS "x0" FROM (SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0" FROM (SELECT "t0"."customer_id" AS "k0" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN "bounded"."main"."holidays" AS "t1" WHERE ("t0"."day" <= "t1"."day")) AS r) AS r GROUP BY "k0") AS "t2") AS q

-- policy: shop
SELECT COUNT(*) AS pairs FROM regions a JOIN regions b ON a.tax < b.tax
-- unit: none, the tables are public
-- columns: pairs integer
-- engine: SELECT COUNT(*) AS "c0" FROM "bounded"."main"."regions" AS "t0" CROSS JOIN "bounded"."main"."regions" AS "t1" WHERE ("t0"."tax" < "t1"."tax")

-- Rows that the statement holds
SELECT COUNT(*) FROM patients CROSS JOIN UNNEST([1, 2, 3]) AS x
-- unit: patients.patient_id
-- rows per unit: 3, in one group 3, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS BIGINT) AS "c0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0" UNION ALL SELECT CAST($3 AS BIGINT) AS "c0") AS "t1") AS q
-- values: 1, 2, 3

SELECT a, COUNT(*) FROM patients CROSS JOIN UNNEST([18, 65]) AS t(a) WHERE age >= a GROUP BY a
-- unit: patients.patient_id
-- rows per unit: 2, in one group 1, in groups 2
-- k0: integer [18, 65]; 2 values: 18, 65
-- a0: count_rows
-- columns: a integer [18, 65], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c0" AS "k0" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS BIGINT) AS "c0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0") AS "t1" WHERE ("t0"."age" >= "t1"."c0")) AS q GROUP BY "k0"
-- values: 18, 65

SELECT what, COUNT(*) FROM patients JOIN (VALUES ('F', 'women'), ('M', 'men')) AS t(s, what) ON sex = s GROUP BY what
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'men', 'women'
-- a0: count_rows
-- columns: what text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c1" AS "k0" FROM "bounded"."main"."patients" AS "t0" JOIN (SELECT CAST($1 AS VARCHAR) AS "c0", CAST($2 AS VARCHAR) AS "c1" UNION ALL SELECT CAST($3 AS VARCHAR) AS "c0", CAST($4 AS VARCHAR) AS "c1") AS "t1" ON "t0"."sex" = "t1"."c0") AS q GROUP BY "k0"
-- values: 'F', 'women', 'M', 'men'

SELECT COUNT(t.what), COUNT(*) FROM patients p LEFT JOIN (VALUES ('F', 'women'), ('M', NULL)) AS t(s, what) ON p.sex = t.s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: count of text or NULL
-- columns: count(t.what) integer, count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."c1" AS "x0" FROM "bounded"."main"."patients" AS "t0" LEFT JOIN (SELECT CAST($1 AS VARCHAR) AS "c0", CAST($2 AS VARCHAR) AS "c1" UNION ALL SELECT CAST($3 AS VARCHAR) AS "c0", CAST(NULL AS VARCHAR) AS "c1") AS "t1" ON "t0"."sex" = "t1"."c0") AS q
-- values: 'F', 'women', 'M'

SELECT COUNT(*) FROM patients WHERE sex IN (SELECT s FROM (VALUES ('F'), ('M')) AS t(s))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM (SELECT CAST($1 AS VARCHAR) AS "c0" UNION ALL SELECT CAST($2 AS VARCHAR) AS "c0") AS "t1" WHERE ("t0"."sex" = "t1"."c0"))) AS q
-- values: 'F', 'M'

SELECT d, COUNT(DISTINCT patient_id) FROM visits, UNNEST([DATE '2024-01-01', DATE '2025-01-01']) AS t(d) WHERE visited_on >= d GROUP BY d
-- unit: visits.patient_id
-- rows per unit: 24, in one group 12, in groups 2
-- k0: date [2024-01-01, 2025-01-01]; 2 values: 2024-01-01, 2025-01-01
-- a0: count_units
-- columns: d date [2024-01-01, 2025-01-01], count(DISTINCT patient_id) integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t1"."c0" AS "k0", "t0"."patient_id" AS "u" FROM "bounded"."main"."visits" AS "t0" CROSS JOIN (SELECT CAST($1 AS DATE) AS "c0" UNION ALL SELECT CAST($2 AS DATE) AS "c0") AS "t1" WHERE ("t0"."visited_on" >= "t1"."c0")) AS q GROUP BY "k0"
-- values: 2024-01-01, 2025-01-01

SELECT COUNT(*) FROM visits JOIN UNNEST([1, 1, 2.5]) AS t(x) ON cost = x
-- unit: visits.patient_id
-- rows per unit: 24, in one group 24, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN (SELECT CAST($1 AS DOUBLE) AS "c0" UNION ALL SELECT CAST($1 AS DOUBLE) AS "c0" UNION ALL SELECT CAST($2 AS DOUBLE) AS "c0") AS "t1" ON "t0"."cost" = "t1"."c0") AS q) AS q GROUP BY "u"
-- values: 1.0, 2.5

SELECT x, y FROM (VALUES (1, 2.5), (2, NULL)) AS t(x, y) ORDER BY x
-- unit: none, the tables are public
-- columns: x integer [1, 2], y real [2.5, 2.5] or NULL
-- engine: SELECT "t0"."c0" AS "c0", "t0"."c1" AS "c1" FROM (SELECT CAST($1 AS BIGINT) AS "c0", CAST($2 AS DOUBLE) AS "c1" UNION ALL SELECT CAST($3 AS BIGINT) AS "c0", CAST(NULL AS DOUBLE) AS "c1") AS "t0" ORDER BY "t0"."c0" ASC NULLS LAST
-- values: 1, 2.5, 2

-- reference: SELECT SUM(LEAST(n, 2)) FROM (SELECT 3 AS n FROM patients)
SELECT SUM(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, max_groups_contributed = 2) x, COUNT(*) AS n FROM patients CROSS JOIN UNNEST([1, 2, 3]) AS x GROUP BY x)
-- unit: patients.patient_id
-- rows per unit: 3, in one group 1, in groups 2; cut to so many groups
-- k0: integer [1, 3]; 3 values: 1, 2, 3
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "u", "k0" FROM (SELECT "u", "k0", "n", dense_rank() OVER (PARTITION BY "u" ORDER BY CASE WHEN "n" > 2 THEN sha256(concat(CAST($4 AS VARCHAR), CASE WHEN "u" IS NULL THEN 'N' ELSE concat(length(CAST("u" AS VARCHAR)), ':', CAST("u" AS VARCHAR)) END, CASE WHEN "k0" IS NULL THEN 'N' ELSE concat(length(CAST("k0" AS VARCHAR)), ':', CAST("k0" AS VARCHAR)) END)) END, "k0" NULLS FIRST) AS "place" FROM (SELECT "u", "k0", COUNT(*) OVER (PARTITION BY "u") AS "n" FROM (SELECT "t1"."c0" AS "k0", "t0"."patient_id" AS "u" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS BIGINT) AS "c0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0" UNION ALL SELECT CAST($3 AS BIGINT) AS "c0") AS "t1") AS q) AS q) AS q WHERE "place" <= 2) AS q GROUP BY "k0"
-- values: 1, 2, 3, (the secret key)

-- A public table on the outer side of a join lists the groups
-- reference: SELECT state, COUNT(*) FROM cities JOIN patients ON city = name GROUP BY state
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) state, COUNT(*) FROM patients RIGHT JOIN cities ON city = name GROUP BY state
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 50 values: 'AK', 'AL', 'AR', ..., 'WV', 'WY'
-- a0: count_rows
-- columns: state text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t2"."state" AS "k0" FROM "bounded"."main"."patients" AS "t3" JOIN "bounded"."main"."cities" AS "t2" ON "t3"."city" = "t2"."name") AS q GROUP BY "k0"

-- reference: SELECT 'F', COUNT(*), AVG(age) FROM patients WHERE sex = 'F'
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) s, COUNT(*), AVG(age) FROM (VALUES ('F'), ('Q')) AS t(s) LEFT JOIN patients ON sex = s GROUP BY s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'F', 'Q'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: s text, count_star() integer, avg(age) real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t2"."c0" AS "k0", "t3"."age" AS "x0" FROM "bounded"."main"."patients" AS "t3" JOIN (SELECT CAST($1 AS VARCHAR) AS "c0" UNION ALL SELECT CAST($2 AS VARCHAR) AS "c0") AS "t2" ON "t3"."sex" = "t2"."c0") AS q GROUP BY "k0"
-- values: 'F', 'Q'

-- Several answers in one statement: each is a release of its own, what is made of them is free
SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'all', COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: 'all' text, count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

SELECT COUNT(*), AVG(age) FROM patients UNION ALL SELECT 1, 2 FROM (VALUES (1)) AS v UNION ALL SELECT COUNT(DISTINCT patient_id), 0.5 FROM visits
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: count_star() integer, avg(age) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: none, the tables are public
-- columns: 1 integer [1, 1], 2 integer [2, 2]
-- engine: SELECT CAST($1 AS BIGINT) AS "c0", CAST($2 AS BIGINT) AS "c1" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0"
-- values: 1, 2
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT patient_id) integer, 0.5 real [0.5, 0.5]
-- engine: SELECT CAST(COALESCE(SUM(CASE WHEN "$rank" = 1 THEN "$rows" END), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t
-- engine: SELECT "t3"."c0" AS "c0", "t3"."c1" AS "c1", "t3"."part" AS "c2", "t3"."row0" AS "c3" FROM (SELECT "t0"."a0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", CAST("t1"."k1" AS DOUBLE) AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1" UNION ALL SELECT "t2"."a0" AS "c0", "t2"."k1" AS "c1", CAST($3 AS BIGINT) AS "part", "t2"."row" AS "row0" FROM "answer 2 of dpsql" AS "t2") AS "t3" ORDER BY "t3"."part" ASC NULLS LAST, "t3"."row0" ASC NULLS LAST, "t3"."c0" ASC NULLS LAST, "t3"."c1" ASC NULLS LAST
-- values: 0, 1, 2
-- columns: count_star() integer, avg(age) real

(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC LIMIT 1) UNION ALL (SELECT consent, COUNT(*) FROM patients GROUP BY consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) UNION ALL (SELECT consent, COUNT(*) FROM patients GROUP BY consent) ORDER BY n DESC, sex LIMIT 3
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

-- reference: (SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex) ORDER BY n DESC LIMIT 2
(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) ORDER BY n DESC LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: ((SELECT sex FROM patients WHERE sex IS NOT NULL GROUP BY sex)) ORDER BY COUNT(*) LIMIT 1 OFFSET 1
((SELECT sex FROM patients GROUP BY sex)) ORDER BY COUNT(*) LIMIT 1 OFFSET 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: (SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex ORDER BY n DESC LIMIT 2) ORDER BY sex
(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC LIMIT 2) ORDER BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, COUNT(*) AS n FROM patients WHERE age > 50 AND sex <> 'X' GROUP BY sex ORDER BY n
WITH a AS (SELECT sex FROM patients WHERE age > 50) (WITH a AS (SELECT sex FROM a WHERE sex <> 'X') SELECT sex, COUNT(*) AS n FROM a GROUP BY sex) ORDER BY n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'F', 'M'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND ("t0"."sex" <> CAST($2 AS VARCHAR))) AS q GROUP BY "k0"
-- values: 50, 'X'

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL (SELECT 'all', COUNT(*) FROM patients) ORDER BY sex DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: 'all' text, count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION (SELECT sex, COUNT(*) FROM patients GROUP BY sex) ORDER BY n DESC LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t3"."c0" AS "c0", "t3"."c1" AS "c1" FROM (SELECT DISTINCT "t2"."c0" AS "c0", "t2"."c1" AS "c1" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1" FROM "answer 1 of dpsql" AS "t1") AS "t2") AS "t3" ORDER BY "t3"."c0" ASC NULLS LAST, "t3"."c1" ASC NULLS LAST
-- columns: sex text, n integer

SELECT state FROM cities WHERE population > 3000000 UNION SELECT state FROM cities WHERE population < 51000 ORDER BY state LIMIT 5
-- unit: none, the tables are public
-- columns: state text
-- engine: SELECT "t3"."c0" AS "c0" FROM (SELECT DISTINCT "t2"."c0" AS "c0" FROM (SELECT "t0"."state" AS "c0" FROM "bounded"."main"."cities" AS "t0" WHERE ("t0"."population" > CAST($1 AS BIGINT)) UNION ALL SELECT "t1"."state" AS "c0" FROM "bounded"."main"."cities" AS "t1" WHERE ("t1"."population" < CAST($2 AS BIGINT))) AS "t2") AS "t3" ORDER BY "t3"."c0" ASC NULLS LAST LIMIT 5
-- values: 3000000, 51000

SELECT COUNT(*) AS n FROM patients WHERE city IN (SELECT name FROM cities WHERE state = 'CA' UNION SELECT name FROM cities WHERE population > 3000000)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM (SELECT DISTINCT "t3"."c0" AS "c0" FROM (SELECT "t1"."name" AS "c0" FROM "bounded"."main"."cities" AS "t1" WHERE ("t1"."state" = CAST($1 AS VARCHAR)) UNION ALL SELECT "t2"."name" AS "c0" FROM "bounded"."main"."cities" AS "t2" WHERE ("t2"."population" > CAST($2 AS BIGINT))) AS "t3") AS "t4" WHERE ("t0"."city" = "t4"."c0"))) AS q
-- values: 'CA', 3000000

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT consent, COUNT(*) FROM patients GROUP BY consent ORDER BY n DESC, sex LIMIT 3 OFFSET 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer

SELECT sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) UNION SELECT sex FROM (SELECT sex, AVG(age) FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t3"."c0" AS "c0" FROM (SELECT DISTINCT "t2"."c0" AS "c0" FROM (SELECT "t0"."k0" AS "c0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0" FROM "answer 1 of dpsql" AS "t1") AS "t2") AS "t3" ORDER BY "t3"."c0" ASC NULLS LAST
-- columns: sex text

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT sex, SUM(age) AS years FROM patients GROUP BY sex) SELECT a.sex, years / n AS mean, b.* FROM a JOIN b ON a.sex = b.sex WHERE n > 5 ORDER BY n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, years integer
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, mean real or NULL, sex text, years integer

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT sex, SUM(age) AS years FROM patients GROUP BY sex) SELECT * FROM a, b WHERE a.sex = b.sex AND n > 5
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, years integer
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, n integer, sex text, years integer

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT sex, COUNT(*) AS old FROM patients WHERE sex IN ('F', 'M') AND age > 30 GROUP BY sex) SELECT sex, n, old, coalesce(old, 0) / n AS share FROM a LEFT JOIN b USING (sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'F', 'M'
-- a0: count_rows
-- columns: sex text, old integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))) AND ("t0"."age" > CAST($3 AS BIGINT))) AS q GROUP BY "k0"
-- values: 'F', 'M', 30
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" LEFT JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, n integer, old integer or NULL, share real or NULL

SELECT SUM(n) AS total, COUNT(*) AS rows FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT consent, COUNT(*) FROM patients GROUP BY consent) AS u
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: total integer or NULL, rows integer

SELECT state, n FROM (SELECT city, COUNT(*) AS n FROM patients WHERE city IN ('Chicago, IL', 'Houston, TX') GROUP BY city) AS a JOIN cities ON cities.name = a.city
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'Chicago, IL', 'Houston, TX'
-- a0: count_rows
-- columns: city text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."city" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)))) AS q GROUP BY "k0"
-- values: 'Chicago, IL', 'Houston, TX'
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."name" AS "c2", "t1"."state" AS "c3", "t1"."x_km" AS "c4", "t1"."y_km" AS "c5", "t1"."population" AS "c6", "t1"."elevation_m" AS "c7", "t0"."row" AS "c8" FROM "answer 0 of dpsql" AS "t0" JOIN "cities" AS "t1" ON "t0"."k0" = "t1"."name" ORDER BY "t0"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."name" ASC NULLS LAST, "t1"."state" ASC NULLS LAST, "t1"."x_km" ASC NULLS LAST, "t1"."y_km" ASC NULLS LAST, "t1"."population" ASC NULLS LAST, "t1"."elevation_m" ASC NULLS LAST
-- columns: state text, n integer

SELECT (SELECT COUNT(*) FROM patients) - (SELECT COUNT(*) FROM patients WHERE sex = 'F') AS others
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" = CAST($1 AS VARCHAR))) AS q
-- values: 'F'
-- engine: SELECT "t0"."a0" AS "c0", "t1"."a0" AS "c1", "t0"."row" AS "c2", "t1"."row" AS "c3" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."a0" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- columns: others integer

SELECT (SELECT COUNT(*) FROM patients) <> (SELECT COUNT(*) FROM patients) AS differ, 'one' AS what
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t0"."a0" AS "c0", "t0"."row" AS "c1" FROM "answer 0 of dpsql" AS "t0" ORDER BY "t0"."row" ASC NULLS LAST, "t0"."a0" ASC NULLS LAST
-- columns: differ boolean, what text

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, n / (SELECT COUNT(*) FROM patients) AS share FROM a WHERE n > (SELECT COUNT(*) FROM patients) / 10
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."a0" AS "c2", "t0"."row" AS "c3", "t1"."row" AS "c4" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- columns: sex text, share real or NULL

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT * FROM a WHERE n > 20) SELECT sex, n / (SELECT SUM(n) FROM a) AS share FROM b
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sum(n) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."a0" AS "c2", "t0"."row" AS "c3", "t1"."row" AS "c4" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" WHERE ("t0"."a1" > CAST($1 AS BIGINT)) ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- values: 20
-- columns: sex text, share real or NULL

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT sex FROM a WHERE n > 300) SELECT sex, mean FROM (SELECT sex, AVG(age) AS mean FROM patients GROUP BY sex) AS m WHERE sex IN (SELECT sex FROM b)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, mean real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t0"."row" AS "c2" FROM "answer 0 of dpsql" AS "t0" WHERE EXISTS (SELECT 1 FROM "answer 1 of dpsql" AS "t1" WHERE ("t1"."a1" > CAST($1 AS BIGINT)) AND ("t0"."k0" = "t1"."k0")) ORDER BY "t0"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST
-- values: 300
-- columns: sex text, mean real

SELECT sex, n, SUM(n) OVER () AS total FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT consent, COUNT(*) FROM patients GROUP BY consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, n integer, total integer [-1.15292150461e+18, 1.15292150461e+18] or NULL

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC LIMIT 2) SELECT a.sex, n, mean FROM a JOIN (SELECT sex, AVG(age) AS mean FROM patients GROUP BY sex) AS m ON a.sex = m.sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, mean real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, n integer, mean real

-- reference: SELECT AVG(n) AS mean FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n LIMIT 2)
SELECT AVG(n) AS mean FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n LIMIT 2)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: mean real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

WITH pair AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT consent, COUNT(*) FROM patients GROUP BY consent ORDER BY n DESC LIMIT 2) SELECT MAX(n) AS most FROM pair
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: consent text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: most integer or NULL

-- policy: shop
SELECT name, tax FROM regions, (SELECT MAX(tax) AS most FROM regions) AS r WHERE tax = most
-- unit: none, the tables are public
-- columns: most real or NULL
-- engine: SELECT MAX("t0"."tax") AS "c0" FROM "bounded"."main"."regions" AS "t0"
-- engine: SELECT "t0"."code" AS "c0", "t0"."name" AS "c1", "t0"."tax" AS "c2", "t0"."coastal" AS "c3", "t0"."since" AS "c4", "t1"."k0" AS "c5", "t1"."row" AS "c6" FROM "regions" AS "t0" JOIN "answer 0 of dpsql" AS "t1" ON "t0"."tax" = "t1"."k0" ORDER BY "t1"."row" ASC NULLS LAST, "t0"."code" ASC NULLS LAST, "t0"."name" ASC NULLS LAST, "t0"."tax" ASC NULLS LAST, "t0"."coastal" ASC NULLS LAST, "t0"."since" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST
-- columns: name text, tax real or NULL

-- Windows that give every row of a group the same number
-- reference: SELECT DISTINCT sex, AVG(age) OVER (PARTITION BY sex) AS mean, COUNT(*) OVER (PARTITION BY sex) AS n FROM patients ORDER BY n DESC
SELECT DISTINCT sex, AVG(age) OVER (PARTITION BY sex) AS mean, COUNT(*) OVER (PARTITION BY sex) AS n FROM patients ORDER BY n DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, mean real, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT SUM(age) OVER () * 2 AS twice, MEDIAN(age) OVER () AS middle FROM patients LIMIT 1
SELECT SUM(age) OVER () * 2 AS twice, MEDIAN(age) OVER () AS middle FROM patients LIMIT 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: twice integer, middle real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT DISTINCT COUNT(*) FILTER (WHERE age > 50) OVER () AS old FROM patients
SELECT DISTINCT COUNT(*) FILTER (WHERE age > 50) OVER () AS old FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: old integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 50, 1

-- reference: SELECT consent, QUANTILE_DISC(age, 0.5) AS middle, sex FROM patients GROUP BY sex, consent
SELECT DISTINCT consent, PERCENTILE_DISC(age, 0.5) OVER (PARTITION BY sex, consent) AS middle, sex FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: consent text, middle integer, sex text
-- engine: SELECT "k0", "k1", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "k1", "x0" ORDER BY "k0", "k1", "x0"

-- Values as columns
-- reference: SELECT * FROM (SELECT consent, sex, age FROM patients WHERE sex <> 'X') PIVOT (AVG(age) FOR sex IN ('F', 'M')) AS p
SELECT * FROM (SELECT consent, sex, age FROM patients WHERE sex <> 'X') PIVOT (AVG(age) FOR sex IN ('F', 'M')) AS p
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: consent text, F real, M real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" <> CAST($6 AS VARCHAR))) AS r) AS q GROUP BY "k0"
-- values: 'F', 1.0, 0.0, 110.0, 'M', 'X'

-- reference: SELECT * FROM patients PIVOT (COUNT(*) AS n, SUM(age) FOR sex IN ('F' AS women, 'M') GROUP BY consent)
SELECT * FROM patients PIVOT (COUNT(*) AS n, SUM(age) FOR sex IN ('F' AS women, 'M') GROUP BY consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a3: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: consent text, women_n integer, women_sum(age) integer, M_n integer, M_sum(age) integer
-- engine: SELECT "k0", CAST(COUNT("x2") AS BIGINT) AS "m0", CAST(COUNT("x3") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m2", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m3" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2", "x3" AS "x3" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3" FROM "bounded"."main"."patients" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 'F', 1.0, 0.0, 110.0, 'M', 1

-- reference: SELECT * FROM (SELECT sex FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M', 'X'))
SELECT * FROM (SELECT sex FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M', 'X'))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: F integer, M integer, X integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1", CAST(COUNT("x2") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($3 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($4 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 'F', 1, 'M', 'X'

-- reference: SELECT consent, women - M AS more FROM (SELECT consent, sex FROM patients) PIVOT (COUNT(*) FOR sex IN ('F' AS women, 'M')) WHERE women > 3 ORDER BY 2
SELECT consent, women - M AS more FROM (SELECT consent, sex FROM patients) PIVOT (COUNT(*) FOR sex IN ('F' AS women, 'M')) WHERE women > 3 ORDER BY 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: consent text, more integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($3 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 'F', 1, 'M'

-- reference: SELECT year, flu, cold FROM (SELECT year(visited_on) AS year, diagnosis FROM visits WHERE visited_on >= DATE '2022-01-01') PIVOT (COUNT(*) FOR diagnosis IN ('flu', 'cold'))
SELECT year, flu, cold FROM (SELECT year(visited_on) AS year, diagnosis FROM visits WHERE visited_on >= DATE '2022-01-01') PIVOT (COUNT(*) FOR diagnosis IN ('flu', 'cold'))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 4
-- k0: integer [2020, 2025]; 4 values: 2022, 2023, 2024, 2025
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: year integer, flu integer, cold integer
-- engine: SELECT CAST(CASE WHEN "k0" BETWEEN CAST($1 AS BIGINT) AND CAST($2 AS BIGINT) THEN "k0" - CAST($1 AS BIGINT) ELSE 4 END AS TINYINT) AS "k0", "u", CAST(CASE WHEN "x0" IS NULL THEN 0 ELSE 1 END AS TINYINT) AS "x0", CAST(CASE WHEN "x1" IS NULL THEN 0 ELSE 1 END AS TINYINT) AS "x1" FROM (SELECT year("t0"."visited_on") AS "k0", "t0"."$number" AS "u", CASE WHEN ("t0"."diagnosis" = CAST($3 AS VARCHAR)) THEN CAST($4 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."diagnosis" = CAST($5 AS VARCHAR)) THEN CAST($4 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($6 AS DATE))) AS q
-- values: 2022, 2025, 'cold', 1, 'flu', 2022-01-01

-- Several quantiles as a list
SELECT QUANTILE_CONT(age, [0.25, 0.5, 0.75]) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: quantile_cont(age, list_value(0.25, 0.5, 0.75))[1] real, quantile_cont(age, list_value(0.25, 0.5, 0.75))[2] real, quantile_cont(age, list_value(0.25, 0.5, 0.75))[3] real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT sex, QUANTILE_DISC(age, [0.1, 0.9]) AS q, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY 3, sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, q[1] integer, q[2] integer, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

SELECT QUANTILE(age, [0.5]), QUANTILE_DISC(weight, [0.5, 0.1]) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- a2: quantile_disc of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: quantile(age, list_value(0.5))[1] integer, quantile_disc(weight, list_value(0.5, 0.1))[1] real, quantile_disc(weight, list_value(0.5, 0.1))[2] real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 1

SELECT PERCENTILE_CONT([0.2, 0.9]) WITHIN GROUP (ORDER BY age DESC) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: quantile_cont(list_value(0.2, 0.9) ORDER BY age DESC)[1] real, quantile_cont(list_value(0.2, 0.9) ORDER BY age DESC)[2] real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT QUANTILE_CONT(age, [0.25, 0.75]) FILTER (WHERE sex = 'F') AS women FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: women[1] real, women[2] real
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 'F', 1.0, 0.0, 110.0

-- Elements and lengths
SELECT QUANTILE_CONT(age, [0.25, 0.75])[2], list_extract(QUANTILE_DISC(age, [0.25, 0.75]), 1) + 1, len(QUANTILE_CONT(age, [0.25, 0.75])) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: quantile_cont(age, list_value(0.25, 0.75))[2] real, (list_extract(quantile_disc(age, list_value(0.25, 0.75)), 1) + 1) integer, len(quantile_cont(age, list_value(0.25, 0.75))) integer [2, 2]
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q, q[2] - q[1] AS width FROM patients GROUP BY sex HAVING QUANTILE_DISC(age, 0.75) > 50 ORDER BY QUANTILE_DISC(age, 0.25), sex
SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q, q[2] - q[1] AS width FROM patients GROUP BY sex HAVING q[2] > 50 ORDER BY q[1], sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, q[1] integer, q[2] integer, width integer
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

-- reference: SELECT [QUANTILE_DISC(age, 0), QUANTILE_DISC(age, 0.25), QUANTILE_DISC(age, 0.5), QUANTILE_DISC(age, 0.75), QUANTILE_DISC(age, 1.0)] AS quarters FROM patients
SELECT APPROX_QUANTILES(age, 4, contribution_bounds_per_row => (0, 110)) AS quarters FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a3: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a4: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: quarters[1] integer, quarters[2] integer, quarters[3] integer, quarters[4] integer, quarters[5] integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT sex, QUANTILE_DISC(age, [0.25, 0.5, 0.75]) AS quarters, QUANTILE_DISC(age, 0.75) - QUANTILE_DISC(age, 0.25) AS width, 3 AS n FROM patients GROUP BY sex ORDER BY QUANTILE_DISC(age, 0.5), sex
SELECT sex, q AS quarters, t.q[3] - q[OFFSET(0)] AS width, ARRAY_LENGTH(q) AS n FROM (SELECT sex, QUANTILE_DISC(age, [0.25, 0.5, 0.75]) AS q FROM patients GROUP BY sex) AS t ORDER BY quarters[2], sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, quarters[1] integer, quarters[2] integer, quarters[3] integer, width integer, n integer [3, 3]
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

-- reference: SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q, 1 AS one FROM patients GROUP BY sex
SELECT *, 1 AS one FROM (SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, q[1] integer, q[2] integer, one integer [1, 1]
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'all', QUANTILE_DISC(age, [0.25, 0.75]), COUNT(*) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, q[1] integer, q[2] integer, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: 'all' text, quantile_disc(age, list_value(0.25, 0.75))[1] integer, quantile_disc(age, list_value(0.25, 0.75))[2] integer, count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."part" AS "c4", "t2"."row0" AS "c5" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t0"."a2" AS "c2", "t0"."a3" AS "c3", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", "t1"."a2" AS "c2", "t1"."a3" AS "c3", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST, "t2"."c2" ASC NULLS LAST, "t2"."c3" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, q[1] integer, q[2] integer, n integer

SELECT a.sex, a.q, b.q[2] - a.q[1] AS width, len(b.q) AS parts FROM (SELECT sex, QUANTILE_DISC(age, [0.25, 0.75]) AS q FROM patients GROUP BY sex) AS a JOIN (SELECT quarters AS q FROM (SELECT QUANTILE_DISC(age, [0, 0.5, 1]) AS quarters FROM patients)) AS b ON a.q[2] > b.q[1]
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, q[1] integer, q[2] integer
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: quarters[1] integer, quarters[2] integer, quarters[3] integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t0"."a2" AS "c2", "t1"."a0" AS "c3", "t1"."a1" AS "c4", "t1"."a2" AS "c5", "t0"."row" AS "c6", "t1"."row" AS "c7" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" WHERE ("t0"."a2" > "t1"."a0") ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t0"."a2" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST, "t1"."a2" ASC NULLS LAST
-- columns: sex text, q[1] integer, q[2] integer, width integer, parts integer [3, 3]

-- reference: SELECT 5 AS n, 2 AS m
SELECT ARRAY_LENGTH(APPROX_QUANTILES(age, 4)) AS n, len(QUANTILE_CONT(age, [0.25, 0.75])) AS m FROM patients
-- unit: none, the tables are public
-- columns: n integer [5, 5], m integer [2, 2]
-- engine: SELECT CAST($2 AS BIGINT) AS "c0", CAST($3 AS BIGINT) AS "c1" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t1"
-- values: 0, 5, 2

-- One quantile of a list
-- reference: SELECT QUANTILE_DISC(age, 0.25) AS a, QUANTILE_DISC(age, 0.75) AS b, QUANTILE_DISC(age, 1.0) AS c FROM patients
SELECT APPROX_QUANTILES(age, 4)[OFFSET(1)] AS a, APPROX_QUANTILES(age, 4)[ORDINAL(4)] AS b, APPROX_QUANTILES(age, 2)[SAFE_OFFSET(2)] AS c FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- a2: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: a integer, b integer, c integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT sex, QUANTILE_DISC(age, 0.5) AS m FROM patients GROUP BY sex
SELECT sex, APPROX_QUANTILES(age, 10, contribution_bounds_per_row => (0, 110))[OFFSET(5)] AS m FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, m integer
-- engine: SELECT "k0", "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "k0", "x0" ORDER BY "k0", "x0"

-- Which keys a row sums up
-- reference: SELECT sex, consent, GROUPING(sex, consent) AS g, GROUPING(consent) AS c, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, consent) ORDER BY g, sex, consent
SELECT sex, consent, GROUPING(sex, consent) AS g, GROUPING(consent) AS c, COUNT(*) AS n FROM patients GROUP BY ROLLUP (sex, consent) ORDER BY g, sex, consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- sets: (k0, k1), (k0), ()
-- columns: sex text, consent text, g integer [0, 3], c integer [0, 1], n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."consent" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0", "k1"
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL)) AND (NOT ("t0"."consent" IS NULL))) AS q

-- reference: SELECT CASE WHEN GROUPING(sex) = 1 THEN 'all' ELSE sex END AS who, COUNT(*) AS n FROM patients GROUP BY CUBE (sex) HAVING GROUPING_ID(sex) = 1 OR sex = 'F'
SELECT CASE WHEN GROUPING(sex) = 1 THEN 'all' ELSE sex END AS who, COUNT(*) AS n FROM patients GROUP BY CUBE (sex) HAVING GROUPING_ID(sex) = 1 OR sex = 'F'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- sets: (k0), ()
-- columns: who text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q GROUP BY "k0"
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IS NULL))) AS q

-- Values that are released first, beside people's rows
SELECT COUNT(*) AS dear FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: dear integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)

SELECT COUNT(*) FROM patients WHERE age = (SELECT MAX(age) FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: max of integer [0, 110]; grid 1 from 0 to 110
-- columns: max(age) integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" = CAST($1 AS BIGINT))) AS q
-- values: (the integer that is released first)

SELECT sex, COUNT(*) FILTER (WHERE age > (SELECT AVG(age) FROM patients)) AS above FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: sex text, above integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", CASE WHEN (CAST("t0"."age" AS DOUBLE) > CAST($1 AS DOUBLE)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: (the real that is released first), 1

SELECT age > (SELECT AVG(age) FROM patients) AS old, COUNT(*) AS n FROM patients GROUP BY old
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: old boolean or NULL, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (CAST("t0"."age" AS DOUBLE) > CAST($1 AS DOUBLE)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: (the real that is released first)

WITH m AS (SELECT AVG(cost) AS mean FROM visits) SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT 2 * mean FROM m)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: (2 * mean) real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)

-- reference: SELECT COUNT(*) AS n FROM (SELECT patient_id FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
SELECT COUNT(*) AS n FROM (SELECT patient_id, SUM(cost) AS total FROM visits GROUP BY patient_id HAVING SUM(cost) > (SELECT AVG(cost) FROM visits))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "k0", CAST((CAST(SUM("x0") AS DOUBLE) / CAST($1 AS DOUBLE)) AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE ("t1"."v0" > CAST($2 AS DOUBLE))) AS q
-- values: 100.0, (the real that is released first)

SELECT COUNT(*) AS n FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > (SELECT AVG(cost) FROM visits))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."patient_id" = "t1"."patient_id"))) AS q
-- values: (the real that is released first)

SELECT SUM(GREATEST(-500, LEAST(500, weight - (SELECT MEDIAN(age) FROM patients)))) AS beyond FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: median(age) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of real [-500, 500]; grid 0.0001 from -500 to 500
-- columns: beyond real
-- engine: SELECT CAST("bin" AS BIGINT) AS "bin", CAST(COUNT(*) AS BIGINT) AS "units", CAST(SUM(CASE WHEN "x0" > 0 THEN 1 ELSE 0 - 1 END) AS BIGINT) AS "signs", CAST(SUM("x0") AS HUGEINT) AS "total" FROM (SELECT "x0", CASE WHEN "size" <= 468744 THEN CASE WHEN "size" <= 78124 THEN CASE WHEN "size" <= 39062 THEN CASE WHEN "size" <= 29296 THEN CASE WHEN "size" <= 19531 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN "size" <= 58593 THEN 3 ELSE 4 END END ELSE CASE WHEN "size" <= 234372 THEN CASE WHEN "size" <= 156248 THEN CASE WHEN "size" <= 117186 THEN 5 ELSE 6 END ELSE 7 END ELSE CASE WHEN "size" <= 312496 THEN 8 ELSE 9 END END END ELSE CASE WHEN "size" <= 2499968 THEN CASE WHEN "size" <= 1249984 THEN CASE WHEN "size" <= 937488 THEN CASE WHEN "size" <= 624992 THEN 10 ELSE 11 END ELSE 12 END ELSE CASE WHEN "size" <= 1874976 THEN 13 ELSE 14 END END ELSE CASE WHEN "size" <= 4999936 THEN CASE WHEN "size" <= 3749952 THEN 15 ELSE 16 END ELSE CASE WHEN "size" <= 5000000 THEN 17 ELSE 18 END END END END AS "bin" FROM (SELECT "x0", CASE WHEN "x0" < 0 THEN 0 - "x0" ELSE "x0" END AS "size" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($1 AS DOUBLE) THEN -5000000 WHEN CAST("x0" AS DOUBLE) >= CAST($2 AS DOUBLE) THEN 5000000 ELSE greatest(-5000000, least(5000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT greatest(CAST($1 AS DOUBLE), least(CAST($2 AS DOUBLE), ("t0"."weight" - CAST($3 AS DOUBLE)))) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q WHERE "x0" <> 0) AS q) AS q GROUP BY "bin" ORDER BY "bin"
-- values: -500.0, 500.0, (the real that is released first), 10000.0

SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)

SELECT COUNT(*) AS n FROM patients WHERE sex = (SELECT MODE(sex) FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: mode of text
-- columns: "mode"(sex) text or NULL
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."sex" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" = CAST($1 AS VARCHAR))) AS q
-- values: (the text that is released first)

-- reference: SELECT 2 * COUNT(*) AS twice FROM visits WHERE cost > (SELECT AVG(cost) FROM visits)
SELECT 2 * n AS twice FROM (SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: twice integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)

SELECT COUNT(*) AS n FROM visits WHERE cost > (SELECT AVG(cost) FROM visits) UNION ALL SELECT COUNT(*) FROM patients
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS q
-- values: (the real that is released first)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t2"."c0" AS "c0", "t2"."part" AS "c1", "t2"."row0" AS "c2" FROM (SELECT "t0"."a0" AS "c0", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."a0" AS "c0", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST
-- values: 0, 1
-- columns: n integer

-- Values beside aggregates
SELECT COUNT(*) / (SELECT COUNT(*) FROM visits) AS share FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t
-- engine: SELECT "t0"."a0" AS "c0", "t1"."a0" AS "c1", "t0"."row" AS "c2", "t1"."row" AS "c3" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."a0" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- columns: share real or NULL

SELECT sex, COUNT(*) AS n, n / (SELECT COUNT(*) FROM patients) AS share FROM patients GROUP BY 1 HAVING share > 0.1 ORDER BY share DESC LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."a0" AS "c2", "t0"."row" AS "c3", "t1"."row" AS "c4" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- columns: sex text, n integer, share real or NULL

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING n > (SELECT COUNT(*) FROM patients WHERE age > 70) ORDER BY n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q
-- values: 70
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."a0" AS "c2", "t0"."row" AS "c3", "t1"."row" AS "c4" FROM "answer 0 of dpsql" AS "t0" CROSS JOIN "answer 1 of dpsql" AS "t1" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."a0" ASC NULLS LAST
-- columns: sex text, n integer

-- PIVOT of several keys
-- reference: SELECT * FROM (SELECT sex, consent FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M') consent IN ('strict', 'normal'))
SELECT * FROM (SELECT sex, consent FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M') consent IN ('strict', 'normal'))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a3: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: F_strict integer, F_normal integer, M_strict integer, M_normal integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1", CAST(COUNT("x2") AS BIGINT) AS "m2", CAST(COUNT("x3") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 'F', 'normal', 1, 'strict', 'M'

-- reference: SELECT * FROM (SELECT sex, consent, age FROM patients) PIVOT (SUM(age) AS years, COUNT(*) FOR (sex, consent) IN (('F', 'strict') AS a, ('M', 'normal')))
SELECT * FROM (SELECT sex, consent, age FROM patients) PIVOT (SUM(age) AS years, COUNT(*) FOR (sex, consent) IN (('F', 'strict') AS a, ('M', 'normal')))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a3: sum of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: a_years integer, a_count_star() integer, M_normal_years integer, M_normal_count_star() integer
-- engine: SELECT CAST(COUNT("x2") AS BIGINT) AS "m0", CAST(COUNT("x3") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m2", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2", "x3" AS "x3" FROM (SELECT CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($7 AS VARCHAR))) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($8 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($7 AS VARCHAR))) THEN CAST($8 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 'F', 'strict', 1.0, 0.0, 110.0, 'M', 'normal', 1

-- PIVOT of an answer, FILTER over answers, and PIVOT as a statement
-- reference: SELECT consent, SUM(n) FILTER (WHERE sex = 'F') AS women, COUNT(*) FILTER (WHERE n > 20) AS large, MAX(n) FILTER (WHERE sex <> 'X') AS most FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) GROUP BY consent
SELECT consent, SUM(n) FILTER (WHERE sex = 'F') AS women, COUNT(*) FILTER (WHERE n > 20) AS large, MAX(n) FILTER (WHERE sex <> 'X') AS most FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) GROUP BY consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, women integer or NULL, large integer or NULL, most integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: SELECT COUNT(DISTINCT sex) FILTER (WHERE n > 100) AS sexes, AVG(n) FILTER (WHERE sex IN ('F', 'M')) AS mean FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL)
SELECT COUNT(DISTINCT sex) FILTER (WHERE n > 100) AS sexes, AVG(n) FILTER (WHERE sex IN ('F', 'M')) AS mean FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sexes integer or NULL, mean real or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: SELECT * FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT (SUM(n) FOR sex IN ('F', 'M'))
SELECT * FROM (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT (SUM(n) FOR sex IN ('F', 'M'))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, F integer or NULL, M integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: PIVOT (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) ON sex IN ('F', 'M' AS men), consent IN ('strict') USING SUM(n) AS people, COUNT(*)
PIVOT (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) ON sex IN ('F', 'M' AS men), consent IN ('strict') USING SUM(n) AS people, COUNT(*)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: F_strict_people integer or NULL, F_strict_count_star() integer or NULL, men_strict_people integer or NULL, men_strict_count_star() integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON sex IN ('F', 'M') USING SUM(n)
WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON sex IN ('F', 'M') USING SUM(n)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, F integer or NULL, M integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL), b AS (PIVOT a ON sex IN ('F', 'M') USING MAX(n) GROUP BY consent) SELECT consent, F - M AS more FROM b WHERE F > 3 ORDER BY more
WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL), b AS (PIVOT a ON sex IN ('F', 'M') USING MAX(n) GROUP BY consent) SELECT consent, F - M AS more FROM b WHERE F > 3 ORDER BY more
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, more integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: WITH a AS (SELECT year(visited_on) AS year, diagnosis, AVG(cost) AS mean, COUNT(*) AS n FROM visits WHERE diagnosis IN ('flu', 'cold') GROUP BY ALL) PIVOT a ON diagnosis IN ('flu', 'cold') USING AVG(mean) AS mean, SUM(n) AS visits GROUP BY year ORDER BY year LIMIT 3
WITH a AS (SELECT year(visited_on) AS year, diagnosis, AVG(cost) AS mean, COUNT(*) AS n FROM visits WHERE diagnosis IN ('flu', 'cold') GROUP BY ALL) PIVOT a ON diagnosis IN ('flu', 'cold') USING AVG(mean) AS mean, SUM(n) AS visits GROUP BY year ORDER BY year LIMIT 3
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text or NULL; 2 values: 'cold', 'flu'
-- k1: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- a1: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: year integer, flu_mean real or NULL, flu_visits integer or NULL, cold_mean real or NULL, cold_visits integer or NULL
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 ELSE 2 END AS TINYINT) AS "k0", CAST(CASE WHEN "k1" BETWEEN CAST($3 AS BIGINT) AND CAST($4 AS BIGINT) THEN "k1" - CAST($3 AS BIGINT) ELSE 6 END AS TINYINT) AS "k1", "u" FROM (SELECT "t0"."diagnosis" AS "k0", year("t0"."visited_on") AS "k1", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" IN (CAST($2 AS VARCHAR), CAST($1 AS VARCHAR)))) AS q
-- values: 'cold', 'flu', 2020, 2025
-- engine: SELECT "k0", "k1", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."diagnosis" AS "k0", year("t0"."visited_on") AS "k1", "t0"."cost$grid" AS "x0" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."diagnosis" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)))) AS q GROUP BY "k0", "k1"
-- values: 'flu', 'cold'

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'all' AS sex, COUNT(*) AS n FROM patients) PIVOT a ON sex IN ('F', 'all') USING SUM(n)
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL SELECT 'all' AS sex, COUNT(*) AS n FROM patients) PIVOT a ON sex IN ('F', 'all') USING SUM(n)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: F integer or NULL, all integer or NULL

-- Approximate ones: none is exact, once it is noised
-- reference: SELECT QUANTILE_CONT(age, 0.5) AS "approx_quantile(age, 0.5)", QUANTILE_CONT(age, 0.5) AS p FROM patients
SELECT APPROX_QUANTILE(age, 0.5), APPROX_PERCENTILE(age, 0.5) AS p FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: approx_quantile(age, 0.5) real, p real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- reference: SELECT COUNT(DISTINCT diagnosis) AS n, COUNT(DISTINCT diagnosis) FILTER (WHERE cost > 500) AS dear FROM visits
SELECT APPROX_COUNT_DISTINCT(diagnosis) AS n, APPROX_DISTINCT(diagnosis) FILTER (WHERE cost > 500) AS dear FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_distinct of text or NULL
-- a1: count_distinct of text or NULL
-- columns: n integer, dear integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x1") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN "t0"."diagnosis" ELSE CAST(NULL AS VARCHAR) END AS "x0", "t0"."diagnosis" AS "x1" FROM "bounded"."main"."visits" AS "t0") AS q
-- values: 500.0

-- PIVOT over values that the policy declares, or that follow from bounds
-- reference: PIVOT (FROM patients WHERE consent IS NOT NULL) ON sex IN ('F', 'M', 'X') USING COUNT(*) GROUP BY consent ORDER BY consent DESC
PIVOT patients ON sex USING COUNT(*) GROUP BY consent ORDER BY consent DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: consent text, F integer, M integer, X integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1", CAST(COUNT("x2") AS BIGINT) AS "m2" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($3 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($4 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 'F', 1, 'M', 'X'

-- reference: PIVOT (SELECT visited_on, month(visited_on) AS m, cost FROM visits WHERE visited_on IS NOT NULL) ON year(visited_on) IN (2020, 2021, 2022, 2023, 2024, 2025) USING SUM(cost) AS s, COUNT(*) AS n GROUP BY m ORDER BY m
PIVOT (SELECT visited_on, month(visited_on) AS m, cost FROM visits) ON year(visited_on) USING SUM(cost) AS s, COUNT(*) AS n GROUP BY m ORDER BY m
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: integer [1, 12]; 12 values: 1, 2, 3, ..., 11, 12
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a3: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a4: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a5: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a6: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- a7: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- a8: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- a9: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- a10: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- a11: sum of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: m integer, 2020_s real, 2020_n integer, 2021_s real, 2021_n integer, 2022_s real, 2022_n integer, 2023_s real, 2023_n integer, 2024_s real, 2024_n integer, 2025_s real, 2025_n integer
-- engine: SELECT "k0", CAST(COUNT("x6") AS BIGINT) AS "m0", CAST(COUNT("x7") AS BIGINT) AS "m1", CAST(COUNT("x8") AS BIGINT) AS "m2", CAST(COUNT("x9") AS BIGINT) AS "m3", CAST(COUNT("x10") AS BIGINT) AS "m4", CAST(COUNT("x11") AS BIGINT) AS "m5", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m6", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m7", CAST(COALESCE(SUM("x2"), 0) AS HUGEINT) AS "m8", CAST(COALESCE(SUM("x3"), 0) AS HUGEINT) AS "m9", CAST(COALESCE(SUM("x4"), 0) AS HUGEINT) AS "m10", CAST(COALESCE(SUM("x5"), 0) AS HUGEINT) AS "m11" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", CASE WHEN "x2" IS NULL OR isnan(CAST("x2" AS DOUBLE)) THEN NULL WHEN CAST("x2" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x2" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x2" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x2", CASE WHEN "x3" IS NULL OR isnan(CAST("x3" AS DOUBLE)) THEN NULL WHEN CAST("x3" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x3" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x3" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x3", CASE WHEN "x4" IS NULL OR isnan(CAST("x4" AS DOUBLE)) THEN NULL WHEN CAST("x4" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x4" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x4" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x4", CASE WHEN "x5" IS NULL OR isnan(CAST("x5" AS DOUBLE)) THEN NULL WHEN CAST("x5" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x5" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x5" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x5", "x6" AS "x6", "x7" AS "x7", "x8" AS "x8", "x9" AS "x9", "x10" AS "x10", "x11" AS "x11" FROM (SELECT month("t0"."visited_on") AS "k0", CASE WHEN (year("t0"."visited_on") = CAST($1 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x0", CASE WHEN (year("t0"."visited_on") = CAST($5 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x1", CASE WHEN (year("t0"."visited_on") = CAST($6 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x2", CASE WHEN (year("t0"."visited_on") = CAST($7 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x3", CASE WHEN (year("t0"."visited_on") = CAST($8 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x4", CASE WHEN (year("t0"."visited_on") = CAST($9 AS BIGINT)) THEN "t0"."cost" ELSE CAST(NULL AS DOUBLE) END AS "x5", CASE WHEN (year("t0"."visited_on") = CAST($1 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x6", CASE WHEN (year("t0"."visited_on") = CAST($5 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x7", CASE WHEN (year("t0"."visited_on") = CAST($6 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x8", CASE WHEN (year("t0"."visited_on") = CAST($7 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x9", CASE WHEN (year("t0"."visited_on") = CAST($8 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x10", CASE WHEN (year("t0"."visited_on") = CAST($9 AS BIGINT)) THEN CAST($10 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x11" FROM "bounded"."main"."visits" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 2020, 100.0, 0.0, 20000.0, 2021, 2022, 2023, 2024, 2025, 1

-- reference: PIVOT (SELECT sex, consent FROM patients) ON sex IN ('F', 'M', 'X'), consent IN ('normal', 'strict')
PIVOT (SELECT sex, consent FROM patients) ON sex, consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a3: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a4: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a5: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: F_normal integer, F_strict integer, M_normal integer, M_strict integer, X_normal integer, X_strict integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1", CAST(COUNT("x2") AS BIGINT) AS "m2", CAST(COUNT("x3") AS BIGINT) AS "m3", CAST(COUNT("x4") AS BIGINT) AS "m4", CAST(COUNT("x5") AS BIGINT) AS "m5" FROM (SELECT CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x4", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x5" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 'F', 'normal', 1, 'strict', 'M', 'X'

-- reference: PIVOT (SELECT sex, consent FROM patients) ON sex IN ('F', 'M', 'X'), consent IN ('normal', 'strict')
PIVOT (SELECT sex, consent FROM patients) ON "sex", "consent"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a3: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a4: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a5: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: F_normal integer, F_strict integer, M_normal integer, M_strict integer, X_normal integer, X_strict integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1", CAST(COUNT("x2") AS BIGINT) AS "m2", CAST(COUNT("x3") AS BIGINT) AS "m3", CAST(COUNT("x4") AS BIGINT) AS "m4", CAST(COUNT("x5") AS BIGINT) AS "m5" FROM (SELECT CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (("t0"."sex" = CAST($1 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN (("t0"."sex" = CAST($5 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($2 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x4", CASE WHEN (("t0"."sex" = CAST($6 AS VARCHAR)) AND ("t0"."consent" = CAST($4 AS VARCHAR))) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x5" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 'F', 'normal', 1, 'strict', 'M', 'X'

-- reference: WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients WHERE consent IS NOT NULL AND sex IS NOT NULL GROUP BY ALL) PIVOT a ON sex IN ('F', 'M', 'X') USING SUM(n) ORDER BY consent
WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON sex USING SUM(n) ORDER BY consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, F integer or NULL, M integer or NULL, X integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: PIVOT (SELECT consent AS c, sex AS s, COUNT(*) AS n FROM patients WHERE consent IS NOT NULL AND sex IS NOT NULL GROUP BY ALL) ON s IN ('F', 'M', 'X') USING SUM(n) GROUP BY c ORDER BY c
PIVOT (SELECT * FROM (SELECT consent AS c, sex AS s, COUNT(*) AS n FROM patients GROUP BY ALL) WHERE n > -5) ON s USING SUM(n) GROUP BY c ORDER BY c
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: c text, F integer or NULL, M integer or NULL, X integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: PIVOT patients ON sex IN ('F', 'M') USING AVG(age) AS mean, COUNT(*) GROUP BY consent
PIVOT patients ON sex IN ('F', 'M') USING AVG(age) AS mean, COUNT(*) GROUP BY consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- a3: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: consent text, F_mean real, F_count_star() integer, M_mean real, M_count_star() integer
-- engine: SELECT "k0", CAST(COUNT("x2") AS BIGINT) AS "m0", CAST(COUNT("x3") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m2", CAST(COUNT("x0") AS BIGINT) AS "m3", CAST(COALESCE(SUM("x1"), 0) - CAST(55 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m4", CAST(COUNT("x1") AS BIGINT) AS "m5" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2", "x3" AS "x3" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN "t0"."age" ELSE CAST(NULL AS BIGINT) END AS "x1", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2", CASE WHEN ("t0"."sex" = CAST($5 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x3" FROM "bounded"."main"."patients" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 'F', 1.0, 0.0, 110.0, 'M', 1

-- reference: PIVOT (SELECT sex, consent FROM patients WHERE age > 30) ON sex IN ('F', 'M')
PIVOT (SELECT sex, consent FROM patients WHERE age > 30) ON sex IN ('F', 'M')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: consent text, F integer, M integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT "t0"."consent" AS "k0", CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."sex" = CAST($3 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($4 AS BIGINT))) AS q GROUP BY "k0"
-- values: 'F', 1, 'M', 30

-- Keys of one unit's rows, and partners of a left join
SELECT COUNT(*) FROM visits a WHERE EXISTS (SELECT 1 FROM visits b WHERE b.patient_id = a.patient_id AND b.visit_id <> a.visit_id)
-- unit: visits.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."patient_id" = "t0"."patient_id") AND ("t1"."visit_id" <> "t0"."visit_id"))) AS q) AS q GROUP BY "u"

SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id AND NOT (a.visit_id = b.visit_id)
-- unit: visits.patient_id = visits.patient_id
-- rows per unit: 144, in one group 144, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0" FROM (SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE (NOT ("t0"."visit_id" = "t1"."visit_id"))) AS q) AS q GROUP BY "u"

SELECT SUM(v.patient_id IS NOT NULL), COUNT(*) FILTER (WHERE v.patient_id IS NULL) FROM patients p LEFT JOIN (SELECT patient_id FROM visits WHERE cost > 500 GROUP BY patient_id) AS v USING (patient_id)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: sum of integer [0, 1]; grid 1 from 0 to 1
-- columns: sum((v.patient_id IS NOT NULL)) integer, count_star() FILTER (WHERE (v.patient_id IS NULL)) integer
-- engine: SELECT CAST(COUNT("x1") AS BIGINT) AS "m0", CAST(COALESCE(SUM(xor("x0", 0)), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", "x1" AS "x1" FROM (SELECT CAST((NOT ("t2"."k0" IS NULL)) AS BIGINT) AS "x0", CASE WHEN ("t2"."k0" IS NULL) THEN CAST($3 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0" LEFT JOIN (SELECT "k0" FROM (SELECT "k0" FROM (SELECT "t1"."patient_id" AS "k0" FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($4 AS DOUBLE))) AS r) AS r GROUP BY "k0") AS "t2" ON "t0"."patient_id" = "t2"."k0") AS r) AS q
-- values: 1.0, 0.0, 1, 500.0

-- Expressions that a condition bounds
SELECT SUM(CASE WHEN cost / (age - 50) BETWEEN 0 AND 60 THEN cost / (age - 50) END) FROM visits JOIN patients USING (patient_id)
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: sum of real or NULL; grid 1e-05 from 0 to 60
-- columns: sum(CASE  WHEN ((("cost" / (age - 50)) BETWEEN 0 AND 60)) THEN (("cost" / (age - 50))) ELSE NULL END) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 6000000 ELSE greatest(0, least(6000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN ((CASE WHEN abs(CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) >= 1e-60 THEN ("t0"."cost" / CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) END >= CAST($2 AS DOUBLE)) AND (CASE WHEN abs(CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) >= 1e-60 THEN ("t0"."cost" / CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) END <= CAST($3 AS DOUBLE))) THEN CASE WHEN abs(CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) >= 1e-60 THEN ("t0"."cost" / CAST(("t1"."age" - CAST($1 AS BIGINT)) AS DOUBLE)) END ELSE CAST(NULL AS DOUBLE) END AS "x0" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS r) AS q
-- values: 50, 0.0, 60.0, 100000.0

-- Means and booleans over public tables and answers
SELECT AVG(population) AS mean FROM cities
-- unit: none, the tables are public
-- columns: mean real or NULL
-- engine: SELECT AVG("t0"."population") AS "c0" FROM "bounded"."main"."cities" AS "t0"

-- reference: SELECT AVG((population > 1000000)::INT), SUM((population > 1000000)::INT) FROM cities
SELECT AVG(population > 1000000), SUM(population > 1000000) FROM cities
-- unit: none, the tables are public
-- columns: avg((population > 1000000)) real or NULL, sum((population > 1000000)) integer or NULL
-- engine: SELECT AVG(CAST(("t0"."population" > CAST($1 AS BIGINT)) AS BIGINT)) AS "c0", TRY_CAST(SUM(CAST(("t0"."population" > CAST($1 AS BIGINT)) AS BIGINT)) AS BIGINT) AS "c1" FROM "bounded"."main"."cities" AS "t0"
-- values: 1000000

-- reference: SELECT AVG((n > 10)::INT) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT AVG(n > 10) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: avg((n > 10)) real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Constants as drivers write them: in casts, and put together
-- policy: shop
SELECT region, COUNT(*) FROM customers GROUP BY region ORDER BY 2 DESC, 1 LIMIT 2::INTEGER OFFSET 1::BIGINT
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_rows
-- columns: region text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
-- parameters: [2]
SELECT region, COUNT(*) FROM customers GROUP BY region ORDER BY 2 DESC, 1 LIMIT $1::INTEGER
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_rows
-- columns: region text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
-- parameters: ["2024-03-01 12:00:00"]
SELECT COUNT(*) FROM orders WHERE placed >= $1::TIMESTAMP WITHOUT TIME ZONE
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP))) AS q
-- values: 2024-03-01 12:00:00

-- policy: shop
SELECT COUNT(*) FROM orders WHERE CAST(day AS TIMESTAMP WITHOUT TIME ZONE) >= TIMESTAMP '2024-03-01'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (CAST("t0"."day" AS TIMESTAMP) >= CAST($1 AS TIMESTAMP))) AS q
-- values: 2024-03-01 00:00:00

-- policy: shop
SELECT COUNT(*) FROM customers WHERE nickname ILIKE '%A%'::VARCHAR
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE ("t0"."nickname" ILIKE CAST($1 AS VARCHAR))) AS q
-- values: '%A%'

-- policy: shop
-- parameters: ["a", "A"]
SELECT COUNT(*) FROM customers WHERE nickname LIKE '%' || ?::VARCHAR || '%' OR lower(nickname) LIKE '%' || lower(?) || '%'
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (("t0"."nickname" LIKE CAST($1 AS VARCHAR)) OR (lower("t0"."nickname") LIKE CAST($1 AS VARCHAR)))) AS q
-- values: '%a%'

-- policy: shop
SELECT COUNT(*) FROM customers WHERE nickname NOT LIKE '%' || 'a' || '%'
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE (NOT ("t0"."nickname" LIKE CAST($1 AS VARCHAR)))) AS q
-- values: '%a%'

-- parameters: [0.25]
-- reference: SELECT percentile_cont(0.25) WITHIN GROUP (ORDER BY age), percentile_cont(0.1) WITHIN GROUP (ORDER BY age) FROM patients
SELECT percentile_cont(?::DOUBLE PRECISION) WITHIN GROUP (ORDER BY age), percentile_cont(0.1::FLOAT) WITHIN GROUP (ORDER BY age) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- a1: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: quantile_cont(CAST($1 AS DOUBLE) ORDER BY age) real, quantile_cont(CAST(0.1 AS FLOAT) ORDER BY age) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- policy: shop
SELECT SUM(discount * 0.5::DOUBLE), SUM(items * 2::INTEGER), SUM(discount * 0.1::FLOAT) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of real [0, 0.5]; grid 1e-07 from 0 to 0.5
-- a1: sum of real [0, 0.10000000149]; grid 1e-08 from 0 to 0.10000001
-- a2: sum of integer [0, 80] or NULL; grid 2 from 0 to 80
-- columns: sum((discount * CAST(0.5 AS DOUBLE))) real, sum((items * CAST(2 AS INTEGER))) integer, sum((discount * CAST(0.1 AS FLOAT))) real
-- engine: SELECT "u", CAST("x0" AS INTEGER) AS "x0", CAST("x1" AS INTEGER) AS "x1" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($1 AS DOUBLE) THEN 5000000 ELSE greatest(0, least(5000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 10000001 ELSE greatest(0, least(10000001, CAST(round(CAST("x1" AS DOUBLE) * CAST($5 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT "t0"."$number" AS "u", ("t0"."discount" * CAST($1 AS DOUBLE)) AS "x0", ("t0"."discount" * CAST(TRY_CAST(CAST($4 AS DOUBLE) AS FLOAT) AS DOUBLE)) AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 0.5, 10000000.0, 0.0, 0.1, 100000000.0, 0.10000001
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 40 ELSE greatest(0, least(40, CAST(round(CAST("x0" AS DOUBLE) / CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."items" * CAST($1 AS BIGINT)) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 2, 2.0, 0.0, 80.0

-- Units and keys with a row that meets a condition
-- policy: shop
SELECT COUNT(DISTINCT customer_id) FILTER (WHERE status = 'paid') AS payers, COUNT(DISTINCT customer_id) AS people, COUNT(*) AS n FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- a1: count_units
-- a2: count_distinct of text or NULL
-- columns: payers integer, people integer, n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m1", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."customer_id" AS "u", CASE WHEN ("t0"."status" = CAST($1 AS VARCHAR)) THEN "t0"."customer_id" END AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q
-- values: 'paid'

-- policy: shop
SELECT channel, COUNT(DISTINCT CASE WHEN status = 'paid' THEN customer_id END) / COUNT(DISTINCT customer_id) AS share FROM orders GROUP BY channel
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: text or NULL; 3 values: 'web', 'shop', NULL
-- a0: count_units
-- a1: count_distinct of text or NULL
-- columns: channel text or NULL, share real or NULL
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."channel" AS "k0", "t0"."$number" AS "u", CASE WHEN ("t0"."status" = CAST($1 AS VARCHAR)) THEN "t0"."customer_id" END AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0"
-- values: 'paid'

-- policy: shop
SELECT note, COUNT(DISTINCT customer_id) FILTER (WHERE express) AS hurried FROM orders GROUP BY note
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; open
-- selection: count_units; chooses the groups
-- a0: count_distinct of text or NULL
-- columns: note text or NULL, hurried integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."note" AS "k0", "t0"."$number" AS "u", CASE WHEN "t0"."express" THEN "t0"."customer_id" END AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0" ORDER BY "k0" NULLS LAST

-- policy: shop
SELECT COUNT(DISTINCT IF(items > 3, customer_id, NULL)) FILTER (WHERE express) AS a, COUNT(CASE WHEN express THEN order_id END) AS b, COUNT(DISTINCT order_id) FILTER (WHERE express) AS c FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count_distinct of text or NULL
-- a2: count_distinct of text or NULL
-- columns: a integer, b integer, c integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x1") AS BIGINT) AS "m1", CAST(COUNT(DISTINCT "x2") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN "t0"."express" THEN CAST($1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (("t0"."items" > CAST($2 AS BIGINT)) AND "t0"."express") THEN "t0"."customer_id" END AS "x1", CASE WHEN "t0"."express" THEN "t0"."order_id" END AS "x2" FROM "bounded"."main"."orders" AS "t0") AS q
-- values: 1, 3

-- policy: shop
SELECT region, COUNT(DISTINCT o.customer_id) FILTER (WHERE o.express) AS a, COUNT(DISTINCT CASE WHEN o.items > 3 THEN c.customer_id END) AS b FROM customers c LEFT JOIN orders o USING (customer_id) GROUP BY region
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_distinct of text or NULL
-- a1: count_distinct of text or NULL
-- columns: region text, a integer, b integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x1") AS BIGINT) AS "m1" FROM (SELECT "t0"."region" AS "k0", CASE WHEN ("t1"."items" > CAST($1 AS BIGINT)) THEN "t0"."customer_id" END AS "x0", CASE WHEN "t1"."express" THEN "t1"."customer_id" END AS "x1" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id") AS q GROUP BY "k0"
-- values: 3

-- USING behind a left join means the left one's column
-- policy: shop
SELECT COUNT(*), COUNT(DISTINCT customer_id), COUNT(o.order_id) FROM customers LEFT JOIN orders o USING (customer_id) LEFT JOIN logins l USING (customer_id)
-- unit: customers.customer_id = orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 1
-- a0: count_rows
-- a1: count of text or NULL
-- a2: count_units
-- columns: count_star() integer, count(DISTINCT customer_id) integer, count(o.order_id) integer
-- engine: SELECT "of", "bin", "units", "signs", "total" FROM (SELECT CAST(j AS BIGINT) AS "of", CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(xor(CASE WHEN f = 0 THEN 1 ELSE 0 END, 0)) AS n0, SUM(xor(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s0, SUM(xor(t0, 0)) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE j WHEN 0 THEN CASE WHEN size <= 6 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 4 THEN 3 ELSE 4 END END ELSE CASE WHEN size <= 12 THEN CASE WHEN size <= 8 THEN 5 ELSE 6 END ELSE CASE WHEN size <= 15 THEN 7 ELSE 8 END END END WHEN 1 THEN CASE WHEN size <= 6 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 4 THEN 3 ELSE 4 END END ELSE CASE WHEN size <= 12 THEN CASE WHEN size <= 8 THEN 5 ELSE 6 END ELSE CASE WHEN size <= 15 THEN 7 ELSE 8 END END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT j, CASE j WHEN 0 THEN t0_0 WHEN 1 THEN t1_0 END AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 15 THEN 15 ELSE COALESCE(t0_0, 0) END AS t0_0, CASE WHEN t1_0 < 0 THEN 0 WHEN t1_0 > 15 THEN 15 ELSE COALESCE(t1_0, 0) END AS t1_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0, CAST(COUNT(CASE WHEN g = 0 THEN "x0" END) AS BIGINT) AS t1_0 FROM (SELECT 0 AS g, "u", "x0" FROM (SELECT "u", "x0" FROM (SELECT "t0"."customer_id" AS "u", "t1"."order_id" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" LEFT JOIN "bounded"."main"."logins" AS "t2" ON "t0"."customer_id" = "t2"."customer_id") AS q) AS q) AS q GROUP BY "u") AS q) AS q CROSS JOIN (SELECT 0 AS j UNION ALL SELECT 1 AS j) AS k) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- engine: SELECT CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."customer_id" AS "u" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" LEFT JOIN "bounded"."main"."logins" AS "t2" ON "t0"."customer_id" = "t2"."customer_id") AS q

-- policy: shop
SELECT COUNT(*), COUNT(o.order_id) FROM customers LEFT JOIN orders o USING (customer_id) JOIN logins l USING (customer_id)
-- unit: customers.customer_id = orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 1
-- a0: count_rows
-- a1: count of text or NULL
-- columns: count_star() integer, count(o.order_id) integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "x0", CAST(SUM(xor("x0", 0)) AS BIGINT) AS "x1" FROM (SELECT "u", CAST(CASE WHEN "x0" IS NULL THEN 0 ELSE 1 END AS TINYINT) AS "x0" FROM (SELECT "t2"."$number" AS "u", "t1"."order_id" AS "x0" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" JOIN "bounded"."main"."logins" AS "t2" ON "t0"."customer_id" = "t2"."customer_id") AS q) AS q GROUP BY "u"

-- policy: shop
SELECT COUNT(*), COUNT(DISTINCT customer_id) FROM orders LEFT JOIN logins USING (customer_id) RIGHT JOIN customers USING (customer_id)
-- unit: customers.customer_id = orders.customer_id = logins.customer_id
-- rows per unit: 15, in one group 15, in groups 1
-- a0: count_rows
-- a1: count_units
-- columns: count_star() integer, count(DISTINCT customer_id) integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(xor(CASE WHEN f = 0 THEN 1 ELSE 0 END, 0)) AS n0, SUM(xor(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s0, SUM(xor(t0, 0)) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 6 THEN CASE WHEN size <= 3 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE 2 END ELSE CASE WHEN size <= 4 THEN 3 ELSE 4 END END ELSE CASE WHEN size <= 12 THEN CASE WHEN size <= 8 THEN 5 ELSE 6 END ELSE CASE WHEN size <= 15 THEN 7 ELSE 8 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 15 THEN 15 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t0"."customer_id" AS "u" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN ("bounded"."main"."orders" AS "t1" LEFT JOIN "bounded"."main"."logins" AS "t2" ON "t1"."customer_id" = "t2"."customer_id") ON "t0"."customer_id" = "t1"."customer_id") AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- engine: SELECT CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t0"."customer_id" AS "u" FROM "bounded"."main"."customers" AS "t0" LEFT JOIN ("bounded"."main"."orders" AS "t1" LEFT JOIN "bounded"."main"."logins" AS "t2" ON "t1"."customer_id" = "t2"."customer_id") ON "t0"."customer_id" = "t1"."customer_id") AS q

-- policy: shop
SELECT day, COUNT(*), COUNT(k.title) FROM orders LEFT JOIN holidays h USING (day) LEFT JOIN (SELECT day, title FROM holidays) k USING (day) WHERE day BETWEEN '2024-02-12' AND '2024-02-14' GROUP BY day
-- unit: orders.customer_id
-- rows per unit: 20, in one group 20, in groups 3
-- k0: date [2023-01-01, 2024-12-31]; 3 values: 2024-02-12, 2024-02-13, 2024-02-14
-- a0: count_rows
-- a1: count of text or NULL
-- columns: day date [2023-01-01, 2024-12-31], count_star() integer, count(k.title) integer
-- engine: SELECT CAST(CASE WHEN "k0" BETWEEN CAST($1 AS DATE) AND CAST($2 AS DATE) THEN ("k0" - CAST($1 AS DATE)) ELSE 3 END AS TINYINT) AS "k0", "u", CAST(CASE WHEN "x0" IS NULL THEN 0 ELSE 1 END AS TINYINT) AS "x0" FROM (SELECT "t0"."day" AS "k0", "t0"."$number" AS "u", "t2"."title" AS "x0" FROM "bounded"."main"."orders" AS "t0" LEFT JOIN "bounded"."main"."holidays" AS "t1" ON "t0"."day" = "t1"."day" LEFT JOIN "bounded"."main"."holidays" AS "t2" ON "t0"."day" = "t2"."day" WHERE ("t0"."day" >= CAST($1 AS DATE)) AND ("t0"."day" <= CAST($2 AS DATE))) AS q ORDER BY "u"
-- values: 2024-02-12, 2024-02-14

-- policy: shop
SELECT COUNT(*) FROM customers LEFT JOIN orders USING (customer_id) LEFT JOIN regions r ON region = code WHERE COALESCE(tax, 1) > 0.1
-- unit: customers.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" LEFT JOIN "bounded"."main"."orders" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" LEFT JOIN "bounded"."main"."regions" AS "t2" ON "t0"."region" = "t2"."code" WHERE (COALESCE("t2"."tax", CAST($1 AS DOUBLE)) > CAST($2 AS DOUBLE))) AS q
-- values: 1.0, 0.1

-- An exclusive end of days and moments: groups behind it cannot be
-- policy: shop
SELECT date_trunc('month', placed) AS month, COUNT(*) FROM orders WHERE placed >= TIMESTAMP '2024-01-01' AND placed < TIMESTAMP '2024-03-01' GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 2
-- k0: timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00]; 2 values: 2024-01-01 00:00:00, 2024-02-01 00:00:00
-- a0: count_rows
-- columns: month timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($2 AS TIMESTAMP)) AND ("t0"."placed" < CAST($3 AS TIMESTAMP))) AS q GROUP BY "k0"
-- values: 'month', 2024-01-01 00:00:00, 2024-03-01 00:00:00

-- policy: shop
SELECT day, COUNT(*) FROM orders WHERE day > '2024-03-05' AND day < '2024-03-08' GROUP BY day
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 2
-- k0: date [2023-01-01, 2024-12-31]; 2 values: 2024-03-06, 2024-03-07
-- a0: count_rows
-- columns: day date [2023-01-01, 2024-12-31], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."day" AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."day" > CAST($1 AS DATE)) AND ("t0"."day" < CAST($2 AS DATE))) AS q GROUP BY "k0"
-- values: 2024-03-05, 2024-03-08

-- policy: shop
SELECT date_trunc('month', day) AS month, COUNT(*) FROM orders WHERE day >= TIMESTAMP '2024-01-31 00:00:01' AND NOT (day >= TIMESTAMP '2024-03-01') GROUP BY 1
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00]; 1 values: 2024-02-01 00:00:00
-- a0: count_rows
-- columns: month timestamp [2023-01-01 00:00:00, 2024-12-01 00:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."day") AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE (CAST("t0"."day" AS TIMESTAMP) >= CAST($2 AS TIMESTAMP)) AND (NOT (CAST("t0"."day" AS TIMESTAMP) >= CAST($3 AS TIMESTAMP)))) AS q GROUP BY "k0"
-- values: 'month', 2024-01-31 00:00:01, 2024-03-01 00:00:00

-- Functions as BigQuery and Snowflake write them
-- policy: shop
-- reference: SELECT AVG(date_diff('day', DATE '2023-01-01', placed)), AVG(date_diff('month', placed, TIMESTAMP '2025-01-01')) FROM orders WHERE date_trunc('month', placed) = '2024-02-01'
SELECT AVG(DATE_DIFF(placed, DATE '2023-01-01', DAY)), AVG(DATEDIFF(month, placed, TIMESTAMP '2025-01-01')) FROM orders WHERE TIMESTAMP_TRUNC(placed, MONTH) = '2024-02-01'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: avg of integer [0, 730]; grid 1 from 396 to 424
-- a1: avg of integer [1, 24]; grid 1 from 11 to 11
-- columns: avg(date_diff('day', CAST('2023-01-01' AS DATE), placed)) real, avg(date_diff('month', placed, CAST('2025-01-01 00:00:00' AS TIMESTAMP))) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(410 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(11 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 396 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 424 ELSE greatest(396, least(424, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($8 AS DOUBLE) THEN 11 WHEN CAST("x1" AS DOUBLE) >= CAST($8 AS DOUBLE) THEN 11 ELSE greatest(11, least(11, CAST(round(CAST("x1" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT date_diff(CAST($1 AS VARCHAR), CAST($2 AS TIMESTAMP), "t0"."placed") AS "x0", date_diff(CAST($6 AS VARCHAR), "t0"."placed", CAST($7 AS TIMESTAMP)) AS "x1" FROM "bounded"."main"."orders" AS "t0" WHERE (date_trunc(CAST($6 AS VARCHAR), "t0"."placed") = CAST($9 AS TIMESTAMP))) AS r) AS q
-- values: 'day', 2023-01-01 00:00:00, 1.0, 396.0, 424.0, 'month', 2025-01-01 00:00:00, 11.0, 2024-02-01 00:00:00

-- policy: shop
-- reference: SELECT SUM(total) / COUNT(*), CASE WHEN COUNT(*) = 0 THEN 0 ELSE SUM(total) / COUNT(*) END, SUM(TRY_CAST(items AS DOUBLE)) FROM orders
SELECT SAFE_DIVIDE(SUM(total), COUNT(*)), DIV0(SUM(total), COUNT(*)), SUM(SAFE_CAST(items AS FLOAT64)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- a1: sum of real [0, 40] or NULL; grid 1 from 0 to 40
-- a2: sum of real [0, 2000]; grid 0.001 from 0 to 2000
-- columns: (sum(total) / count_star()) real or NULL, CASE  WHEN ((count_star() = 0)) THEN (0) ELSE (sum(total) / count_star()) END real or NULL, sum(TRY_CAST(items AS FLOAT64)) real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 40 ELSE greatest(0, least(40, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0", "x1" AS "x1" FROM (SELECT CAST("t0"."items" AS DOUBLE) AS "x0", "t0"."total$grid" AS "x1" FROM "bounded"."main"."orders" AS "t0") AS r) AS q
-- values: 1.0, 0.0, 40.0

-- policy: shop
-- reference: SELECT COUNT(TRY_CAST(note AS BIGINT)) FROM orders
SELECT COUNT(SAFE_CAST(note AS INT64)) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count of integer or NULL
-- columns: count(TRY_CAST(note AS INT64)) integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT CAST(TRY_CAST("t0"."note" AS BIGINT) AS BIGINT) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q

-- The standard's words for LIMIT, and moments as JSON has them
-- policy: shop
SELECT region, COUNT(*) AS n FROM customers GROUP BY region ORDER BY n DESC, region OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 5 values: 'E', 'N', 'S', 'W', 'Ö'
-- a0: count_rows
-- columns: region text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."region" AS "k0" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"

-- policy: shop
-- reference: SELECT COUNT(*) FROM orders WHERE placed >= TIMESTAMP '2024-06-01 12:30:00' AND placed < TIMESTAMP '2024-09-01 00:00:00.5'
SELECT COUNT(*) FROM orders WHERE placed >= '2024-06-01T12:30:00Z' AND placed < TIMESTAMP '2024-09-01T00:00:00.500Z'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" >= CAST($1 AS TIMESTAMP)) AND ("t0"."placed" < CAST($2 AS TIMESTAMP))) AS q
-- values: 2024-06-01 12:30:00, 2024-09-01 00:00:00.500000

-- What the hints for the first row of a person say
-- policy: shop
-- reference: WITH f AS (SELECT customer_id, MIN(placed) AS earliest FROM orders GROUP BY customer_id) SELECT channel, COUNT(*) FROM orders JOIN f USING (customer_id) WHERE placed = earliest GROUP BY channel
WITH f AS (SELECT customer_id, MIN(placed) AS earliest FROM orders GROUP BY customer_id) SELECT channel, COUNT(*) FROM orders JOIN f USING (customer_id) WHERE placed = earliest GROUP BY channel
-- unit: orders.customer_id = orders.customer_id
-- rows per unit: 5, in one group 5, in groups 3
-- k0: text or NULL; 3 values: 'web', 'shop', NULL
-- a0: count_rows
-- columns: channel text or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."channel" AS "k0" FROM "bounded"."main"."orders" AS "t0" JOIN (SELECT "k0", CAST(min("x0") AS TIMESTAMP) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t1"."customer_id" AS "k0", "t1"."placed" AS "x0" FROM "bounded"."main"."orders" AS "t1") AS r) AS r GROUP BY "k0") AS "t2" ON "t0"."placed" = "t2"."v0" AND "t0"."customer_id" = "t2"."k0") AS q GROUP BY "k0"

-- PostgreSQL's texts of days, its mode and the rows of a calendar that the hints name
-- policy: shop
-- reference: SELECT strftime(placed, '%Y-%m') AS month, COUNT(*) AS n FROM orders WHERE placed IS NOT NULL GROUP BY month
SELECT TO_CHAR(placed, 'YYYY-MM') AS month, COUNT(*) AS n FROM orders WHERE placed IS NOT NULL GROUP BY month
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; 24 values: '2023-01', '2023-02', '2023-03', ..., '2024-11', '2024-12'
-- a0: count_rows
-- columns: month text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT strftime("t0"."placed", CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE (NOT ("t0"."placed" IS NULL))) AS q GROUP BY "k0"
-- values: '%Y-%m'

-- policy: shop
-- reference: SELECT mode(channel) FROM orders
SELECT mode() WITHIN GROUP (ORDER BY channel) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: mode of text or NULL
-- columns: "mode"(channel) text or NULL
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT "t0"."channel" AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"

-- policy: shop
SELECT d, COUNT(*) AS n FROM orders CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d) WHERE placed >= d GROUP BY d
-- unit: orders.customer_id
-- rows per unit: 10, in one group 5, in groups 2
-- k0: date [2024-01-01, 2024-02-01]; 2 values: 2024-01-01, 2024-02-01
-- a0: count_rows
-- columns: d date [2024-01-01, 2024-02-01], n integer
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS DATE) THEN 0 WHEN "k0" = CAST($2 AS DATE) THEN 1 ELSE 2 END AS TINYINT) AS "k0", "u" FROM (SELECT "t1"."c0" AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."orders" AS "t0" CROSS JOIN (SELECT CAST($1 AS DATE) AS "c0" UNION ALL SELECT CAST($2 AS DATE) AS "c0") AS "t1" WHERE ("t0"."placed" >= CAST("t1"."c0" AS TIMESTAMP))) AS q ORDER BY "u"
-- values: 2024-01-01, 2024-02-01

-- What the hints for INTERSECT and EXCEPT say
-- policy: shop
SELECT COUNT(*) FROM customers WHERE customer_id IN (SELECT customer_id FROM orders WHERE items > 2) AND customer_id NOT IN (SELECT customer_id FROM orders WHERE items < 2)
-- unit: customers.customer_id = orders.customer_id = orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."customers" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."orders" AS "t1" WHERE ("t1"."items" > CAST($1 AS BIGINT)) AND ("t0"."customer_id" = "t1"."customer_id")) AND (NOT EXISTS (SELECT 1 FROM "bounded"."main"."orders" AS "t2" WHERE ("t2"."items" < CAST($1 AS BIGINT)) AND ("t0"."customer_id" = "t2"."customer_id")))) AS q
-- values: 2

-- Moments of other zones, and aliases that DuckDB 2 takes without AS
-- policy: shop
-- reference: SELECT COUNT(*) FROM orders WHERE placed > TIMESTAMP '2024-03-01 08:00:00'
SELECT COUNT(*) FROM orders WHERE placed > TIMESTAMPTZ '2024-03-01 10:00:00+02'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" > CAST($1 AS TIMESTAMP))) AS q
-- values: 2024-03-01 08:00:00

-- policy: shop
-- reference: SELECT COUNT(*) FROM orders WHERE placed > TIMESTAMP '2024-03-01 08:00:00'
SELECT COUNT(*) FROM orders WHERE placed > TIMESTAMP WITH TIME ZONE '2024-03-01 10:00:00+02:00'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" > CAST($1 AS TIMESTAMP))) AS q
-- values: 2024-03-01 08:00:00

SELECT sex, COUNT(*) views FROM patients year WHERE year.age > 30 GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, views integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 30

SELECT zone.level, COUNT(*) share FROM patients CROSS JOIN (VALUES (30), (60)) zone(level) WHERE age > zone.level GROUP BY zone.level
-- unit: patients.patient_id
-- rows per unit: 2, in one group 1, in groups 2
-- k0: integer [30, 60]; 2 values: 30, 60
-- a0: count_rows
-- columns: level integer [30, 60], share integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c0" AS "k0" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS BIGINT) AS "c0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0") AS "t1" WHERE ("t0"."age" > "t1"."c0")) AS q GROUP BY "k0"
-- values: 30, 60

-- What the hints for UNPIVOT, LATERAL, JSON and other forms of dates say
SELECT u.item, AVG(CASE u.item WHEN 'age' THEN age ELSE 2 * age END) AS a FROM patients CROSS JOIN (VALUES ('age'), ('twice')) AS u(item) GROUP BY u.item
-- unit: patients.patient_id
-- rows per unit: 2, in one group 1, in groups 2
-- k0: text; 2 values: 'age', 'twice'
-- a0: avg of integer [0, 220]; grid 1 from 0 to 220
-- columns: item text, a real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(110 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 220 ELSE greatest(0, least(220, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t1"."c0" AS "k0", CASE WHEN ("t1"."c0" = CAST($1 AS VARCHAR)) THEN "t0"."age" ELSE (CAST($2 AS BIGINT) * "t0"."age") END AS "x0" FROM "bounded"."main"."patients" AS "t0" CROSS JOIN (SELECT CAST($1 AS VARCHAR) AS "c0" UNION ALL SELECT CAST($6 AS VARCHAR) AS "c0") AS "t1") AS r) AS q GROUP BY "k0"
-- values: 'age', 2, 1.0, 0.0, 220.0, 'twice'

SELECT AVG(x) FROM (SELECT age + 1 AS x FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [1, 111]; grid 1 from 1 to 111
-- columns: avg(x) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(56 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 1 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 111 ELSE greatest(1, least(111, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."age" + CAST($1 AS BIGINT)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1, 1.0, 111.0

SELECT COUNT(*) FROM patients WHERE regexp_extract(city, '"key": *"([^"]*)"', 1) = 'a' OR regexp_extract(city, '"key": *([0-9]+)', 1) = '1'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((regexp_extract("t0"."city", CAST($1 AS VARCHAR), CAST(CAST($2 AS BIGINT) AS INTEGER)) = CAST($3 AS VARCHAR)) OR (regexp_extract("t0"."city", CAST($4 AS VARCHAR), CAST(CAST($2 AS BIGINT) AS INTEGER)) = CAST($5 AS VARCHAR)))) AS q
-- values: '"key": *"([^"]*)"', 1, 'a', '"key": *([0-9]+)', '1'

SELECT COUNT(*) FROM patients WHERE make_date(TRY_CAST(right(city, 4) AS INTEGER), TRY_CAST(substr(city, 4, 2) AS INTEGER), TRY_CAST(left(city, 2) AS INTEGER)) IS NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (CASE WHEN CAST(TRY_CAST(right("t0"."city", CAST($1 AS BIGINT)) AS INTEGER) AS BIGINT) BETWEEN 1 AND 9999 AND CAST(TRY_CAST(substr("t0"."city", CAST($1 AS BIGINT), CAST($2 AS BIGINT)) AS INTEGER) AS BIGINT) BETWEEN 1 AND 12 AND CAST(TRY_CAST(left("t0"."city", CAST($2 AS BIGINT)) AS INTEGER) AS BIGINT) BETWEEN 1 AND 31 THEN TRY_CAST(CAST(CAST(TRY_CAST(right("t0"."city", CAST($1 AS BIGINT)) AS INTEGER) AS BIGINT) AS VARCHAR) || '-' || CAST(CAST(TRY_CAST(substr("t0"."city", CAST($1 AS BIGINT), CAST($2 AS BIGINT)) AS INTEGER) AS BIGINT) AS VARCHAR) || '-' || CAST(CAST(TRY_CAST(left("t0"."city", CAST($2 AS BIGINT)) AS INTEGER) AS BIGINT) AS VARCHAR) AS DATE) END IS NULL)) AS q
-- values: 4, 2

-- policy: shop
SELECT year(make_timestamp(1700000000000000 + items * 86400000000)) AS y, COUNT(*) FROM orders WHERE items IS NOT NULL GROUP BY y
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- k0: integer [2023, 2023] or NULL; 1 values: 2023
-- a0: count_rows
-- columns: y integer [2023, 2023], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year(make_timestamp((CAST($1 AS BIGINT) + ("t0"."items" * CAST($2 AS BIGINT))))) AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE (NOT ("t0"."items" IS NULL))) AS q GROUP BY "k0"
-- values: 1700000000000000, 86400000000

-- policy: shop
SELECT COUNT(*) FROM orders WHERE epoch_ms(items * 1000) >= TIMESTAMP '1970-01-01 00:00:10'
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (make_timestamp((("t0"."items" * CAST($1 AS BIGINT)) * 1000)) >= CAST($2 AS TIMESTAMP))) AS q
-- values: 1000, 1970-01-01 00:00:10

-- policy: shop
SELECT COUNT(*) FROM logins WHERE make_timestamp(seconds) IS NULL
-- unit: logins.customer_id
-- rows per unit: 3, in one group 3, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."logins" AS "t0" WHERE (make_timestamp("t0"."seconds") IS NULL)) AS q

-- policy: shop
SELECT date_trunc('hour', placed) AS h, COUNT(*) FROM orders WHERE placed::DATE = DATE '2024-07-04' GROUP BY h
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: timestamp [2023-01-01 00:00:00, 2024-12-31 23:00:00]; 24 values: 2024-07-04 00:00:00, 2024-07-04 01:00:00, 2024-07-04 02:00:00, ..., 2024-07-04 22:00:00, 2024-07-04 23:00:00
-- a0: count_rows
-- columns: h timestamp [2023-01-01 00:00:00, 2024-12-31 23:00:00], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT date_trunc(CAST($1 AS VARCHAR), "t0"."placed") AS "k0" FROM "bounded"."main"."orders" AS "t0" WHERE (CAST("t0"."placed" AS DATE) = CAST($2 AS DATE))) AS q GROUP BY "k0"
-- values: 'hour', 2024-07-04

-- policy: shop
SELECT date_trunc('day', placed) AS day, minute(placed) // 15 AS quarter, COUNT(*) FROM orders WHERE placed < TIMESTAMP '2023-01-08' GROUP BY date_trunc('day', placed), minute(placed) // 15
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [0, 3]; 4 values: 0, 1, 2, 3
-- k1: timestamp [2023-01-01 00:00:00, 2024-12-31 00:00:00]; 7 values: 2023-01-01 00:00:00, 2023-01-02 00:00:00, 2023-01-03 00:00:00, ..., 2023-01-06 00:00:00, 2023-01-07 00:00:00
-- a0: count_rows
-- columns: day timestamp [2023-01-01 00:00:00, 2024-12-31 00:00:00], quarter integer [0, 3], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (minute("t0"."placed") // CAST($1 AS BIGINT)) AS "k0", date_trunc(CAST($2 AS VARCHAR), "t0"."placed") AS "k1" FROM "bounded"."main"."orders" AS "t0" WHERE ("t0"."placed" < CAST($3 AS TIMESTAMP))) AS q GROUP BY "k0", "k1"
-- values: 15, 'day', 2023-01-08 00:00:00

-- policy: census
SELECT trade = 'a' AS k, COUNT(*) FROM people WHERE CASE WHEN trade = 'a' THEN length(trade) % 5 ELSE 0 END = 2 GROUP BY trade = 'a'
-- unit: people.person_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: k boolean or NULL, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ("t0"."trade" = CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."people" AS "t0" WHERE (CASE WHEN ("t0"."trade" = CAST($1 AS VARCHAR)) THEN (length("t0"."trade") % CAST($2 AS BIGINT)) ELSE CAST($3 AS BIGINT) END = CAST($4 AS BIGINT))) AS q GROUP BY "k0"
-- values: 'a', 5, 0, 2

SELECT year(visited_on) AS y, COUNT(*) AS n FROM visits WHERE y = 2024 GROUP BY y
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: integer [2020, 2025]; 1 values: 2024
-- a0: count_rows
-- columns: y integer [2020, 2025], n integer
-- engine: SELECT CAST(CASE WHEN "k0" = CAST($1 AS BIGINT) THEN 0 ELSE 1 END AS TINYINT) AS "k0", "u" FROM (SELECT year("t0"."visited_on") AS "k0", "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (year("t0"."visited_on") = CAST($1 AS BIGINT))) AS q
-- values: 2024

SELECT ever, COUNT(*) AS n FROM (SELECT patient_id, BOOL_OR(cost > 100) AS ever, BOOL_AND(cost > 10) AS each FROM visits GROUP BY patient_id) WHERE each GROUP BY ever
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: ever boolean, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."v0" AS "k0" FROM (SELECT "k0", max("x0") AS "v0", min("x1") AS "v1" FROM (SELECT "k0", "x0" AS "x0", "x1" AS "x1" FROM (SELECT "t0"."patient_id" AS "k0", ("t0"."cost" > CAST($1 AS DOUBLE)) AS "x0", ("t0"."cost" > CAST($2 AS DOUBLE)) AS "x1" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE "t1"."v1") AS q GROUP BY "k0"
-- values: 100.0, 10.0

SELECT CAST(round(AVG(cost), 1) AS VARCHAR) || ' euro' AS mean FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: mean text or NULL
-- engine: SELECT CAST(COALESCE(SUM("cost$sum"), 0) - CAST(40000 AS HUGEINT) * COALESCE(SUM("cost$count"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("cost$count"), 0) AS BIGINT) AS "m1" FROM "bounded"."main"."visits$ranks" AS t

-- Sub-queries that read no rows are their values
SELECT (SELECT 1), EXISTS (SELECT 1), NOT EXISTS (SELECT 1), 2 IN (SELECT 1), 2 NOT IN (SELECT 1)
-- unit: none, the tables are public
-- columns: (SELECT 1) integer [1, 1], EXISTS(SELECT 1) boolean, (NOT EXISTS(SELECT 1)) boolean, (2 = ANY(SELECT 1)) boolean, (NOT (2 = ANY(SELECT 1))) boolean
-- engine: SELECT CAST($1 AS BIGINT) AS "c0", CAST($2 AS BOOLEAN) AS "c1", CAST($3 AS BOOLEAN) AS "c2", (CAST($4 AS BIGINT) IN (CAST($1 AS BIGINT))) AS "c3", (NOT (CAST($4 AS BIGINT) IN (CAST($1 AS BIGINT)))) AS "c4" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0"
-- values: 1, True, False, 2

SELECT (SELECT x FROM (SELECT 1 AS x) AS t) AS x
-- unit: none, the tables are public
-- columns: x integer [1, 1]
-- engine: SELECT CAST($1 AS BIGINT) AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0") AS "t0"
-- values: 1
-- engine: SELECT "t0"."k0" AS "c0", "t0"."row" AS "c1" FROM "answer 0 of dpsql" AS "t0" ORDER BY "t0"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST
-- columns: x integer

SELECT COUNT(*) AS n FROM patients WHERE age > (SELECT 40) AND EXISTS (SELECT 1)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND CAST($2 AS BOOLEAN)) AS q
-- values: 40, True

VALUES (1, 'a'), (2, 'b')
-- unit: none, the tables are public
-- columns: col0 integer [1, 2], col1 text
-- engine: SELECT "t0"."c0" AS "c0", "t0"."c1" AS "c1" FROM (SELECT CAST($1 AS BIGINT) AS "c0", CAST($2 AS VARCHAR) AS "c1" UNION ALL SELECT CAST($3 AS BIGINT) AS "c0", CAST($4 AS VARCHAR) AS "c1") AS "t0"
-- values: 1, 'a', 2, 'b'

WITH t AS (VALUES (1), (2)) SELECT SUM(col0) AS total FROM t
-- unit: none, the tables are public
-- columns: total integer or NULL
-- engine: SELECT TRY_CAST(SUM("t0"."c0") AS BIGINT) AS "c0" FROM (SELECT CAST($1 AS BIGINT) AS "c0" UNION ALL SELECT CAST($2 AS BIGINT) AS "c0") AS "t0"
-- values: 1, 2

SELECT COUNT(*) FROM patients WHERE age > (SELECT (SELECT COUNT(*) FROM visits) / (SELECT COUNT(*) FROM patients))
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COALESCE(SUM("$rows"), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (CAST("t0"."age" AS DOUBLE) > CASE WHEN abs(CAST(CAST($2 AS BIGINT) AS DOUBLE)) >= 1e-60 THEN (CAST(CAST($1 AS BIGINT) AS DOUBLE) / CAST(CAST($2 AS BIGINT) AS DOUBLE)) END)) AS q
-- values: (the integer that is released first), (the integer that is released first)

-- policy: shop
SELECT AVG(n) AS a FROM (SELECT customer_id, COUNT(DISTINCT CASE WHEN items > 3 THEN order_id END) FILTER (WHERE express) AS n FROM orders GROUP BY customer_id) AS c
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 5]; grid 1 from 0 to 5
-- columns: a real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."customer_id" AS "k0", CASE WHEN ("t0"."express" AND ("t0"."items" > CAST($1 AS BIGINT))) THEN "t0"."order_id" END AS "x0" FROM "bounded"."main"."orders" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q
-- values: 3

-- policy: shop
SELECT SUM(n) AS s FROM (SELECT customer_id, COUNT(CASE WHEN items > 3 THEN CASE WHEN express THEN customer_id END END) AS n FROM orders GROUP BY customer_id) AS c
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 5]; grid 1 from 0 to 5
-- columns: s integer
-- engine: SELECT "u", CAST(CASE WHEN "x0" IS NULL THEN 0 ELSE 1 END AS TINYINT) AS "x0" FROM (SELECT "t0"."$number" AS "u", CASE WHEN (("t0"."items" > CAST($1 AS BIGINT)) AND "t0"."express") THEN "t0"."customer_id" END AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q
-- values: 3

-- Values of ? come in the order in which their marks are written, though FROM stands first
-- parameters: [60, 80]
FROM (SELECT * FROM patients WHERE age > ?) SELECT COUNT(*) FILTER (WHERE weight > ?) AS heavy, COUNT(*) AS n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: heavy integer, n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."weight" > CAST($1 AS DOUBLE)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($3 AS BIGINT))) AS q
-- values: 80.0, 1, 60

-- parameters: ["a", 3, "F"]
SELECT COUNT(*) FROM patients WHERE position(? IN city) > ? AND trim(? FROM sex) = ''
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (strpos("t0"."city", CAST($1 AS VARCHAR)) > CAST($2 AS BIGINT)) AND (trim("t0"."sex", CAST($3 AS VARCHAR)) = CAST($4 AS VARCHAR))) AS q
-- values: 'a', 3, 'F', ''

-- The standard's words in calls
SELECT substring(sex FROM 1 FOR 1) AS s, position('M' IN sex) AS p, trim(BOTH 'X' FROM sex) AS t, COUNT(*) FROM patients GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [0, 4294967296]; 2 values: 0, 1
-- k1: text; 3 values: 'F', 'M', 'X'
-- k2: text; 3 values: '', 'F', 'M'
-- a0: count_rows
-- columns: s text, p integer [0, 4294967296], t text, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT strpos("t0"."sex", CAST($1 AS VARCHAR)) AS "k0", substring("t0"."sex", CAST($2 AS BIGINT), CAST($2 AS BIGINT)) AS "k1", trim("t0"."sex", CAST($3 AS VARCHAR)) AS "k2" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1", "k2"
-- values: 'M', 1, 'X'

-- policy: shop
SELECT position('a' IN status), trim(LEADING 'p' FROM status), substring(status FOR 2), COUNT(*) FROM orders GROUP BY 1, 2, 3
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: text; 4 values: 'aid', 'open', 'returned', 'sent'
-- k1: integer [0, 4294967296]; 2 values: 0, 2
-- k2: text; 4 values: 'op', 'pa', 're', 'se'
-- a0: count_rows
-- columns: "position"(status, 'a') integer [0, 4294967296], ltrim(status, 'p') text, "substring"(status, 1, 2) text, count_star() integer
-- engine: SELECT "k0", "k1", "k2", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ltrim("t0"."status", CAST($1 AS VARCHAR)) AS "k0", strpos("t0"."status", CAST($2 AS VARCHAR)) AS "k1", substring("t0"."status", CAST($3 AS BIGINT), CAST($4 AS BIGINT)) AS "k2" FROM "bounded"."main"."orders" AS "t0") AS q GROUP BY "k0", "k1", "k2"
-- values: 'p', 'a', 1, 2

-- A unit or a key of a row that is there is not NULL, as cautious statements and dashboards say
SELECT COUNT(*) FROM patients WHERE patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 5000 AND patient_id IS NOT NULL)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."patient_id" = "t1"."patient_id")))) AS q
-- values: 5000.0

SELECT COUNT(DISTINCT CASE WHEN patient_id IS NOT NULL AND age > 60 THEN patient_id END) AS old, COUNT(*) FILTER (WHERE patient_id IS NOT NULL) AS n FROM patients WHERE patient_id IS NOT NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count_distinct of text or NULL
-- columns: old integer, n integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x1") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN (NOT ("t0"."patient_id" IS NULL)) THEN CAST($1 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ((NOT ("t0"."patient_id" IS NULL)) AND ("t0"."age" > CAST($2 AS BIGINT))) THEN "t0"."patient_id" END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 1, 60

SELECT p.sex, COUNT(v.visit_id) AS n FROM patients p LEFT JOIN visits v USING (patient_id) WHERE p.patient_id IS NOT NULL AND v.visit_id IS NOT NULL GROUP BY p.sex
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count of text or NULL
-- columns: sex text, n integer
-- engine: SELECT "k0", "bin", "units", "signs", "total" FROM (SELECT CAST(CASE g WHEN 0 THEN CAST($1 AS VARCHAR) WHEN 1 THEN CAST($2 AS VARCHAR) WHEN 2 THEN CAST($3 AS VARCHAR) WHEN 3 THEN CAST(NULL AS VARCHAR) END AS VARCHAR) AS "k0", CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 WHEN 1 THEN s1 WHEN 2 THEN s2 WHEN 3 THEN s3 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 WHEN 1 THEN x1 WHEN 2 THEN x2 WHEN 3 THEN x3 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(xor(CASE WHEN f = 0 THEN 1 ELSE 0 END, 0)) AS n0, SUM(xor(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s0, SUM(xor(t0, 0)) AS x0, SUM(xor(CASE WHEN f = 1 THEN 1 ELSE 0 END, 0)) AS n1, SUM(xor(CASE WHEN f = 1 THEN CASE WHEN t1 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s1, SUM(xor(t1, 0)) AS x1, SUM(xor(CASE WHEN f = 2 THEN 1 ELSE 0 END, 0)) AS n2, SUM(xor(CASE WHEN f = 2 THEN CASE WHEN t2 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s2, SUM(xor(t2, 0)) AS x2, SUM(xor(CASE WHEN f = 3 THEN 1 ELSE 0 END, 0)) AS n3, SUM(xor(CASE WHEN f = 3 THEN CASE WHEN t3 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END, 0)) AS s3, SUM(xor(t3, 0)) AS x3 FROM (SELECT j, bin, t0, t1, t2, t3, CASE WHEN t0 <> 0 THEN 0 WHEN t1 <> 0 THEN 1 WHEN t2 <> 0 THEN 2 WHEN t3 <> 0 THEN 3 END AS f FROM (SELECT j, t0, t1, t2, t3, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, t1, t2, t3, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END + CASE WHEN t1 < 0 THEN 0 - t1 ELSE t1 END + CASE WHEN t2 < 0 THEN 0 - t2 ELSE t2 END + CASE WHEN t3 < 0 THEN 0 - t3 ELSE t3 END AS size FROM (SELECT 0 AS j, t0_0 AS t0, t0_1 AS t1, t0_2 AS t2, t0_3 AS t3 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0, CASE WHEN t0_1 < 0 THEN 0 WHEN t0_1 > 12 THEN 12 ELSE COALESCE(t0_1, 0) END AS t0_1, CASE WHEN t0_2 < 0 THEN 0 WHEN t0_2 > 12 THEN 12 ELSE COALESCE(t0_2, 0) END AS t0_2, CASE WHEN t0_3 < 0 THEN 0 WHEN t0_3 > 12 THEN 12 ELSE COALESCE(t0_3, 0) END AS t0_3 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN "x0" END) AS BIGINT) AS t0_0, CAST(COUNT(CASE WHEN g = 1 THEN "x0" END) AS BIGINT) AS t0_1, CAST(COUNT(CASE WHEN g = 2 THEN "x0" END) AS BIGINT) AS t0_2, CAST(COUNT(CASE WHEN g = 3 THEN "x0" END) AS BIGINT) AS t0_3 FROM (SELECT (0) * 4 + "k0" AS g, "u", "x0" FROM (SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", "u", "x0" FROM (SELECT "t0"."sex" AS "k0", "t0"."patient_id" AS "u", "t1"."visit_id" AS "x0" FROM "bounded"."main"."patients" AS "t0" LEFT JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id" WHERE (NOT ("t1"."visit_id" IS NULL))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g UNION ALL SELECT 1 AS g UNION ALL SELECT 2 AS g UNION ALL SELECT 3 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 'F', 'M', 'X'

-- MATERIALIZED is about how, not what
-- reference: WITH a AS MATERIALIZED (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS NOT MATERIALIZED (SELECT n FROM a) SELECT SUM(n) AS n FROM b
WITH a AS MATERIALIZED (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS NOT MATERIALIZED (SELECT n FROM a) SELECT SUM(n) AS n FROM b
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: n integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- The values of a public table or of an answer, each once
SELECT DISTINCT state FROM cities ORDER BY state DESC LIMIT 3
-- unit: none, the tables are public
-- columns: state text
-- engine: SELECT "t0"."state" AS "c0" FROM "bounded"."main"."cities" AS "t0" GROUP BY "t0"."state" ORDER BY "t0"."state" DESC NULLS LAST, "t0"."state" ASC NULLS LAST LIMIT 3

SELECT DISTINCT state, population > 100000 AS big FROM cities WHERE population > 1000000
-- unit: none, the tables are public
-- columns: state text, big boolean
-- engine: SELECT "t0"."state" AS "c0", ("t0"."population" > CAST($2 AS BIGINT)) AS "c1" FROM "bounded"."main"."cities" AS "t0" WHERE ("t0"."population" > CAST($1 AS BIGINT)) GROUP BY "t0"."state", ("t0"."population" > CAST($2 AS BIGINT)) ORDER BY "t0"."state" ASC NULLS LAST, ("t0"."population" > CAST($2 AS BIGINT)) ASC NULLS LAST
-- values: 1000000, 100000

-- reference: WITH a AS (SELECT city, sex, COUNT(*) AS n FROM patients GROUP BY ALL), b AS (SELECT DISTINCT sex FROM a WHERE n > 0) SELECT COUNT(*) AS sexes FROM b
WITH a AS (SELECT city, sex, COUNT(*) AS n FROM patients GROUP BY ALL), b AS (SELECT DISTINCT sex FROM a WHERE n > 0) SELECT COUNT(*) AS sexes FROM b
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sexes integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- Parentheses around a list
SELECT (QUANTILE_DISC(age, [0.25, 0.5]))[2] AS middle FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_disc of integer [0, 110]; grid 1 from 0 to 110
-- columns: middle integer
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

-- policy: shop
-- reference: SELECT COUNT(*) FROM orders WHERE date_diff('day', day, DATE '2024-06-01') > 5
SELECT COUNT(*) FROM orders WHERE DATE_DIFF(CAST('2024-06-01' AS DATE), day, DAY) > 5
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" WHERE (date_diff(CAST($1 AS VARCHAR), "t0"."day", CAST($2 AS DATE)) > CAST($3 AS BIGINT))) AS q
-- values: 'day', 2024-06-01, 5

-- No row equals the empty text, which tools compare with, where it is none of the declared values
SELECT COUNT(*) FROM patients WHERE sex = ''
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" = CAST($1 AS VARCHAR))) AS q
-- values: ''

SELECT COUNT(*) FROM patients WHERE sex IN ('', 'F') OR sex IS NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))) OR ("t0"."sex" IS NULL))) AS q
-- values: '', 'F'

SELECT sex, COUNT(*) FROM patients WHERE sex <> '' GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" <> CAST($1 AS VARCHAR))) AS q GROUP BY "k0"
-- values: ''

SELECT CASE sex WHEN '' THEN 'none' ELSE sex END AS s, COUNT(*) FROM patients WHERE consent NOT IN ('', 'strict') GROUP BY s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: s text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS VARCHAR) ELSE "t0"."sex" END AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."consent" IN (CAST($1 AS VARCHAR), CAST($3 AS VARCHAR))))) AS q GROUP BY "k0"
-- values: '', 'none', 'strict'

-- Tuples: NULL equals NULL in them
SELECT COUNT(*) FROM patients WHERE (sex, consent) IN (('F', 'strict'), ('M', NULL))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (((((NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($1 AS VARCHAR))) AND (NOT ("t0"."consent" IS NULL))) AND ("t0"."consent" = CAST($2 AS VARCHAR))) OR (((NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($3 AS VARCHAR))) AND (NOT ("t0"."consent" IS DISTINCT FROM CAST(NULL AS VARCHAR)))))) AS q
-- values: 'F', 'strict', 'M'

SELECT sex, consent, COUNT(*) FROM patients WHERE (sex, consent) IN (('F', 'strict'), ('M', 'normal')) GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'normal', 'strict'
-- k1: text; 2 values: 'F', 'M'
-- a0: count_rows
-- columns: sex text, consent text, count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0" WHERE (((((NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($1 AS VARCHAR))) AND (NOT ("t0"."consent" IS NULL))) AND ("t0"."consent" = CAST($2 AS VARCHAR))) OR ((((NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($3 AS VARCHAR))) AND (NOT ("t0"."consent" IS NULL))) AND ("t0"."consent" = CAST($4 AS VARCHAR))))) AS q GROUP BY "k0", "k1"
-- values: 'F', 'strict', 'M', 'normal'

SELECT COUNT(*) FROM patients WHERE (age, sex) NOT IN ((30, 'F'), (NULL, 'M')) AND (age, weight) <> (weight, age)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT (((((NOT ("t0"."age" IS NULL)) AND ("t0"."age" = CAST($1 AS BIGINT))) AND (NOT ("t0"."sex" IS NULL))) AND ("t0"."sex" = CAST($2 AS VARCHAR))) OR (((NOT ("t0"."age" IS DISTINCT FROM CAST(NULL AS BIGINT))) AND (NOT ("t0"."sex" IS NULL))) AND ("t0"."sex" = CAST($3 AS VARCHAR))))) AND (NOT ((NOT (CAST("t0"."age" AS DOUBLE) IS DISTINCT FROM "t0"."weight")) AND (NOT ("t0"."weight" IS DISTINCT FROM CAST("t0"."age" AS DOUBLE)))))) AS q
-- values: 30, 'F', 'M'

SELECT (sex, consent) = ('F', 'strict'), COUNT(*) FROM patients GROUP BY 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: ("row"(sex, consent) = "row"('F', 'strict')) boolean, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT ((((NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($1 AS VARCHAR))) AND (NOT ("t0"."consent" IS NULL))) AND ("t0"."consent" = CAST($2 AS VARCHAR))) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: 'F', 'strict'

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex HAVING (sex, n > 5) IN (('F', TRUE), ('M', FALSE))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT COUNT(*) FROM patients WHERE (age, sex) = (1, 'F')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."age" IS NULL)) AND ("t0"."age" = CAST($1 AS BIGINT)) AND (NOT ("t0"."sex" IS NULL)) AND ("t0"."sex" = CAST($2 AS VARCHAR))) AS q
-- values: 1, 'F'

-- Whole numbers stay whole
SELECT SUM(round(age, -1)) AS tens, SUM(trunc(age, -1)) AS floors, SUM(round(age, 2)) AS ages FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: sum of integer [0, 110]; grid 10 from 0 to 110
-- a1: sum of integer [0, 110]; grid 10 from 0 to 110
-- a2: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: tens integer, floors integer, ages integer
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x2"), 0) AS HUGEINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 11 ELSE greatest(0, least(11, CAST(round(CAST("x0" AS DOUBLE) / CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($5 AS DOUBLE) THEN 11 ELSE greatest(0, least(11, CAST(round(CAST("x1" AS DOUBLE) / CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2" FROM (SELECT ((("t0"."age" + CAST($1 AS BIGINT)) // CAST($2 AS BIGINT)) * CAST($2 AS BIGINT)) AS "x0", (("t0"."age" // CAST($2 AS BIGINT)) * CAST($2 AS BIGINT)) AS "x1", "t0"."age" AS "x2" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 5, 10, 10.0, 0.0, 110.0

SELECT round(age - 40, -1) AS around, COUNT(*) FROM patients WHERE age BETWEEN 5 AND 74 GROUP BY around
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [-40, 70]; 8 values: -40, -30, -20, ..., 20, 30
-- a0: count_rows
-- columns: around integer [-40, 70], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT CASE WHEN (("t0"."age" - CAST($1 AS BIGINT)) < CAST($2 AS BIGINT)) THEN (((("t0"."age" - CAST($1 AS BIGINT)) - CAST($3 AS BIGINT)) // CAST($4 AS BIGINT)) * CAST($4 AS BIGINT)) ELSE (((("t0"."age" - CAST($1 AS BIGINT)) + CAST($3 AS BIGINT)) // CAST($4 AS BIGINT)) * CAST($4 AS BIGINT)) END AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($3 AS BIGINT)) AND ("t0"."age" <= CAST($5 AS BIGINT))) AS q GROUP BY "k0"
-- values: 40, 0, 5, 10, 74

SELECT round(COUNT(*), -2) AS hundreds, trunc(-COUNT(*), -1) AS tens, round(COUNT(*), 1) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: hundreds integer, tens integer, round(count_star(), 1) integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0") AS q

-- Of NULL nothing can be too large
SELECT COUNT(*) * NULL AS n, -NULL AS m, COALESCE(AVG(age) + NULL, 0.5) AS mean FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: n integer or NULL, m integer or NULL, mean real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT COUNT(*) FROM patients WHERE age + NULL > 3 OR exp(age * NULL) IS NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((CAST(NULL AS BIGINT) > CAST($1 AS BIGINT)) OR (CAST(NULL AS BIGINT) IS NULL))) AS q
-- values: 3

-- Windows with names
-- reference: SELECT sex, SUM(COUNT(*)) OVER (ORDER BY sex) AS so_far, RANK() OVER (ORDER BY sex) FROM patients WHERE sex IS NOT NULL GROUP BY sex
SELECT sex, SUM(COUNT(*)) OVER w AS so_far, RANK() OVER (ORDER BY sex) FROM patients GROUP BY sex WINDOW w AS (ORDER BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, so_far integer [-1.15292150461e+18, 1.15292150461e+18] or NULL, rank() OVER (ORDER BY sex) integer [1, 1099511627776]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, consent, round(SUM(n) OVER (PARTITION BY sex ORDER BY consent ROWS 1 PRECEDING), 1) AS two, n - AVG(n) OVER (PARTITION BY sex) AS more FROM (SELECT sex, consent, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL AND consent IS NOT NULL GROUP BY ALL)
SELECT sex, consent, round(SUM(COUNT(*)) OVER (V ROWS 1 PRECEDING), 1) AS two, COUNT(*) - AVG(COUNT(*)) OVER w AS more FROM patients GROUP BY ALL HAVING COUNT(*) > 0 WINDOW w AS (PARTITION BY sex), v AS (w ORDER BY consent)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, consent text, two integer [-1.15292150461e+18, 1.15292150461e+18] or NULL, more real or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: SELECT sex, r FROM (SELECT sex, RANK() OVER (ORDER BY COUNT(*)) AS r FROM patients WHERE sex IS NOT NULL GROUP BY sex) WHERE r < 3
SELECT sex, RANK() OVER w AS r FROM patients GROUP BY sex WINDOW w AS (ORDER BY COUNT(*)) QUALIFY RANK() OVER w < 3
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, r integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT city, s FROM (SELECT city, SUM(n) OVER (ORDER BY city) AS s FROM (SELECT city, COUNT(*) AS n FROM patients WHERE city IS NOT NULL GROUP BY city)) WHERE s > 9
SELECT city, s FROM (FROM (SELECT city, COUNT(*) AS n FROM patients GROUP BY city) SELECT city, SUM(n) OVER w AS s WINDOW w AS (ORDER BY city)) WHERE s > 9
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 827 values: 'Abilene, TX', 'Akron, OH', 'Alafaya, FL', ..., 'Yucaipa, CA', 'Yuma, AZ'
-- a0: count_rows
-- columns: city text, s integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."city" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Other words for the same
-- reference: SELECT BOOL_AND(age > 3) AS all_of, SUM(COALESCE(age, 0)) AS s, SUM(if(sex = 'F', 1, 0)) AS women FROM patients
SELECT EVERY(age > 3) AS all_of, SUM(NVL(age, 0)) AS s, SUM(IFF(sex = 'F', 1, 0)) AS women FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: sum of integer [0, 1]; grid 1 from 0 to 1
-- a2: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: all_of boolean, s integer, women integer
-- engine: SELECT CAST(COUNT("x2") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) AS HUGEINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x1" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x1", "x2" AS "x2" FROM (SELECT CASE WHEN ("t0"."sex" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST($3 AS BIGINT) END AS "x0", COALESCE("t0"."age", CAST($3 AS BIGINT)) AS "x1", CASE WHEN (NOT ("t0"."age" > CAST($7 AS BIGINT))) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x2" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 'F', 1, 0, 1.0, 0.0, 110.0, 3

SELECT COUNT(*) FROM patients WHERE (age > 30) IS UNKNOWN OR (weight > 1_00.5) IS NOT UNKNOWN
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((("t0"."age" > CAST($1 AS BIGINT)) IS NULL) OR (NOT (("t0"."weight" > CAST($2 AS DOUBLE)) IS NULL)))) AS q
-- values: 30, 100.5

SELECT sex[1] AS s, COUNT(*) AS n FROM patients WHERE city[2] <> 'b' GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: s text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT substr("t0"."sex", CAST($1 AS BIGINT), CAST($1 AS BIGINT)) AS "k0" FROM "bounded"."main"."patients" AS "t0" WHERE (substr("t0"."city", CAST($2 AS BIGINT), CAST($1 AS BIGINT)) <> CAST($3 AS VARCHAR))) AS q GROUP BY "k0"
-- values: 1, 2, 'b'

-- Spreads and medians of answers
-- reference: SELECT STDDEV(n) AS sd, VAR_POP(n) AS v, MEDIAN(n) AS middle, MEAN(n) AS mean, COUNT_IF(n > 3) FILTER (WHERE sex <> 'X') AS several FROM (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY ALL)
SELECT STDDEV(n) AS sd, VAR_POP(n) AS v, MEDIAN(n) AS middle, MEAN(n) AS mean, COUNT_IF(n > 3) FILTER (WHERE sex <> 'X') AS several FROM (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY ALL)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sd real or NULL, v real or NULL, middle real or NULL, mean real or NULL, several integer or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: SELECT sex, MEDIAN(n) FILTER (WHERE consent = 'strict') AS m, STDDEV_POP(mean) AS s FROM (SELECT sex, consent, COUNT(*) AS n, AVG(age) AS mean FROM patients GROUP BY ALL) GROUP BY sex HAVING VAR_SAMP(n) >= 0 ORDER BY MEDIAN(n)
SELECT sex, MEDIAN(n) FILTER (WHERE consent = 'strict') AS m, STDDEV_POP(mean) AS s FROM (SELECT sex, consent, COUNT(*) AS n, AVG(age) AS mean FROM patients GROUP BY ALL) GROUP BY sex HAVING VAR_SAMP(n) >= 0 ORDER BY MEDIAN(n)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, m real or NULL, s real or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, (n - (SELECT AVG(n) FROM a)) / (SELECT STDDEV(n) FROM a) AS z FROM a
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT sex, (n - (SELECT AVG(n) FROM a)) / (SELECT STDDEV(n) FROM a) AS z FROM a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, z real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT state, MEDIAN(population) AS middle, floor(STDDEV(population)) AS sd FROM cities GROUP BY state ORDER BY state
-- unit: none, the tables are public
-- columns: state text, middle real or NULL, sd real or NULL
-- engine: SELECT "t0"."state" AS "c0", MEDIAN(CASE WHEN abs(CAST("t0"."population" AS DOUBLE)) <= 1e140 THEN CAST("t0"."population" AS DOUBLE) END) AS "c1", floor(STDDEV_SAMP(CASE WHEN abs(CAST("t0"."population" AS DOUBLE)) <= 1e140 THEN CAST("t0"."population" AS DOUBLE) END)) AS "c2" FROM "bounded"."main"."cities" AS "t0" GROUP BY "t0"."state" ORDER BY "t0"."state" ASC NULLS LAST, "t0"."state" ASC NULLS LAST

-- reference: WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON sex IN ('F') USING MEDIAN(n) GROUP BY consent
WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON sex IN ('F') USING MEDIAN(n) GROUP BY consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, F real or NULL
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

SELECT state, floor(STDDEV(population)) FROM cities GROUP BY state
-- unit: none, the tables are public
-- columns: state text, floor(stddev(population)) real or NULL
-- engine: SELECT "t0"."state" AS "c0", floor(STDDEV_SAMP(CASE WHEN abs(CAST("t0"."population" AS DOUBLE)) <= 1e140 THEN CAST("t0"."population" AS DOUBLE) END)) AS "c1" FROM "bounded"."main"."cities" AS "t0" GROUP BY "t0"."state" ORDER BY "t0"."state" ASC NULLS LAST

-- reference: SELECT COUNT_IF(n > 100) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
SELECT COUNT_IF(n > 100) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: count_if((n > 100)) integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT median(n) FROM (SELECT year(visited_on) AS y, COUNT(*) AS n FROM visits GROUP BY y)
SELECT median(n) FROM (SELECT year(visited_on) AS y, COUNT(*) AS n FROM visits GROUP BY y)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: median(n) real or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT year("t0"."visited_on") AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"

-- Windows over the rows of one unit stand in sub-queries
SELECT COUNT(*), SUM(cost) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) AS r FROM visits) WHERE r = 1
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: count_star() integer, sum("cost") real
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."c0" AS "x0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", ROW_NUMBER() OVER (PARTITION BY "t1"."c3" ORDER BY "t1"."c1" ASC NULLS LAST, "t1"."c2" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."cost" AS "c0", "t0"."visited_on" AS "c1", "t0"."visit_id" AS "c2", "t0"."patient_id" AS "c3", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" = CAST($4 AS BIGINT))) AS r) AS q
-- values: 100.0, 0.0, 20000.0, 1

SELECT r, COUNT(*) FROM (SELECT visit_id, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id DESC) AS r FROM visits WHERE cost > 100) WHERE r <= 3 GROUP BY r
-- unit: visits.patient_id
-- rows per unit: 3, in one group 3, in groups 3
-- k0: integer [1, 12]; 3 values: 1, 2, 3
-- a0: count_rows
-- columns: r integer [1, 12], count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t2"."w0" AS "k0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", ROW_NUMBER() OVER (PARTITION BY "t1"."c1" ORDER BY "t1"."c0" DESC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."visit_id" AS "c0", "t0"."patient_id" AS "c1", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($1 AS DOUBLE))) AS "t1") AS "t2" WHERE ("t2"."w0" <= CAST($2 AS BIGINT))) AS q GROUP BY "k0"
-- values: 100.0, 3

SELECT COUNT(*) FROM (SELECT date_diff('day', LAG(visited_on) OVER w, visited_on) AS gap FROM visits WHERE visited_on IS NOT NULL WINDOW w AS (PARTITION BY patient_id ORDER BY visited_on, visit_id)) WHERE gap <= 30
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t2"."c2" AS "u" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", LAG("t1"."c0") OVER (PARTITION BY "t1"."c2" ORDER BY "t1"."c0" ASC NULLS LAST, "t1"."c1" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."visited_on" AS "c0", "t0"."visit_id" AS "c1", "t0"."patient_id" AS "c2", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0" WHERE (NOT ("t0"."visited_on" IS NULL))) AS "t1") AS "t2" WHERE (date_diff(CAST($1 AS VARCHAR), "t2"."w0", "t2"."c0") <= CAST($2 AS BIGINT))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 'day', 30

SELECT sex, COUNT(DISTINCT patient_id) FROM (SELECT patient_id, cost, LEAD(cost, 1, 0) OVER (PARTITION BY patient_id ORDER BY visit_id) AS next FROM visits) JOIN patients USING (patient_id) WHERE next > cost GROUP BY sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_units
-- columns: sex text, count(DISTINCT patient_id) integer
-- engine: SELECT "k0", CAST(COUNT(DISTINCT "u") AS BIGINT) AS "m0" FROM (SELECT "t3"."sex" AS "k0", "t2"."c0" AS "u" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", LEAD("t1"."c1", CAST($1 AS BIGINT), CAST($2 AS DOUBLE)) OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c2" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."cost" AS "c1", "t0"."visit_id" AS "c2", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" JOIN "bounded"."main"."patients" AS "t3" ON "t2"."c0" = "t3"."patient_id" WHERE ("t2"."w0" > "t2"."c1")) AS q GROUP BY "k0"
-- values: 1, 0.0

WITH v AS (SELECT *, RANK() OVER (PARTITION BY patient_id ORDER BY year(visited_on)) AS place, COUNT(*) OVER (PARTITION BY patient_id) AS n, MAX(cost) OVER (PARTITION BY patient_id, diagnosis) AS dearest FROM visits) SELECT place, COUNT(*) FROM v WHERE n > 1 AND cost = dearest GROUP BY place
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: integer [1, 12]; 12 values: 1, 2, 3, ..., 11, 12
-- a0: count_rows
-- columns: place integer [1, 12], count_star() integer
-- engine: SELECT "k0", "bin", "units", "signs", "total" FROM (SELECT CAST(CASE g WHEN 0 THEN CAST($1 AS BIGINT) WHEN 1 THEN CAST($3 AS BIGINT) WHEN 2 THEN CAST($4 AS BIGINT) WHEN 3 THEN CAST($5 AS BIGINT) WHEN 4 THEN CAST($6 AS BIGINT) WHEN 5 THEN CAST($7 AS BIGINT) WHEN 6 THEN CAST($8 AS BIGINT) WHEN 7 THEN CAST($9 AS BIGINT) WHEN 8 THEN CAST($10 AS BIGINT) WHEN 9 THEN CAST($11 AS BIGINT) WHEN 10 THEN CAST($12 AS BIGINT) WHEN 11 THEN CAST($2 AS BIGINT) WHEN 12 THEN CAST(NULL AS BIGINT) END AS BIGINT) AS "k0", CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 WHEN 4 THEN n4 WHEN 5 THEN n5 WHEN 6 THEN n6 WHEN 7 THEN n7 WHEN 8 THEN n8 WHEN 9 THEN n9 WHEN 10 THEN n10 WHEN 11 THEN n11 WHEN 12 THEN n12 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 WHEN 1 THEN s1 WHEN 2 THEN s2 WHEN 3 THEN s3 WHEN 4 THEN s4 WHEN 5 THEN s5 WHEN 6 THEN s6 WHEN 7 THEN s7 WHEN 8 THEN s8 WHEN 9 THEN s9 WHEN 10 THEN s10 WHEN 11 THEN s11 WHEN 12 THEN s12 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 WHEN 1 THEN x1 WHEN 2 THEN x2 WHEN 3 THEN x3 WHEN 4 THEN x4 WHEN 5 THEN x5 WHEN 6 THEN x6 WHEN 7 THEN x7 WHEN 8 THEN x8 WHEN 9 THEN x9 WHEN 10 THEN x10 WHEN 11 THEN x11 WHEN 12 THEN x12 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0, SUM(CASE WHEN f = 1 THEN 1 ELSE 0 END) AS n1, SUM(CASE WHEN f = 1 THEN CASE WHEN t1 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s1, SUM(t1) AS x1, SUM(CASE WHEN f = 2 THEN 1 ELSE 0 END) AS n2, SUM(CASE WHEN f = 2 THEN CASE WHEN t2 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s2, SUM(t2) AS x2, SUM(CASE WHEN f = 3 THEN 1 ELSE 0 END) AS n3, SUM(CASE WHEN f = 3 THEN CASE WHEN t3 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s3, SUM(t3) AS x3, SUM(CASE WHEN f = 4 THEN 1 ELSE 0 END) AS n4, SUM(CASE WHEN f = 4 THEN CASE WHEN t4 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s4, SUM(t4) AS x4, SUM(CASE WHEN f = 5 THEN 1 ELSE 0 END) AS n5, SUM(CASE WHEN f = 5 THEN CASE WHEN t5 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s5, SUM(t5) AS x5, SUM(CASE WHEN f = 6 THEN 1 ELSE 0 END) AS n6, SUM(CASE WHEN f = 6 THEN CASE WHEN t6 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s6, SUM(t6) AS x6, SUM(CASE WHEN f = 7 THEN 1 ELSE 0 END) AS n7, SUM(CASE WHEN f = 7 THEN CASE WHEN t7 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s7, SUM(t7) AS x7, SUM(CASE WHEN f = 8 THEN 1 ELSE 0 END) AS n8, SUM(CASE WHEN f = 8 THEN CASE WHEN t8 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s8, SUM(t8) AS x8, SUM(CASE WHEN f = 9 THEN 1 ELSE 0 END) AS n9, SUM(CASE WHEN f = 9 THEN CASE WHEN t9 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s9, SUM(t9) AS x9, SUM(CASE WHEN f = 10 THEN 1 ELSE 0 END) AS n10, SUM(CASE WHEN f = 10 THEN CASE WHEN t10 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s10, SUM(t10) AS x10, SUM(CASE WHEN f = 11 THEN 1 ELSE 0 END) AS n11, SUM(CASE WHEN f = 11 THEN CASE WHEN t11 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s11, SUM(t11) AS x11, SUM(CASE WHEN f = 12 THEN 1 ELSE 0 END) AS n12, SUM(CASE WHEN f = 12 THEN CASE WHEN t12 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s12, SUM(t12) AS x12 FROM (SELECT j, bin, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, CASE WHEN t0 <> 0 THEN 0 WHEN t1 <> 0 THEN 1 WHEN t2 <> 0 THEN 2 WHEN t3 <> 0 THEN 3 WHEN t4 <> 0 THEN 4 WHEN t5 <> 0 THEN 5 WHEN t6 <> 0 THEN 6 WHEN t7 <> 0 THEN 7 WHEN t8 <> 0 THEN 8 WHEN t9 <> 0 THEN 9 WHEN t10 <> 0 THEN 10 WHEN t11 <> 0 THEN 11 WHEN t12 <> 0 THEN 12 END AS f FROM (SELECT j, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END + CASE WHEN t1 < 0 THEN 0 - t1 ELSE t1 END + CASE WHEN t2 < 0 THEN 0 - t2 ELSE t2 END + CASE WHEN t3 < 0 THEN 0 - t3 ELSE t3 END + CASE WHEN t4 < 0 THEN 0 - t4 ELSE t4 END + CASE WHEN t5 < 0 THEN 0 - t5 ELSE t5 END + CASE WHEN t6 < 0 THEN 0 - t6 ELSE t6 END + CASE WHEN t7 < 0 THEN 0 - t7 ELSE t7 END + CASE WHEN t8 < 0 THEN 0 - t8 ELSE t8 END + CASE WHEN t9 < 0 THEN 0 - t9 ELSE t9 END + CASE WHEN t10 < 0 THEN 0 - t10 ELSE t10 END + CASE WHEN t11 < 0 THEN 0 - t11 ELSE t11 END + CASE WHEN t12 < 0 THEN 0 - t12 ELSE t12 END AS size FROM (SELECT 0 AS j, t0_0 AS t0, t0_1 AS t1, t0_2 AS t2, t0_3 AS t3, t0_4 AS t4, t0_5 AS t5, t0_6 AS t6, t0_7 AS t7, t0_8 AS t8, t0_9 AS t9, t0_10 AS t10, t0_11 AS t11, t0_12 AS t12 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0, CASE WHEN t0_1 < 0 THEN 0 WHEN t0_1 > 12 THEN 12 ELSE COALESCE(t0_1, 0) END AS t0_1, CASE WHEN t0_2 < 0 THEN 0 WHEN t0_2 > 12 THEN 12 ELSE COALESCE(t0_2, 0) END AS t0_2, CASE WHEN t0_3 < 0 THEN 0 WHEN t0_3 > 12 THEN 12 ELSE COALESCE(t0_3, 0) END AS t0_3, CASE WHEN t0_4 < 0 THEN 0 WHEN t0_4 > 12 THEN 12 ELSE COALESCE(t0_4, 0) END AS t0_4, CASE WHEN t0_5 < 0 THEN 0 WHEN t0_5 > 12 THEN 12 ELSE COALESCE(t0_5, 0) END AS t0_5, CASE WHEN t0_6 < 0 THEN 0 WHEN t0_6 > 12 THEN 12 ELSE COALESCE(t0_6, 0) END AS t0_6, CASE WHEN t0_7 < 0 THEN 0 WHEN t0_7 > 12 THEN 12 ELSE COALESCE(t0_7, 0) END AS t0_7, CASE WHEN t0_8 < 0 THEN 0 WHEN t0_8 > 12 THEN 12 ELSE COALESCE(t0_8, 0) END AS t0_8, CASE WHEN t0_9 < 0 THEN 0 WHEN t0_9 > 12 THEN 12 ELSE COALESCE(t0_9, 0) END AS t0_9, CASE WHEN t0_10 < 0 THEN 0 WHEN t0_10 > 12 THEN 12 ELSE COALESCE(t0_10, 0) END AS t0_10, CASE WHEN t0_11 < 0 THEN 0 WHEN t0_11 > 12 THEN 12 ELSE COALESCE(t0_11, 0) END AS t0_11, CASE WHEN t0_12 < 0 THEN 0 WHEN t0_12 > 12 THEN 12 ELSE COALESCE(t0_12, 0) END AS t0_12 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0, CAST(COUNT(CASE WHEN g = 1 THEN 1 END) AS BIGINT) AS t0_1, CAST(COUNT(CASE WHEN g = 2 THEN 1 END) AS BIGINT) AS t0_2, CAST(COUNT(CASE WHEN g = 3 THEN 1 END) AS BIGINT) AS t0_3, CAST(COUNT(CASE WHEN g = 4 THEN 1 END) AS BIGINT) AS t0_4, CAST(COUNT(CASE WHEN g = 5 THEN 1 END) AS BIGINT) AS t0_5, CAST(COUNT(CASE WHEN g = 6 THEN 1 END) AS BIGINT) AS t0_6, CAST(COUNT(CASE WHEN g = 7 THEN 1 END) AS BIGINT) AS t0_7, CAST(COUNT(CASE WHEN g = 8 THEN 1 END) AS BIGINT) AS t0_8, CAST(COUNT(CASE WHEN g = 9 THEN 1 END) AS BIGINT) AS t0_9, CAST(COUNT(CASE WHEN g = 10 THEN 1 END) AS BIGINT) AS t0_10, CAST(COUNT(CASE WHEN g = 11 THEN 1 END) AS BIGINT) AS t0_11, CAST(COUNT(CASE WHEN g = 12 THEN 1 END) AS BIGINT) AS t0_12 FROM (SELECT (0) * 13 + "k0" AS g, "u" FROM (SELECT CAST(CASE WHEN "k0" BETWEEN CAST($1 AS BIGINT) AND CAST($2 AS BIGINT) THEN "k0" - CAST($1 AS BIGINT) ELSE 12 END AS TINYINT) AS "k0", "u" FROM (SELECT "t2"."w0" AS "k0", "t2"."c0" AS "u" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", "t1"."c4" AS "c4", "t1"."c5" AS "c5", RANK() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c5" ASC NULLS LAST) AS "w0", COUNT(*) OVER (PARTITION BY "t1"."c0") AS "w1", MAX("t1"."c2") OVER (PARTITION BY "t1"."c0", "t1"."c4") AS "w2" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visit_id" AS "c1", "t0"."cost" AS "c2", "t0"."visited_on" AS "c3", "t0"."diagnosis" AS "c4", year("t0"."visited_on") AS "c5", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w1" > CAST($1 AS BIGINT)) AND ("t2"."c2" = "t2"."w2")) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g UNION ALL SELECT 1 AS g UNION ALL SELECT 2 AS g UNION ALL SELECT 3 AS g UNION ALL SELECT 4 AS g UNION ALL SELECT 5 AS g UNION ALL SELECT 6 AS g UNION ALL SELECT 7 AS g UNION ALL SELECT 8 AS g UNION ALL SELECT 9 AS g UNION ALL SELECT 10 AS g UNION ALL SELECT 11 AS g UNION ALL SELECT 12 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 1, 12, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

-- The first row of each person
SELECT AVG(cost) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on, visit_id) = 1)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."c2" AS "x0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", "t1"."c4" AS "c4", ROW_NUMBER() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c3" ASC NULLS LAST, "t1"."c1" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visit_id" AS "c1", "t0"."cost" AS "c2", "t0"."visited_on" AS "c3", "t0"."diagnosis" AS "c4", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" = CAST($4 AS BIGINT))) AS r) AS q
-- values: 100.0, 0.0, 20000.0, 1

WITH f AS (SELECT v.* EXCLUDE (diagnosis), p.sex, RANK() OVER (PARTITION BY v.patient_id ORDER BY cost) AS r FROM visits v JOIN patients p USING (patient_id) QUALIFY r <= 2) SELECT sex, COUNT(*), SUM(cost) FROM f GROUP BY sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: sum of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: sex text, count_star() integer, sum("cost") real
-- engine: SELECT "k0", "bin", "units", "signs", "total" FROM (SELECT CAST(CASE g WHEN 0 THEN CAST($1 AS VARCHAR) WHEN 1 THEN CAST($2 AS VARCHAR) WHEN 2 THEN CAST($3 AS VARCHAR) WHEN 3 THEN CAST(NULL AS VARCHAR) END AS VARCHAR) AS "k0", CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 WHEN 1 THEN s1 WHEN 2 THEN s2 WHEN 3 THEN s3 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 WHEN 1 THEN x1 WHEN 2 THEN x2 WHEN 3 THEN x3 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0, SUM(CASE WHEN f = 1 THEN 1 ELSE 0 END) AS n1, SUM(CASE WHEN f = 1 THEN CASE WHEN t1 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s1, SUM(t1) AS x1, SUM(CASE WHEN f = 2 THEN 1 ELSE 0 END) AS n2, SUM(CASE WHEN f = 2 THEN CASE WHEN t2 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s2, SUM(t2) AS x2, SUM(CASE WHEN f = 3 THEN 1 ELSE 0 END) AS n3, SUM(CASE WHEN f = 3 THEN CASE WHEN t3 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s3, SUM(t3) AS x3 FROM (SELECT j, bin, t0, t1, t2, t3, CASE WHEN t0 <> 0 THEN 0 WHEN t1 <> 0 THEN 1 WHEN t2 <> 0 THEN 2 WHEN t3 <> 0 THEN 3 END AS f FROM (SELECT j, t0, t1, t2, t3, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, t1, t2, t3, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END + CASE WHEN t1 < 0 THEN 0 - t1 ELSE t1 END + CASE WHEN t2 < 0 THEN 0 - t2 ELSE t2 END + CASE WHEN t3 < 0 THEN 0 - t3 ELSE t3 END AS size FROM (SELECT 0 AS j, t0_0 AS t0, t0_1 AS t1, t0_2 AS t2, t0_3 AS t3 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0, CASE WHEN t0_1 < 0 THEN 0 WHEN t0_1 > 12 THEN 12 ELSE COALESCE(t0_1, 0) END AS t0_1, CASE WHEN t0_2 < 0 THEN 0 WHEN t0_2 > 12 THEN 12 ELSE COALESCE(t0_2, 0) END AS t0_2, CASE WHEN t0_3 < 0 THEN 0 WHEN t0_3 > 12 THEN 12 ELSE COALESCE(t0_3, 0) END AS t0_3 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0, CAST(COUNT(CASE WHEN g = 1 THEN 1 END) AS BIGINT) AS t0_1, CAST(COUNT(CASE WHEN g = 2 THEN 1 END) AS BIGINT) AS t0_2, CAST(COUNT(CASE WHEN g = 3 THEN 1 END) AS BIGINT) AS t0_3 FROM (SELECT (0) * 4 + "k0" AS g, "u" FROM (SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 ELSE 3 END AS TINYINT) AS "k0", "u" FROM (SELECT "t3"."c4" AS "k0", "t3"."c0" AS "u" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", RANK() OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c2" ASC NULLS LAST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visit_id" AS "c1", "t0"."cost" AS "c2", "t0"."visited_on" AS "c3", "t1"."sex" AS "c4", ROW_NUMBER() OVER (PARTITION BY "t0"."patient_id" ORDER BY "t0"."visit_id" ASC NULLS FIRST, "t0"."cost" ASC NULLS FIRST, "t0"."visited_on" ASC NULLS FIRST, "t1"."sex" ASC NULLS FIRST) AS "place" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS "t2") AS "t3" WHERE ("t3"."w0" <= CAST($4 AS BIGINT))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g UNION ALL SELECT 1 AS g UNION ALL SELECT 2 AS g UNION ALL SELECT 3 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 'F', 'M', 'X', 2
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t3"."c4" AS "k0", "t3"."c2" AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", RANK() OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c2" ASC NULLS LAST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visit_id" AS "c1", "t0"."cost" AS "c2", "t0"."visited_on" AS "c3", "t1"."sex" AS "c4", ROW_NUMBER() OVER (PARTITION BY "t0"."patient_id" ORDER BY "t0"."visit_id" ASC NULLS FIRST, "t0"."cost" ASC NULLS FIRST, "t0"."visited_on" ASC NULLS FIRST, "t1"."sex" ASC NULLS FIRST) AS "place" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS "t2") AS "t3" WHERE ("t3"."w0" <= CAST($4 AS BIGINT))) AS r) AS q GROUP BY "k0"
-- values: 100.0, 0.0, 20000.0, 2

-- reference: SELECT * EXCLUDE (consent) FROM (SELECT sex, consent, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL AND consent IS NOT NULL GROUP BY sex, consent) ORDER BY n DESC, sex
SELECT * EXCLUDE (consent) FROM (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent) ORDER BY n DESC, sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: WITH a AS (SELECT sex, consent, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL AND consent IS NOT NULL GROUP BY sex, consent) SELECT * FROM a QUALIFY RANK() OVER (PARTITION BY sex ORDER BY n DESC) = 1 ORDER BY n
WITH a AS (SELECT sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent) SELECT * FROM a QUALIFY RANK() OVER (PARTITION BY sex ORDER BY n DESC) = 1 ORDER BY n
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, consent text, n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

SELECT COUNT(*) FROM (SELECT * EXCLUDE age, age + 1 AS age FROM patients) WHERE age > 60
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."age" + CAST($1 AS BIGINT)) > CAST($2 AS BIGINT))) AS q
-- values: 1, 60

SELECT COUNT(*) FROM (SELECT cost, diagnosis FROM visits QUALIFY DENSE_RANK() OVER (PARTITION BY patient_id ORDER BY visited_on) <= 2) WHERE diagnosis = 'flu'
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t2"."c3" AS "u" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", DENSE_RANK() OVER (PARTITION BY "t1"."c3" ORDER BY "t1"."c2" ASC NULLS LAST) AS "w0" FROM (SELECT "t0"."cost" AS "c0", "t0"."diagnosis" AS "c1", "t0"."visited_on" AS "c2", "t0"."patient_id" AS "c3", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" <= CAST($1 AS BIGINT)) AND ("t2"."c1" = CAST($2 AS VARCHAR))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 2, 'flu'

SELECT first, COUNT(*) FROM (SELECT FIRST_VALUE(sex) OVER (PARTITION BY patient_id ORDER BY visit_id) AS first FROM visits JOIN patients USING (patient_id)) GROUP BY first
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 12, in one group 12, in groups 4
-- k0: text or NULL; 4 values: 'F', 'M', 'X', NULL
-- a0: count_rows
-- columns: first text or NULL, count_star() integer
-- engine: SELECT "k0", "bin", "units", "signs", "total" FROM (SELECT CAST(CASE g WHEN 0 THEN CAST($1 AS VARCHAR) WHEN 1 THEN CAST($2 AS VARCHAR) WHEN 2 THEN CAST($3 AS VARCHAR) WHEN 3 THEN CAST(NULL AS VARCHAR) END AS VARCHAR) AS "k0", CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 WHEN 1 THEN s1 WHEN 2 THEN s2 WHEN 3 THEN s3 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 WHEN 1 THEN x1 WHEN 2 THEN x2 WHEN 3 THEN x3 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0, SUM(CASE WHEN f = 1 THEN 1 ELSE 0 END) AS n1, SUM(CASE WHEN f = 1 THEN CASE WHEN t1 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s1, SUM(t1) AS x1, SUM(CASE WHEN f = 2 THEN 1 ELSE 0 END) AS n2, SUM(CASE WHEN f = 2 THEN CASE WHEN t2 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s2, SUM(t2) AS x2, SUM(CASE WHEN f = 3 THEN 1 ELSE 0 END) AS n3, SUM(CASE WHEN f = 3 THEN CASE WHEN t3 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s3, SUM(t3) AS x3, SUM(CASE WHEN f = 4 THEN 1 ELSE 0 END) AS n4, SUM(CASE WHEN f = 4 THEN CASE WHEN t4 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s4, SUM(t4) AS x4 FROM (SELECT j, bin, t0, t1, t2, t3, t4, CASE WHEN t0 <> 0 THEN 0 WHEN t1 <> 0 THEN 1 WHEN t2 <> 0 THEN 2 WHEN t3 <> 0 THEN 3 WHEN t4 <> 0 THEN 4 END AS f FROM (SELECT j, t0, t1, t2, t3, t4, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, t1, t2, t3, t4, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END + CASE WHEN t1 < 0 THEN 0 - t1 ELSE t1 END + CASE WHEN t2 < 0 THEN 0 - t2 ELSE t2 END + CASE WHEN t3 < 0 THEN 0 - t3 ELSE t3 END + CASE WHEN t4 < 0 THEN 0 - t4 ELSE t4 END AS size FROM (SELECT 0 AS j, t0_0 AS t0, t0_1 AS t1, t0_2 AS t2, t0_3 AS t3, t0_4 AS t4 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0, CASE WHEN t0_1 < 0 THEN 0 WHEN t0_1 > 12 THEN 12 ELSE COALESCE(t0_1, 0) END AS t0_1, CASE WHEN t0_2 < 0 THEN 0 WHEN t0_2 > 12 THEN 12 ELSE COALESCE(t0_2, 0) END AS t0_2, CASE WHEN t0_3 < 0 THEN 0 WHEN t0_3 > 12 THEN 12 ELSE COALESCE(t0_3, 0) END AS t0_3, CASE WHEN t0_4 < 0 THEN 0 WHEN t0_4 > 12 THEN 12 ELSE COALESCE(t0_4, 0) END AS t0_4 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0, CAST(COUNT(CASE WHEN g = 1 THEN 1 END) AS BIGINT) AS t0_1, CAST(COUNT(CASE WHEN g = 2 THEN 1 END) AS BIGINT) AS t0_2, CAST(COUNT(CASE WHEN g = 3 THEN 1 END) AS BIGINT) AS t0_3, CAST(COUNT(CASE WHEN g = 4 THEN 1 END) AS BIGINT) AS t0_4 FROM (SELECT (0) * 5 + "k0" AS g, "u" FROM (SELECT CAST(CASE WHEN "k0" = CAST($1 AS VARCHAR) THEN 0 WHEN "k0" = CAST($2 AS VARCHAR) THEN 1 WHEN "k0" = CAST($3 AS VARCHAR) THEN 2 WHEN "k0" IS NULL THEN 3 ELSE 4 END AS TINYINT) AS "k0", "u" FROM (SELECT "t3"."w0" AS "k0", "t3"."c2" AS "u" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", FIRST_VALUE("t2"."c1") OVER (PARTITION BY "t2"."c2" ORDER BY "t2"."c0" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."visit_id" AS "c0", "t1"."sex" AS "c1", "t0"."patient_id" AS "c2", ROW_NUMBER() OVER (PARTITION BY "t0"."patient_id" ORDER BY "t0"."visit_id" ASC NULLS FIRST, "t1"."sex" ASC NULLS FIRST) AS "place" FROM "bounded"."main"."visits" AS "t0" JOIN "bounded"."main"."patients" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS "t2") AS "t3") AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g UNION ALL SELECT 1 AS g UNION ALL SELECT 2 AS g UNION ALL SELECT 3 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 'F', 'M', 'X'

SELECT MIN(n), MAX(n) FROM (SELECT patient_id, m, n - LAG(n, 1, 0) OVER (PARTITION BY patient_id ORDER BY m) AS n FROM (SELECT patient_id, year(visited_on) AS m, COUNT(*) AS n FROM visits GROUP BY ALL))
-- unit: visits.patient_id
-- rows per unit: 7, in one group 7, in groups 1
-- a0: min of integer [-11, 12] or NULL; grid 1 from -11 to 12
-- a1: max of integer [-11, 12] or NULL; grid 1 from -11 to 12
-- columns: min(n) integer, max(n) integer
-- engine: SELECT "x0" AS "value", CAST(COUNT(*) AS BIGINT) AS "rows" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN -11 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 12 ELSE greatest(-11, least(12, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t3"."c2" - "t3"."w0") AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", LAG("t2"."c2", CAST($4 AS BIGINT), CAST($5 AS BIGINT)) OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c1" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."k0" AS "c0", "t1"."k1" AS "c1", "t1"."v0" AS "c2", ROW_NUMBER() OVER (PARTITION BY "t1"."k0" ORDER BY "t1"."k0" ASC NULLS FIRST, "t1"."k1" ASC NULLS FIRST, "t1"."v0" ASC NULLS FIRST) AS "place" FROM (SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0", "k1" FROM (SELECT "t0"."patient_id" AS "k0", year("t0"."visited_on") AS "k1" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0", "k1") AS "t1") AS "t2") AS "t3") AS r) AS q WHERE "x0" IS NOT NULL GROUP BY "x0" ORDER BY "x0"
-- values: 1.0, -11.0, 12.0, 1, 0

SELECT COUNT(*) FROM (SELECT visit_id, SUM(CAST(round(cost * 100) AS BIGINT)) OVER (PARTITION BY patient_id ORDER BY visit_id) AS so_far, SUM(year(visited_on)) OVER (PARTITION BY patient_id ORDER BY visit_id ROWS 1 PRECEDING) AS years FROM visits) WHERE so_far > 50000 AND years > 4041
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "bin", "units", "signs", "total" FROM (SELECT CAST(bin AS BIGINT) AS "bin", CAST(CASE g WHEN 0 THEN n0 END AS BIGINT) AS "units", CAST(CASE g WHEN 0 THEN s0 END AS BIGINT) AS "signs", CAST(CASE g WHEN 0 THEN x0 END AS HUGEINT) AS "total" FROM (SELECT j, bin, SUM(CASE WHEN f = 0 THEN 1 ELSE 0 END) AS n0, SUM(CASE WHEN f = 0 THEN CASE WHEN t0 > 0 THEN 1 ELSE 0 - 1 END ELSE 0 END) AS s0, SUM(t0) AS x0 FROM (SELECT j, bin, t0, CASE WHEN t0 <> 0 THEN 0 END AS f FROM (SELECT j, t0, CASE WHEN size <= 4 THEN CASE WHEN size <= 2 THEN CASE WHEN size <= 1 THEN 0 ELSE 1 END ELSE CASE WHEN size <= 3 THEN 2 ELSE 3 END END ELSE CASE WHEN size <= 8 THEN CASE WHEN size <= 6 THEN 4 ELSE 5 END ELSE CASE WHEN size <= 12 THEN 6 ELSE 7 END END END AS bin FROM (SELECT j, t0, CASE WHEN t0 < 0 THEN 0 - t0 ELSE t0 END AS size FROM (SELECT 0 AS j, t0_0 AS t0 FROM (SELECT CASE WHEN t0_0 < 0 THEN 0 WHEN t0_0 > 12 THEN 12 ELSE COALESCE(t0_0, 0) END AS t0_0 FROM (SELECT CAST(COUNT(CASE WHEN g = 0 THEN 1 END) AS BIGINT) AS t0_0 FROM (SELECT 0 AS g, "u" FROM (SELECT "u" FROM (SELECT "t2"."c2" AS "u" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", CAST(SUM("t1"."c1") OVER (PARTITION BY "t1"."c2" ORDER BY "t1"."c0" ASC NULLS LAST) AS BIGINT) AS "w0", CAST(SUM("t1"."c3") OVER (PARTITION BY "t1"."c2" ORDER BY "t1"."c0" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS BIGINT) AS "w1" FROM (SELECT "t0"."visit_id" AS "c0", CAST(round(("t0"."cost" * CAST($1 AS DOUBLE))) AS BIGINT) AS "c1", "t0"."patient_id" AS "c2", year("t0"."visited_on") AS "c3", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" > CAST($2 AS BIGINT)) AND ("t2"."w1" > CAST($3 AS BIGINT))) AS q) AS q) AS q GROUP BY "u") AS q) AS q) AS q) AS q) AS q) AS q GROUP BY j, bin) AS q CROSS JOIN (SELECT 0 AS g) AS k) AS q WHERE "units" <> 0 OR "total" <> 0
-- values: 100.0, 50000, 4041

-- Names that are columns and aliases, too: alone in ORDER BY the alias goes first, elsewhere a column that may stand there
SELECT sex AS consent, COUNT(consent) AS sex FROM patients GROUP BY patients.sex HAVING sex > 'F' ORDER BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count of text
-- columns: consent text, sex integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."consent" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT consent AS sex, COUNT(*) AS consent FROM patients GROUP BY patients.consent ORDER BY consent || '', sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- columns: sex text, consent integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Here the column may not stand.
SELECT consent, SUM(age) AS age FROM patients GROUP BY consent HAVING age > 10 ORDER BY age
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: consent text, age integer
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT name, -population AS population FROM cities ORDER BY population + 0, name LIMIT 3
-- unit: none, the tables are public
-- columns: name text, population integer [-8175133, -50005]
-- engine: SELECT "t0"."name" AS "c0", (-"t0"."population") AS "c1" FROM "bounded"."main"."cities" AS "t0" ORDER BY ("t0"."population" + CAST($1 AS BIGINT)) ASC NULLS LAST, "t0"."name" ASC NULLS LAST LIMIT 3
-- values: 0

SELECT name, -population AS population FROM cities ORDER BY population, name LIMIT 3
-- unit: none, the tables are public
-- columns: name text, population integer [-8175133, -50005]
-- engine: SELECT "t0"."name" AS "c0", (-"t0"."population") AS "c1" FROM "bounded"."main"."cities" AS "t0" ORDER BY (-"t0"."population") ASC NULLS LAST, "t0"."name" ASC NULLS LAST LIMIT 3

-- reference: SELECT sex AS consent, COUNT(*) AS sex FROM patients WHERE sex IS NOT NULL GROUP BY sex QUALIFY RANK() OVER (ORDER BY COUNT(*)) <= 2 ORDER BY 2
SELECT sex AS consent, COUNT(*) AS sex FROM patients GROUP BY patients.sex QUALIFY RANK() OVER (ORDER BY COUNT(*)) <= 2 ORDER BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: consent text, sex integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- An alias in HAVING within one unit
SELECT n, COUNT(*) AS patients FROM (SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING n >= 3) GROUP BY n ORDER BY n
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: integer [1, 12]; 10 values: 3, 4, 5, ..., 11, 12
-- a0: count_rows
-- columns: n integer [1, 12], patients integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."v0" AS "k0" FROM (SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "v0" FROM (SELECT "k0" FROM (SELECT "t0"."patient_id" AS "k0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1" WHERE ("t1"."v0" >= CAST($1 AS BIGINT))) AS q GROUP BY "k0"
-- values: 3

-- An order that shows nowhere, with a constant
-- reference: SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex ORDER BY sex
SELECT sex, MAX(n) AS n FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n % 5, coalesce(n, 7)) GROUP BY sex ORDER BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Names that DuckDB writes in capitals, or with the quotes of a text
SELECT EXTRACT(year FROM visited_on), EXTRACT(isodow FROM visited_on), COUNT(*) FROM visits GROUP BY ALL
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: integer [1, 7]; 7 values: 1, 2, 3, ..., 6, 7
-- k1: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: count_rows
-- columns: date_part('YEAR', visited_on) integer [2020, 2025], date_part('isodow', visited_on) integer [1, 7], count_star() integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT isodow("t0"."visited_on") AS "k0", year("t0"."visited_on") AS "k1" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0", "k1"

-- policy: shop
-- reference: SELECT member, COUNT_IF(nickname = ''), COUNT_IF(nickname = 'Ana') FROM customers WHERE member IS NOT NULL GROUP BY member ORDER BY member
SELECT * FROM (SELECT nickname, member FROM customers) PIVOT (COUNT(*) FOR nickname IN ('', 'Ana') GROUP BY member) ORDER BY member
-- unit: customers.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: member boolean, '' integer, Ana integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT "t0"."member" AS "k0", CASE WHEN ("t0"."nickname" = CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN ("t0"."nickname" = CAST($3 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."customers" AS "t0") AS q GROUP BY "k0"
-- values: '', 1, 'Ana'

-- A query that names no order keeps that of the answer.
-- reference: SELECT sex, COUNT(*) * 2 AS twice FROM patients WHERE sex IS NOT NULL GROUP BY sex ORDER BY 2 DESC LIMIT 2
SELECT sex, n * 2 AS twice FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC) LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, twice integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex, ROW_NUMBER() OVER (ORDER BY COUNT(*)) AS r FROM patients WHERE sex IS NOT NULL GROUP BY sex ORDER BY 2
SELECT sex, ROW_NUMBER() OVER () AS r FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, r integer [1, 1099511627776]
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT sex FROM patients WHERE sex IS NOT NULL GROUP BY sex ORDER BY COUNT(*) % 7 DESC, sex LIMIT 2
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n % 7 DESC, sex), b AS (SELECT sex AS s, n FROM a WHERE n > -5) SELECT s AS sex FROM b LIMIT 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Characters and pieces that no text has, which databases answer in different ways
SELECT split_part(sex, '', -1) AS a, split_part(sex, 'F', 0) AS b, COUNT(*) AS n, COUNT_IF(split_part(city, '', 2) = 'a') AS c, COUNT_IF(split_part(city, '', -99) = '') AS d FROM patients GROUP BY a, b
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- k1: text; 1 values: ''
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a2: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: a text, b text, n integer, c integer, d integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COUNT("x1") AS BIGINT) AS "m2" FROM (SELECT split_part("t0"."sex", CAST($1 AS VARCHAR), CAST($2 AS BIGINT)) AS "k0", split_part("t0"."sex", CAST($3 AS VARCHAR), CAST($4 AS BIGINT)) AS "k1", CASE WHEN (split_part("t0"."city", CAST($1 AS VARCHAR), CAST($5 AS BIGINT)) = CAST($1 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (split_part("t0"."city", CAST($1 AS VARCHAR), CAST($7 AS BIGINT)) = CAST($8 AS VARCHAR)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"
-- values: '', -1, 'F', 0, -99, 1, 2, 'a'

-- policy: shop
-- The least of truths, which not every database has
SELECT MIN(coastal) AS least, MAX(coastal) AS greatest FROM regions
-- unit: none, the tables are public
-- columns: least boolean or NULL, greatest boolean or NULL
-- engine: SELECT min("t0"."coastal") AS "c0", max("t0"."coastal") AS "c1" FROM "bounded"."main"."regions" AS "t0"

-- policy: shop
SELECT code, MAX(coastal) OVER (ORDER BY code ROWS 1 PRECEDING) AS m FROM regions ORDER BY code
-- unit: none, the tables are public
-- columns: code text, m boolean or NULL
-- engine: SELECT "t0"."code" AS "c0", max("t0"."coastal") OVER (ORDER BY "t0"."code" ASC NULLS LAST ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS "c1" FROM "bounded"."main"."regions" AS "t0" ORDER BY "t0"."code" ASC NULLS LAST

SELECT COUNT(*) FROM patients NATURAL JOIN visits
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q

SELECT p.sex, COUNT(v.cost) FROM patients p NATURAL LEFT JOIN visits v GROUP BY p.sex
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: sex text, count(v."cost") integer
-- engine: SELECT "k0", CAST(COUNT("x0") AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t1"."cost" AS "x0" FROM "bounded"."main"."patients" AS "t0" LEFT JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q GROUP BY "k0"

SELECT COUNT(*) FROM visits NATURAL RIGHT OUTER JOIN patients
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" LEFT JOIN "bounded"."main"."visits" AS "t1" ON "t0"."patient_id" = "t1"."patient_id") AS q

SELECT state, COUNT(*) FROM patients NATURAL INNER JOIN (SELECT name AS city, state FROM cities) GROUP BY state
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 50 values: 'AK', 'AL', 'AR', ..., 'WV', 'WY'
-- a0: count_rows
-- columns: state text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."state" AS "k0" FROM "bounded"."main"."patients" AS "t0" JOIN "bounded"."main"."cities" AS "t1" ON "t0"."city" = "t1"."name") AS q GROUP BY "k0"

SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) NATURAL JOIN (SELECT sex, AVG(age) AS m FROM patients GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, m real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, n integer, m real

SELECT sex, EXP(AVG(LN(weight))) FROM patients GROUP BY sex HAVING EXP(AVG(LN(weight))) > 2
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of real [0.693147180559, 5.52146091787] or NULL; grid 1e-06 from 0.693147 to 5.521461
-- columns: sex text, exp(avg(ln(weight))) real [0, 9.49611942061e+19]
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(3107304 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 693147 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 5521461 ELSE greatest(693147, least(5521461, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."sex" AS "k0", ln("t0"."weight") AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q GROUP BY "k0"
-- values: 1000000.0, 0.693147, 5.521461

SELECT POWER(10, AVG(LOG10(cost))) AS g FROM visits WHERE cost >= 1
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [NULL, 4.30102999567] or NULL; grid 1e-06 from 0 to 4.30103
-- columns: g real [0, NULL]
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2150515 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 4301030 ELSE greatest(0, least(4301030, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN "t0"."cost" > 0 THEN log10("t0"."cost") END AS "x0" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" >= CAST($4 AS DOUBLE))) AS r) AS q
-- values: 1000000.0, 0.0, 4.30103, 1.0

-- reference: SELECT COUNT(DISTINCT patient_id) FROM visits
SELECT APPROX_COUNT_DISTINCT(patient_id, 0.02) FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_units
-- columns: count(DISTINCT patient_id) integer
-- engine: SELECT CAST(COALESCE(SUM(CASE WHEN "$rank" = 1 THEN "$rows" END), 0) AS BIGINT) AS "m0" FROM "bounded"."main"."visits$ranks" AS t

-- reference: SELECT quantile_cont(age, 0.5), quantile_cont(age, 0.5) FROM patients
SELECT PERCENTILE_APPROX(age, 0.5, 100), APPROX_PERCENTILE(age, 0.5, 0.01) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: quantile_cont of integer [0, 110]; grid 1 from 0 to 110
-- columns: approx_percentile(age, 0.5) real, approx_percentile(age, 0.5) real
-- engine: SELECT "$value" AS "value", "$rows" AS "rows" FROM "bounded"."main"."patients$counts" AS t WHERE "$of" = 0

SELECT exp(AVG(ln(age + 1))) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 4.70953020132]; grid 1e-06 from 0 to 4.709531
-- columns: exp(avg(ln((age + 1)))) real [0, 9.49611942061e+19]
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2354765 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 4709531 ELSE greatest(0, least(4709531, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ln(CAST(("t0"."age" + CAST($1 AS BIGINT)) AS DOUBLE)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1, 1000000.0, 0.0, 4.709531

-- There are three at most.
-- reference: SELECT sex FROM patients GROUP BY sex ORDER BY sex
SELECT sex FROM (SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC) AS a LIMIT 1000
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) AS n FROM orders JOIN customers USING (customer_id) WHERE placed - joined > INTERVAL 30 DAY
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" WHERE ("t0"."placed" > ("t1"."joined" + to_days(CAST(CAST($1 AS BIGINT) AS INTEGER))))) AS q
-- values: 30

-- policy: shop
SELECT COUNT(*) FILTER (WHERE INTERVAL '36 hours' >= placed - TIMESTAMP '2024-03-05 07:00:00') AS n, AVG(CASE WHEN placed - joined BETWEEN INTERVAL 0 DAY AND INTERVAL 300 DAY THEN 1.0 ELSE 0.0 END) AS share FROM orders JOIN customers USING (customer_id)
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: avg of real [0, 1]; grid 1 from 0 to 1
-- columns: n integer, share real
-- engine: SELECT CAST(COUNT("x1") AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($4 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 1 ELSE greatest(0, least(1, CAST(round(CAST("x0" AS DOUBLE) * CAST($3 AS DOUBLE)) AS BIGINT))) END AS "x0", "x1" AS "x1" FROM (SELECT CASE WHEN (("t0"."placed" >= ("t1"."joined" + to_days(CAST(CAST($1 AS BIGINT) AS INTEGER)))) AND ("t0"."placed" <= ("t1"."joined" + to_days(CAST(CAST($2 AS BIGINT) AS INTEGER))))) THEN CAST($3 AS DOUBLE) ELSE CAST($4 AS DOUBLE) END AS "x0", CASE WHEN ("t0"."placed" <= CAST($5 AS TIMESTAMP)) THEN CAST($6 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id") AS r) AS q
-- values: 0, 300, 1.0, 0.0, 2024-03-06 19:00:00, 1

-- policy: shop
SELECT COUNT(*) AS n FROM (SELECT LEAD(placed) OVER (PARTITION BY customer_id ORDER BY placed) AS next, placed FROM orders) WHERE next - placed <= INTERVAL 8 WEEK
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", LEAD("t1"."c0") OVER (PARTITION BY "t1"."c1" ORDER BY "t1"."c0" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."placed" AS "c0", "t0"."customer_id" AS "c1", "t0"."$rank" AS "place" FROM "bounded"."main"."orders" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" <= ("t2"."c0" + to_days(CAST(CAST($1 AS BIGINT) AS INTEGER))))) AS q
-- values: 56

-- Conditions in other words
-- reference: SELECT COUNT(*) FROM patients WHERE age BETWEEN 18 AND 60
SELECT COUNT(*) FROM patients WHERE age BETWEEN SYMMETRIC 60 AND 18
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ((("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))) OR (("t0"."age" >= CAST($2 AS BIGINT)) AND ("t0"."age" <= CAST($1 AS BIGINT))))) AS q
-- values: 60, 18

-- reference: SELECT COUNT(*) FROM patients WHERE age NOT BETWEEN 18 AND 60
SELECT COUNT(*) FROM patients WHERE age NOT BETWEEN SYMMETRIC 60 AND 18
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ((("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))) OR (("t0"."age" >= CAST($2 AS BIGINT)) AND ("t0"."age" <= CAST($1 AS BIGINT)))))) AS q
-- values: 60, 18

SELECT AVG(age) FROM patients WHERE age BETWEEN ASYMMETRIC 18 AND 60
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 18 to 60
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(39 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" < 18 THEN 18 WHEN "x0" > 60 THEN 60 ELSE "x0" END AS "x0" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" >= CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))) AS r) AS q
-- values: 18, 60

SELECT COUNT(*) FROM patients WHERE city SIMILAR TO '(A|B)[a-z ]+'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE regexp_full_match("t0"."city", CAST($1 AS VARCHAR))) AS q
-- values: '(A|B)[a-z ]+'

SELECT COUNT(*) FROM patients WHERE city NOT SIMILAR TO '(A|B)[a-z ]+'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT regexp_full_match("t0"."city", CAST($1 AS VARCHAR)))) AS q
-- values: '(A|B)[a-z ]+'

SELECT COUNT(*) FROM patients WHERE city ~ '^[A-M]'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE regexp_matches("t0"."city", CAST($1 AS VARCHAR))) AS q
-- values: '^[A-M]'

SELECT COUNT(*) FROM patients WHERE city !~ '^[A-M]' AND sex = 'F'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT regexp_matches("t0"."city", CAST($1 AS VARCHAR))) AND ("t0"."sex" = CAST($2 AS VARCHAR))) AS q
-- values: '^[A-M]', 'F'

SELECT COUNT(*) FROM patients WHERE city ~* '^[a-m]' AND NOT city !~* 'E'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE regexp_matches("t0"."city", CAST($1 AS VARCHAR)) AND (NOT (NOT regexp_matches("t0"."city", CAST($2 AS VARCHAR))))) AS q
-- values: '(?i)^[a-m]', '(?i)E'

SELECT COUNT(*) FILTER (WHERE city ~~ '%a%') AS n, COUNT(*) FILTER (WHERE city !~~* '%A%') AS m FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: n integer, m integer
-- engine: SELECT CAST(COUNT("x0") AS BIGINT) AS "m0", CAST(COUNT("x1") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."city" LIKE CAST($1 AS VARCHAR)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0", CASE WHEN (NOT ("t0"."city" ILIKE CAST($3 AS VARCHAR))) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: '%a%', 1, '%A%'

SELECT COUNT(*) FROM patients WHERE city GLOB '*a*' AND city NOT GLOB 'B*'
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."city" LIKE CAST($1 AS VARCHAR)) AND (NOT ("t0"."city" LIKE CAST($2 AS VARCHAR)))) AS q
-- values: '%a%', 'B%'

SELECT sex ~ '^F$' AS f, COUNT(*) AS n FROM patients GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean; 2 values: False, True
-- a0: count_rows
-- columns: f boolean, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT regexp_matches("t0"."sex", CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: '^F$'

SELECT COUNT(*) FROM patients WHERE weight ISNULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."weight" IS NULL)) AS q

SELECT COUNT(*) FROM patients WHERE weight NOTNULL AND weight NOT NULL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."weight" IS NULL)) AND (NOT ("t0"."weight" IS NULL))) AS q

SELECT COUNT(*) FROM patients WHERE sex IN ['F', 'M'] OR list_contains([3, 4], age)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))) OR ("t0"."age" IN (CAST($3 AS BIGINT), CAST($4 AS BIGINT))))) AS q
-- values: 'F', 'M', 3, 4

SELECT COUNT(*) FROM patients WHERE sex NOT IN ['F', 'M']
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR))))) AS q
-- values: 'F', 'M'

-- reference: SELECT COUNT(*) FROM patients WHERE sex IN ('F', 'M')
SELECT COUNT(*) FROM patients WHERE sex IN UNNEST(['F', 'M'])
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."sex" IN (CAST($1 AS VARCHAR), CAST($2 AS VARCHAR)))) AS q
-- values: 'F', 'M'

SELECT COUNT(*) FROM patients WHERE city = ANY (SELECT name FROM cities WHERE population > 300000)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM "bounded"."main"."cities" AS "t1" WHERE ("t1"."population" > CAST($1 AS BIGINT)) AND ("t0"."city" = "t1"."name"))) AS q
-- values: 300000

SELECT COUNT(*) FROM patients WHERE patient_id <> ALL (SELECT patient_id FROM visits WHERE cost > 1000)
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT EXISTS (SELECT 1 FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" > CAST($1 AS DOUBLE)) AND ("t0"."patient_id" = "t1"."patient_id")))) AS q
-- values: 1000.0

SELECT COUNT(*) FROM patients WHERE sex = ANY (VALUES ('F'), ('M'))
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE EXISTS (SELECT 1 FROM (SELECT CAST($1 AS VARCHAR) AS "c0" UNION ALL SELECT CAST($2 AS VARCHAR) AS "c0") AS "t1" WHERE ("t0"."sex" = "t1"."c0"))) AS q
-- values: 'F', 'M'

-- Stars that show columns another way, and COLUMNS of names
SELECT AVG(age) FROM (SELECT * REPLACE (age + 1 AS age) FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [1, 111]; grid 1 from 1 to 111
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(56 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 1 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 111 ELSE greatest(1, least(111, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT ("t0"."age" + CAST($1 AS BIGINT)) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 1, 1.0, 111.0

SELECT AVG(years) AS m, COUNT(DISTINCT person) AS n FROM (SELECT * EXCLUDE (city) REPLACE (weight / 2 AS weight) RENAME (age AS years, patient_id AS person) FROM patients) WHERE weight > 20
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_units
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: m real, n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0" WHERE (("t0"."weight" / CAST($1 AS DOUBLE)) > CAST($2 AS DOUBLE))) AS q
-- values: 2.0, 20.0

SELECT AVG(age) FROM (SELECT * EXCEPT (city) FROM patients)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: avg(age) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT AVG(cost) FROM (SELECT * REPLACE (LAG(cost) OVER (PARTITION BY patient_id ORDER BY visited_on) AS cost) FROM visits)
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."w0" AS "x0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", "t1"."c3" AS "c3", "t1"."c4" AS "c4", LAG("t1"."c3") OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c2" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."visit_id" AS "c1", "t0"."visited_on" AS "c2", "t0"."cost" AS "c3", "t0"."diagnosis" AS "c4", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2") AS r) AS q
-- values: 100.0, 0.0, 20000.0

SELECT * REPLACE (population / 2 AS population) RENAME (state AS land) FROM cities ORDER BY name LIMIT 3
-- unit: none, the tables are public
-- columns: name text, land text, x_km real [-5178.5, 2400.2], y_km real [-1969.6, 2473.3], population real [25002.5, 4087566.5], elevation_m integer [2, 2137]
-- engine: SELECT "t0"."name" AS "c0", "t0"."state" AS "c1", "t0"."x_km" AS "c2", "t0"."y_km" AS "c3", (CAST("t0"."population" AS DOUBLE) / CAST($1 AS DOUBLE)) AS "c4", "t0"."elevation_m" AS "c5" FROM "bounded"."main"."cities" AS "t0" ORDER BY "t0"."name" ASC NULLS LAST LIMIT 3
-- values: 2.0

-- reference: SELECT sex, COUNT(*) * 2 AS n, COALESCE(AVG(age), 55) AS mean FROM patients WHERE sex IS NOT NULL GROUP BY sex
WITH a AS (SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM patients GROUP BY sex) SELECT * REPLACE (n * 2 AS n) RENAME (m AS mean) FROM a
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, n integer, mean real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex), b AS (SELECT sex, AVG(age) AS m FROM patients GROUP BY sex) SELECT a.* REPLACE (n + 1 AS n), b.m FROM a JOIN b USING (sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, m real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", "t1"."k0" AS "c2", "t1"."a1" AS "c3", "t0"."row" AS "c4", "t1"."row" AS "c5" FROM "answer 0 of dpsql" AS "t0" JOIN "answer 1 of dpsql" AS "t1" ON "t0"."k0" = "t1"."k0" ORDER BY "t0"."row" ASC NULLS LAST, "t1"."row" ASC NULLS LAST, "t0"."k0" ASC NULLS LAST, "t0"."a1" ASC NULLS LAST, "t1"."k0" ASC NULLS LAST, "t1"."a1" ASC NULLS LAST
-- columns: sex text, n integer, m real

SELECT AVG(COLUMNS(['age', 'weight'])) FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- a1: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: age real, weight real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(1260 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "t0"."age" AS "x0", "t0"."weight$grid" AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q

SELECT sex, round(AVG(COLUMNS(['age', 'weight'])), 3), COUNT(*) AS n FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- a2: avg of real [2, 250] or NULL; grid 0.1 from 2 to 250
-- columns: sex text, age real, weight real, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2", CAST(COALESCE(SUM("x1"), 0) - CAST(1260 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m3", CAST(COUNT("x1") AS BIGINT) AS "m4" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0", "t0"."weight$grid" AS "x1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

SELECT AVG(x) FROM (SELECT patient_id, COLUMNS(['age', 'weight']) FROM patients) AS t (p, x, y)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: avg(x) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q

-- Different tuples: in one NULL is a value; where they are written without parentheses, those with a NULL are left out
SELECT COUNT(DISTINCT (sex, consent)) AS n FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_distinct of text
-- columns: n integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT (COALESCE(((CAST(length("t0"."sex") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."sex"), CAST($2 AS VARCHAR)) || COALESCE(((CAST(length("t0"."consent") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."consent"), CAST($2 AS VARCHAR))) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: ':', '-'

SELECT COUNT(DISTINCT (sex, city)) AS n, COUNT(*) AS m FROM patients GROUP BY consent
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- a0: count_rows
-- a1: count_distinct of text
-- columns: n integer, m integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m1" FROM (SELECT "t0"."consent" AS "k0", (COALESCE(((CAST(length("t0"."sex") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."sex"), CAST($2 AS VARCHAR)) || COALESCE(((CAST(length("t0"."city") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."city"), CAST($2 AS VARCHAR))) AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- values: ':', '-'

SELECT COUNT(DISTINCT (diagnosis, visited_on)) FILTER (WHERE cost > 100) AS n FROM visits
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_distinct of text or NULL
-- columns: n integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT CASE WHEN ("t0"."cost" > CAST($1 AS DOUBLE)) THEN (COALESCE(((CAST(length("t0"."diagnosis") AS VARCHAR) || CAST($2 AS VARCHAR)) || "t0"."diagnosis"), CAST($3 AS VARCHAR)) || COALESCE(((CAST(length(CAST("t0"."visited_on" AS VARCHAR)) AS VARCHAR) || CAST($2 AS VARCHAR)) || CAST("t0"."visited_on" AS VARCHAR)), CAST($3 AS VARCHAR))) ELSE CAST(NULL AS VARCHAR) END AS "x0" FROM "bounded"."main"."visits" AS "t0") AS q
-- values: 100.0, ':', '-'

SELECT AVG(n) FROM (SELECT patient_id, COUNT(DISTINCT (diagnosis, year(visited_on))) AS n FROM visits GROUP BY patient_id)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 12]; grid 1 from 0 to 12
-- columns: avg(n) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(6 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t1"."v0" AS "x0" FROM (SELECT "k0", CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", (COALESCE(((CAST(length("t0"."diagnosis") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."diagnosis"), CAST($2 AS VARCHAR)) || COALESCE(((CAST(length(CAST(year("t0"."visited_on") AS VARCHAR)) AS VARCHAR) || CAST($1 AS VARCHAR)) || CAST(year("t0"."visited_on") AS VARCHAR)), CAST($2 AS VARCHAR))) AS "x0" FROM "bounded"."main"."visits" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q
-- values: ':', '-'

SELECT COUNT(DISTINCT (state, left(name, 1))) AS n FROM cities
-- unit: none, the tables are public
-- columns: n integer or NULL
-- engine: SELECT COUNT(DISTINCT (COALESCE(((CAST(length("t0"."state") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."state"), CAST($2 AS VARCHAR)) || COALESCE(((CAST(length(left("t0"."name", CAST($3 AS BIGINT))) AS VARCHAR) || CAST($1 AS VARCHAR)) || left("t0"."name", CAST($3 AS BIGINT))), CAST($2 AS VARCHAR)))) AS "c0" FROM "bounded"."main"."cities" AS "t0"
-- values: ':', '-', 1

-- policy: shop
SELECT COUNT(DISTINCT (status, channel, express, day)) AS n FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_distinct of text
-- columns: n integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT (((COALESCE(((CAST(length("t0"."status") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."status"), CAST($2 AS VARCHAR)) || COALESCE(((CAST(length("t0"."channel") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."channel"), CAST($2 AS VARCHAR))) || COALESCE(((CAST(length(CAST("t0"."express" AS VARCHAR)) AS VARCHAR) || CAST($1 AS VARCHAR)) || CAST("t0"."express" AS VARCHAR)), CAST($2 AS VARCHAR))) || COALESCE(((CAST(length(CAST("t0"."day" AS VARCHAR)) AS VARCHAR) || CAST($1 AS VARCHAR)) || CAST("t0"."day" AS VARCHAR)), CAST($2 AS VARCHAR))) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q
-- values: ':', '-'

-- policy: shop
-- reference: SELECT COUNT(DISTINCT (status, channel)) FROM orders WHERE status IS NOT NULL AND channel IS NOT NULL
SELECT COUNT(DISTINCT status, channel) FROM orders
-- unit: orders.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: count_distinct of text or NULL
-- columns: count(DISTINCT status, channel) integer
-- engine: SELECT CAST(COUNT(DISTINCT "x0") AS BIGINT) AS "m0" FROM (SELECT (((CAST(length("t0"."status") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."status") || ((CAST(length("t0"."channel") AS VARCHAR) || CAST($1 AS VARCHAR)) || "t0"."channel")) AS "x0" FROM "bounded"."main"."orders" AS "t0") AS q
-- values: ':'

-- A value of one of a unit's rows
SELECT AVG(c) FROM (SELECT patient_id, arg_max(cost, cost) AS c FROM visits GROUP BY patient_id)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: avg(c) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t4"."v0" AS "x0" FROM (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN (("t3"."c2" IS NULL) OR ("t3"."c2" IS NULL)) THEN CAST(NULL AS DOUBLE) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c5" ASC NULLS LAST, "t2"."c2" DESC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", CASE WHEN (("t1"."cost" IS NULL) OR ("t1"."cost" IS NULL)) THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END AS "c5", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS r) AS q
-- values: 100.0, 0.0, 20000.0, 1, 0

SELECT AVG(c), AVG(n) AS n FROM (SELECT patient_id, max_by(year(visited_on), cost) AS c, COUNT(*) AS n FROM visits GROUP BY patient_id HAVING COUNT(*) > 1)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [2020, 2025] or NULL; grid 1 from 2020 to 2025
-- a1: avg of integer [1, 12]; grid 1 from 2 to 12
-- columns: avg(c) real, n real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(2022 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(7 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT "x0" AS "x0", CASE WHEN "x1" < 2 THEN 2 WHEN "x1" > 12 THEN 12 ELSE "x1" END AS "x1" FROM (SELECT "t4"."v0" AS "x0", "t4"."v1" AS "x1" FROM (SELECT "k0", CAST(max("x0") AS BIGINT) AS "v0", CAST(COUNT(*) AS BIGINT) AS "v1" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN ((year("t3"."c3") IS NULL) OR ("t3"."c2" IS NULL)) THEN CAST(NULL AS BIGINT) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", FIRST_VALUE("t2"."c6") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c5" ASC NULLS LAST, "t2"."c2" DESC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", CASE WHEN ((year("t1"."visited_on") IS NULL) OR ("t1"."cost" IS NULL)) THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END AS "c5", year("t1"."visited_on") AS "c6", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4" WHERE ("t4"."v1" > CAST($1 AS BIGINT))) AS r) AS q
-- values: 1, 0

SELECT AVG(c) FROM (SELECT v.patient_id, first(v.cost ORDER BY v.cost DESC) AS c FROM visits v WHERE v.cost < 500 GROUP BY v.patient_id)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: avg(c) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t4"."v0" AS "x0" FROM (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", "t3"."w0" AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c2" DESC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1" WHERE ("t1"."cost" < CAST($4 AS DOUBLE))) AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS r) AS q
-- values: 100.0, 0.0, 20000.0, 500.0

SELECT AVG(c) FROM (SELECT patient_id, last(cost ORDER BY cost DESC) AS c FROM visits GROUP BY 1)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: avg(c) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t4"."v0" AS "x0" FROM (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", "t3"."w0" AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c2" ASC NULLS FIRST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS r) AS q
-- values: 100.0, 0.0, 20000.0

SELECT AVG(c) FROM (SELECT patient_id, first(cost ORDER BY cost) FILTER (WHERE visited_on >= DATE '2023-01-01') AS c FROM visits GROUP BY ALL)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: avg(c) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t4"."v0" AS "x0" FROM (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN (("t3"."c3" >= CAST($4 AS DATE)) IS DISTINCT FROM CAST($5 AS BOOLEAN)) THEN CAST(NULL AS DOUBLE) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c5" ASC NULLS LAST, "t2"."c2" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", CASE WHEN (("t1"."visited_on" >= CAST($4 AS DATE)) IS DISTINCT FROM CAST($5 AS BOOLEAN)) THEN CAST($6 AS BIGINT) ELSE CAST($7 AS BIGINT) END AS "c5", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS r) AS q
-- values: 100.0, 0.0, 20000.0, 2023-01-01, True, 1, 0

SELECT y, AVG(c) AS c FROM (SELECT patient_id, year(visited_on) AS y, arg_min(cost, cost) AS c FROM visits GROUP BY patient_id, y) GROUP BY y
-- unit: visits.patient_id
-- rows per unit: 7, in one group 1, in groups 6
-- k0: integer [2020, 2025]; 6 values: 2020, 2021, 2022, 2023, 2024, 2025
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: y integer [2020, 2025], c real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(1000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t4"."k1" AS "k0", "t4"."v0" AS "x0" FROM (SELECT "k0", "k1", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "k1", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", year("t3"."c3") AS "k1", CASE WHEN (("t3"."c2" IS NULL) OR ("t3"."c2" IS NULL)) THEN CAST(NULL AS DOUBLE) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0", "t2"."c6" ORDER BY "t2"."c5" ASC NULLS LAST, "t2"."c2" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."visit_id" AS "c1", "t1"."cost" AS "c2", "t1"."visited_on" AS "c3", "t1"."diagnosis" AS "c4", CASE WHEN (("t1"."cost" IS NULL) OR ("t1"."cost" IS NULL)) THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END AS "c5", year("t1"."visited_on") AS "c6", "t1"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0", "k1") AS "t4") AS r) AS q GROUP BY "k0"
-- values: 100.0, 0.0, 20000.0, 1, 0

SELECT s, COUNT(*) AS n FROM (SELECT patient_id, any_value(sex) AS s FROM patients GROUP BY patient_id) GROUP BY s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text or NULL; 4 values: 'F', 'M', 'X', NULL
-- a0: count_rows
-- columns: s text or NULL, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t4"."v0" AS "k0" FROM (SELECT "k0", CAST(max("x0") AS VARCHAR) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN ("t3"."c2" IS NULL) THEN CAST(NULL AS VARCHAR) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", FIRST_VALUE("t2"."c2") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c6" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."patient_id" AS "c0", "t1"."age" AS "c1", "t1"."sex" AS "c2", "t1"."city" AS "c3", "t1"."weight" AS "c4", "t1"."consent" AS "c5", CASE WHEN ("t1"."sex" IS NULL) THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END AS "c6", ROW_NUMBER() OVER (PARTITION BY "t1"."patient_id" ORDER BY "t1"."age" ASC NULLS FIRST, "t1"."sex" ASC NULLS FIRST, "t1"."city" ASC NULLS FIRST, "t1"."weight" ASC NULLS FIRST, "t1"."consent" ASC NULLS FIRST, CASE WHEN ("t1"."sex" IS NULL) THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END ASC NULLS FIRST) AS "place" FROM "bounded"."main"."patients" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS q GROUP BY "k0"
-- values: 1, 0

-- The least of listed values is one of them.
SELECT s, COUNT(*) AS n FROM (SELECT patient_id, MAX(sex) AS s FROM patients GROUP BY patient_id) GROUP BY s
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: s text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."v0" AS "k0" FROM (SELECT "k0", CAST(max("x0") AS VARCHAR) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t0"."patient_id" AS "k0", "t0"."sex" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS r GROUP BY "k0") AS "t1") AS q GROUP BY "k0"

SELECT sex, AVG(c) AS c FROM patients p JOIN (SELECT patient_id, max_by(cost, cost) AS c FROM visits GROUP BY patient_id) v USING (patient_id) GROUP BY sex
-- unit: patients.patient_id = visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of real [0, 20000] or NULL; grid 0.01 from 0 to 20000
-- columns: sex text, c real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(1000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."sex" AS "k0", "t5"."v0" AS "x0" FROM "bounded"."main"."patients" AS "t0" JOIN (SELECT "k0", CAST(max("x0") AS DOUBLE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t4"."c0" AS "k0", CASE WHEN (("t4"."c2" IS NULL) OR ("t4"."c2" IS NULL)) THEN CAST(NULL AS DOUBLE) ELSE "t4"."w0" END AS "x0" FROM (SELECT "t3"."c0" AS "c0", "t3"."c1" AS "c1", "t3"."c2" AS "c2", "t3"."c3" AS "c3", "t3"."c4" AS "c4", "t3"."c5" AS "c5", FIRST_VALUE("t3"."c2") OVER (PARTITION BY "t3"."c0" ORDER BY "t3"."c5" ASC NULLS LAST, "t3"."c2" DESC NULLS LAST, "t3"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t2"."patient_id" AS "c0", "t2"."visit_id" AS "c1", "t2"."cost" AS "c2", "t2"."visited_on" AS "c3", "t2"."diagnosis" AS "c4", CASE WHEN (("t2"."cost" IS NULL) OR ("t2"."cost" IS NULL)) THEN CAST($4 AS BIGINT) ELSE CAST($5 AS BIGINT) END AS "c5", "t2"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t2") AS "t3") AS "t4") AS r) AS r GROUP BY "k0") AS "t5" ON "t0"."patient_id" = "t5"."k0") AS r) AS q GROUP BY "k0"
-- values: 100.0, 0.0, 20000.0, 1, 0

-- policy: shop
SELECT st, COUNT(*) AS n FROM (SELECT customer_id, arg_max(channel, placed) AS st FROM orders GROUP BY customer_id) GROUP BY st
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text or NULL; 3 values: 'web', 'shop', NULL
-- a0: count_rows
-- columns: st text or NULL, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t4"."v0" AS "k0" FROM (SELECT "k0", CAST(max("x0") AS VARCHAR) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN (("t3"."c7" IS NULL) OR ("t3"."c2" IS NULL)) THEN CAST(NULL AS VARCHAR) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", "t2"."c7" AS "c7", "t2"."c8" AS "c8", "t2"."c9" AS "c9", "t2"."c10" AS "c10", "t2"."c11" AS "c11", FIRST_VALUE("t2"."c7") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c11" ASC NULLS LAST, "t2"."c2" DESC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."customer_id" AS "c0", "t1"."order_id" AS "c1", "t1"."placed" AS "c2", "t1"."day" AS "c3", "t1"."total" AS "c4", "t1"."items" AS "c5", "t1"."status" AS "c6", "t1"."channel" AS "c7", "t1"."express" AS "c8", "t1"."discount" AS "c9", "t1"."note" AS "c10", CASE WHEN (("t1"."channel" IS NULL) OR ("t1"."placed" IS NULL)) THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END AS "c11", "t1"."$rank" AS "place" FROM "bounded"."main"."orders" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS q GROUP BY "k0"
-- values: 1, 0

-- Truths and days, whose greatest other engines find in words of their own
-- policy: shop
SELECT e, COUNT(*) AS n FROM (SELECT customer_id, last(express ORDER BY items NULLS FIRST, placed) AS e FROM orders GROUP BY customer_id) GROUP BY e
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: boolean or NULL; 3 values: False, True, NULL
-- a0: count_rows
-- columns: e boolean or NULL, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t4"."v0" AS "k0" FROM (SELECT "k0", max("x0") AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", "t3"."w0" AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", "t2"."c7" AS "c7", "t2"."c8" AS "c8", "t2"."c9" AS "c9", "t2"."c10" AS "c10", FIRST_VALUE("t2"."c8") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c5" DESC NULLS LAST, "t2"."c2" DESC NULLS FIRST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."customer_id" AS "c0", "t1"."order_id" AS "c1", "t1"."placed" AS "c2", "t1"."day" AS "c3", "t1"."total" AS "c4", "t1"."items" AS "c5", "t1"."status" AS "c6", "t1"."channel" AS "c7", "t1"."express" AS "c8", "t1"."discount" AS "c9", "t1"."note" AS "c10", "t1"."$rank" AS "place" FROM "bounded"."main"."orders" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4") AS q GROUP BY "k0"

-- policy: shop
SELECT COUNT(*) AS n FROM (SELECT customer_id, arg_max(day, placed) AS d FROM orders GROUP BY customer_id) WHERE d >= DATE '2024-06-01'
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: n integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM (SELECT "k0", CAST(max("x0") AS DATE) AS "v0" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", CASE WHEN (("t3"."c3" IS NULL) OR ("t3"."c2" IS NULL)) THEN CAST(NULL AS DATE) ELSE "t3"."w0" END AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", "t2"."c7" AS "c7", "t2"."c8" AS "c8", "t2"."c9" AS "c9", "t2"."c10" AS "c10", "t2"."c11" AS "c11", FIRST_VALUE("t2"."c3") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c11" ASC NULLS LAST, "t2"."c2" DESC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."customer_id" AS "c0", "t1"."order_id" AS "c1", "t1"."placed" AS "c2", "t1"."day" AS "c3", "t1"."total" AS "c4", "t1"."items" AS "c5", "t1"."status" AS "c6", "t1"."channel" AS "c7", "t1"."express" AS "c8", "t1"."discount" AS "c9", "t1"."note" AS "c10", CASE WHEN (("t1"."day" IS NULL) OR ("t1"."placed" IS NULL)) THEN CAST($1 AS BIGINT) ELSE CAST($2 AS BIGINT) END AS "c11", "t1"."$rank" AS "place" FROM "bounded"."main"."orders" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4" WHERE ("t4"."v0" >= CAST($3 AS DATE))) AS q
-- values: 1, 0, 2024-06-01

-- policy: shop
SELECT AVG(i) AS i FROM (SELECT customer_id, first(items ORDER BY placed) AS i, COUNT(*) AS n FROM orders GROUP BY customer_id) WHERE n > 1
-- unit: orders.customer_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 40] or NULL; grid 1 from 0 to 40
-- columns: i real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(20 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "t4"."v0" AS "x0" FROM (SELECT "k0", CAST(max("x0") AS BIGINT) AS "v0", CAST(COUNT(*) AS BIGINT) AS "v1" FROM (SELECT "k0", "x0" AS "x0" FROM (SELECT "t3"."c0" AS "k0", "t3"."w0" AS "x0" FROM (SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."c3" AS "c3", "t2"."c4" AS "c4", "t2"."c5" AS "c5", "t2"."c6" AS "c6", "t2"."c7" AS "c7", "t2"."c8" AS "c8", "t2"."c9" AS "c9", "t2"."c10" AS "c10", FIRST_VALUE("t2"."c5") OVER (PARTITION BY "t2"."c0" ORDER BY "t2"."c2" ASC NULLS LAST, "t2"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t1"."customer_id" AS "c0", "t1"."order_id" AS "c1", "t1"."placed" AS "c2", "t1"."day" AS "c3", "t1"."total" AS "c4", "t1"."items" AS "c5", "t1"."status" AS "c6", "t1"."channel" AS "c7", "t1"."express" AS "c8", "t1"."discount" AS "c9", "t1"."note" AS "c10", "t1"."$rank" AS "place" FROM "bounded"."main"."orders" AS "t1") AS "t2") AS "t3") AS r) AS r GROUP BY "k0") AS "t4" WHERE ("t4"."v1" > CAST($1 AS BIGINT))) AS q
-- values: 1

SELECT AVG(cost) FROM (SELECT DISTINCT ON (patient_id) patient_id, cost FROM visits ORDER BY patient_id, cost DESC)
-- unit: visits.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of real [0, 20000]; grid 0.01 from 0 to 20000
-- columns: avg("cost") real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(0, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."c1" AS "x0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", ROW_NUMBER() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c1" DESC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."cost" AS "c1", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0") AS "t1") AS "t2" WHERE ("t2"."w0" = CAST($4 AS BIGINT))) AS r) AS q
-- values: 100.0, 0.0, 20000.0, 1

WITH last AS (SELECT DISTINCT ON (v.patient_id) v.patient_id, v.cost, v.visited_on FROM visits v WHERE v.cost > 10 ORDER BY v.patient_id, v.cost DESC NULLS LAST, v.visited_on) SELECT p.sex, AVG(l.cost) AS c FROM last l JOIN patients p USING (patient_id) GROUP BY p.sex
-- unit: visits.patient_id = patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of real [0, 20000]; grid 0.01 from 10 to 20000
-- columns: sex text, c real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(40000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 1000 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2000000 ELSE greatest(1000, least(2000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t3"."sex" AS "k0", "t2"."c1" AS "x0" FROM (SELECT "t1"."c0" AS "c0", "t1"."c1" AS "c1", "t1"."c2" AS "c2", ROW_NUMBER() OVER (PARTITION BY "t1"."c0" ORDER BY "t1"."c1" DESC NULLS LAST, "t1"."c2" ASC NULLS LAST, "t1"."place" ASC NULLS FIRST) AS "w0" FROM (SELECT "t0"."patient_id" AS "c0", "t0"."cost" AS "c1", "t0"."visited_on" AS "c2", "t0"."$rank" AS "place" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."cost" > CAST($2 AS DOUBLE))) AS "t1") AS "t2" JOIN "bounded"."main"."patients" AS "t3" ON "t2"."c0" = "t3"."patient_id" WHERE ("t2"."w0" = CAST($4 AS BIGINT))) AS r) AS q GROUP BY "k0"
-- values: 100.0, 10.0, 20000.0, 1

-- reference: SELECT DISTINCT ON (sex) sex, consent, COUNT(*) AS n FROM patients WHERE sex IS NOT NULL GROUP BY sex, consent ORDER BY sex, n DESC
SELECT DISTINCT ON (sex) sex, consent, COUNT(*) AS n FROM patients GROUP BY sex, consent ORDER BY sex, n DESC
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'strict', 'normal'
-- k1: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, consent text, n integer
-- engine: SELECT "k0", "k1", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."consent" AS "k0", "t0"."sex" AS "k1" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0", "k1"

-- reference: SELECT sex, COUNT(*) FROM patients WHERE sex IS NOT NULL GROUP BY sex
SELECT DISTINCT ON (sex) sex, COUNT(*) FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- Several SELECTs that are known to have no row add none together, however they are put together
(SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NULL GROUP BY sex UNION ALL SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NULL AND age > 3 GROUP BY sex) UNION SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t7"."c0" AS "c0", "t7"."c1" AS "c1" FROM (SELECT DISTINCT "t6"."c0" AS "c0", "t6"."c1" AS "c1" FROM (SELECT "t5"."k0" AS "c0", "t5"."a1" AS "c1" FROM "answer 0 of dpsql" AS "t5") AS "t6") AS "t7" ORDER BY "t7"."c0" ASC NULLS LAST, "t7"."c1" ASC NULLS LAST
-- columns: sex text, n integer

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION (SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NULL GROUP BY sex UNION ALL SELECT sex, COUNT(*) AS n FROM patients WHERE sex IS NULL AND age > 3 GROUP BY sex)
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: sex text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t7"."c0" AS "c0", "t7"."c1" AS "c1" FROM (SELECT DISTINCT "t6"."c0" AS "c0", "t6"."c1" AS "c1" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1" FROM "answer 0 of dpsql" AS "t0") AS "t6") AS "t7" ORDER BY "t7"."c0" ASC NULLS LAST, "t7"."c1" ASC NULLS LAST
-- columns: sex text, n integer

-- Snowflake's words for NULL and 0, and for a text
-- reference: SELECT sex, COALESCE(SUM(age), 0) AS s FROM patients GROUP BY sex
SELECT sex, ZEROIFNULL(SUM(age)) AS s FROM patients GROUP BY sex
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: sum of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, s integer
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) AS HUGEINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"

-- reference: SELECT AVG(NULLIF(age, 0)) AS m FROM patients
SELECT AVG(NULLIFZERO(age)) AS m FROM patients
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: avg of integer [0, 110] or NULL; grid 1 from 0 to 110
-- columns: m real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 110 ELSE greatest(0, least(110, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT CASE WHEN "t0"."age" = CAST($1 AS BIGINT) THEN NULL ELSE "t0"."age" END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS r) AS q
-- values: 0, 1.0, 0.0, 110.0

-- reference: SELECT strftime(visited_on, '%Y-%m') AS ym, COUNT(*) AS n FROM visits WHERE visited_on IS NOT NULL GROUP BY ym
SELECT TO_VARCHAR(visited_on, 'YYYY-MM') AS ym, COUNT(*) AS n FROM visits GROUP BY ym
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 12
-- k0: text; 72 values: '2020-01', '2020-02', '2020-03', ..., '2025-11', '2025-12'
-- a0: count_rows
-- columns: ym text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT strftime("t0"."visited_on", CAST($1 AS VARCHAR)) AS "k0" FROM "bounded"."main"."visits" AS "t0") AS q GROUP BY "k0"
-- values: '%Y-%m'

-- Columns as rows
-- reference: SELECT sex, 'n' AS what, COUNT(*)::DOUBLE AS v FROM patients WHERE sex IS NOT NULL GROUP BY sex UNION ALL SELECT sex, 'mean', AVG(age) FROM patients WHERE sex IS NOT NULL GROUP BY sex
WITH a AS (SELECT sex, COUNT(*) AS n, AVG(age) AS mean FROM patients GROUP BY sex) UNPIVOT a ON n, mean INTO NAME what VALUE v
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, what text, v integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- a1: avg of integer [0, 110]; grid 1 from 0 to 110
-- columns: sex text, what text, v real
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COALESCE(SUM("x0"), 0) - CAST(55 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m1", CAST(COUNT("x0") AS BIGINT) AS "m2" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."c2" AS "c2", "t2"."part" AS "c3", "t2"."row0" AS "c4" FROM (SELECT "t0"."k0" AS "c0", "t0"."k1" AS "c1", CAST("t0"."a2" AS DOUBLE) AS "c2", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."k1" AS "c1", "t1"."a2" AS "c2", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST, "t2"."c2" ASC NULLS LAST
-- values: 0, 1
-- columns: sex text, what text, v real

-- reference: SELECT 'n' AS what, COUNT(*) AS v FROM patients UNION ALL SELECT 'old', COUNT_IF(age > 50) FROM patients ORDER BY what
WITH a AS (SELECT COUNT(*) AS n, COUNT_IF(age > 50) AS old FROM patients) SELECT what, v FROM a UNPIVOT (v FOR what IN (n, old)) ORDER BY what
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: what text, v integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 50, 1
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- a1: count of integer [1, 1] or NULL; grid 1 from 1 to 1
-- columns: what text, v integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN ("t0"."age" > CAST($1 AS BIGINT)) THEN CAST($2 AS BIGINT) ELSE CAST(NULL AS BIGINT) END AS "x0" FROM "bounded"."main"."patients" AS "t0") AS q
-- values: 50, 1
-- engine: SELECT "t2"."c0" AS "c0", "t2"."c1" AS "c1", "t2"."part" AS "c2", "t2"."row0" AS "c3" FROM (SELECT "t0"."k0" AS "c0", "t0"."a1" AS "c1", CAST($1 AS BIGINT) AS "part", "t0"."row" AS "row0" FROM "answer 0 of dpsql" AS "t0" UNION ALL SELECT "t1"."k0" AS "c0", "t1"."a1" AS "c1", CAST($2 AS BIGINT) AS "part", "t1"."row" AS "row0" FROM "answer 1 of dpsql" AS "t1") AS "t2" ORDER BY "t2"."part" ASC NULLS LAST, "t2"."row0" ASC NULLS LAST, "t2"."c0" ASC NULLS LAST, "t2"."c1" ASC NULLS LAST
-- values: 0, 1
-- columns: what text, v integer

SELECT AVG(v) FROM (UNPIVOT (SELECT patient_id, age::DOUBLE AS age, weight FROM patients) ON age, weight INTO NAME what VALUE v)
-- unit: patients.patient_id = patients.patient_id
-- rows per unit: 2, in one group 2, in groups 1
-- a0: avg of real [0, 250] or NULL; grid 0.0001 from 0 to 250
-- columns: avg(v) real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(1250000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($2 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($3 AS DOUBLE) THEN 2500000 ELSE greatest(0, least(2500000, CAST(round(CAST("x0" AS DOUBLE) * CAST($1 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t2"."c2" AS "x0" FROM (SELECT "t0"."patient_id" AS "c0", CAST($4 AS VARCHAR) AS "c1", CAST("t0"."age" AS DOUBLE) AS "c2" FROM "bounded"."main"."patients" AS "t0" WHERE (NOT (CAST("t0"."age" AS DOUBLE) IS NULL)) UNION ALL SELECT "t1"."patient_id" AS "c0", CAST($5 AS VARCHAR) AS "c1", "t1"."weight" AS "c2" FROM "bounded"."main"."patients" AS "t1" WHERE (NOT ("t1"."weight" IS NULL))) AS "t2") AS r) AS q
-- values: 10000.0, 0.0, 250.0, 'age', 'weight'

SELECT p.what, COUNT(*) AS n FROM (SELECT patient_id, age::DOUBLE AS age, weight FROM patients) AS q UNPIVOT INCLUDE NULLS (v FOR what IN (age, weight)) AS p WHERE p.what = 'weight' GROUP BY p.what
-- unit: patients.patient_id = patients.patient_id
-- rows per unit: 2, in one group 2, in groups 1
-- k0: text; 1 values: 'weight'
-- a0: count_rows
-- columns: what text, n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t2"."c1" AS "k0" FROM (SELECT "t0"."patient_id" AS "c0", CAST($1 AS VARCHAR) AS "c1", CAST("t0"."age" AS DOUBLE) AS "c2" FROM "bounded"."main"."patients" AS "t0" UNION ALL SELECT "t1"."patient_id" AS "c0", CAST($2 AS VARCHAR) AS "c1", "t1"."weight" AS "c2" FROM "bounded"."main"."patients" AS "t1") AS "t2" WHERE ("t2"."c1" = CAST($2 AS VARCHAR))) AS q GROUP BY "k0"
-- values: 'age', 'weight'

-- policy: shop
SELECT AVG(EXTRACT(epoch FROM placed - DATE '2023-01-01')) AS seconds, AVG(epoch(placed - joined) / 86400) AS days FROM orders JOIN customers USING (customer_id) WHERE placed BETWEEN joined AND joined + INTERVAL 60 DAY
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: avg of real [-730.999988426, 1826.99998843]; grid 1e-05 from 0 to 60
-- a1: avg of real [0, 63158399]; grid 0.01 from 0 to 63158399
-- columns: seconds real, days real
-- engine: SELECT CAST(COALESCE(SUM("x0"), 0) - CAST(3000000 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1", CAST(COALESCE(SUM("x1"), 0) - CAST(3157919950 AS HUGEINT) * COUNT("x1") AS HUGEINT) AS "m2", CAST(COUNT("x1") AS BIGINT) AS "m3" FROM (SELECT CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x0" AS DOUBLE) >= CAST($6 AS DOUBLE) THEN 6000000 ELSE greatest(0, least(6000000, CAST(round(CAST("x0" AS DOUBLE) * CAST($4 AS DOUBLE)) AS BIGINT))) END AS "x0", CASE WHEN "x1" IS NULL OR isnan(CAST("x1" AS DOUBLE)) THEN NULL WHEN CAST("x1" AS DOUBLE) <= CAST($5 AS DOUBLE) THEN 0 WHEN CAST("x1" AS DOUBLE) >= CAST($9 AS DOUBLE) THEN 6315839900 ELSE greatest(0, least(6315839900, CAST(round(CAST("x1" AS DOUBLE) * CAST($8 AS DOUBLE)) AS BIGINT))) END AS "x1" FROM (SELECT ((CAST(date_diff(CAST($1 AS VARCHAR), "t1"."joined", "t0"."placed") AS DOUBLE) / CAST($2 AS DOUBLE)) / CAST($3 AS DOUBLE)) AS "x0", (CAST(date_diff(CAST($1 AS VARCHAR), CAST($7 AS TIMESTAMP), "t0"."placed") AS DOUBLE) / CAST($2 AS DOUBLE)) AS "x1" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" WHERE ("t0"."placed" >= "t1"."joined") AND ("t0"."placed" <= ("t1"."joined" + to_days(CAST(CAST($10 AS BIGINT) AS INTEGER))))) AS r) AS q
-- values: 'microsecond', 1000000.0, 86400.0, 100000.0, 0.0, 60.0, 2023-01-01 00:00:00, 100.0, 63158399.0, 60

-- policy: shop
SELECT SUM(date_diff('hour', joined, placed)) AS hours FROM orders JOIN customers USING (customer_id) WHERE date_diff('day', joined, placed) BETWEEN 0 AND 60
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 1
-- a0: sum of integer [-17543, 43847]; grid 1 from -24 to 1464
-- columns: hours integer
-- engine: SELECT CAST(SUM("x0") AS BIGINT) AS "x0" FROM (SELECT "u", CAST("x0" AS INTEGER) AS "x0" FROM (SELECT "u", CASE WHEN "x0" IS NULL OR isnan(CAST("x0" AS DOUBLE)) THEN NULL WHEN CAST("x0" AS DOUBLE) <= CAST($3 AS DOUBLE) THEN -17543 WHEN CAST("x0" AS DOUBLE) >= CAST($4 AS DOUBLE) THEN 43847 ELSE greatest(-17543, least(43847, CAST(round(CAST("x0" AS DOUBLE) * CAST($2 AS DOUBLE)) AS BIGINT))) END AS "x0" FROM (SELECT "t0"."$number" AS "u", date_diff(CAST($1 AS VARCHAR), "t1"."joined", "t0"."placed") AS "x0" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" WHERE (date_diff(CAST($5 AS VARCHAR), "t1"."joined", "t0"."placed") >= CAST($6 AS BIGINT)) AND (date_diff(CAST($5 AS VARCHAR), "t1"."joined", "t0"."placed") <= CAST($7 AS BIGINT))) AS r) AS q) AS q GROUP BY "u"
-- values: 'hour', 1.0, -17543.0, 43847.0, 'day', 0, 60

-- policy: shop
SELECT date_diff('day', joined, placed) // 7 AS week, COUNT(*) AS n FROM orders JOIN customers USING (customer_id) WHERE placed >= joined AND placed < joined + INTERVAL 28 DAY GROUP BY week
-- unit: orders.customer_id = customers.customer_id
-- rows per unit: 5, in one group 5, in groups 5
-- k0: integer [-104, 260]; 5 values: 0, 1, 2, 3, 4
-- a0: count_rows
-- columns: week integer [-104, 260], n integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT (date_diff(CAST($1 AS VARCHAR), "t1"."joined", "t0"."placed") // CAST($2 AS BIGINT)) AS "k0" FROM "bounded"."main"."orders" AS "t0" JOIN "bounded"."main"."customers" AS "t1" ON "t0"."customer_id" = "t1"."customer_id" WHERE ("t0"."placed" >= "t1"."joined") AND ("t0"."placed" < ("t1"."joined" + to_days(CAST(CAST($3 AS BIGINT) AS INTEGER))))) AS q GROUP BY "k0"
-- values: 'day', 7, 28

-- ANY and ALL of constants, by the list's ends
SELECT COUNT(*) FROM patients WHERE age > ANY([30, 60]) AND age <= ALL(ARRAY[90, 70])
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT)) AND ("t0"."age" <= CAST($2 AS BIGINT))) AS q
-- values: 30, 70

SELECT COUNT(*) FROM patients WHERE age < SOME(ARRAY[-3, 40.5]) AND age >= ALL([18])
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (CAST("t0"."age" AS DOUBLE) < CAST($1 AS DOUBLE)) AND ("t0"."age" >= CAST($2 AS BIGINT))) AS q
-- values: 40.5, 18

-- reference: SELECT COUNT(*) FROM patients WHERE NOT age >= ANY([40, 60])
SELECT COUNT(*) FROM patients WHERE NOT age >= ANY('{40,60}')
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT 1 AS one FROM "bounded"."main"."patients" AS "t0" WHERE (NOT ("t0"."age" >= CAST($1 AS BIGINT)))) AS q
-- values: 40

SELECT COUNT(*) FROM visits WHERE visited_on >= ALL([DATE '2023-01-01', DATE '2022-01-01'])
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE ("t0"."visited_on" >= CAST($1 AS DATE))) AS q
-- values: 2023-01-01

-- INTERVAL of a number in parentheses, as tools write those below 0
SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2023-03-04' + INTERVAL (-5) DAY AND visited_on < DATE '2024-01-01' + INTERVAL ('2') MONTHS
-- unit: visits.patient_id
-- rows per unit: 12, in one group 12, in groups 1
-- a0: count_rows
-- columns: count_star() integer
-- engine: SELECT "u" FROM (SELECT "t0"."$number" AS "u" FROM "bounded"."main"."visits" AS "t0" WHERE (CAST("t0"."visited_on" AS TIMESTAMP) > CAST($1 AS TIMESTAMP)) AND (CAST("t0"."visited_on" AS TIMESTAMP) < CAST($2 AS TIMESTAMP))) AS q
-- values: 2023-02-27 00:00:00, 2024-03-01 00:00:00

-- Names in quotes, with those of columns
SELECT "v"."what", COUNT(*) FROM patients JOIN (VALUES ('F', 'women'), ('M', 'men')) AS "v" ("s", "what") ON sex = "v"."s" GROUP BY "v"."what"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 2 values: 'men', 'women'
-- a0: count_rows
-- columns: what text, count_star() integer
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t1"."c1" AS "k0" FROM "bounded"."main"."patients" AS "t0" JOIN (SELECT CAST($1 AS VARCHAR) AS "c0", CAST($2 AS VARCHAR) AS "c1" UNION ALL SELECT CAST($3 AS VARCHAR) AS "c0", CAST($4 AS VARCHAR) AS "c1") AS "t1" ON "t0"."sex" = "t1"."c0") AS q GROUP BY "k0"
-- values: 'F', 'women', 'M', 'men'

WITH "old" ("Age", "sex") AS (SELECT age, sex FROM patients WHERE age > 60) SELECT "sex", AVG("Age") FROM "old" GROUP BY "sex"
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: avg of integer [0, 110]; grid 1 from 61 to 110
-- columns: sex text, avg(Age) real
-- engine: SELECT "k0", CAST(COALESCE(SUM("x0"), 0) - CAST(85 AS HUGEINT) * COUNT("x0") AS HUGEINT) AS "m0", CAST(COUNT("x0") AS BIGINT) AS "m1" FROM (SELECT "k0", CASE WHEN "x0" < 61 THEN 61 WHEN "x0" > 110 THEN 110 ELSE "x0" END AS "x0" FROM (SELECT "t0"."sex" AS "k0", "t0"."age" AS "x0" FROM "bounded"."main"."patients" AS "t0" WHERE ("t0"."age" > CAST($1 AS BIGINT))) AS r) AS q GROUP BY "k0"
-- values: 60

-- To GROUP BY ALL a constant is no key: of no rows this is one row, and behind GROUP BY 1 none.
SELECT 'all' AS who, DATE '2024-01-01' AS since, COUNT(*) AS towns FROM cities WHERE population < 0 GROUP BY ALL
-- unit: none, the tables are public
-- columns: who text, since date [2024-01-01, 2024-01-01], towns integer
-- engine: SELECT CAST($2 AS VARCHAR) AS "c0", CAST($3 AS DATE) AS "c1", COUNT(*) AS "c2" FROM "bounded"."main"."cities" AS "t0" WHERE ("t0"."population" < CAST($1 AS BIGINT))
-- values: 0, 'all', 2024-01-01

SELECT 'all' AS who, COUNT(*) AS towns FROM cities WHERE population < 0 GROUP BY 1
-- unit: none, the tables are public
-- columns: who text, towns integer
-- engine: SELECT CAST($2 AS VARCHAR) AS "c0", COUNT(*) AS "c1" FROM "bounded"."main"."cities" AS "t0" WHERE ("t0"."population" < CAST($1 AS BIGINT)) GROUP BY CAST($2 AS VARCHAR) ORDER BY CAST($2 AS VARCHAR) ASC NULLS LAST
-- values: 0, 'all'

-- reference: WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT 'all' || 's' AS who, COUNT(*) AS groups, MAX(n) AS most FROM a WHERE sex = 'none' GROUP BY ALL
WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT 'all' || 's' AS who, COUNT(*) AS groups, MAX(n) AS most FROM a WHERE sex = 'none' GROUP BY ALL
-- unit: patients.patient_id
-- rows per unit: 1, in one group 1, in groups 1
-- k0: text; 3 values: 'F', 'M', 'X'
-- a0: count_rows
-- columns: who text, groups integer, most integer or NULL
-- engine: SELECT "k0", CAST(COUNT(*) AS BIGINT) AS "m0" FROM (SELECT "t0"."sex" AS "k0" FROM "bounded"."main"."patients" AS "t0") AS q GROUP BY "k0"
