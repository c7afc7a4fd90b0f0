-- Not one SELECT
INSERT INTO patients VALUES (1)
-- refused: INSERT at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

UPDATE patients SET age = 1
-- refused: UPDATE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

DELETE FROM patients
-- refused: DELETE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

DROP VIEW patients
-- refused: DROP at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

CREATE TABLE copy AS SELECT * FROM patients
-- refused: CREATE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

CREATE TEMP VIEW v AS SELECT COUNT(*) FROM patients
-- refused: CREATE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

ALTER TABLE patients ADD COLUMN x INTEGER
-- refused: ALTER at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

COPY patients TO 'out.csv'
-- refused: COPY at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

ATTACH 'other.db'
-- refused: ATTACH at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

PRAGMA table_info('patients')
-- refused: PRAGMA at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

CALL pragma_version()
-- refused: CALL at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

INSTALL httpfs
-- refused: INSTALL at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

LOAD httpfs
-- refused: LOAD at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

PREPARE q AS SELECT 1
-- refused: PREPARE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

EXECUTE q
-- refused: EXECUTE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

BEGIN
-- refused: BEGIN at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

VACUUM
-- refused: VACUUM at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

CHECKPOINT
-- refused: CHECKPOINT at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

EXPORT DATABASE 'x'
-- refused: EXPORT at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

USE other
-- refused: USE at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

SELECT VALUES (1)
-- refused: VALUES at 1:8: rows stand in parentheses. Write VALUES (1), (2), or FROM (VALUES (1), (2)) AS t (x).

SELECT COUNT(*) FROM other.patients
-- refused: other.patients at 1:22: there is no such table (or the policy does not name it). Did you mean patients?

SELECT COUNT(*) FROM other.public.patients
-- refused: other.public.patients at 1:22: there is no such table (or the policy does not name it). Did you mean patients?

-- A sub-query without FROM that aggregates is no value of the row around it
SELECT (SELECT COUNT(*))
-- refused: SELECT at 1:9: there is no FROM. Name a table; SHOW TABLES lists them.

SELECT EXISTS (SELECT 1 FROM cities)
-- refused: FROM at 1:1: IN and EXISTS pick rows, and there are none. Name a table in FROM. Whether there are rows: SELECT COUNT(*) > 0 FROM t WHERE ..

SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT 4)
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE (SELECT patient_id) = 4
-- refused: patient_id at 1:38: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

WITH w AS (SELECT x FROM UNNEST([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) AS t(x)) SELECT lpad('a', 1000, 'b') AS z FROM w a, w b, w c, w d
-- refused: SELECT: it reads no table, and may make 10,020,000 values and letters; 1,000,000 are possible. Write fewer rows and shorter texts, or read a table.

SELECT repeat('a', 10000000) AS x
-- refused: repeat at 1:8: its result could be too long for the engine. Write lpad or rpad with a constant length.

FROM patients
-- refused: SELECT * at 1:1: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

TABLE patients
-- refused: TABLE at 1:1: dpsql reads SELECT. Write SELECT .. FROM ..

SUMMARIZE patients
-- refused: SUMMARIZE at 1:1: it would show exact values of the data. Use DESCRIBE table, or aggregates.

PIVOT visits ON diagnosis
-- refused: PIVOT at 1:17: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

SHOW patients
-- refused: SHOW at 1:1: dpsql shows the budget and the tables. Write SHOW BUDGET, SHOW TABLES, DESCRIBE table, or DESCRIBE table.column.

SHOW ALL TABLES
-- refused: SHOW at 1:1: dpsql shows the budget and the tables. Write SHOW BUDGET, SHOW TABLES, DESCRIBE table, or DESCRIBE table.column.

EXPLAIN ANALYZE SELECT COUNT(*) FROM patients
-- refused: EXPLAIN ANALYZE at 1:9: it would run the query. Write EXPLAIN SELECT ..

EXPLAIN DELETE FROM patients
-- refused: EXPLAIN at 1:9: it explains a SELECT, or CREATE SYNTHETIC TABLE. Write EXPLAIN SELECT ..

SELECT COUNT(*) FROM patients; SELECT COUNT(*) FROM visits
-- refused: second statement at 1:30: one statement at a time. Send them one after the other.

SELECT COUNT(*) FROM patients;;SELECT 1
-- refused: second statement at 1:30: one statement at a time. Send them one after the other.

;
-- refused: statement: it is empty. Write SELECT .. FROM ..

42
-- refused: statement at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

hello
-- refused: HELLO at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

-- json: ""
-- refused: statement: it is empty. Write SELECT .. FROM ..

-- json: "   "
-- refused: statement: it is empty. Write SELECT .. FROM ..

-- json: "-- only a comment"
-- refused: statement: it is empty. Write SELECT .. FROM ..

-- Characters
-- json: "SELECT COUNT(*) FROM patients\u0000"
-- refused: character U+0000 at 1:30: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "\ufeffSELECT COUNT(*) FROM patients"
-- refused: character U+FEFF at 1:1: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "SELECT\u00a0COUNT(*) FROM patients"
-- refused: character U+00A0 at 1:7: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "SELECT COUNT(*) FROM patients WHERE city = 'a\u202eb'"
-- refused: character U+202E at 1:46: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "SELECT COUNT(*)\u200b FROM patients"
-- refused: character U+200B at 1:16: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "SELECT COUNT(*) FROM patients WHERE city = '\ud800'"
-- refused: character U+D800 at 1:45: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

-- json: "SELECT COUNT(*)\u000bFROM patients"
-- refused: character U+000B at 1:16: the text holds a character that cannot be seen. Take it out; if it belongs to a value, pass the value as a parameter.

SELECT COUNT(*) FROM patients /* not closed
-- refused: comment at 1:31: a comment that is not closed, or holds another, is not read. Close it.

SELECT COUNT(*) FROM patients /* one /* in another */ */
-- refused: comment at 1:31: a comment that is not closed, or holds another, is not read. Close it.

SELECT COUNT(*) FROM patients WHERE city = 'open
-- refused: string at 1:44: the string is not closed. End it with a single quote, and double those inside.

SELECT COUNT(*) FROM "patients
-- refused: quoted name at 1:22: the name is not closed. End it with a double quote, and double those inside.

SELECT COUNT(*) FROM `patients`
-- refused: backtick at 1:22: dpsql does not read it. Write "name" to quote a name.

SELECT COUNT(*) FROM patients WHERE city = $$text$$
-- refused: dollar-quoted string at 1:44: dpsql does not read it. Write '...'.

SELECT COUNT(*) FROM patients WHERE city = E'a'
-- refused: E'...' at 1:44: dpsql reads strings without a prefix. Write '...', in which a backslash stands for itself.

SELECT COUNT(*) FROM patients WHERE age > $limit AND age < $1
-- refused: parameter at 1:60: $name and $1 stand in one statement. Write only one of the two forms.

SELECT COUNT(*) FROM patients WHERE age > $
-- refused: parameter at 1:43: dpsql does not read it. Write ? for each value, or $1, $2, or $name.

SELECT COUNT(*) FROM patients WHERE age > :limit
-- refused: : at 1:43: dpsql does not read it here. Write name => value for a named argument, $name for a parameter, and substr(x, 2, 3) for x[2:4].

SELECT COUNT(*) FROM patients WHERE age > ¿
-- refused: character U+00BF at 1:43: dpsql does not read this character outside quotes. Take it out, or quote the name or the string it belongs to.

SELECT COUNT(*) FROM patients WHERE age @> 1
-- refused: @> at 1:41: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT COUNT(*) FROM patients WHERE age !~ 'a'
-- refused: regexp_matches at 1:37: it does not take (integer, text). It takes (text, constant text) or (text, constant text, constant text).

SELECT COUNT(*) FROM patients WHERE age <=> 4
-- refused: <=> at 1:41: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT SUM(age ^ 2) FROM patients
-- refused: ^ at 1:16: this is not an operator of dpsql. Write pow(x, y).

SELECT SUM(age ** 2) FROM patients
-- refused: ** at 1:16: this is not an operator of dpsql. Write pow(x, y).

SELECT SUM(age & 1) FROM patients
-- refused: & at 1:16: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT SUM(age << 1) FROM patients
-- refused: << at 1:16: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT SUM(5!) FROM patients
-- refused: ! at 1:13: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT SUM(@age) FROM patients
-- refused: @ at 1:12: this is not an operator of dpsql. dpsql reads != !~ !~* !~~ !~~* % * + - / // < <= <> = == => > >= || ~ ~* ~~ ~~*.

SELECT SUM(~age) FROM patients
-- refused: ~ at 1:12: there is no value before it. Write a value before and after it.

SELECT SUM(+age) FROM patients
-- refused: + at 1:12: there is no value before it. Leave a leading plus sign out.

SELECT SUM(age !=-1) FROM patients
-- refused: !=- at 1:16: this is not an operator of dpsql. Put a space between the operator and the sign.

SELECT COUNT(*) FROM patients WHERE city = 'a' 'b'
-- refused: value after value at 1:48: nothing says how they belong together. Write an operator or a comma between.

-- Names
SELECT COUNT(*) FROM patient
-- refused: patient at 1:22: there is no such table (or the policy does not name it). Did you mean patients?

SELECT COUNT(*) FROM vists
-- refused: vists at 1:22: there is no such table (or the policy does not name it). Did you mean visits?

SELECT COUNT(*) FROM people
-- refused: people at 1:22: there is no such table (or the policy does not name it). There are patients, visits, cities.

SELECT AVG(agee) FROM patients
-- refused: agee at 1:12: there is no such column (or the policy does not name it). Did you mean age?

SELECT AVG(salary) FROM patients
-- refused: salary at 1:12: there is no such column (or the policy does not name it). There are age, sex, city, weight, consent.

SELECT AVG(cost) FROM patients
-- refused: cost at 1:12: there is no such column (or the policy does not name it). visits has one: JOIN visits USING (patient_id).

SELECT v.city, COUNT(*) FROM visits v JOIN patients p USING (patient_id) GROUP BY 1
-- refused: v.city at 1:8: there is no such column (or the policy does not name it). p has one.

SELECT AVG(population) FROM patients
-- refused: population at 1:12: there is no such column (or the policy does not name it). cities has one: join it.

SELECT AVG(v.cots) FROM visits v
-- refused: v.cots at 1:12: there is no such column (or the policy does not name it). Did you mean cost?

SELECT AVG(w.cost) FROM visits v
-- refused: w.cost at 1:12: there is no table w in FROM. FROM has v.

SELECT AVG(visits.cost) FROM visits v
-- refused: visits.cost at 1:12: there is no table visits in FROM. FROM has v.

SELECT COUNT(*) FROM bounded.main.patients
-- refused: bounded.main.patients at 1:22: there is no such table (or the policy does not name it). Did you mean patients?

SELECT COUNT(*) FROM information_schema.tables
-- refused: information_schema.tables at 1:22: there is no such table (or the policy does not name it). Write SHOW TABLES, or DESCRIBE table.

SELECT COUNT(*) FROM duckdb_settings
-- refused: duckdb_settings at 1:22: there is no such table (or the policy does not name it). There are patients, visits, cities.

SELECT COUNT(*) FROM 'patients.parquet'
-- refused: file as a table at 1:22: dpsql reads tables of the policy only. Write the name of a table.

SELECT COUNT(*) FROM read_csv('/etc/passwd')
-- refused: table function at 1:22: dpsql reads tables of the policy only. Write the name of a table.

SELECT COUNT(*) FROM range(10)
-- refused: range at 1:22: dpsql makes no rows of a range. Write CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d), with every value.

SELECT COUNT(*) FROM query('SELECT 1')
-- refused: table function at 1:22: dpsql reads tables of the policy only. Write the name of a table.

SELECT AVG("weight$grid") FROM patients
-- refused: "weight$grid" at 1:12: there is no such column (or the policy does not name it). Did you mean weight?

SELECT COUNT(rowid) FROM patients
-- refused: rowid at 1:14: there is no such column (or the policy does not name it). There are age, sex, city, weight, consent.

SELECT other.patients.age, COUNT(*) FROM patients GROUP BY 1
-- refused: other.patients.age at 1:8: there is no table other.patients in FROM. Did you mean patients?

SELECT COUNT(*) FROM patients AS select
-- refused: SELECT at 1:34: the select list is empty. Write what to select, like COUNT(*).

SELECT COUNT(*) AS select FROM patients
-- refused: SELECT at 1:27: the select list is empty. Write what to select, like COUNT(*).

SELECT COUNT(*) FROM patients p JOIN visits p USING (patient_id)
-- refused: p at 1:38: two tables in FROM have this name. Give one of them an alias.

SELECT AVG(patient_id.x) FROM patients
-- refused: patient_id.x at 1:12: there is no table patient_id in FROM. Did you mean patients?

SELECT avrage(age) FROM patients
-- refused: avrage at 1:8: there is no such function here. Did you mean avg?

SELECT SUM(roud(cost)) FROM visits
-- refused: roud at 1:12: there is no such function here. Did you mean round?

SELECT "sum"(age) FROM patients
-- refused: quoted name before a parenthesis at 1:8: function names are written without quotes. Take the quotes off.

SELECT main.sum(age) FROM patients
-- refused: function behind a point at 1:13: functions have no owner. Write function(value).

SELECT age.sum() FROM patients
-- refused: function behind a point at 1:12: functions have no owner. Write function(value).

SELECT COUNT(*) FROM patients WHERE city.name = 'x'
-- refused: city.name at 1:37: there is no table city in FROM. FROM has patients.

SELECT AVG(x.age) FROM patients, visits WHERE patients.patient_id = visits.patient_id
-- refused: x.age at 1:12: there is no table x in FROM. FROM has patients, visits.

SELECT COUNT(*) FROM PATİENTS
-- refused: patİents at 1:22: there is no such table (or the policy does not name it). Did you mean patients?

-- Literals
SELECT COUNT(*) FROM patients WHERE age > 1e400
-- refused: number at 1:43: its exponent is beyond 300. Write a number nearer to 1.

SELECT COUNT(*) FROM patients WHERE age > 0x10
-- refused: number at 1:43: this is not a plain decimal number. Write it like 1000, 0.5 or 1e-3.

SELECT COUNT(*) FROM patients WHERE age > 12abc
-- refused: number at 1:43: this is not a plain decimal number. Write it like 1000, 0.5 or 1e-3.

SELECT COUNT(*) FROM patients WHERE age > 1.2.3
-- refused: number at 1:43: this is not a plain decimal number. Write it like 1000, 0.5 or 1e-3.

SELECT COUNT(*) FROM patients WHERE age > 1e
-- refused: number at 1:43: this is not a plain decimal number. Write it like 1000, 0.5 or 1e-3.

SELECT COUNT(*) FROM patients WHERE age > 123456789012345678901234567890123456789
-- refused: number at 1:43: it has more than 38 digits. Write it with fewer digits.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2024-13-01'
-- refused: DATE at 1:48: there is no such day. Write it like DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2023-02-29'
-- refused: DATE at 1:48: there is no such day. Write it like DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE 'yesterday'
-- refused: DATE at 1:48: the text is not a date in the form year-month-day. Write it like DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2024-1-1'
-- refused: DATE at 1:48: the text is not a date in the form year-month-day. Write it like DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on > '01/02/2024'
-- refused: > at 1:35: there is no day '01/02/2024'. Write it like '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on > TIMESTAMP '2024-01-01 25:00:00'
-- refused: TIMESTAMP at 1:48: there is no such moment. Write it like TIMESTAMP '2024-05-31 13:45:00', or TIMESTAMPTZ '2024-05-31 13:45:00+02:00'.

SELECT COUNT(*) FROM visits WHERE visited_on > TIMESTAMP '2024-01-01 00:00:00+02'
-- refused: TIMESTAMP at 1:48: the text is not a timestamp that dpsql reads. Write it like TIMESTAMP '2024-05-31 13:45:00', or TIMESTAMPTZ '2024-05-31 13:45:00+02:00'.

SELECT COUNT(*) FROM visits WHERE visited_on > TIME '10:00'
-- refused: TIME at 1:48: times of day are no type here. Write hour(x) >= 12, or hour(x) * 60 + minute(x) >= 12 * 60 + 30.

SELECT COUNT(*) FROM visits WHERE visited_on > INTERVAL '1' DAY
-- refused: INTERVAL at 1:48: an interval is added to a day or a moment, and is no value of its own. Write x + INTERVAL 15 MINUTE, and date_diff('minute', a, b) for a length. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL '2 months ago' > '2024-01-01'
-- refused: INTERVAL at 1:48: this is not a whole number of one unit. Write a whole number of one unit, like INTERVAL '3' DAY.

SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL '1 fortnight' > '2024-01-01'
-- refused: INTERVAL at 1:48: the unit is none of year, quarter, month, week, day, hour, minute, second. Write a whole number of one unit, like INTERVAL '3' DAY.

SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL '1.5' DAY > '2024-01-01'
-- refused: INTERVAL at 1:48: this is not a whole number of one unit. Write a whole number of one unit, like INTERVAL '3' DAY.

SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL (cost) DAY > '2024-01-01'
-- refused: INTERVAL at 1:48: only a constant interval is read. Write a whole number of one unit, like INTERVAL '3' DAY. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

SELECT COUNT(*) FROM visits WHERE visited_on + INTERVAL '99999999999' DAY > '2024-01-01'
-- refused: INTERVAL at 1:48: the number is too large. Write a whole number of one unit, like INTERVAL '3' DAY.

SELECT COUNT(*) FROM patients WHERE city = X'00'
-- refused: X'...' at 1:44: dpsql reads strings without a prefix. Write '...', in which a backslash stands for itself.

SELECT COUNT(*) FROM patients WHERE {'a': 1} = age
-- refused: struct at 1:37: structs and maps are not supported. Write plain columns and values.

SELECT COUNT(*) FROM patients WHERE age IN ()
-- refused: IN at 1:37: its list is missing. Write IN (1, 2).

-- Functions that are not on the list
SELECT COUNT(*) FROM patients WHERE random() < 0.5
-- refused: random at 1:37: an answer may not depend on chance outside the accounting. Leave it out.

SELECT COUNT(*) FROM visits WHERE visited_on < current_date
-- refused: CURRENT_DATE at 1:48: an answer may not depend on when it was asked. Write the date: DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on < now()
-- refused: now at 1:48: an answer may not depend on when it was asked. Write the date: DATE '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on < today()
-- refused: today at 1:48: an answer may not depend on when it was asked. Write the date: DATE '2024-05-31'.

SELECT COUNT(*) FROM patients WHERE getenv('HOME') = 'x'
-- refused: getenv at 1:37: there is no such function here. See the list of functions in the documentation.

SELECT COUNT(*) FROM patients WHERE current_setting('threads') = 1
-- refused: current_setting at 1:37: it tells of the engine, and not of the data. Leave it out; DESCRIBE table shows columns and types.

SELECT COUNT(*) FROM patients WHERE error('x') IS NULL
-- refused: error at 1:37: there is no such function here. See the list of functions in the documentation.

SELECT COUNT(*) FROM patients WHERE repeat('x', 1000000000) = city
-- refused: repeat at 1:37: its result could be too long for the engine. Write lpad or rpad with a constant length.

SELECT COUNT(*) FROM patients WHERE regexp_extract(city, 'z', 0, 'k') = city
-- refused: regexp_extract at 1:37: it does not take (text, text, integer, text). It takes (text, constant text) or (text, constant text, constant integer).

SELECT COUNT(*) FROM patients WHERE time_bucket(INTERVAL '1' DAY, age) = 1
-- refused: time_bucket at 1:37: periods are those of the calendar here. Write date_trunc('week', age), or date_diff('day', DATE '2020-01-01', age) // 10 for every ten days. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15.

SELECT SUM(collate(city, 'nocase')) FROM patients
-- refused: COLLATE at 1:12: text is compared by its bytes. Leave it out, or use lower(text).

SELECT SUM(setseed(0.5)) FROM patients
-- refused: setseed at 1:12: an answer may not depend on chance outside the accounting. Leave it out.

SELECT SUM(nextval('s')) FROM patients
-- refused: nextval at 1:12: there is no such function here. See the list of functions in the documentation.

SELECT SUM(hash(city)) FROM patients
-- refused: hash at 1:12: a hash makes names look anonymous without hiding anybody: every value can be tried. Group by the column itself; the noise is what protects.

SELECT SUM(list_sum(list_value(age))) FROM patients
-- refused: list_sum at 1:12: there is no such function here. See the list of functions in the documentation.

SELECT SUM(struct_pack(a => 1)) FROM patients
-- refused: struct_pack at 1:12: named arguments, DISTINCT, FILTER, ORDER BY and * belong to aggregates. Remove them here.

SELECT SUM(unnest(age)) FROM patients
-- refused: unnest at 1:12: there is no such function here. See the list of functions in the documentation.

SELECT SUM(COLUMNS(*)) FROM patients
-- refused: COLUMNS at 1:12: which columns a pattern or a star finds is not read. Write AVG(COLUMNS(['a', 'b'])) with the names of columns, or AVG(a), AVG(b).

SELECT SUM(json_extract(city, '$.a')) FROM patients
-- refused: json_extract at 1:12: dpsql reads no JSON. Write regexp_extract(x, '"key": *"([^"]*)"', 1), or '"key": *([0-9]+)' for a number.

SELECT SUM(TRY(age)) FROM patients
-- refused: try at 1:12: nothing here can fail, so there is nothing to try. Leave TRY out.

SELECT COUNT(*) FROM patients WHERE list_transform(age, x -> x + 1) = 1
-- refused: -> at 1:59: this is not an operator of dpsql. Lambdas are not supported, and dpsql reads no JSON. Write regexp_extract(x, '"key": *"([^"]*)"', 1), or '"key": *([0-9]+)' for a number.

SELECT EXP(COUNT(*)) FROM patients
-- refused: exp at 1:8: the result could be too large for the engine. A released number has no bounds. Keep it within constants, such as exp(least(AVG(ln(x)), 50)).

SELECT DATE '2020-01-01' + CAST(COUNT(*) AS INTEGER) AS d FROM patients
-- refused: + at 1:8: the result could be too large for the engine. A released number has no bounds. Keep it within constants, such as GREATEST(0, LEAST(COUNT(*), 500)).

SELECT EXP(n) AS m FROM (SELECT COUNT(*) AS n FROM patients)
-- refused: exp at 1:8: the result could be too large for the engine. A released number has no bounds. Keep it within constants, such as exp(least(AVG(ln(x)), 50)).

SELECT COUNT(*) FROM visits WHERE visited_on >= '2023-02-30'
-- refused: >= at 1:35: there is no day '2023-02-30'. Write it like '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE visited_on IN ('2023-02-28', 'yesterday')
-- refused: in at 1:35: there is no day 'yesterday'. Write it like '2024-05-31'.

SELECT COUNT(*) FROM visits WHERE CAST(visited_on AS TIMESTAMP) < '2023-02-28 25:00:00'
-- refused: < at 1:40: there is no moment '2023-02-28 25:00:00'. Write it like '2024-05-31 12:00:00'.

SELECT STRING_AGG(name, ',') FROM cities
-- refused: string_agg at 1:8: it puts the values of many rows into one: those of people are never shown, those of public tables as rows. Write SELECT name, COUNT(*) .. GROUP BY name, or SELECT name where the table is public.

SELECT STRING_AGG(city, ', ') FROM patients
-- refused: STRING_AGG at 1:8: it puts the values of many rows into one: those of people are never shown, those of public tables as rows. Write SELECT city, COUNT(*) .. GROUP BY city, or SELECT city where the table is public.

SELECT LIST(age) FROM patients
-- refused: LIST at 1:8: it puts the values of many rows into one: those of people are never shown, those of public tables as rows. Write SELECT age, COUNT(*) .. GROUP BY age, or SELECT age where the table is public.

SELECT p.city, COUNT(*) / ANY_VALUE(c.population) FROM patients p JOIN cities c ON p.city = c.name GROUP BY p.city
-- refused: ANY_VALUE at 1:27: it shows a value of one person's row. Where each group has one, as of the columns of a public table, write that column in GROUP BY. Or MODE(x). For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT FIRST(city) FROM patients
-- refused: FIRST at 1:8: it shows a value of one person's row. Where each group has one, as of the columns of a public table, write that column in GROUP BY. Or MODE(x). For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT PRODUCT(age) FROM patients
-- refused: PRODUCT at 1:8: this aggregate is not supported. There are COUNT, SUM, AVG, MEAN, MIN, MAX, MODE, MEDIAN, VAR_POP, VAR_SAMP, VARIANCE, STDDEV_POP, STDDEV_SAMP, STDDEV, TRIMMED_MEAN, AVG_VECTOR, COVAR_POP, COVAR_SAMP, CORR, REGR_SLOPE, QUANTILE_CONT, PERCENTILE_CONT, APPROX_QUANTILE, APPROX_PERCENTILE, QUANTILE_DISC, PERCENTILE_DISC, QUANTILE, APPROX_QUANTILES, COUNT_IF, COUNTIF, BOOL_OR, LOGICAL_OR, BOOL_AND, LOGICAL_AND.

-- Arguments
SELECT SUM() FROM patients
-- refused: SUM at 1:8: it takes one argument. Write SUM(x).

SELECT SUM(*) FROM patients
-- refused: SUM at 1:8: it takes one argument. Write SUM(x).

SELECT AVG(age, weight) FROM patients
-- refused: AVG at 1:8: it takes one argument. Write AVG(x).

SELECT COUNT(age, weight) FROM patients
-- refused: COUNT at 1:8: it takes one argument. Write COUNT(x).

SELECT COUNT(DISTINCT *) FROM patients
-- refused: * in a function at 1:8: it stands alone, in COUNT(*). Name the column.

SELECT COUNT(DISTINCT) FROM patients
-- refused: ) at 1:22: something is missing before it. Write it, or take the last word out.

SELECT SUM(DISTINCT age) FROM patients
-- refused: SUM at 1:8: DISTINCT and ORDER BY inside it are not supported. Leave them out, or aggregate a sub-query.

SELECT SUM(city) FROM patients
-- refused: SUM at 1:8: it needs numbers, not text. Name a numeric column or expression.

SELECT AVG(visited_on) FROM visits
-- refused: AVG at 1:8: it needs numbers, not date. Name a number, such as the days since one of them: date_diff('day', DATE '2020-01-01', x).

SELECT SUM(2) FROM patients
-- refused: SUM at 1:8: it aggregates a constant. Name a column, or multiply COUNT(*) by the constant.

SELECT SUM(NULL) FROM patients
-- refused: SUM at 1:8: it needs numbers, not null. Name a numeric column or expression.

SELECT AVG(round(cost, age)) FROM visits JOIN patients USING (patient_id)
-- refused: round at 1:12: argument 2 must be a constant. Write a literal there.

SELECT AVG(pow(age, weight)) FROM patients
-- refused: pow at 1:12: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT AVG(abs(city)) FROM patients
-- refused: abs at 1:12: it does not take (text). It takes (integer) or (real). For the number in a text write TRY_CAST(x AS DOUBLE), or the owner declares the column's type.

SELECT AVG(abs(age, 1)) FROM patients
-- refused: abs at 1:12: it does not take (integer, integer). It takes (integer) or (real).

SELECT AVG(floor()) FROM patients
-- refused: floor at 1:12: it does not take (no arguments). It takes (real).

SELECT AVG(length(age)) FROM patients
-- refused: length at 1:12: it does not take (integer). It takes (text).

SELECT COUNT(*) FROM visits WHERE date_trunc('decade', visited_on) > '2024-01-01'
-- refused: date_trunc at 1:35: argument 1 must be one of year, quarter, month, week, day, hour, minute, second. Write 'year', say.

SELECT COUNT(*) FROM visits WHERE date_trunc('mnth', visited_on) > '2024-01-01'
-- refused: date_trunc at 1:35: argument 1 must be one of year, quarter, month, week, day, hour, minute, second. Did you mean month?

SELECT COUNT(*) FROM visits WHERE date_trunc(diagnosis, visited_on) > '2024-01-01'
-- refused: date_trunc at 1:35: argument 1 must be a constant. Write a literal there.

SELECT COUNT(*) FROM visits WHERE date_trunc(visited_on, 'month') > '2024-01-01'
-- refused: date_trunc at 1:35: it does not take (date, text). It takes (constant text, date) or (constant text, timestamp).

SELECT COUNT(*) FROM patients WHERE city LIKE sex
-- refused: like at 1:37: argument 2 must be a constant. Write a literal there.

SELECT COUNT(*) FROM patients WHERE city LIKE 'a!%' ESCAPE '!!'
-- refused: like_escape at 1:37: argument 3 must be one character. Write another constant there.

SELECT COUNT(*) FROM patients WHERE city LIKE 'a!%' ESCAPE city
-- refused: syntax at 1:60: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients WHERE city SIMILAR TO 'a.*'
-- refused: SIMILAR TO at 1:42: % and _ are wildcards there in SQL's standard and letters in DuckDB; . ^ $ and \ are the reverse. Write regexp_full_match(x, 'a.*'), a regular expression; LIKE has % and _.

SELECT COUNT(*) FROM patients WHERE age = 'forty'
-- refused: = at 1:37: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients WHERE city > 5
-- refused: > at 1:37: it compares text with integer. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients WHERE age
-- refused: age at 1:37: a condition is needed here, not a value of type integer. Compare it with something.

SELECT COUNT(*) FROM patients WHERE city
-- refused: city at 1:37: a condition is needed here, not a value of type text. Compare it with something.

SELECT COUNT(*) FROM patients WHERE age = sex
-- refused: = at 1:37: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients WHERE age IN (1, 'two')
-- refused: in at 1:37: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients WHERE age BETWEEN 'a' AND 'b'
-- refused: >= at 1:37: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients WHERE NOT age
-- refused: not at 1:41: it does not take (integer). It takes (boolean).

SELECT COUNT(*) FROM patients WHERE age AND sex = 'F'
-- refused: age at 1:37: a condition is needed here, not a value of type integer. Compare it with something.

SELECT SUM(CASE WHEN age > 1 THEN 1 ELSE 'no' END) FROM patients
-- refused: CASE at 1:22: the branches have types integer and text. Make every branch the same type.

SELECT SUM(CASE WHEN age THEN 1 END) FROM patients
-- refused: age at 1:22: a condition is needed here, not a value of type integer. Compare it with something.

SELECT SUM(CAST(city AS INTEGER)) FROM patients
-- refused: CAST at 1:17: a cast from text to integer could fail on some row. Write TRY_CAST: it is NULL where the text spells no such value.

SELECT SUM(TRY_CAST(city AS DOUBLE)) FROM patients
-- refused: SUM(TRY_CAST(city AS DOUBLE)) at 1:8: the bounds of its argument are not known. Add bounds to its columns in hospital.yaml, or name bounds in the call: SUM(TRY_CAST(city AS DOUBLE), contribution_bounds_per_row => (0, 500)).

SELECT COUNT(*) FROM patients WHERE CAST(city AS DATE) > '2024-01-01'
-- refused: CAST at 1:42: a cast from text to date could fail on some row. Write TRY_CAST: it is NULL where the text spells no such value.

SELECT COUNT(*) FROM patients WHERE city::BLOB IS NULL
-- refused: CAST at 1:37: dpsql has no type blob. Casts between numbers, between dates and timestamps, to text, and TRY_CAST from text are fine.

SELECT hour(TRY_CAST(city AS TIME)) AS h, COUNT(*) FROM patients GROUP BY h
-- refused: CAST at 1:22: dpsql has no type time. Write hour(x) and minute(x) of a timestamp, TRY_CAST(left(x, 2) AS INTEGER) of a text such as '08:30'.

SELECT COUNT(*) FROM patients WHERE age::uuid IS NULL
-- refused: CAST at 1:37: dpsql has no type uuid. Casts between numbers, between dates and timestamps, to text, and TRY_CAST from text are fine.

SELECT COUNT(*) FROM patients WHERE age COLLATE nocase = 1
-- refused: COLLATE at 1:41: text is compared by its bytes. Leave it out, or use lower(text).

SELECT COUNT(*) FROM patients WHERE 1 < age < 5
-- refused: comparison of a comparison at 1:37: readers differ on what belongs together. Write AND between comparisons, or parentheses around the inner one.

SELECT COUNT(*) FROM patients WHERE age IS 5
-- refused: IS at 1:37: it takes NULL, TRUE or FALSE. Write IS NULL, or use =.

SELECT visited_on, COUNT(*) FROM visits
-- refused: visited_on at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as COUNT(DISTINCT visited_on).

SELECT COUNT(*) FROM visits WHERE visited_on > 2020
-- refused: > at 1:35: it compares date with integer. Write a day, such as DATE '2024-05-31', or compare a part of it, such as year(x).

SELECT COUNT(*) FROM patients WHERE (age > 30) = 1
-- refused: = at 1:38: it compares boolean with integer. Write the condition itself, or NOT in front of it.

SELECT DATE '2020-01-01' + AVG(age) FROM patients
-- refused: + at 1:8: it does not take (date, real). It takes (integer, integer) or (real, real) or (date, integer). Write CAST(x AS INTEGER) for a whole number of days.

SELECT COUNT(*) AS any FROM patients
-- refused: ANY at 1:20: this is a keyword, not a name. If it is a name, quote it: "any".

SELECT sex AS show, COUNT(*) FROM patients GROUP BY sex
-- refused: SHOW at 1:15: this is a keyword, not a name. If it is a name, quote it: "show".

SELECT COUNT(*) FROM patients WHERE age = ANY (1)
-- refused: ANY at 1:43: dpsql compares with = ANY of a list, or by < and > with written numbers. Write = ANY (?), IN (..), > ANY ([1, 2]) or EXISTS.

SELECT age AT TIME ZONE 'UTC', COUNT(*) FROM patients GROUP BY 1
-- refused: AT at 1:12: dpsql keeps no time zones and no versions of tables. Leave it out: moments are in UTC. x + INTERVAL 2 HOUR moves them; for summer time the owner casts in a view.

-- Numeric edges and bounds
SELECT VAR_POP(pow(age, 90)) FROM patients
-- refused: VAR_POP at 1:8: its value could be beyond 10^300, where an engine's numbers end. Keep the argument within constants: LEAST(x, 1e100).

SELECT COVAR_POP(pow(age, 90), pow(age, 80)) FROM patients
-- refused: COVAR_POP at 1:8: its value could be beyond 10^300, where an engine's numbers end. Keep the argument within constants: LEAST(x, 1e100).

SELECT SUM(pow(age, 400)) FROM patients
-- refused: pow at 1:12: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT SUM(exp(cost)) FROM visits
-- refused: exp at 1:12: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT SUM(exp(exp(exp(age)))) FROM patients
-- refused: exp at 1:16: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT AVG(cost / (age - 50)) FROM visits JOIN patients USING (patient_id)
-- refused: AVG(cost / (age - 50)) at 1:8: it divides by numbers that may be 0, or close to it, so that its values have no bounds. Keep the divisor at 1 or more: in WHERE, or by greatest(.., 1). NULLIF is not enough. Or name bounds in the call: AVG(cost / (age - 50), contribution_bounds_per_row => (-500, 500)).

SELECT AVG(ln(cost)) FROM visits
-- refused: AVG(ln(cost)) at 1:8: ln is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds. Keep cost away from 0, which > 0 alone does not: WHERE cost >= 1 leaves other rows out, greatest(cost, 1) lifts them. Or name bounds in the call: AVG(ln(cost), contribution_bounds_per_row => (-5, 20)).

SELECT SUM(weight / age) FROM patients
-- refused: SUM(weight / age) at 1:8: it divides by numbers that may be 0, or close to it, so that its values have no bounds. Keep age away from 0: WHERE age >= 1 leaves other rows out, greatest(age, 1) lifts them. NULLIF is not enough. Or name bounds in the call: SUM(weight / age, contribution_bounds_per_row => (0, 500)).

SELECT SUM(length(diagnosis) * 1e300 * 1e300) FROM visits
-- refused: * at 1:12: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT COUNT(*) FROM patients WHERE substr(city, 1, 9999999999) = 'a'
-- refused: substr at 1:37: its arguments could lie where it fails. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT COUNT(*) FROM visits WHERE visited_on + 99999999 > '2024-01-01'
-- refused: + at 1:35: the result could be too large for the engine. Declare or narrow the bounds of its columns, or keep it within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

-- Structure
SELECT age
-- refused: age at 1:8: it needs a FROM, and here is none. Name a table; SHOW TABLES lists them.

SELECT random()
-- refused: random at 1:8: an answer may not depend on chance outside the accounting. Leave it out.

SELECT *
-- refused: SELECT at 1:1: there is no FROM. Name a table; SHOW TABLES lists them.

SELECT * FROM visits LIMIT 5
-- refused: SELECT * at 1:8: single rows of people are never shown. visits has the columns cost, visited_on, diagnosis (DESCRIBE visits tells more). Ask for aggregates: SELECT COUNT(*), AVG(cost) FROM visits

SELECT * FROM patients
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT p.* FROM patients p
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT * EXCLUDE (age) FROM patients
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT COUNT(*) FROM (SELECT * EXCLUDE (agee) FROM patients)
-- refused: * EXCLUDE at 1:30: there is no column agee. Did you mean age?

SELECT * EXCLUDE (name,) FROM cities
-- refused: * EXCLUDE at 1:24: it chooses columns by their names. Write SELECT * EXCLUDE (a, b).

SELECT * EXCLUDE
-- refused: * EXCLUDE at 1:10: it chooses columns by their names. Write SELECT * EXCLUDE (a, b).

SELECT COUNT(* EXCLUDE (age)) FROM patients
-- refused: * in a function at 1:8: it stands alone, in COUNT(*). Name the column.

SELECT * REPLACE (1 AS age) FROM patients
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT DISTINCT sex, COUNT(*) AS n FROM patients GROUP BY sex QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1
-- refused: QUALIFY at 1:71: beside it one star at most stands, and no DISTINCT. Write SELECT DISTINCT a, b FROM (SELECT a, b .. QUALIFY ..).

SELECT DISTINCT ON (state) state, name FROM cities ORDER BY state, population DESC
-- refused: QUALIFY, DISTINCT ON at 1:8: it chooses no rows of public tables. Leave it out, and have the window among the columns: SELECT name, ROW_NUMBER() OVER (ORDER BY name) AS r FROM t ORDER BY r. That costs nothing, and r says which rows it would keep.

SELECT name FROM cities QUALIFY ROW_NUMBER() OVER (PARTITION BY state ORDER BY population DESC) = 1
-- refused: QUALIFY, DISTINCT ON at 1:33: it chooses no rows of public tables. Leave it out, and have the window among the columns: SELECT name, ROW_NUMBER() OVER (ORDER BY name) AS r FROM t ORDER BY r. That costs nothing, and r says which rows it would keep.

SELECT COUNT(*) FROM (SELECT MAX(diagnosis) OVER (PARTITION BY patient_id) AS last FROM visits) WHERE last = 'flu'
-- refused: MAX at 1:30: over the rows of one unit it is of numbers, days and moments. Write FIRST_VALUE(x) OVER (PARTITION BY unit ORDER BY x DESC).

SELECT *, 1 AS sex FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) QUALIFY ROW_NUMBER() OVER (ORDER BY n) = 1
-- refused: QUALIFY at 1:1: two columns are called sex. Give one of them an alias, or write * EXCLUDE (sex).

SELECT n * 2 AS N, * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) QUALIFY ROW_NUMBER() OVER (ORDER BY sex) = 1
-- refused: QUALIFY at 1:1: two columns are called n. Give one of them an alias, or write * EXCLUDE (n).

SELECT COUNT(*) FROM (SELECT *, * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) = 1)
-- refused: QUALIFY at 1:55: beside it one star at most stands, and no DISTINCT. Name the columns of all tables but one.

SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (ORDER BY visited_on) = 1)
-- refused: window function at 1:52: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT *, COUNT(*) FROM patients
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT age FROM patients
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT age FROM patients LIMIT 10
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT age, sex FROM patients ORDER BY age LIMIT 1
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT age + 1 FROM patients
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT sex FROM patients GROUP BY sex
-- refused: SELECT at 1:1: the answer has no aggregate, so it would show rows or the mere presence of people. Add COUNT(*), SUM(x) or AVG(x).

SELECT age, COUNT(*) FROM patients
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT age, COUNT(*) FROM patients GROUP BY sex
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT sex, COUNT(*) FROM patients GROUP BY 2
-- refused: COUNT at 1:13: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT sex, COUNT(*) FROM patients GROUP BY 3
-- refused: 3 at 1:45: there is no column 3. The select list has 2.

SELECT sex, COUNT(*) FROM patients GROUP BY 0
-- refused: 0 at 1:45: there is no column 0. The select list has 2.

SELECT sex, COUNT(*) FROM patients GROUP BY COUNT(*)
-- refused: COUNT at 1:45: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) UNION ALL (SELECT 'all', COUNT(*) FROM patients) WHERE n > 3
-- refused: WHERE at 1:105: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) UNION ALL (SELECT 'all', COUNT(*) FROM patients) LIMIT 3 ORDER BY n
-- refused: ORDER at 1:113: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

(SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) LIMIT 3 ORDER BY n
-- refused: ORDER at 1:64: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM ((SELECT sex FROM patients) ORDER BY sex LIMIT 3) AS t
-- refused: LIMIT or ORDER BY at 1:24: ORDER BY and LIMIT inside a sub-query would choose rows of people. Leave them out: an answer has them, at the end of the whole statement. A condition chooses rows: WHERE x > 100, or beyond a released number: WHERE x > (SELECT QUANTILE_CONT(x, 0.9) FROM t).

WITH a AS (SELECT sex FROM patients) ORDER BY sex
-- refused: ORDER at 1:38: nothing complete stands before it. Write what is missing before it.

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY age
-- refused: age at 1:58: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY 3
-- refused: 3 at 1:58: there is no column 3. The select list has 2.

SELECT sex, COUNT(*) FROM patients GROUP BY sex ORDER BY ALL, sex
-- refused: ORDER BY ALL: it stands alone, behind a SELECT that names its columns. Write ORDER BY and the columns.

SELECT * FROM cities ORDER BY ALL
-- refused: ORDER BY ALL: it stands alone, behind a SELECT that names its columns. Write ORDER BY and the columns.

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING age > 5
-- refused: age at 1:56: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING COUNT(*)
-- refused: count at 1:56: a condition is needed here, not a value of type integer. Compare it with something.

SELECT COUNT(*) FROM patients HAVING nothing > 1
-- refused: nothing at 1:38: there is no such column (or the policy does not name it). There are age, sex, city, weight, consent.

SELECT COUNT(*) FROM patients WHERE COUNT(*) > 1
-- refused: COUNT at 1:37: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT SUM(COUNT(*)) FROM patients
-- refused: COUNT at 1:12: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT SUM(AVG(age)) FROM patients GROUP BY sex
-- refused: AVG at 1:12: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT COUNT(*) FROM patients LIMIT -1
-- refused: LIMIT at 1:38: it takes a whole number. Write it like LIMIT 10.

SELECT COUNT(*) FROM patients LIMIT 1.5
-- refused: LIMIT at 1:37: it takes a whole number. Write it like LIMIT 10.

SELECT COUNT(*) FROM patients LIMIT 5 PERCENT
-- refused: syntax at 1:39: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients LIMIT (SELECT 1)
-- refused: LIMIT at 1:38: it takes a whole number. Write it like LIMIT 10.

SELECT COUNT(*) FROM patients FETCH 5
-- refused: FETCH at 1:31: dpsql reads LIMIT. Write LIMIT 10.

SELECT COUNT(*) OVER () FROM patients
-- refused: window function at 1:8: it answers row by row, and rows are private. Use GROUP BY and aggregates; a window may go over those: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT age, RANK() OVER (ORDER BY age) FROM patients
-- refused: window function at 1:13: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT AVG(age) FROM (SELECT age FROM patients QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) = 1). Of groups: SELECT key, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY key.

SELECT ROW_NUMBER() OVER (PARTITION BY sex) FROM patients
-- refused: window function at 1:8: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT COUNT(*) FROM (SELECT * FROM patients QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY x) = 1). Of groups: SELECT key, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY key.

SELECT LAG(cost) OVER (PARTITION BY patient_id ORDER BY visited_on) FROM visits
-- refused: window function at 1:8: it answers row by row, and rows are private. Over the rows of one person it stands in a sub-query: FROM (SELECT x - LAG(x) OVER (PARTITION BY patient_id ORDER BY ts) AS change FROM visits); then aggregate.

SELECT AVG(total) FROM (SELECT patient_id, SUM(cost) OVER (PARTITION BY patient_id) AS total FROM visits)
-- refused: SUM at 1:44: over the rows of one unit it is of whole numbers: sums of others depend on the order of the rows. Write SUM(CAST(round(x * 100) AS BIGINT)) OVER (..) / 100. For totals of a unit join a sub-query that is grouped by it: (SELECT unit, SUM(x) AS total FROM t GROUP BY unit).

SELECT AVG(r) FROM (SELECT patient_id, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY patient_id)
-- refused: window function at 1:40: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. Over groups put it there: RANK() OVER (ORDER BY COUNT(*) DESC). Over the rows of each person it stands in a sub-query of FROM: (SELECT ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) AS r FROM t).

SELECT COUNT(*) FROM patients WHERE RANK() OVER (ORDER BY age) < 3
-- refused: window function at 1:37: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. Over groups put it there: RANK() OVER (ORDER BY COUNT(*) DESC). Over the rows of each person it stands in a sub-query of FROM: (SELECT ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) AS r FROM t).

SELECT COUNT(*) FROM patients GROUP BY RANK() OVER (ORDER BY age)
-- refused: window function at 1:40: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. Over groups put it there: RANK() OVER (ORDER BY COUNT(*) DESC). Over the rows of each person it stands in a sub-query of FROM: (SELECT ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) AS r FROM t).

SELECT sex, RANK() OVER (ORDER BY age) FROM patients GROUP BY sex
-- refused: age at 1:35: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT RANK() OVER (PARTITION BY patient_id ORDER BY COUNT(*)) FROM visits GROUP BY diagnosis
-- refused: RANK .. OVER at 1:8: beside aggregates it goes over groups, and patient_id is none. Choose people's rows in a sub-query, and aggregate around it: SELECT AVG(x) FROM (SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY ts) = 1).

SELECT sex, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY sex HAVING r < 2
-- refused: HAVING at 1:104: windows go over what HAVING leaves. Write SELECT .. FROM (SELECT .., RANK() OVER (..) AS r .. GROUP BY ..) WHERE r <= 3.

SELECT SUM(RANK() OVER (ORDER BY COUNT(*))) OVER () FROM patients GROUP BY sex
-- refused: window function at 1:12: a window does not go over another. Write SELECT .. FROM (SELECT .., RANK() OVER (..) AS r .. GROUP BY ..) WHERE r <= 3.

SELECT SUM(COUNT(*)) FILTER (WHERE sex = 'F') OVER () FROM patients GROUP BY sex
-- refused: SUM .. OVER at 1:8: DISTINCT, FILTER, ORDER BY and named arguments do not go with a window. There are ROW_NUMBER, RANK, DENSE_RANK, NTILE, PERCENT_RANK, CUME_DIST, COUNT, SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, LAG, LEAD, NTH_VALUE, with plain arguments.

SELECT COUNT(DISTINCT sex) OVER () FROM patients GROUP BY sex
-- refused: COUNT .. OVER at 1:8: DISTINCT, FILTER, ORDER BY and named arguments do not go with a window. There are ROW_NUMBER, RANK, DENSE_RANK, NTILE, PERCENT_RANK, CUME_DIST, COUNT, SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, LAG, LEAD, NTH_VALUE, with plain arguments.

SELECT SUM(COUNT(*)) OVER (ORDER BY sex ROWS BETWEEN 1 FOLLOWING AND 1 PRECEDING) FROM patients GROUP BY sex
-- refused: frame at 1:54: it starts behind its end. Write the earlier row first.

SELECT SUM(COUNT(*)) OVER (ORDER BY sex RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM patients GROUP BY sex
-- refused: RANGE at 1:55: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT SUM(COUNT(*)) OVER (ORDER BY sex ROWS 9999999999999999999 PRECEDING) FROM patients GROUP BY sex
-- refused: frame at 1:46: it takes a whole number of rows below 2^31. Write 2 PRECEDING.

SELECT SUM(COUNT(*)) OVER (ORDER BY sex GROUPS CURRENT ROW) FROM patients GROUP BY sex
-- refused: GROUPS at 1:41: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT SUM(COUNT(*)) OVER (ORDER BY sex ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM patients
GROUP BY sex
-- refused: EXCLUDE at 1:90: a frame has all rows between its ends. Leave EXCLUDE out, and take the row itself away: SUM(n) OVER (..) - n, or COUNT(*) OVER (..) - 1.

SELECT LAG(COUNT(*) IGNORE NULLS) OVER (ORDER BY sex) FROM patients GROUP BY sex
-- refused: syntax at 1:21: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT LAG(COUNT(*), -1) OVER (ORDER BY sex) FROM patients GROUP BY sex
-- refused: LAG at 1:8: its number of rows must be a whole number from 0 to 2^31. Write a constant.

SELECT LAG(COUNT(*), 1, 'none') OVER (ORDER BY sex) FROM patients GROUP BY sex
-- refused: LAG at 1:8: it does not take (integer, integer, text). It takes 1 or 2 or 3 arguments; sums and means are of numbers, and what LAG and LEAD show instead of no row is of the first one's type.

SELECT NTILE(0) OVER (ORDER BY sex), COUNT(*) FROM patients GROUP BY sex
-- refused: NTILE at 1:8: its number of rows must be a whole number from 1 to 2^31. Write a constant.

SELECT STDDEV(COUNT(*)) OVER () FROM patients GROUP BY sex
-- refused: STDDEV .. OVER at 1:8: this is no window function here. There are ROW_NUMBER, RANK, DENSE_RANK, NTILE, PERCENT_RANK, CUME_DIST, COUNT, SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, LAG, LEAD, NTH_VALUE, with plain arguments.

SELECT DISTINCT SUM(COUNT(*)) OVER () FROM patients GROUP BY sex
-- refused: SELECT DISTINCT at 1:1: it does not go with a window. Leave DISTINCT out: every group has a row of its own.

-- CASE does not hide a column that is not grouped by.
SELECT CASE WHEN n > 1 THEN 'a' ELSE 'b' END AS x, COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- refused: x at 1:18: it is neither grouped by nor aggregated. Add it to GROUP BY; a condition on single rows belongs into WHERE.

SELECT COUNT(*) FROM patients WINDOW w AS (ORDER BY age)
-- refused: WINDOW at 1:31: no function goes over 'w'. Write f(x) OVER w, or leave it out.

SELECT COUNT(*) FROM patients TABLESAMPLE 10%
-- refused: TABLESAMPLE at 1:31: the sample would be drawn outside the accounting, and would only add error. Leave it out: all rows cost no more.

SELECT COUNT(*) FROM patients USING SAMPLE 10
-- refused: USING SAMPLE at 1:31: the sample would be drawn outside the accounting, and would only add error. Leave it out: all rows cost no more.

SELECT COUNT(*) INTO leak FROM patients
-- refused: SELECT INTO at 1:17: dpsql reads only. Leave INTO out, and keep the answer in your program.

SELECT COUNT(*) FROM patients FOR UPDATE
-- refused: FOR at 1:31: dpsql neither locks rows nor reads FOR inside a function. Leave it out, or use commas.

SELECT COUNT(*) FROM patients GROUP BY ()
-- refused: tuple in GROUP BY: keys are written one by one. Write GROUP BY a, b.

WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM r) SELECT COUNT(*) FROM r
-- refused: WITH RECURSIVE at 1:6: a query may not feed on itself. Write WITH name AS (..).

SELECT COUNT(*) FROM patients INTERSECT SELECT COUNT(*) FROM visits
-- refused: INTERSECT at 1:31: a condition in WHERE says the same. Write WHERE id IN (SELECT ..) AND id IN (SELECT ..).

SELECT COUNT(*) FROM patients EXCEPT SELECT COUNT(*) FROM visits
-- refused: EXCEPT at 1:31: a condition in WHERE says the same. Write WHERE id IN (SELECT ..) AND id NOT IN (SELECT ..).

SELECT (SELECT COUNT(*) FROM visits) FROM patients
-- refused: scalar sub-query at 1:1: nothing is asked of the rows in FROM. Leave FROM out: SELECT (SELECT COUNT(*) FROM t).

SELECT COUNT(*) FROM patients, LATERAL (SELECT 1)
-- refused: LATERAL at 1:32: a table may not depend on the row beside it. Write a join, or for a computed column a sub-query: FROM (SELECT a + b AS x FROM t).

SELECT COUNT(*) FROM patients NATURAL JOIN cities
-- refused: NATURAL JOIN at 1:44: the two sides have no column of the same name. Write JOIN .. ON a.x = b.y, or CROSS JOIN.

SELECT COUNT(*) FROM patients NATURAL FULL JOIN visits
-- refused: FULL JOIN at 1:49: a full join shows rows without a partner on both sides. Write JOIN or LEFT JOIN; of answers a and b with a key k: FROM (SELECT k FROM a UNION SELECT k FROM b) AS keys LEFT JOIN a USING (k) LEFT JOIN b USING (k).

SELECT COUNT(*) FROM patients p NATURAL JOIN visits v ON p.patient_id = v.patient_id
-- refused: NATURAL JOIN at 1:46: its condition is missing, or one too many. Write JOIN .. ON .., JOIN .. USING (column) or NATURAL JOIN; CROSS JOIN has neither.

SELECT COUNT(*) FROM patients NATURAL CROSS JOIN visits
-- refused: CROSS at 1:39: nothing complete stands before it. Write what is missing before it.

SELECT COUNT(*) FROM patients NATURAL, visits
-- refused: , at 1:38: something is missing before it. Write it, or take the last word out.

SELECT COUNT(*) FROM patients ASOF JOIN visits USING (patient_id)
-- refused: ASOF JOIN at 1:31: dpsql joins on written conditions only. Write JOIN .. ON or JOIN .. USING (column).

SELECT COUNT(*) FROM patients SEMI JOIN visits USING (patient_id)
-- refused: SEMI JOIN at 1:31: dpsql asks for a partner in WHERE. Write WHERE id IN (SELECT id FROM ..).

SELECT COUNT(*) FROM patients POSITIONAL JOIN visits
-- refused: POSITIONAL JOIN at 1:31: rows have no position. Write JOIN .. ON or JOIN .. USING (column).

SELECT COUNT(*) FROM patients CROSS JOIN visits
-- refused: JOIN at 1:42: visits is not joined to the other tables. Join private tables ON equality of their privacy units.

SELECT COUNT(*) FROM patients, visits
-- refused: JOIN at 1:32: visits is not joined to the other tables. Join private tables ON equality of their privacy units.

SELECT COUNT(*) FROM patients p JOIN visits v ON p.age = v.cost
-- refused: JOIN at 1:38: visits is not joined to the other tables. Join private tables ON equality of their privacy units.

SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id > v.patient_id
-- refused: patient_id at 1:50: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients p, cities c, visits v WHERE v.cost = c.population
-- refused: JOIN at 1:44: visits is not joined to the other tables. Join private tables ON equality of their privacy units.

-- policy: shop
SELECT COUNT(*) FROM orders a CROSS JOIN regions r CROSS JOIN logins b
-- refused: JOIN at 1:63: logins is not joined to the other tables. Join private tables ON equality of their privacy units.

SELECT COUNT(*) FROM patients p JOIN visits v ON true
-- refused: JOIN at 1:38: visits is not joined to the other tables. Join private tables ON equality of their privacy units.

SELECT COUNT(*) FROM patients p JOIN visits v USING (age)
-- refused: age at 1:38: USING needs a column of both tables. Write ON a.x = b.y.

SELECT COUNT(*) FROM patients p JOIN visits v
-- refused: INNER JOIN at 1:38: its condition is missing, or one too many. Write JOIN .. ON .., JOIN .. USING (column) or NATURAL JOIN; CROSS JOIN has neither.

SELECT COUNT(*) FROM patients p FULL JOIN visits v USING (patient_id)
-- refused: FULL JOIN at 1:43: a full join shows rows without a partner on both sides. Write JOIN or LEFT JOIN; of answers a and b with a key k: FROM (SELECT k FROM a UNION SELECT k FROM b) AS keys LEFT JOIN a USING (k) LEFT JOIN b USING (k).

SELECT COUNT(*) FROM cities c LEFT JOIN patients p ON c.name = p.city
-- refused: LEFT JOIN at 1:41: a public table may not keep its rows beside a private one: a person's arrival would also take a row. Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS (group_selection_strategy = PUBLIC_GROUPS) in the statement itself.

SELECT COUNT(*) FROM cities c FULL JOIN patients p ON c.name = p.city
-- refused: FULL JOIN at 1:41: a full join shows rows without a partner on both sides. Write JOIN or LEFT JOIN; of answers a and b with a key k: FROM (SELECT k FROM a UNION SELECT k FROM b) AS keys LEFT JOIN a USING (k) LEFT JOIN b USING (k).

SELECT COUNT(*) FROM patients p JOIN cities c ON p.age = c.name
-- refused: = at 1:50: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

SELECT COUNT(*) FROM patients p JOIN cities c ON p.patient_id = c.population
-- refused: patient_id at 1:50: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT patients.age, COUNT(*) FROM (patients JOIN visits USING (patient_id)) GROUP BY 1
-- refused: JOIN in parentheses at 1:46: joins are written without them. Write FROM a JOIN b ON ..

-- The privacy unit
SELECT patient_id FROM patients
-- refused: patient_id at 1:8: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id
-- refused: patient_id at 1:50: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT patient_id, SUM(cost) FROM visits GROUP BY 1
-- refused: patient_id at 1:8: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT COUNT(*) FROM visits GROUP BY patient_id
-- refused: patient_id at 1:38: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT COUNT(*) FROM visits GROUP BY patient_id % 10
-- refused: patient_id at 1:38: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id = 17
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE 17 = patient_id
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

-- parameters: [17]
SELECT COUNT(*) FROM patients WHERE patient_id = ?
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id IN (1, 2)
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id BETWEEN 1 AND 5
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id < 100
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id IS NULL
-- refused: patient_id at 1:22: it may not stand in WHERE: that would single out a person or a record. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id % 2 = 0
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE patient_id = age
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE CASE patient_id WHEN 1 THEN true END
-- refused: patient_id at 1:58: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT SUM(patient_id) FROM patients
-- refused: patient_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT patient_id) counts people.

SELECT AVG(patient_id) FROM patients
-- refused: patient_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT patient_id) counts people.

SELECT MAX(patient_id) FROM patients
-- refused: patient_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients ORDER BY patient_id
-- refused: patient_id at 1:40: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients HAVING patient_id = 1
-- refused: patient_id at 1:38: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(DISTINCT patient_id + 1) FROM patients
-- refused: patient_id at 1:23: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COALESCE(patient_id, 0), COUNT(*) FROM patients GROUP BY 1
-- refused: patient_id at 1:8: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id + 1
-- refused: patient_id at 1:65: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

-- Options
SELECT COUNT(*) FROM patients OPTIONS (epsilon = 0.5)
-- refused: OPTIONS at 1:31: options stand at the front of the statement. Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM ...

SELECT OPTIONS (epsilon = 0.5) COUNT(*) FROM patients
-- refused: OPTIONS at 1:8: options stand at the front of the statement. Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) COUNT(*) FROM ...

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0) COUNT(*) FROM patients
-- refused: epsilon is 0; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = -1) COUNT(*) FROM patients
-- refused: epsilon is -1; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 'much') COUNT(*) FROM patients
-- refused: epsilon is 'much'; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = NULL, rho = 1, delta = 2) COUNT(*) FROM patients
-- refused: delta is 2; write a number from 1e-18 to below 1, such as 1e-8.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e9) COUNT(*) FROM patients
-- refused: epsilon is 1E+9; write a number from 1e-9 to 1e6.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1e-12) COUNT(*) FROM patients
-- refused: epsilon is 1E-12; write a number from 1e-9 to 1e6.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = true) COUNT(*) FROM patients
-- refused: epsilon is True; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, epsilon = 2) COUNT(*) FROM patients
-- refused: epsilon twice at 1:56: it is given once. Drop one.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, rho = 1) COUNT(*) FROM patients
-- refused: epsilon and rho are two prices for one statement. Give one of them.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = age) COUNT(*) FROM patients
-- refused: epsilon is 'age'; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = -1) COUNT(*) FROM patients
-- refused: delta is -1; write a number above 0.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 1) COUNT(*) FROM patients
-- refused: delta is 1; write a number from 1e-18 to below 1, such as 1e-8.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilom = 1) COUNT(*) FROM patients
-- refused: There is no option epsilom. Did you mean epsilon?

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (seed = 1) COUNT(*) FROM patients
-- refused: There is no option seed. There are epsilon, delta, rho, mechanism, max_groups_per_unit, max_rows_per_group, max_rows_contributed, confidence, group_selection_strategy, group_selection_epsilon, min_privacy_units_per_group, privacy_unit_column, sensitivity, centre, scale, gamma, metric, multiple, interval, rest, max_groups_contributed.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS () COUNT(*) FROM patients
-- refused: OPTIONS at 1:42: the options are missing. Write OPTIONS (epsilon = 0.5).

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (0.5) COUNT(*) FROM patients
-- refused: OPTIONS at 1:43: this is not an option. Write OPTIONS (epsilon = 0.5, delta = 1e-8).

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS epsilon = 1 COUNT(*) FROM patients
-- refused: OPTIONS at 1:42: the options are missing. Write OPTIONS (epsilon = 0.5).

SELECT WITH DIFFERENTIAL_PRIVACY COUNT(*) FROM patients
-- refused: WITH at 1:8: it stands at the beginning of a query only. Its OPTIONS are missing. Write SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.5) ..

CREATE SYNTHETIC TABLE t AS SELECT age FROM patients WITH (epsilon = 1)
-- refused: WITH at 1:54: it stands at the beginning of a query only. Options of a synthetic table stand before AS: CREATE SYNTHETIC TABLE name WITH (epsilon = 1) AS ..

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'laplacian') COUNT(*) FROM patients
-- refused: COUNT(*) at 1:68: there is no mechanism 'laplacian'. Write one of public, capped, located, laplace, gaussian, clamped, threshold, exponential, friendly_core, preprocessing, random_dp.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'none') COUNT(*) FROM patients
-- refused: COUNT(*) at 1:63: there is no mechanism 'none'. Write one of public, capped, located, laplace, gaussian, clamped, threshold, exponential, friendly_core, preprocessing, random_dp.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'clamped') MIN(cost) FROM visits
-- refused: MIN(cost) at 1:66: mechanism 'clamped' does not answer this: it is for questions of another kind. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'gaussian_threshold') sex, COUNT(*) FROM patients GROUP BY sex
-- refused: COUNT(*) at 1:82: mechanism 'gaussian_threshold' does not answer this: it is for questions of another kind. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'threshold') COUNT(*) FROM patients
-- refused: COUNT(*) at 1:68: mechanism 'threshold' does not answer this: a single number has no empty groups to leave without noise. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 0) COUNT(*) FROM patients
-- refused: max_groups_contributed is 0; write a whole number from 1.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1.5) COUNT(*) FROM patients
-- refused: max_groups_contributed is 1.5; write a whole number from 1.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (max_groups_contributed = 1, max_rows_contributed = 1) COUNT(*) FROM visits
-- refused: max_groups_contributed and max_rows_contributed exclude each other. Give one of them.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (confidence = 1) COUNT(*) FROM patients
-- refused: confidence is 1; write a number from 1e-6 to 1 - 1e-12, such as 0.95.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = 'EVERYTHING') sex, COUNT(*) FROM patients GROUP BY sex
-- refused: group_selection_strategy is EVERYTHING; write LAPLACE_THRESHOLD, GAUSSIAN_THRESHOLD or PUBLIC_GROUPS.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_strategy = 'PUBLIC_GROUPS') diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- refused: GROUP BY: PUBLIC_GROUPS needs a declared domain for every key. Declare values in the policy, or leave the strategy out and give delta.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (min_privacy_units_per_group = 20) sex, COUNT(*) FROM patients GROUP BY sex
-- refused: min_privacy_units_per_group is for groups that must be chosen; every group of this statement is listed. Leave it out, or write HAVING COUNT(DISTINCT unit) >= k over the answer.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rest = true) sex, COUNT(*) FROM patients GROUP BY sex
-- refused: rest is for groups that stay hidden; every group of this statement is listed. Leave it out.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, rest = 1) diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- refused: rest is 1; write true or false.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, rest = true) diagnosis, COUNT(DISTINCT patient_id) FROM visits GROUP BY diagnosis
-- refused: COUNT(DISTINCT patient_id) with rest at 1:94: a unit may be in several of the groups that stay hidden, and would count in each of them. Write max_groups_per_unit = 1, ask for COUNT(*), or leave rest out.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, rest = true) diagnosis, MEDIAN(cost) FROM visits GROUP BY diagnosis
-- refused: MEDIAN(cost) with rest at 1:94: it does not add up over groups: the rest has counts, sums, means, variances and covariances. Leave it or rest out.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 2, delta = 1e-6, rest = true) diagnosis, COUNT(*) AS n FROM visits GROUP BY diagnosis ORDER BY n DESC LIMIT 3
-- refused: rest: LIMIT would cut it off, or leave it beside groups that it does not hold. Leave LIMIT and OFFSET out: with ORDER BY the rest comes last.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (group_selection_epsilon = 0.1) COUNT(*) FROM patients
-- refused: group_selection_epsilon is for groups that must be chosen; every group of this statement is listed. Leave it out, or write HAVING COUNT(DISTINCT unit) >= k over the answer.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (rho = 0.1, delta = 1e-8, group_selection_epsilon = 0.1) diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- refused: group_selection_epsilon cannot stand in a statement priced by rho, which shares it out. Leave it out.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (scale = (5, 1)) COUNT(*) FROM visits
-- refused: scale is (5, 1); write the lower number first.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (privacy_unit_column = visit_id) COUNT(*) FROM visits
-- refused: privacy_unit_column is visit_id; the policy's privacy unit here is patient_id.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (gamma = 0.1) COUNT(*) FROM visits
-- refused: gamma is an option of mechanism random_dp, and bears on nothing in this statement. Leave it out, or write mechanism = 'random_dp'.

SELECT COUNT(*, epsilon => 5) FROM patients
-- refused: The aggregates' own prices add up to 5, but the statement's epsilon is 0.5. Raise epsilon, or lower epsilon => of an aggregate.

SELECT COUNT(*, epsilon => 0) FROM patients
-- refused: epsilon => at 1:28: it must be a number from 1e-9 to 1e6. Write epsilon => 0.1.

SELECT COUNT(*, epsilon => 'a') FROM patients
-- refused: epsilon => at 1:28: it must be a number from 1e-9 to 1e6. Write epsilon => 0.1.

SELECT COUNT(*, epsilom => 1) FROM patients
-- refused: epsilom => at 1:28: this named argument is not supported. Did you mean epsilon?

SELECT COUNT(*, epsilon => 1, epsilon => 1) FROM patients
-- refused: epsilon twice at 1:31: it is given once. Drop one.

SELECT SUM(epsilon => 1, age) FROM patients
-- refused: argument after a named one at 1:26: plain arguments come first. Write f(value, name => value).

SELECT SUM(abs(age, epsilon => 1)) FROM patients
-- refused: abs at 1:12: named arguments, DISTINCT, FILTER, ORDER BY and * belong to aggregates. Remove them here.

-- with: epsilon=0.5
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM patients
-- refused: epsilon is 0.5 in the call and 1 in OPTIONS. Give it once.

-- with: epsilon=-1
SELECT COUNT(*) FROM patients
-- refused: epsilon is -1; write a number above 0.

-- with: seed=4
SELECT COUNT(*) FROM patients
-- refused: There is no option seed. There are epsilon, delta, rho, mechanism, max_groups_per_unit, max_rows_per_group, max_rows_contributed, confidence, group_selection_strategy, group_selection_epsilon, min_privacy_units_per_group, privacy_unit_column, sensitivity, centre, scale, gamma, metric, multiple, interval, rest, max_groups_contributed.

-- with: noise=False
SELECT COUNT(*) FROM patients
-- refused: There is no option noise. There are epsilon, delta, rho, mechanism, max_groups_per_unit, max_rows_per_group, max_rows_contributed, confidence, group_selection_strategy, group_selection_epsilon, min_privacy_units_per_group, privacy_unit_column, sensitivity, centre, scale, gamma, metric, multiple, interval, rest, max_groups_contributed.

-- with: epsilon=1, delta=None, group_selection_strategy='PUBLIC_GROUPS'
SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- refused: GROUP BY: PUBLIC_GROUPS needs a declared domain for every key. Declare values in the policy, or leave the strategy out and give delta.

-- Parameters
SELECT COUNT(*) FROM patients WHERE age > ?
-- refused: The statement takes 1 value for parameters; 0 came with it.

-- parameters: [1]
SELECT COUNT(*) FROM patients WHERE age > ? AND age < ?
-- refused: The statement takes 2 values for parameters; 1 came with it.

-- parameters: ["x"]
SELECT COUNT(*) FROM patients WHERE age > ?
-- refused: > at 1:37: it compares integer with text. Write a value of the column's own type: numbers without quotes, text and dates in single quotes.

-- parameters: [[1, 2]]
SELECT COUNT(*) FROM patients WHERE age IN ?
-- refused: IN ? at 1:41: one ? is one value. Write = ANY (?), or IN (?, ?, ?).

-- parameters: [-1]
SELECT sex, COUNT(*) FROM patients GROUP BY sex LIMIT ?
-- refused: LIMIT at 1:55: it must be a whole number from 0. Pass an integer.

-- parameters: ["patients"]
SELECT COUNT(*) FROM ?
-- refused: file as a table at 1:22: dpsql reads tables of the policy only. Write the name of a table.

-- Half a statement
SELECT
-- refused: SELECT at 1:1: the select list is empty. Write what to select, like COUNT(*).

SELECT FROM patients
-- refused: SELECT at 1:8: the select list is empty. Write what to select, like COUNT(*).

SELECT COUNT(*) patients
-- refused: SELECT at 1:1: there is no FROM. Name a table; SHOW TABLES lists them.

SELECT COUNT(*) FROM
-- refused: the end of the statement at 1:17: something is missing before it. Write it, or take the last word out.

SELECT COUNT(*) FROM patients WHERE
-- refused: the end of the statement at 1:31: something is missing before it. Write it, or take the last word out.

SELECT COUNT(*) FROM patients GROUP BY
-- refused: the end of the statement at 1:37: something is missing before it. Write it, or take the last word out.

SELECT COUNT(*) FROM patients GROUP sex
-- refused: syntax at 1:37: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients ORDER sex
-- refused: syntax at 1:37: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(* FROM patients
-- refused: FROM at 1:16: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*)) FROM patients
-- refused: ) at 1:16: nothing is open for it to close. Take it out, or end the CASE before it.

SELECT COUNT(*) FROM patients WHERE age >
-- refused: the end of the statement at 1:41: something is missing before it. Write it, or take the last word out.

SELECT COUNT(*) FROM patients WHERE age > > 5
-- refused: > at 1:43: there is no value before it. Write a value before and after it.

SELECT COUNT(*) FROM patients WHERE AND age > 5
-- refused: AND at 1:37: nothing complete stands before it. Write what is missing before it.

SELECT COUNT(*) FROM patients GROUP BY sex WHERE age > 5
-- refused: WHERE at 1:44: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients WHERE age > 5 WHERE age < 9
-- refused: WHERE at 1:45: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) WHERE age > 5
-- refused: SELECT at 1:1: there is no FROM. Name a table; SHOW TABLES lists them.

SELECT CASE WHEN age > 5 THEN 1 FROM patients
-- refused: FROM at 1:33: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients LIMIT
-- refused: the end of the statement at 1:31: something is missing before it. Write it, or take the last word out.

SELEC COUNT(*) FROM patients
-- refused: SELEC at 1:1: dpsql reads only, one SELECT at a time. Write SELECT, EXPLAIN, SHOW BUDGET, SHOW TABLES, DESCRIBE or SET.

SELECT COUNT(*) FORM patients
-- refused: syntax at 1:22: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) FROM patients p q
-- refused: syntax at 1:33: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

-- policy: census
SELECT trade, COUNT(*) FROM people GROUP BY trade
-- refused: trade at 1:45: its values are not known. Name those that you ask for, in WHERE trade IN (..); or give delta, such as delta = 1e-8, and groups of few people stay hidden. The owner can declare values in census.yaml.

-- policy: census
SELECT COUNT(*) FROM people p JOIN jobs j ON p.district = j.hours
-- refused: JOIN at 1:36: jobs is not joined to the other tables. Join private tables ON equality of their privacy units.

-- policy: shop
SELECT SUM(seconds) FROM logins
-- refused: SUM(seconds) at 1:8: the bounds of its argument are not known. Add bounds to its columns in shop.yaml, or name bounds in the call: SUM(seconds, contribution_bounds_per_row => (0, 500)).

-- policy: shop
SELECT AVG(height) FROM customers
-- refused: AVG(height) at 1:8: the bounds of its argument are not known. Add bounds, or centre and spread, or a scale, to its columns in shop.yaml, or name bounds in the call: AVG(height, contribution_bounds_per_row => (0, 500)).

-- policy: shop
SELECT nickname, COUNT(*), AVG(height) FROM customers GROUP BY nickname
-- refused: AVG(height) at 1:28: the bounds of its argument are not known. Add bounds, or centre and spread, or a scale, to its columns in shop.yaml, or name bounds in the call: AVG(height, contribution_bounds_per_row => (0, 500)).

-- policy: shop
SELECT SUM(total / items) FROM orders
-- refused: SUM(total / items) at 1:8: it divides by numbers that may be 0, or close to it, so that its values have no bounds. Keep items away from 0: WHERE items >= 1 leaves other rows out. NULLIF is not enough. Or name bounds in the call: SUM(total / items, contribution_bounds_per_row => (0, 500)).

-- policy: shop
SELECT COUNT(*) FROM orders WHERE status = open
-- refused: open at 1:44: there is no such column (or the policy does not name it). There are placed, day, total, items, status, channel, express, discount, note.

-- policy: shop
SELECT COUNT(*) FROM orders WHERE "status" = "open"
-- refused: "open" at 1:46: there is no such column (or the policy does not name it). There are placed, day, total, items, status, channel, express, discount, note. A text stands in single quotes: 'open'.

-- policy: shop
SELECT COUNT(*) FROM orders JOIN logins USING (day)
-- refused: JOIN at 1:34: private tables are joined only where their privacy units are equal. Add: the two customer_id columns are equal (ON a.customer_id = b.customer_id).

-- policy: shop
SELECT COUNT(*) FROM orders, customers WHERE orders.customer_id = customers.region
-- refused: customer_id at 1:46: the privacy unit stands beside nothing but itself: anything else could single out a person. If region is the same id, its table is about the same people: the owner can make it private, with unit: region; then the two join.

-- policy: shop
SELECT COUNT(*) FROM customers WHERE joined > born + 'x'
-- refused: + at 1:47: it does not take (date, text). It takes (integer, integer) or (real, real) or (date, integer).

-- policy: shop
SELECT SUM(member) / AVG(region) FROM customers
-- refused: AVG at 1:22: it needs numbers, not text. Name a numeric column or expression.

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed > TIMESTAMP '2024-02-30 10:00'
-- refused: TIMESTAMP at 1:44: there is no such moment. Write it like TIMESTAMP '2024-05-31 13:45:00', or TIMESTAMPTZ '2024-05-31 13:45:00+02:00'.

-- Means at the data's own scale
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'friendly_core') COUNT(*) FROM patients
-- refused: COUNT(*) at 1:72: mechanism 'friendly_core' does not answer this: it answers means, not COUNT(*). Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'friendly_core') AVG(age) FROM patients
-- refused: AVG(age) at 1:72: mechanism 'friendly_core' does not answer this: it needs a scale; declare scale: [low, high] in the policy, or write OPTIONS (scale = (0.1, 100)). Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-6, mechanism = 'friendly_core', scale = (1, 100)) AVG(cost) FROM visits
-- refused: AVG(cost) at 1:117: mechanism 'friendly_core' does not answer this: one unit has several rows here, and it needs one value a unit; aggregate each unit in a sub-query first, such as SELECT unit, SUM(x) AS x ... GROUP BY unit, or write max_rows_contributed = 1. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 0.001, delta = 1e-6, mechanism = 'friendly_core', scale = (1, 100)) AVG(age) FROM patients
-- refused: AVG(age) at 1:121: mechanism 'friendly_core' does not answer this: 100000 rows in a group, as the policy guesses them (rows_about), are too few for this price: rows times the epsilon of a search must reach 40, and the core must outweigh its noise. Leave the mechanism out to get the one with the least expected error.

SELECT AVG_VECTOR(age) FROM patients
-- refused: AVG_VECTOR at 1:8: it takes two columns or more. Write AVG_VECTOR(x, y), or AVG(x).

SELECT AVG_VECTOR(age, weight) AS means FROM patients
-- refused: AVG_VECTOR at 1:8: it makes several columns, which cannot share one name. Leave AS out: the columns are avg(x), avg(y), ...

SELECT AVG_VECTOR(age, weight) + 1 FROM patients
-- refused: AVG_VECTOR at 1:8: it makes several columns, so it stands alone in the SELECT list. Write AVG of one column here, or compute in an outer query.

SELECT AVG_VECTOR(age, sex) FROM patients
-- refused: AVG_VECTOR at 1:8: it needs numbers, not text. Name a numeric column or expression.

SELECT AVG_VECTOR(age, patient_id) FROM patients
-- refused: patient_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients HAVING AVG_VECTOR(age, weight) > 3
-- refused: AVG_VECTOR at 1:38: it makes several columns, so it stands alone in the SELECT list. Write AVG of one column here, or compute in an outer query.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (scale = (1, 100)) COUNT(*) FROM patients
-- refused: scale is an option of mechanism friendly_core, and bears on nothing in this statement. Leave it out, or write mechanism = 'friendly_core'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (interval = 'none') COUNT(*) FROM patients
-- refused: interval is an option of mechanism exponential, and bears on nothing in this statement. Leave it out, or write mechanism = 'exponential'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (interval = 'none') MODE(sex) FROM patients
-- refused: interval is an option of mechanism exponential, and bears on nothing in this statement. Leave it out, or write mechanism = 'exponential'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (interval = 'narrow') MEDIAN(age) FROM patients
-- refused: interval is narrow; write none, or leave it out to get intervals.

-- Preprocessed statistics
SELECT TRIMMED_MEAN(age) FROM patients
-- refused: TRIMMED_MEAN at 1:8: it takes a column and the share to leave out at either end. Write TRIMMED_MEAN(x, 0.1).

SELECT TRIMMED_MEAN(age, 0.5) FROM patients
-- refused: TRIMMED_MEAN at 1:8: the share left out at either end must be 0 or more, and below 0.5. Write 0.1 for the mean of the middle eight tenths, or MEDIAN(x).

SELECT TRIMMED_MEAN(age, -0.1) FROM patients
-- refused: TRIMMED_MEAN at 1:8: the share left out at either end must be 0 or more, and below 0.5. Write 0.1 for the mean of the middle eight tenths, or MEDIAN(x).

SELECT TRIMMED_MEAN(age, sex) FROM patients
-- refused: sex at 1:26: the share must be a constant. Write a literal.

SELECT TRIMMED_MEAN(DISTINCT age, 0.1) FROM patients
-- refused: TRIMMED_MEAN at 1:8: DISTINCT and ORDER BY inside it are not supported. Leave them out, or aggregate a sub-query.

SELECT TRIMMED_MEAN(sex, 0.1) FROM patients
-- refused: TRIMMED_MEAN at 1:8: it needs numbers, not text. Name a numeric column or expression.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing') COUNT(*) FROM patients
-- refused: COUNT(*) at 1:72: mechanism 'preprocessing' does not answer this: it answers quantiles, AVG, TRIMMED_MEAN, variances, MIN, MAX and SUM, not COUNT(*). Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing') MAX(age) FROM patients
-- refused: MAX(age) at 1:72: mechanism 'preprocessing' does not answer this: no rule sets its sensitivity; write OPTIONS (mechanism = 'preprocessing', sensitivity = ...), how far one person may move it, or ask for a quantile or a mean. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing') CORR(age, weight) FROM patients
-- refused: CORR(age, weight) at 1:72: mechanism 'preprocessing' does not answer this: it answers quantiles, AVG, TRIMMED_MEAN, variances, MIN, MAX and SUM, not CORR(age, weight). Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'preprocessing') QUANTILE_CONT(cost, 0.9) FROM visits
-- refused: QUANTILE_CONT(cost, 0.9) at 1:72: mechanism 'preprocessing' does not answer this: for more than 100000 rows (rows_about) a quantile other than the median takes long where the centre is wrong; declare bounds, with which mechanism 'exponential' answers it. Leave the mechanism out to get the one with the least expected error.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (sensitivity = 3) COUNT(*) FROM patients
-- refused: sensitivity is an option of mechanism preprocessing, and bears on nothing in this statement. Leave it out, or write mechanism = 'preprocessing'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (centre = 3) SUM(age) FROM patients
-- refused: centre is an option of mechanism preprocessing, and bears on nothing in this statement. Leave it out, or write mechanism = 'preprocessing'.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (sensitivity = -1) AVG(age) FROM patients
-- refused: sensitivity is -1; write a number above 0.

-- policy: shop
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (sensitivity = 3) AVG(height) FROM customers
-- refused: AVG(height) at 1:60: no mechanism answers this. capped, located, clamped: here it is taken by name alone. laplace, gaussian: AVG(height) has no bounds; declare bounds in the policy, or write contribution_bounds_per_row. friendly_core: it needs a scale; declare scale: [low, high] in the policy, or write OPTIONS (scale = (0.1, 100)). preprocessing: there is no centre; declare centre and spread in the policy, or write OPTIONS (centre = ...).

-- policy: shop
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (centre = 1.6) AVG(height) FROM customers
-- refused: AVG(height) at 1:57: no mechanism answers this. capped, located, clamped: here it is taken by name alone. laplace, gaussian: AVG(height) has no bounds; declare bounds in the policy, or write contribution_bounds_per_row. friendly_core: it needs a scale; declare scale: [low, high] in the policy, or write OPTIONS (scale = (0.1, 100)). preprocessing: there is no spread; declare centre and spread in the policy, or write OPTIONS (sensitivity = ...), how far one person may move the answer.

-- policy: shop
SELECT TRIMMED_MEAN(height, 0.1) FROM customers
-- refused: TRIMMED_MEAN(height, 0.1) at 1:8: the bounds of its argument are not known. Add bounds, or centre and spread, to its columns in shop.yaml, or name bounds in the call: TRIMMED_MEAN(height, 0.1, contribution_bounds_per_row => (0, 500)), with OPTIONS (mechanism = 'preprocessing').

-- Random differential privacy beyond the declared cells
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') sex, COUNT(*) FROM patients GROUP BY sex
-- refused: COUNT(*) at 1:73: mechanism 'random_dp' does not answer this: the policy does not opt in for patients; the owner can, under random_dp. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp', delta = 1e-6) trade, COUNT(*) FROM people GROUP BY trade
-- refused: COUNT(*) at 1:89: mechanism 'random_dp' does not answer this: its cells must be declared; the groups of an open domain come from the data. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') district, COUNT(*) FROM people WHERE age > 65 GROUP BY district
-- refused: COUNT(*) at 1:78: mechanism 'random_dp' does not answer this: groups and conditions must be made of the base partition (district, employed) alone, and age is not in it; gamma is paid for those cells. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') age, COUNT(*) FROM people GROUP BY age
-- refused: COUNT(*) at 1:73: mechanism 'random_dp' does not answer this: groups and conditions must be made of the base partition (district, employed) alone, and age is not in it; gamma is paid for those cells. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') p.district, COUNT(*) FROM people p JOIN jobs j USING (person_id) GROUP BY 1
-- refused: COUNT(*) at 1:80: mechanism 'random_dp' does not answer this: its proof is about the rows of one table; it takes no joins and no sub-queries. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') district, COUNT(*) FROM people WHERE person_id IN (SELECT person_id FROM jobs) GROUP BY district
-- refused: COUNT(*) at 1:78: mechanism 'random_dp' does not answer this: its proof is about the rows of one table; it takes no joins and no sub-queries. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') district, AVG(age) FROM people GROUP BY district
-- refused: AVG(age) at 1:78: mechanism 'random_dp' does not answer this: a declared mean has no groups, caps or bounds of the statement's own. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp', gamma = 0.01) district, COUNT(*) FROM people GROUP BY district
-- refused: COUNT(*) at 1:92: mechanism 'random_dp' does not answer this: it costs gamma 0.04 once a table version, more than the gamma 0.01 asked for. Leave the mechanism out to get the one with the least expected error.

-- policy: census
-- with: metric='near', multiple=1
-- Under a metric
SELECT SUM(income) FROM people
-- refused: income: it is no attribute of metric near, which does not say how far its values are apart. The metric has age, employed, district; ask for other columns at a price in epsilon.

-- policy: census
-- with: metric='near', multiple=1
SELECT COUNT(DISTINCT person_id) FROM people
-- refused: COUNT(DISTINCT person_id) at 1:8: a metric prices COUNT(*), COUNT(x), SUM(x), AVG(x) and MODE(x), with contribution_bounds_per_row at most. Ask for others at a price in epsilon.

-- policy: census
-- with: metric='near', multiple=1
SELECT COUNT(*) FROM jobs
-- refused: FROM: metric near is one of the rows of people, not of jobs. Select from people alone, joined with public tables on their key.

-- policy: census
-- with: metric='near', multiple=1
SELECT COUNT(*) FROM people p JOIN jobs j USING (person_id)
-- refused: FROM: metric near is one of the rows of people, not of people, jobs. Select from people alone, joined with public tables on their key.

-- policy: census
-- with: metric='near', multiple=1
SELECT COUNT(*) FROM people p JOIN districts d ON p.age = d.km2
-- refused: JOIN: under a metric a join must give each row one partner at most: districts is not joined on its key district alone. Join public tables on their declared key, and put other conditions into WHERE.

-- policy: census
-- with: metric='near', multiple=1
SELECT MEDIAN(age) FROM people
-- refused: MEDIAN(age) at 1:8: a metric prices COUNT(*), COUNT(x), SUM(x), AVG(x) and MODE(x), with contribution_bounds_per_row at most. Ask for others at a price in epsilon.

-- policy: census
-- with: metric='near', multiple=1, epsilon=1
SELECT COUNT(*) FROM people
-- refused: multiple is the whole price of a statement under a metric. Leave epsilon out.

-- policy: census
-- with: metric='near'
SELECT COUNT(*) FROM people
-- refused: A statement under metric near is priced by a multiple of it. Write multiple = 0.5, for example.

-- policy: census
-- with: metric='far', multiple=1
SELECT COUNT(*) FROM people
-- refused: There is no metric far. The policy has near.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp', delta = 1e-6) AVG(age) FROM people WHERE age >= 19
-- refused: AVG(age) at 1:82: mechanism 'random_dp' does not answer this: the policy fixes which means there are, column and condition, and declares people: AVG(age) by absolute_difference WHERE age >= 18. Leave the mechanism out to get the one with the least expected error.

-- policy: census
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (mechanism = 'random_dp') AVG(age) FROM people WHERE age >= 18
-- refused: AVG(age) at 1:68: mechanism 'random_dp' does not answer this: choosing the scale needs delta; add delta to the statement's options, such as delta = 1e-8. Leave the mechanism out to get the one with the least expected error.

-- Functions of a whole table
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 4) * FROM dp_kmeans((SELECT age, weight FROM patients), bound => 200, scale => (0.1, 50))
-- refused: k at 1:63: this argument is missing. Write dp_kmeans((SELECT x, y FROM t), k => 8, bound => 1, scale => (0.001, 1)).

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 4) * FROM dp_kmeans((SELECT age, weight FROM patients), k => 3, bound => 200, scale => (50, 0.1))
-- refused: dp_kmeans at 1:63: scale is (50, 0.1) and bound is 200; write bound > 0 and scale => (low, high) with low at least bound / 4194304 and high at most twice the bound. docs/friendly_core.md says what each argument means, and how many people it takes.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 4) * FROM dp_kmeans((SELECT age, sex FROM patients), k => 3, bound => 200, scale => (0.1, 50))
-- refused: sex at 1:74: it takes columns of numbers, and no privacy unit or key. Name the columns of numbers in its query.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 4) * FROM dp_kmeans((SELECT cost FROM visits), k => 3, bound => 200, scale => (0.1, 50))
-- refused: dp_kmeans at 1:63: one person would stand in several rows. Give each person one row: group its query by the privacy unit, with AVG or SUM of each column.

SELECT * FROM dp_kmeans(patients, k => 3)
-- refused: table function at 1:15: dpsql reads tables of the policy only. Write the name of a table.

SELECT * FROM dp_median((SELECT age FROM patients))
-- refused: dp_median at 1:15: there is no such table function. Did you mean dp_kmeans?

SELECT COUNT(*) FROM patients p JOIN dp_kmeans((SELECT age FROM patients), k => 3, bound => 200, scale => (0.1, 50)) c ON p.age = c.id
-- refused: dp_kmeans at 1:38: a table function releases something of its own. Let it stand alone in FROM, and only compute with its answer.

SELECT * FROM dp_covariance((SELECT age, weight FROM patients))
-- refused: dp_covariance at 1:15: its arithmetic is idealised, and the policy does not admit that. The owner can write idealised_numerics: true in hospital.yaml; CORR, REGR_SLOPE and COVAR of columns with bounds need no such thing.

-- parameters: [1, 2]
SELECT COUNT(*) FROM patients WHERE age IN ?
-- refused: IN ? at 1:41: one ? is one value. Write = ANY (?), or IN (?, ?, ?).

SELECT COUNT(*) FROM patients WHERE age IN age
-- refused: IN at 1:41: it takes a list or a sub-query. Write IN (1, 2) or IN (SELECT ..).

SELECT COUNT(*) FROM patients USING SAMPLE 10%
-- refused: USING SAMPLE at 1:31: the sample would be drawn outside the accounting, and would only add error. Leave it out: all rows cost no more.

SELECT TOP 5 city, COUNT(*) FROM patients GROUP BY city
-- refused: TOP at 1:8: dpsql reads LIMIT. Write LIMIT 5 at the end.

SELECT HISTOGRAM(age) FROM patients
-- refused: HISTOGRAM at 1:8: its result is a map. Write SELECT width_bucket(age, 0, 100, 10) AS bin, COUNT(*) .. GROUP BY bin.

SELECT KURTOSIS(age) FROM patients
-- refused: KURTOSIS at 1:8: third and fourth moments are not measured. Write QUANTILE_CONT(age, 0.05) and QUANTILE_CONT(age, 0.95), or GROUP BY width_bucket(age, 0, 100, 10).

SELECT REGR_R2(weight, age) FROM patients
-- refused: REGR_R2 at 1:8: it follows from another. Write POWER(CORR(weight, age), 2).

SELECT REGR_INTERCEPT(weight, age) FROM patients
-- refused: REGR_INTERCEPT at 1:8: it follows from others. Write AVG(weight) FILTER (WHERE age IS NOT NULL) - REGR_SLOPE(weight, age) * AVG(age) FILTER (WHERE weight IS NOT NULL): each AVG over the rows of the slope, whose noised numbers they may share.

SELECT ARG_MAX(city, age) FROM patients
-- refused: ARG_MAX at 1:8: it shows a value of one person's row. Write SELECT key, AVG(x) .. GROUP BY key ORDER BY 2 DESC LIMIT 1, or MODE(key). For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT COUNT(*) FROM patients JOIN cities ON patients.patient_id = cities.population
-- refused: patient_id at 1:46: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT sex, COUNT(*) AS n, COUNT(*) AS n, DP_INTERVAL_LOW(n) FROM patients GROUP BY sex
-- refused: DP_INTERVAL_LOW at 1:43: several columns are called n. Give each a name of its own with AS.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT n FROM a) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT MAX(n) FROM a GROUP BY sex) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT SUM(n) FROM a LIMIT 0) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT SUM(n) OVER () FROM a) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT CASE WHEN SUM(n) > 0 THEN 1 END FROM a) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT n / (SELECT SUM(n), MAX(n) FROM a) FROM a
-- refused: scalar sub-query at 1:78: as a value it is arithmetic over aggregates of the answer that FROM reads. Write (SELECT SUM(n) FROM a), with WHERE if need be.

-- One NULL in the list makes NOT IN true for nobody
SELECT COUNT(*) FROM patients p WHERE p.patient_id NOT IN (SELECT v.patient_id FROM patients q LEFT JOIN visits v USING (patient_id))
-- refused: NOT IN at 1:39: the sub-query's column (patient_id) is NULL where a left join finds no partner, and one NULL decides over every row. Write JOIN instead of LEFT JOIN there, or NOT EXISTS with equal privacy units.

SELECT COUNT(*) FROM patients p WHERE NOT (p.patient_id IN (SELECT v.patient_id FROM patients q LEFT JOIN visits v USING (patient_id)))
-- refused: NOT IN at 1:44: the sub-query's column (patient_id) is NULL where a left join finds no partner, and one NULL decides over every row. Write JOIN instead of LEFT JOIN there, or NOT EXISTS with equal privacy units.

SELECT COUNT(*) FROM patients p LEFT JOIN visits v ON p.patient_id = v.patient_id WHERE v.patient_id NOT IN (SELECT patient_id FROM visits WHERE cost > 9)
-- refused: NOT IN at 1:89: the column in front of it (patient_id) is NULL where a left join finds no partner, and one NULL decides over every row. Write JOIN instead of LEFT JOIN there, or NOT EXISTS with equal privacy units.

-- An open key where no delta is wanted
-- with: delta=0
SELECT diagnosis, COUNT(*) FROM visits GROUP BY diagnosis
-- refused: diagnosis at 1:49: its values are not known. Name those that you ask for, in WHERE diagnosis IN (..); or give delta, such as delta = 1e-8, and groups of few people stay hidden. The owner can declare values in hospital.yaml.

-- with: delta=0
SELECT cost, COUNT(*) FROM visits GROUP BY cost
-- refused: cost at 1:44: its values are not known. Name those that you ask for, in WHERE cost IN (..); write CAST(x AS INTEGER) or width_bucket(x, low, high, count) of a number with bounds; or give delta, such as delta = 1e-8, and groups of few people stay hidden. The owner can declare values in hospital.yaml.

-- A value that the policy does not list would be paid for nothing
-- Beside aggregates windows go over groups
SELECT AVG(cost) FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) = 1
-- refused: ROW_NUMBER .. OVER at 1:38: beside aggregates it goes over groups, and patient_id is none. Choose people's rows in a sub-query, and aggregate around it: SELECT AVG(x) FROM (SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY ts) = 1).

SELECT patient_id, cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) = 1
-- refused: QUALIFY at 1:8: it would show rows of people. Let it choose them in a sub-query, and ask for aggregates around it: SELECT AVG(x) FROM (SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

PIVOT patients ON sex USING COUNT(*) UNION ALL PIVOT patients ON sex USING AVG(age)
-- refused: PIVOT at 1:19: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

-- What is known to have no row is not paid for
SELECT sex, COUNT(*) FROM patients WHERE sex IS NULL GROUP BY sex
-- refused: sex at 1:63: none of its declared values meets the conditions, so that the answer would have no row. Data may hold what is not declared: SELECT COUNT(*) .. WHERE .., without GROUP BY, counts such rows.

SELECT sex, COUNT(*) FROM patients WHERE sex IS NULL GROUP BY sex UNION ALL SELECT sex, COUNT(*) FROM patients WHERE sex IS NULL AND age > 3 GROUP BY sex
-- refused: sex at 1:63: none of its declared values meets the conditions, so that the answer would have no row. Data may hold what is not declared: SELECT COUNT(*) .. WHERE .., without GROUP BY, counts such rows.

SELECT year(visited_on) AS y, COUNT(*) FROM visits WHERE visited_on > '2030-01-01' GROUP BY y
-- refused: GROUP BY at 1:8: no group meets the conditions, so that the answer would have no row. Data may hold what is not declared: SELECT COUNT(*) .. WHERE .., without GROUP BY, counts such rows.

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING sex IS NULL
-- refused: HAVING: no group that is listed can meet it, so that the answer would have no row. DESCRIBE shows which values columns have.

SELECT * FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE sex = 'Q' AND n > 3
-- refused: WHERE: no group that is listed can meet it, so that the answer would have no row. DESCRIBE shows which values columns have.

SELECT COUNT(*) FROM patients WHERE sex = 'Q'
-- refused: sex at 1:37: 'Q' is none of its values. They are 'F', 'M', 'X'.

SELECT COUNT(*) FROM patients WHERE city IN ('Chicgo, IL', 'Hoston, TX')
-- refused: city at 1:37: 'Chicgo, IL' is none of its values. Did you mean Chicago, IL?

SELECT COUNT(*) FILTER (WHERE 'strikt' <> consent) FROM patients
-- refused: consent at 1:31: 'strikt' is none of its values. Did you mean strict?

SELECT COUNT(*) FROM patients WHERE city = '?'
-- refused: city at 1:37: '?' is none of its values. DESCRIBE table.column lists them.

SELECT SUM(cost), AVG(cost), COUNT(*) FROM visits WHERE cost < -1
-- refused: cost: no row can meet its condition, for by what is public it lies within [0, 20000]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT COUNT(*) FROM patients WHERE age IN (200, 300) OR age = -1
-- refused: age: no row can meet its condition, for by what is public it is a whole number within [0, 110]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT sex, COUNT(*) FROM patients WHERE sex <> 'F' AND age BETWEEN 111 AND 120 GROUP BY sex
-- refused: age: no row can meet its condition, for by what is public it is a whole number within [0, 110]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT COUNT(*) FILTER (WHERE age > 200) FROM patients
-- refused: age: no row can meet its condition, for by what is public it is a whole number within [0, 110]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2090-01-01'
-- refused: visited_on: no row can meet its condition, for by what is public it lies within [2020-01-01, 2025-12-31]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT AVG(age) FROM patients WHERE patient_id IN (SELECT patient_id FROM visits WHERE cost > 500000)
-- refused: cost: no row can meet its condition, for by what is public it lies within [0, 20000]. DESCRIBE shows which values columns have. Numbers outside count as the nearer bound, days as NULL.

SELECT sex, COUNT(*) FROM patients GROUP BY sex HAVING sex = 'Q'
-- refused: sex at 1:56: 'Q' is none of its values. They are 'F', 'M', 'X'.

SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT population FROM cities)
-- refused: IN at 1:37: the privacy unit may not be looked up in a public table. Look up another column. If the table is about the same people, the owner can make it private, with its id as unit; then it may be looked up.

-- Options inside a query that releases nothing of its own
SELECT COUNT(*) FROM patients JOIN (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) patient_id FROM visits) AS v USING (patient_id)
-- refused: patient_id at 1:92: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients WHERE patient_id IN (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) patient_id FROM visits)
-- refused: patient_id at 1:107: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients p WHERE EXISTS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) 1 FROM visits v WHERE v.patient_id = p.patient_id)
-- refused: EXISTS at 1:47: EXISTS takes a plain SELECT. Write EXISTS (SELECT 1 FROM table WHERE its unit equals the outer unit AND ...).

SELECT AVG(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id)
-- refused: patient_id at 1:123: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) SUM(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- refused: OPTIONS at 1:1: the SELECT that it asks has options of its own, and here is nothing to pay for. Keep the options of one of them.

-- QUALIFY, FROM first, names of the same SELECT
SELECT age FROM patients QUALIFY RANK() OVER (ORDER BY age) = 1
-- refused: window function at 1:34: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT DISTINCT sex, COUNT(*) FROM patients GROUP BY sex QUALIFY RANK() OVER (ORDER BY COUNT(*)) = 1
-- refused: QUALIFY at 1:66: beside it one star at most stands, and no DISTINCT. Write SELECT DISTINCT a, b FROM (SELECT a, b .. QUALIFY ..).

SELECT COUNT(*) FROM patients ORDER BY 1 QUALIFY RANK() OVER (ORDER BY COUNT(*)) = 1
-- refused: QUALIFY at 1:42: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

FROM patients SELECT age
-- refused: age at 1:22: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

FROM patients SELECT
-- refused: SELECT at 1:1: the select list is empty. Write what to select, like COUNT(*).

SELECT n * 2, COUNT(*) AS n FROM patients
-- refused: n at 1:8: there is no such column (or the policy does not name it). There are age, sex, city, weight, consent.

SELECT patient_id AS p, COUNT(*) AS n, p + 1 FROM visits GROUP BY p
-- refused: patient_id at 1:8: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT MEDIAN(cost, contribution_bounds_per_group => (0, 500)) FROM visits
-- refused: contribution_bounds_per_group at 1:8: bounds of a unit's total, or of its mean, are for SUM, COUNT and AVG. Write contribution_bounds_per_row.

-- Rows that the statement holds
SELECT COUNT(*) FROM patients CROSS JOIN UNNEST([]) AS x
-- refused: ] at 1:50: something is missing before it. Write the values, with commas between.

SELECT COUNT(*) FROM patients CROSS JOIN UNNEST([1, 'a']) AS x
-- refused: VALUES at 1:50: a column of it has values of several types, or none. Write values of one type in each column.

SELECT COUNT(*) FROM patients CROSS JOIN UNNEST([NULL]) AS x
-- refused: VALUES at 1:50: a column of it has values of several types, or none. Write values of one type in each column.

SELECT COUNT(*) FROM patients CROSS JOIN UNNEST([age]) AS x
-- refused: age at 1:50: it needs a FROM, and here is none. Name a table; SHOW TABLES lists them.

SELECT COUNT(*) FROM patients CROSS JOIN UNNEST(age) AS x
-- refused: UNNEST at 1:42: it takes one list of constants. Write UNNEST([1, 2, 3]) AS t(x).

SELECT COUNT(*) FROM patients, (VALUES (1, 2), (3)) AS t(x)
-- refused: VALUES at 1:41: its rows differ in length, or are empty. Write as many values in each.

SELECT COUNT(*) FROM patients, (VALUES (1, 2)) AS t(x, X)
-- refused: VALUES at 1:41: two columns have one name. Name them: AS t (x, y).

SELECT COUNT(*) FROM patients, (VALUES (1, 2)) AS t(x, y, z)
-- refused: column names at 1:41: there are more than columns. Name each column once.

SELECT COUNT(*) FROM (VALUES ('F')) AS t(s) LEFT JOIN patients ON sex = s
-- refused: LEFT JOIN at 1:55: a public table may not keep its rows beside a private one: a person's arrival would also take a row. Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS (group_selection_strategy = PUBLIC_GROUPS) in the statement itself.

SELECT [1, 2] FROM patients
-- refused: list at 1:8: it stands in a function that takes one. Write UNNEST([1, 2]) AS t(x) in FROM, or IN (1, 2).

SELECT COUNT(*) FROM patients WHERE [1][1] = age
-- refused: list at 1:37: it stands in a function that takes one. Write UNNEST([1, 2]) AS t(x) in FROM, or IN (1, 2).

SELECT COUNT(*) FROM patients WHERE abs([1, 2]) = 1
-- refused: list_value at 1:41: lists are for UNNEST in FROM, and for quantiles that stand alone in the SELECT list. Write QUANTILE_CONT(x, [0.1, 0.5]), and QUANTILE_CONT(x, 0.1) for a number to compute with.

-- A public table on the outer side of a join, where its rows are not the groups
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) sex, COUNT(*) FROM patients RIGHT JOIN cities ON city = name GROUP BY sex
-- refused: JOIN at 1:1: a public table keeps its rows beside a private one only where they are the groups. Group by columns of the public table alone, or write JOIN.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) COUNT(*) FROM patients RIGHT JOIN cities ON city = name
-- refused: JOIN at 1:1: a public table keeps its rows beside a private one only where they are the groups. Group by columns of the public table alone, or write JOIN.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) name, COUNT(*) FROM patients RIGHT JOIN cities ON city = name AND age > 3 GROUP BY name
-- refused: RIGHT JOIN at 1:138: a public table may not keep its rows beside a private one: a person's arrival would also take a row. Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS (group_selection_strategy = PUBLIC_GROUPS) in the statement itself.

SELECT name, COUNT(*) FROM patients RIGHT JOIN cities ON city = name GROUP BY name
-- refused: RIGHT JOIN at 1:48: a public table may not keep its rows beside a private one: a person's arrival would also take a row. Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS (group_selection_strategy = PUBLIC_GROUPS) in the statement itself.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, group_selection_strategy = PUBLIC_GROUPS) AVG(n) FROM (SELECT patient_id, COUNT(*) AS n FROM patients RIGHT JOIN cities ON city = name GROUP BY patient_id)
-- refused: RIGHT JOIN at 1:169: a public table may not keep its rows beside a private one: a person's arrival would also take a row. Keep the private table's rows, write JOIN, or GROUP BY the public columns with OPTIONS (group_selection_strategy = PUBLIC_GROUPS) in the statement itself.

-- Reports
SELECT COUNT(*, report_format => 'XML') FROM patients
-- refused: report_format => at 1:34: reports are written as JSON or PROTO. Write report_format => 'JSON'.

SELECT COUNT(*, report_format => 'JSON') + 1 FROM patients
-- refused: report_format => at 1:34: a report stands alone in the SELECT list of the answer. Write the aggregate without it here.

SELECT AVG(n) FROM (SELECT sex, COUNT(*, report_format => 'JSON') AS n FROM patients GROUP BY sex)
-- refused: report_format at 1:1: a report is a text for its reader. Leave report_format out of the inner query, and name it in the outermost.

SELECT AVG(n) FROM (SELECT patient_id, COUNT(*, report_format => 'JSON') AS n FROM visits GROUP BY patient_id)
-- refused: COUNT at 1:40: inside one unit it is not supported. COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), first(x ORDER BY y) and last(x ORDER BY y) are.

SELECT COUNT(*, report_format => 'JSON') FROM cities
-- refused: COUNT at 1:8: over public values it takes one plain argument. Write COUNT(x).

-- Windows over all rows
SELECT AVG(age) OVER () FROM patients LIMIT 2
-- refused: window function at 1:8: it answers row by row, and rows are private. Use GROUP BY and aggregates; a window may go over those: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT AVG(age) OVER () FROM patients LIMIT 1 OFFSET 5
-- refused: window function at 1:8: it answers row by row, and rows are private. Use GROUP BY and aggregates; a window may go over those: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT age, AVG(age) OVER () FROM patients LIMIT 1
-- refused: age at 1:8: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as AVG(age).

SELECT AVG(age) OVER (PARTITION BY sex) FROM patients LIMIT 1
-- refused: window function at 1:8: it answers row by row, and rows are private. Of groups of people ask for it first: SELECT sex, AVG(age) FROM patients GROUP BY sex. Then write what it answers as constants.

SELECT AVG(age) OVER (ORDER BY weight) FROM patients LIMIT 1
-- refused: window function at 1:8: it answers row by row, and rows are private. Use GROUP BY and aggregates; a window may go over those: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT DISTINCT AVG(age) OVER (PARTITION BY sex) FROM patients
-- refused: SELECT DISTINCT at 1:1: it does not go with a window. Leave DISTINCT out: every group has a row of its own.

SELECT DISTINCT sex, consent, AVG(age) OVER (PARTITION BY sex) FROM patients
-- refused: consent at 1:22: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as COUNT(DISTINCT consent).

SELECT DISTINCT sex, AVG(age) OVER (PARTITION BY sex), SUM(age) OVER () FROM patients
-- refused: SELECT DISTINCT at 1:1: it does not go with a window. Leave DISTINCT out: every group has a row of its own.

SELECT DISTINCT sex, COUNT(*), AVG(age) OVER (PARTITION BY sex) FROM patients
-- refused: SELECT DISTINCT at 1:1: it does not go with a window. Leave DISTINCT out: every group has a row of its own.

SELECT DISTINCT patient_id, AVG(age) OVER (PARTITION BY patient_id) FROM patients
-- refused: patient_id at 1:57: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT DISTINCT sex, SUM(age) OVER (PARTITION BY sex ORDER BY age) FROM patients
-- refused: SELECT DISTINCT at 1:1: it does not go with a window. Leave DISTINCT out: every group has a row of its own.

SELECT ROW_NUMBER() OVER () FROM patients LIMIT 1
-- refused: window function at 1:8: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT COUNT(*) FROM (SELECT * FROM patients QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY x) = 1). Of groups: SELECT key, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY key.

-- PIVOT
SELECT * FROM patients PIVOT (COUNT(*) FOR sex IN ('F', 'M'))
-- refused: PIVOT at 1:44: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

SELECT * FROM (SELECT sex FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M', 'unknown'))
-- refused: sex at 1:80: 'unknown' is none of its values. They are 'F', 'M', 'X'.

SELECT * FROM (SELECT sex, patient_id FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M'))
-- refused: patient_id at 1:74: grouping the answer by the privacy unit or a key would show every person. Count people with COUNT(DISTINCT patient_id), or group by it in a sub-query and aggregate its result.

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', ?))
-- refused: PIVOT at 1:80: each value is a constant. Write FOR sex IN ('F', 'M').

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', NULL))
-- refused: PIVOT at 1:80: each value is a constant. Write FOR sex IN ('F', 'M').

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (AVG(age) FOR sex IN (SELECT 'F'))
-- refused: SELECT at 1:75: dpsql does not support it here. Write it with columns and functions.

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (AVG(age) FOR sex IN ('F')) PIVOT (AVG(age) FOR sex IN ('M'))
-- refused: PIVOT at 1:88: one is read behind another's rows. Write a sub-query around the first.

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (abs(age) FOR sex IN ('F'))
-- refused: abs at 1:54: named arguments, DISTINCT, FILTER, ORDER BY and * belong to aggregates. Remove them here.

SELECT * FROM (SELECT sex, age FROM patients) PIVOT (AVG(age) FOR sex IN ('F') GROUP BY ALL)
-- refused: PIVOT at 1:54: it lists the values of each key. Write PIVOT (AVG(x) FOR key IN ('a', 'b')).

SELECT * FROM patients PIVOT (COUNT(*) FOR patient_id IN (17) GROUP BY sex)
-- refused: patient_id at 1:59: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT * FROM (SELECT * FROM patients) PIVOT (COUNT(*) FOR sex IN ('F'))
-- refused: PIVOT at 1:60: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

SELECT * FROM (SELECT sex, age FROM patients) UNPIVOT (age FOR sex IN (age))
-- refused: * at 1:47: a star stands for rows, and rows are never shown. Ask for aggregates, such as COUNT(*).

SELECT * FROM (SELECT age, sex FROM patients) PIVOT (AVG(age) FOR sex IN ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31', '32', '33', '34', '35', '36', '37', '38', '39', '40', '41', '42', '43', '44', '45', '46', '47', '48', '49', '50', '51', '52', '53', '54', '55', '56', '57', '58', '59', '60', '61', '62', '63', '64', '65', '66', '67', '68', '69', '70', '71', '72', '73', '74', '75', '76', '77', '78', '79', '80', '81', '82', '83', '84', '85', '86', '87', '88', '89', '90', '91', '92', '93', '94', '95', '96', '97', '98', '99', '100'))
-- refused: PIVOT at 1:67: it makes more than 100 columns. List fewer values.

-- Lists of quantiles
SELECT APPROX_QUANTILES(age, 4) + 1 FROM patients
-- refused: APPROX_QUANTILES at 1:8: the whole list stands alone in the SELECT list. Name one of its elements here: APPROX_QUANTILES(x, 4)[OFFSET(1)] is the first quarter.

SELECT APPROX_QUANTILES(age, 200) FROM patients
-- refused: APPROX_QUANTILES at 1:8: a list has 101 elements at most: each is measured and paid for. Write fewer quantiles.

SELECT QUANTILE_CONT(age, [0.25, 1.5]) FROM patients
-- refused: QUANTILE_CONT at 1:8: the fraction must lie between 0 and 1. Write 0.5 for the median.

SELECT QUANTILE_CONT(age, [0.25, 0.75])[3] FROM patients
-- refused: subscript at 1:8: the list has 2 elements. Write one from [1], which is [OFFSET(0)], to [2].

SELECT QUANTILE_CONT(age, [0.25, 0.75])[0] FROM patients
-- refused: subscript at 1:40: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT QUANTILE_CONT(age, [0.25, 0.75])[-1] FROM patients
-- refused: subscript at 1:40: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT QUANTILE_CONT(age, []) FROM patients
-- refused: ] at 1:28: something is missing before it. Write the values, with commas between.

SELECT sex, QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients GROUP BY sex ORDER BY 2
-- refused: 2 at 1:87: rows are not ordered by a list. Order by one of its elements: ORDER BY q[1].

SELECT sex, QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients GROUP BY sex ORDER BY q
-- refused: q at 1:87: it is a list, which stands in the SELECT list alone. Name one of its elements here, q[1] say.

SELECT sex, QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients GROUP BY sex ORDER BY 3
-- refused: 3 at 1:87: there is no column 3. The select list has 2.

SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q, DP_INTERVAL_LOW(q) FROM patients
-- refused: q at 1:63: it is a list, which stands in the SELECT list alone. Name one of its elements here, q[1] say.

SELECT q + 1 FROM (SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients)
-- refused: q at 1:8: it is a list, which stands in the SELECT list alone. Name one of its elements here, q[1] say.

SELECT quarter FROM (SELECT QUANTILE_CONT(age, [0.25, 0.75]) AS q FROM patients)
-- refused: quarter at 1:8: there is no such column (or the policy does not name it). There are q.

-- In answers that are joined, or one of several
SELECT QUANTILE_CONT(age, [0.25, 0.75]) FROM patients UNION ALL SELECT QUANTILE_CONT(cost, [0.25, 0.5, 0.75]) FROM visits
-- refused: UNION ALL at 1:1: its sides have lists in other places, or of other lengths. Ask for the same quantiles, or name their elements: q[1] AS low.

SELECT QUANTILE_CONT(age, [0.25]) FROM patients UNION ALL SELECT QUANTILE_CONT(cost, 0.25) FROM visits
-- refused: UNION ALL at 1:1: its sides have lists in other places, or of other lengths. Ask for the same quantiles, or name their elements: q[1] AS low.

SELECT QUANTILE_CONT(age, [0.25, 0.75], report_format => 'JSON') FROM patients UNION ALL SELECT QUANTILE_CONT(cost, [0.25, 0.75], report_format => 'JSON') FROM visits
-- refused: list at 1:1: the report of a list is no column of an answer that is joined, or one of several. Ask for the list without report_format.

SELECT (SELECT QUANTILE_CONT(age, [0.25]) FROM patients) AS v
-- refused: scalar sub-query at 1:9: as a value it has one column, which is no list, and always one row. Write (SELECT COUNT(*) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT a.sex FROM (SELECT sex, QUANTILE_CONT(age, [0.25]) AS q FROM patients GROUP BY sex) a JOIN (SELECT QUANTILE_CONT(age, [0.25]) AS q FROM patients) b USING (q)
-- refused: q at 1:100: USING needs a column of both tables. Write ON a.x = b.y.

SELECT a.sex FROM (SELECT sex, QUANTILE_CONT(age, [0.25]) AS q FROM patients GROUP BY sex) a JOIN (SELECT QUANTILE_CONT(age, [0.25]) AS q FROM patients) b ON a.q = b.q
-- refused: q at 1:159: it is a list, which stands in the SELECT list alone. Name one of its elements here, q[1] say.

SELECT q FROM (SELECT sex, QUANTILE_CONT(age, [0.25]) AS q FROM patients GROUP BY sex) a JOIN (SELECT QUANTILE_CONT(age, [0.25]) AS q FROM patients) b ON TRUE
-- refused: q at 1:8: the name stands in several tables. Write a.q or b.q.

SELECT COUNT(*) FROM patients WHERE QUANTILE_CONT(age, [0.25, 0.75])[1] < age
-- refused: QUANTILE_CONT at 1:37: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT sex, ARRAY_LENGTH(QUANTILE_CONT(age, [0.25, 0.75])) FROM patients GROUP BY sex
-- refused: SELECT at 1:1: the answer has no aggregate, so it would show rows or the mere presence of people. Add COUNT(*), SUM(x) or AVG(x).

SELECT QUANTILE_CONT(patient_id, [0.25, 0.75]) FROM patients
-- refused: patient_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT patient_id) counts people.

SELECT age::INTEGER[1], COUNT(*) FROM patients GROUP BY 1
-- refused: DATA TYPE with EXPRESSIONS at 1:20: dpsql does not support this form. Leave it out.

-- Several answers in one statement
SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT sex FROM patients
-- refused: sex at 1:66: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as COUNT(DISTINCT sex).

SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT COUNT(*) FROM patients
-- refused: UNION ALL at 1:1: its sides differ in number or type of columns, or in where the privacy unit or a key stands. Select the same columns in the same order.

SELECT sex, COUNT(*) FROM patients GROUP BY sex UNION ALL SELECT COUNT(*), 'all' FROM patients
-- refused: UNION ALL at 1:1: its sides have sex as text and as integer. Give sex one type: CAST(x AS DOUBLE), or CAST(x AS VARCHAR).

SELECT COUNT(*) FROM patients UNION ALL SELECT patient_id FROM patients
-- refused: patient_id at 1:48: a privacy unit or a key is never in the answer. COUNT(DISTINCT patient_id) counts people.

SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits ORDER BY age
-- refused: age at 1:78: there is no such column (or the policy does not name it). There are count_star().

SELECT p.sex, a.n FROM patients p JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) a ON p.sex = a.sex
-- refused: sub-query at 1:41: a sub-query that aggregates over several people releases something of its own. Group it by the privacy unit (patient_id), ask it by itself (with ORDER BY and LIMIT), or let the outer query only compute with its result.

SELECT COUNT(*) FROM patients p JOIN (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) a ON p.sex = a.sex WHERE a.n > 10
-- refused: sub-query at 1:39: a sub-query that aggregates over several people releases something of its own. Group it by the privacy unit (patient_id), ask it by itself (with ORDER BY and LIMIT), or let the outer query only compute with its result.

SELECT (SELECT sex FROM patients)
-- refused: sex at 1:16: it is neither grouped by nor aggregated. Add it to GROUP BY, or write an aggregate such as COUNT(DISTINCT sex).

SELECT (SELECT COUNT(*) FROM patients GROUP BY sex)
-- refused: scalar sub-query at 1:9: as a value it has one column, which is no list, and always one row. Write (SELECT COUNT(*) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT (SELECT COUNT(*) FROM patients HAVING COUNT(*) > 3)
-- refused: scalar sub-query at 1:9: as a value it has one column, which is no list, and always one row. Write (SELECT COUNT(*) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT (SELECT COUNT(*), AVG(age) FROM patients)
-- refused: scalar sub-query at 1:9: as a value it has one column, which is no list, and always one row. Write (SELECT COUNT(*) FROM t WHERE ..), without GROUP BY or HAVING.

WITH pair AS (SELECT COUNT(*) AS n FROM patients UNION ALL SELECT COUNT(*) FROM visits ORDER BY n LIMIT 1) SELECT a.n, pair.n FROM pair, (SELECT COUNT(*) AS n FROM patients) AS a
-- refused: LIMIT or ORDER BY at 1:15: ORDER BY and LIMIT inside a sub-query would choose rows of people. Leave them out: an answer has them, at the end of the whole statement. A condition chooses rows: WHERE x > 100, or beyond a released number: WHERE x > (SELECT QUANTILE_CONT(x, 0.9) FROM t).

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) n FROM (SELECT COUNT(*) AS n FROM patients UNION ALL SELECT COUNT(*) FROM visits)
-- refused: OPTIONS at 1:1: the SELECT that it asks has options of its own, and here is nothing to pay for. Keep the options of one of them.

SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) (SELECT COUNT(*) FROM patients) - (SELECT COUNT(*) FROM visits)
-- refused: OPTIONS at 1:1: the SELECTs that it asks are paid for one by one, and here is nothing to pay for. Write the options into each of them, or SET them for the session.

-- with: mechanism='gaussian'
SELECT COUNT(*) FROM patients UNION ALL SELECT MEDIAN(age) FROM patients
-- refused: MEDIAN(age) at 1:48: mechanism 'gaussian' does not answer this: it answers counts, sums, means, variances and covariances, not MEDIAN(age). Leave the mechanism out to get the one with the least expected error.

-- Elements of a list of quantiles, and keys that are summed up
SELECT APPROX_QUANTILES(age, 4)[1] FROM patients
-- refused: subscript at 1:32: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT APPROX_QUANTILES(age, 4)[OFFSET(5)] FROM patients
-- refused: subscript at 1:8: the list has 5 elements. Write one from [1], which is [OFFSET(0)], to [5].

SELECT APPROX_QUANTILES(age, 4)[ORDINAL(0)] FROM patients
-- refused: subscript at 1:32: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT APPROX_QUANTILES(age, 4)[OFFSET(?)] FROM patients
-- refused: subscript at 1:32: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT APPROX_QUANTILES(age, 0.5)[OFFSET(0)] FROM patients
-- refused: APPROX_QUANTILES at 1:30: the number of parts is a whole one from 1 to 10,000. Write 4 for quarters.

SELECT APPROX_QUANTILES(age)[OFFSET(0)] FROM patients
-- refused: APPROX_QUANTILES at 1:8: it takes a column and into how many parts. Write APPROX_QUANTILES(x, 4)[OFFSET(1)].

SELECT QUANTILE_CONT(age, 0.5, element => 1) FROM patients
-- refused: element => at 1:43: this named argument is not supported. There are epsilon, contribution_bounds_per_row, contribution_bounds_per_group.

SELECT AVG(age)[OFFSET(1)] FROM patients
-- refused: [] at 1:8: only a text has characters, and a list of quantiles elements. Write QUANTILE_CONT(x, [0.25, 0.75])[1]. Of a text split_part(x, ',', 1) is the first piece.

SELECT sex, GROUPING(age), COUNT(*) FROM patients GROUP BY ROLLUP (sex)
-- refused: GROUPING at 1:13: it takes 1 to 31 keys of GROUP BY. Write GROUPING(a) beside GROUP BY ROLLUP (a).

SELECT GROUPING(), COUNT(*) FROM patients GROUP BY ROLLUP (sex)
-- refused: GROUPING at 1:8: it takes 1 to 31 keys of GROUP BY. Write GROUPING(a) beside GROUP BY ROLLUP (a).

SELECT COUNT(*) FROM patients WHERE GROUPING(sex) = 0
-- refused: grouping at 1:37: there is no such function here. See the list of functions in the documentation.

SELECT sex AS a, sex AS b, COUNT(*) AS n FROM patients GROUP BY ROLLUP (a, b)
-- refused: grouping sets at 1:76: two of its keys are the same expression, so that their totals could not be told apart. Name that expression once in GROUP BY, as ROLLUP (a).

SELECT age // 20 AS a, COUNT(*) AS n FROM patients GROUP BY GROUPING SETS ((a), (age // 20))
-- refused: grouping sets at 1:82: two of its keys are the same expression, so that their totals could not be told apart. Name that expression once in GROUP BY, as ROLLUP (a).

-- Values that are released first, beside people's rows
SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits GROUP BY diagnosis)
-- refused: scalar sub-query at 1:43: as a value it has one column and always one row. Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost) FROM visits HAVING COUNT(*) > 3)
-- refused: scalar sub-query at 1:43: as a value it has one column and always one row. Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(cost), COUNT(*) FROM visits)
-- refused: scalar sub-query at 1:43: as a value it has one column and always one row. Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT COUNT(*) FROM visits WHERE cost > (SELECT QUANTILE_CONT(cost, [0.5, 0.9]) FROM visits)
-- refused: scalar sub-query at 1:43: as a value it has one column and always one row. Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT COUNT(*) FROM visits WHERE cost > (SELECT COUNT(*, report_format => 'JSON') FROM visits)
-- refused: scalar sub-query at 1:43: as a value it has one column and always one row. Write (SELECT AVG(x) FROM t WHERE ..), without GROUP BY or HAVING.

SELECT COUNT(*) FROM visits WHERE cost > (SELECT AVG(population) FROM cities)
-- refused: scalar sub-query at 1:43: public tables do not stand as a value beside people's rows. Ask it first, which is free, and pass its answer as a parameter (?).

SELECT COUNT(*) FROM visits WHERE cost > (SELECT cost FROM visits)
-- refused: scalar sub-query at 1:43: it depends on the row outside, and is no answer of its own. Join a sub-query in FROM that is grouped by what they share.

SELECT COUNT(*) FROM patients p WHERE age > (SELECT AVG(cost) FROM visits v WHERE v.patient_id = p.patient_id)
-- refused: scalar sub-query at 1:46: it depends on the row outside, and is no answer of its own. Join a sub-query in FROM that is grouped by what they share.

SELECT COUNT(*) FROM patients WHERE age > (SELECT SUM(n) FROM (SELECT COUNT(*) AS n FROM visits UNION ALL SELECT COUNT(*) FROM patients))
-- refused: scalar sub-query at 1:44: a value made of several answers does not stand beside people's rows. Ask it first, then pass its answer as a parameter (?).

SELECT COUNT(*) FROM visits WHERE patient_id = (SELECT COUNT(*) FROM patients)
-- refused: patient_id at 1:35: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT SUM(cost - (SELECT AVG(cost) FROM visits)) FROM visits
-- refused: SUM(cost - (SELECT avg(cost) FROM "visits")) at 1:8: the bounds of its argument are not known. Add bounds to its columns in hospital.yaml, or name bounds in the call: SUM(cost - (SELECT avg(cost) FROM "visits"), contribution_bounds_per_row => (-500, 500)).

-- with: mechanism='random_dp', gamma=0.01
SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients)
-- refused: AVG(age) at 1:51: mechanism 'random_dp' does not answer this: the policy does not opt in for patients; the owner can, under random_dp. Leave the mechanism out to get the one with the least expected error.

SELECT DISTINCT sex, COUNT(*) / (SELECT COUNT(*) FROM visits) FROM patients GROUP BY sex
-- refused: scalar sub-query at 1:1: beside it neither DISTINCT nor a window over it stands. Ask for the groups in a sub-query of FROM, and compute around it.

SELECT sex, RANK() OVER (ORDER BY COUNT(*) - (SELECT COUNT(*) FROM visits)) FROM patients GROUP BY sex
-- refused: scalar sub-query at 1:1: beside it neither DISTINCT nor a window over it stands. Ask for the groups in a sub-query of FROM, and compute around it.

SELECT sex, RANK() OVER (ORDER BY COUNT(*)) FROM patients GROUP BY sex HAVING COUNT(*) > (SELECT COUNT(*) FROM visits)
-- refused: scalar sub-query at 1:1: beside it neither DISTINCT nor a window over it stands. Ask for the groups in a sub-query of FROM, and compute around it.

SELECT * FROM (SELECT sex, consent FROM patients) PIVOT (COUNT(*) FOR (sex, consent) IN ('F', 'M'))
-- refused: PIVOT at 1:90: each value has as many parts as the key. Write FOR (a, b) IN ((1, 2), (3, 4)).

SELECT * FROM (SELECT sex, consent FROM patients) PIVOT (COUNT(*) FOR sex IN ('F', 'M') consent = 'strict')
-- refused: syntax at 1:89: dpsql could not read the statement from here on. Check commas and parentheses. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT COUNT(*) patients WHERE city IN (SELECT name FROM cities WHERE state = 'TX')
-- refused: FROM at 1:1: IN and EXISTS pick rows, and there are none. Name a table in FROM. Whether there are rows: SELECT COUNT(*) > 0 FROM t WHERE ..

-- Hints have the arguments that were written
SELECT regr_r2(cost, year(visited_on)) FROM visits
-- refused: REGR_R2 at 1:8: it follows from another. Write POWER(CORR(cost, "year"(visited_on)), 2).

SELECT COUNT(*) FROM visits WHERE initcap(diagnosis) = 'Flu'
-- refused: initcap at 1:35: DuckDB has no such function. Write upper(left(diagnosis, 1)) || lower(substr(diagnosis, 2)) for one word.

SELECT time_bucket(INTERVAL 10 DAY, visited_on) AS d, COUNT(*) FROM visits GROUP BY 1
-- refused: time_bucket at 1:8: periods are those of the calendar here. Write date_trunc('week', visited_on), or date_diff('day', DATE '2020-01-01', visited_on) // 10 for every ten days. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15.

SELECT APPROX_COUNT_DISTINCT(patient_id + 1) FROM visits
-- refused: patient_id at 1:30: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT APPROX_QUANTILE(cost, 1.5) FROM visits
-- refused: APPROX_QUANTILE at 1:8: the fraction must lie between 0 and 1. Write 0.5 for the median.

-- PIVOT over values that are not listed
PIVOT patients ON sex USING COUNT(*)
-- refused: PIVOT at 1:19: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

PIVOT patients ON patient_id USING COUNT(*) GROUP BY sex
-- refused: patient_id at 1:19: it may not stand in PIVOT: that would single out a person or a record. It may stand in joins and in COUNT(DISTINCT patient_id).

PIVOT patients ON city USING COUNT(*) GROUP BY sex
-- refused: PIVOT at 1:19: it makes more than 100 columns. List fewer values.

PIVOT patients ON sex IN ('F'), consent GROUP BY age // 30
-- refused: PIVOT at 1:19: the values of some keys are listed, and of some not. List all of them, or none.

PIVOT patients ON sex IN
-- refused: IN at 1:23: it takes a list or a sub-query. Write IN (1, 2) or IN (SELECT ..).

WITH a AS (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) PIVOT a ON n USING COUNT(*) GROUP BY sex
-- refused: n at 1:86: its values are not known, and PIVOT makes a column of each. List them: PIVOT t ON n IN ('a', 'b') USING COUNT(*).

SELECT AVG("2020") FROM (PIVOT visits ON year(visited_on) USING SUM(cost) GROUP BY patient_id)
-- refused: PIVOT at 1:42: of the rows of one unit it lists its values. Write PIVOT t ON sex IN ('F', 'M') USING COUNT(*).

-- PIVOT as a statement
PIVOT patients ON sex IN ('F', 'M') USING COUNT(*)
-- refused: PIVOT at 1:19: it groups by all other columns of its rows, so these are named in a sub-query, or its groups are. Write PIVOT t ON sex USING AVG(age) GROUP BY city, or PIVOT (SELECT sex, age FROM t) ON sex USING AVG(age).

PIVOT patients ON patient_id IN (17) USING AVG(age) GROUP BY sex
-- refused: patient_id at 1:34: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

PIVOT (SELECT consent, sex, COUNT(*) AS n FROM patients GROUP BY ALL) ON n IN (17) USING SUM(n) WHERE n > 3
-- refused: WHERE at 1:97: it stands in the wrong place, or twice. Write SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. ORDER BY .. LIMIT ..

SELECT AVG(patient_id IN (SELECT patient_id FROM visits WHERE cost > 500)) FROM patients
-- refused: sub-query in a condition at 1:12: IN and EXISTS with a sub-query choose rows in WHERE, and are no values. Join it behind FROM, one row a unit: LEFT JOIN (SELECT patient_id FROM visits WHERE (cost > 500) GROUP BY patient_id) AS found USING (patient_id). Then write here: found.patient_id IS NOT NULL.

SELECT COUNT(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.patient_id = p.patient_id AND diagnosis = 'flu')) FROM patients p
-- refused: sub-query in a condition at 1:43: IN and EXISTS with a sub-query choose rows in WHERE, and are no values. Join it behind FROM, one row a unit: LEFT JOIN (SELECT v.patient_id FROM visits AS v WHERE (diagnosis = 'flu') GROUP BY v.patient_id) AS found USING (patient_id). Then write here: found.patient_id IS NULL.

SELECT COUNT(*) FILTER (WHERE city IN (SELECT name FROM cities)) FROM patients
-- refused: sub-query in a condition at 1:31: IN and EXISTS with a sub-query choose rows in WHERE, and are no values. They stand there alone, or with AND. For a share, divide the rows for which it holds by all: SELECT (SELECT COUNT(*) FROM .. WHERE ..) / (SELECT COUNT(*) FROM ..). Or LEFT JOIN people's rows to the sub-query, with one row for each unit, and ask whether there is one: LEFT JOIN (SELECT unit FROM .. GROUP BY unit) AS found USING (unit), and found.unit IS NOT NULL.

SELECT COUNT(*) FROM visits WHERE visit_id = 3
-- refused: visit_id at 1:35: it is a key, visits.visit_id, and stands beside nothing but that key: else it could single out a record. It may stand in joins and in COUNT(DISTINCT visit_id). Beside the same key of another row of the same unit it also takes <>.

SELECT COUNT(*) FROM visits a JOIN visits b USING (patient_id) WHERE a.visit_id < b.visit_id
-- refused: visit_id at 1:70: it is a key, visits.visit_id, and stands beside nothing but that key: else it could single out a record. It may stand in joins and in COUNT(DISTINCT visit_id). Beside the same key of another row of the same unit it also takes <>.

SELECT COUNT(*) FROM visits JOIN cities ON visit_id = population
-- refused: visit_id at 1:44: it is a key, visits.visit_id, and the population beside it is a mere integer to the policy: nothing says that both name one record, so that rows of different people might meet. If it is the same id, the owner can say so of its table, with unit: {via: visits, on: population} in place of its unit and of its column population; then the two join.

SELECT CORR(ln(cost), cost) FROM visits
-- refused: CORR(ln(cost), cost) at 1:8: ln is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds. Keep cost away from 0, which > 0 alone does not: WHERE cost >= 1 leaves other rows out, greatest(cost, 1) lifts them. Or keep each argument within constants: CASE WHEN x IS NOT NULL THEN GREATEST(0, LEAST(x, 500)) END.

SELECT COUNT(*) FROM patients LIMIT 2.5::INTEGER
-- refused: LIMIT at 1:37: it takes a whole number. Write it like LIMIT 10.

SELECT COUNT(*) FROM visits WHERE visited_on >= '2024-01-01'::TIMESTAMP WITH TIME ZONE
-- refused: time zone at 1:63: dpsql keeps no time zones. Write TIMESTAMP.

SELECT COUNT(*) FROM visits WHERE visited_on >= '2024-01-01'::TIME WITHOUT TIME ZONE
-- refused: time zone at 1:63: dpsql keeps no time zones. Write TIMESTAMP.

SELECT COUNT(*) FROM patients WHERE city LIKE '%' || sex
-- refused: like at 1:37: argument 2 must be a constant. Write a literal there.

-- policy: shop
SELECT COUNT(DISTINCT CASE WHEN order_id IS NULL THEN customer_id END) FROM orders
-- refused: order_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT customer_id) counts people.

-- policy: shop
SELECT COUNT(DISTINCT CASE WHEN express THEN customer_id ELSE order_id END) FROM orders
-- refused: customer_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT customer_id) counts people.

-- policy: shop
SELECT MAX(CASE WHEN express THEN customer_id END) FROM orders
-- refused: customer_id at 1:8: nothing is computed from a privacy unit or a key: that would single out a person. COUNT(DISTINCT customer_id) counts people.

-- policy: shop
SELECT COUNT(*) FROM orders o JOIN logins l ON o.customer_id = l.customer_id JOIN holidays h USING (day)
-- refused: day at 1:83: the name stands in several tables. Write o.day or l.day.

-- policy: shop
SELECT COUNT(*) FROM customers LEFT JOIN orders USING (customer_id) LEFT JOIN orders USING (customer_id)
-- refused: orders at 1:79: two tables in FROM have this name. Give one of them an alias.

-- policy: shop
SELECT COUNT(*) FROM customers LEFT JOIN orders USING (customer_id) LEFT JOIN logins USING (order_id)
-- refused: order_id at 1:79: USING needs a column of both tables. Write ON a.x = b.y.

SELECT DATE_TRUNC(visited_on, WEEK) AS week, COUNT(*) FROM visits GROUP BY 1
-- refused: DATE_TRUNC at 1:8: BigQuery's weeks begin on Sunday, those here on Monday. Write date_trunc('week', x).

SELECT AVG(TIMESTAMP_DIFF(visited_on, DATE '2024-01-01', DAY)) FROM visits
-- refused: TIMESTAMP_DIFF at 1:12: databases differ in which moment comes first, and in whether whole units count. Write date_sub('day', start, end), which counts whole units, or date_diff, which counts boundaries between them.

-- policy: shop
SELECT customer_id, ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed) AS r FROM orders
-- refused: window function at 1:21: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT COUNT(*) FROM (SELECT * FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY customer_id ORDER BY placed) = 1). Of groups: SELECT key, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM orders GROUP BY key.

-- policy: shop
SELECT DISTINCT ON (customer_id) status FROM orders ORDER BY customer_id, placed
-- refused: QUALIFY at 1:34: it would show rows of people. Let it choose them in a sub-query, and ask for aggregates around it: SELECT AVG(x) FROM (SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, COUNT(*) FILTER (WHERE total) AS k FROM orders GROUP BY customer_id)
-- refused: total at 1:64: a condition is needed here, not a value of type real. Compare it with something.

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, COUNT_IF(order_id > 3) AS k FROM orders GROUP BY customer_id)
-- refused: order_id at 1:50: it is a key, orders.order_id, and stands beside nothing but that key: else it could single out a record. It may stand in joins and in COUNT(DISTINCT order_id). Beside the same key of another row of the same unit it also takes <>.

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, SUM(total) FILTER (WHERE customer_id = 3) AS k FROM orders GROUP BY customer_id)
-- refused: customer_id at 1:66: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT customer_id).

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, COUNT_IF() AS k FROM orders GROUP BY customer_id)
-- refused: COUNT_IF at 1:41: inside one unit it is not supported. COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), first(x ORDER BY y) and last(x ORDER BY y) are.

-- policy: shop
SELECT AVG(k) FROM (SELECT customer_id, PRODUCT(total) AS k FROM orders GROUP BY customer_id)
-- refused: PRODUCT at 1:41: inside one unit it is not supported. COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), first(x ORDER BY y) and last(x ORDER BY y) are.

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed >= '2024-06-01T00:00:00+02:00'
-- refused: >= at 1:35: there is no moment '2024-06-01T00:00:00+02:00'. Write it like '2024-05-31 12:00:00'.

-- policy: shop
SELECT COUNT(*) FROM orders WHERE placed >= TIMESTAMP '2024-06-01Z'
-- refused: TIMESTAMP at 1:45: the text is not a timestamp that dpsql reads. Write it like TIMESTAMP '2024-05-31 13:45:00', or TIMESTAMPTZ '2024-05-31 13:45:00+02:00'.

SELECT sex, COUNT(*) FROM patients GROUP BY sex FETCH FIRST 2 ROWS WITH TIES
-- refused: FETCH at 1:49: dpsql reads a number of rows there, and ONLY. Write LIMIT 2.

SELECT d, COUNT(*) FROM patients CROSS JOIN generate_series(DATE '2024-01-01', DATE '2024-12-01', INTERVAL 1 MONTH) AS t(d) GROUP BY d
-- refused: generate_series at 1:45: dpsql makes no rows of a range. Write CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d), with every value.

SELECT COUNT(*) FROM range(3) AS t(i)
-- refused: range at 1:22: dpsql makes no rows of a range. Write CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d), with every value.

-- policy: shop
SELECT TO_CHAR(total, '999,999.99') AS t, COUNT(*) AS n FROM orders GROUP BY t
-- refused: TO_CHAR at 1:8: templates of numbers are not read. Write CAST(round(x, 2) AS VARCHAR), or format the answer.

-- policy: shop
SELECT to_timestamp(items) AS since, COUNT(*) FROM orders GROUP BY since
-- refused: to_timestamp at 1:8: its result has a time zone. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

-- policy: shop
SELECT COUNT(*) FROM orders WHERE TIMESTAMP '1970-01-01' + to_seconds(items) > placed
-- refused: to_seconds at 1:60: an interval is no value of its own. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

-- policy: shop
SELECT string_split(note, ',')[1] AS first, COUNT(*) FROM orders GROUP BY first
-- refused: string_split at 1:8: lists are not supported. Write split_part(note, ',', n).

-- policy: shop
SELECT TO_CHAR(placed, 'FMMonth YYYY') AS month, COUNT(*) AS n FROM orders GROUP BY month
-- refused: TO_CHAR at 1:8: its template has once each at most YYYY, MM, DD, HH24, MI, SS. Write strftime(x, '%Y-%m'), or CAST(x AS VARCHAR).

SELECT COUNT(*) FROM (SELECT patient_id FROM patients EXCEPT SELECT patient_id FROM visits) AS t
-- refused: EXCEPT at 1:55: a condition in WHERE says the same. Write WHERE id IN (SELECT ..) AND id NOT IN (SELECT ..).

-- What other databases write, with what to write here
-- policy: shop
WITH z AS (SELECT region, AVG(children) FILTER (WHERE customer_id IN (SELECT customer_id FROM orders WHERE items > 2)) AS a FROM customers GROUP BY region ORDER BY a DESC LIMIT 2) SELECT *, a * 2 AS double FROM z
-- refused: sub-query in a condition at 1:55: IN and EXISTS with a sub-query choose rows in WHERE, and are no values. Join it behind FROM, one row a unit: LEFT JOIN (SELECT customer_id FROM orders WHERE (items > 2) GROUP BY customer_id) AS found USING (customer_id). Then write here: found.customer_id IS NOT NULL.

-- policy: shop
WITH z AS (SELECT region, children FROM customers ORDER BY children DESC LIMIT 2) SELECT region, COUNT(*) FROM z GROUP BY region
-- refused: LIMIT or ORDER BY at 1:12: ORDER BY and LIMIT inside a sub-query would choose rows of people. Leave them out: an answer has them, at the end of the whole statement. A condition chooses rows: WHERE x > 100, or beyond a released number: WHERE x > (SELECT QUANTILE_CONT(x, 0.9) FROM t).

SELECT COUNT(*) FROM patients WHERE city RLIKE 'Lyon'
-- refused: RLIKE at 1:42: databases differ in whether all of the text must match. Write regexp_matches(x, 'pattern') for a part of it, or regexp_full_match(x, 'pattern') for all.

SELECT COUNT(*) FROM patients WHERE REGEXP_LIKE(city, 'Lyon')
-- refused: regexp_like at 1:37: databases differ in whether all of the text must match. Write regexp_matches(x, 'pattern') for a part of it, or regexp_full_match(x, 'pattern') for all.

SELECT COUNT(*) FROM patients WHERE regexp_matches(city, r'Lyon')
-- refused: r'...' at 1:58: dpsql reads strings without a prefix. Write '...', in which a backslash stands for itself.

SELECT COUNT(*) FROM patients WHERE CAST(try_strptime(city, '%d.%m.%Y') AS DATE) > '2024-03-01'
-- refused: try_strptime at 1:42: texts of other forms than '2024-03-05 10:00:00' are read where they are constants alone. Write TRY_CAST(city AS DATE) or TRY_CAST(city AS TIMESTAMP) for texts of this form. For '05.03.2024' write make_date(TRY_CAST(right(x, 4) AS INTEGER), TRY_CAST(substr(x, 4, 2) AS INTEGER), TRY_CAST(left(x, 2) AS INTEGER)), and in WHERE between which days it lies: its groups are those.

SELECT CONVERT_TIMEZONE('UTC', 'America/New_York', visited_on) AS d, COUNT(*) FROM visits GROUP BY d
-- refused: convert_timezone at 1:8: dpsql keeps no time zones. Leave it out: moments are in UTC. x + INTERVAL 2 HOUR moves them; for summer time the owner casts in a view.

SELECT FORMAT_DATE('%Y-%m', visited_on) AS d, COUNT(*) FROM visits GROUP BY d
-- refused: format_date at 1:8: databases differ in the parts of a format. Write strftime(x, '%Y-%m').

SELECT date_trunc('hour', visited_on) + INTERVAL 15 MINUTE * (minute(visited_on) // 15) AS d, COUNT(*) FROM visits GROUP BY d
-- refused: INTERVAL at 1:41: an interval is added to a day or a moment, and is no value of its own. Write x + INTERVAL 15 MINUTE, and date_diff('minute', a, b) for a length. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

SELECT d FROM range(3) t(d)
-- refused: range at 1:15: dpsql makes no rows of a range. Write CROSS JOIN UNNEST([DATE '2024-01-01', DATE '2024-02-01']) AS t(d), with every value.

SELECT geomean(cost) FROM visits
-- refused: GEOMEAN at 1:8: it follows from a mean of logarithms. Write exp(AVG(ln(cost))) .. WHERE cost >= 0.01: a logarithm needs numbers away from 0.

SELECT mad(cost) FROM visits
-- refused: MAD at 1:8: it is a median of distances from a median, which must be released first. Write SELECT MEDIAN(cost), then SELECT MEDIAN(abs(cost - 5)) with the number that came; or STDDEV(cost).

SELECT entropy(sex) FROM patients
-- refused: ENTROPY at 1:8: it follows from the counts of each value. Write SELECT sex, COUNT(*) AS n .. GROUP BY sex, and work it out from the answer.

SELECT concat(AVG(cost), ' euro') FROM visits
-- refused: concat at 1:8: it does not take (real, text). It takes (text, ...). Write CAST(n AS VARCHAR) for a whole number, and CAST(round(x, 1) AS VARCHAR) for another.

SELECT arg_max(y, n) FROM (SELECT year(visited_on) AS y, COUNT(*) AS n FROM visits GROUP BY y)
-- refused: arg_max at 1:8: over answers and public tables a row is not chosen by an aggregate. Write ORDER BY n DESC LIMIT 1; over an answer, for one of each group, QUALIFY ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC) = 1.

SELECT COUNT(*) AS n FROM visits WHERE n > 5
-- refused: COUNT at 1:8: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex ORDER BY n DESC LIMIT 50%
-- refused: the end of the statement at 1:78: a number is missing behind %. Write a % b. LIMIT takes a number of rows, and no share of them: LIMIT 10.

SELECT COUNT(*) FROM visits WHERE patient_id IN (SELECT patient_id FROM patients ORDER BY weight DESC LIMIT 100)
-- refused: LIMIT or ORDER BY at 1:50: ORDER BY and LIMIT inside a sub-query would choose rows of people. Leave them out: an answer has them, at the end of the whole statement. A condition chooses rows: WHERE x > 100, or beyond a released number: WHERE x > (SELECT QUANTILE_CONT(x, 0.9) FROM t).

SELECT COUNT(*) FROM patients WHERE sex == "F"
-- refused: "F" at 1:44: there is no such column (or the policy does not name it). There are age, sex, city, weight, consent. A text stands in single quotes: 'F'.

-- policy: shop
SELECT AVG(n) FROM (SELECT customer_id, COUNT_IF(CASE WHEN express THEN customer_id END = '5') AS n FROM orders GROUP BY customer_id) AS c
-- refused: customer_id at 1:60: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT customer_id).

-- policy: shop
SELECT AVG(n) FROM (SELECT customer_id, COUNT(DISTINCT CASE WHEN express THEN NULL ELSE customer_id END) AS n FROM orders GROUP BY customer_id) AS c
-- refused: customer_id at 1:41: nothing is computed from a privacy unit or a key: that would single out a person or a record. Count customer_id itself, or write COUNT(DISTINCT CASE WHEN .. THEN customer_id END).

-- policy: shop
SELECT AVG(n) FROM (SELECT customer_id, COUNT(DISTINCT COALESCE(CASE WHEN express THEN order_id END, order_id)) AS n FROM orders GROUP BY customer_id) AS c
-- refused: order_id at 1:56: it is a key, orders.order_id, and stands beside nothing but that key: else it could single out a record. It may stand in joins and in COUNT(DISTINCT order_id). Beside the same key of another row of the same unit it also takes <>.

-- policy: shop
SELECT AVG(n) FROM (SELECT customer_id, COUNT(CASE WHEN express THEN customer_id END = status) AS n FROM orders GROUP BY customer_id) AS c
-- refused: customer_id at 1:57: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT customer_id).

-- policy: shop
SELECT COUNT(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING CASE WHEN COUNT(*) > 1 THEN customer_id END = '5') AS c
-- refused: customer_id at 1:92: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT customer_id).

-- policy: shop
SELECT COUNT(*) FROM (SELECT customer_id FROM orders GROUP BY customer_id HAVING CASE WHEN COUNT(*) > 1 THEN customer_id END IS NULL) AS c
-- refused: customer_id at 1:92: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT customer_id).

SELECT DISTINCT COUNT(*) FROM cities
-- refused: SELECT at 1:1: over public values DISTINCT takes plain columns. Write GROUP BY, or SELECT DISTINCT over a sub-query.

SELECT DISTINCT state, RANK() OVER (ORDER BY population) FROM cities
-- refused: SELECT at 1:1: over public values DISTINCT takes plain columns. Write GROUP BY, or SELECT DISTINCT over a sub-query.

SELECT ((APPROX_QUANTILES(age, 4)))[1] FROM patients
-- refused: subscript at 1:36: it does not say which element. Write q[OFFSET(1)] for the second, counted from 0, or [ORDINAL(2)], from 1.

SELECT position(city, 'a') FROM patients
-- refused: POSITION at 1:8: its arguments are parted by IN. Write position(part IN text), or strpos(text, part).

SELECT COUNT(*) FROM patients LIMIT ALL
-- refused: LIMIT ALL at 1:37: it limits nothing. Leave it out.

SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex UNION ALL BY NAME SELECT COUNT(*) AS n, 'all' AS sex FROM patients
-- refused: UNION BY NAME at 1:64: columns are put together by their places. Write the columns of all sides in one order.

SELECT COUNT(*) FROM patients ANTI JOIN visits USING (patient_id)
-- refused: ANTI JOIN at 1:31: dpsql asks for a partner in WHERE. Write WHERE id NOT IN (SELECT id FROM ..).

SELECT COUNT(*) FROM patients WHERE patient_id IS NOT NULL IS NULL
-- refused: comparison of a comparison at 1:37: readers differ on what belongs together. Write AND between comparisons, or parentheses around the inner one.

-- Tuples: what may not be compared alone
SELECT COUNT(*) FROM patients WHERE (patient_id, sex) IN ((17, 'F'))
-- refused: patient_id at 1:38: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE (sex, patient_id) <> ('F', NULL)
-- refused: patient_id at 1:43: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM visits WHERE (visit_id, cost) = (visit_id, 5)
-- refused: visit_id at 1:36: it is a key, visits.visit_id, and stands beside nothing but that key: else it could single out a record. It may stand in joins and in COUNT(DISTINCT visit_id). Beside the same key of another row of the same unit it also takes <>.

SELECT COUNT(*) FROM patients WHERE (sex, consent) IN (('F', 'strikt'))
-- refused: consent at 1:43: 'strikt' is none of its values. Did you mean strict?

SELECT COUNT(*) FROM patients WHERE (sex, consent) IN (('F', 'strict', 1))
-- refused: (a, b) at 1:38: one has 2 parts, the other 3. Write as many values as columns: (a, b) IN ((1, 2), (3, 4)).

SELECT COUNT(*) FROM patients WHERE (sex, consent) < ('F', 'strict')
-- refused: (a, b) at 1:38: a tuple is compared with tuples by =, <> and IN alone. Write (a, b) IN ((1, 2), (3, 4)), or compare column by column, with AND. COUNT(DISTINCT (a, b)) counts pairs.

SELECT COUNT(*) FROM patients WHERE (sex, consent) IN (SELECT sex, consent FROM patients)
-- refused: (a, b) at 1:38: a tuple is compared with tuples by =, <> and IN alone. Write (a, b) IN ((1, 2), (3, 4)), or compare column by column, with AND. COUNT(DISTINCT (a, b)) counts pairs.

-- Windows with names
SELECT RANK() OVER w FROM patients WINDOW w AS (ORDER BY age)
-- refused: window function at 1:8: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT COUNT(*) FROM (SELECT * FROM patients QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY age) = 1). Of groups: SELECT key, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) AS r FROM patients GROUP BY key.

SELECT sex, RANK() OVER v FROM patients GROUP BY sex WINDOW w AS (ORDER BY sex)
-- refused: WINDOW at 1:54: no function goes over 'w'. Write f(x) OVER w, or leave it out.

SELECT sex, RANK() OVER w, SUM(COUNT(*)) OVER v FROM patients GROUP BY sex WINDOW w AS (ORDER BY sex)
-- refused: OVER at 1:42: no window has this name here. Write f(x) OVER (PARTITION BY .. ORDER BY ..), or f(x) OVER w .. WINDOW w AS (ORDER BY ..).

SELECT sex, RANK() OVER w FROM patients GROUP BY sex WINDOW w AS (ORDER BY sex), w AS (ORDER BY COUNT(*))
-- refused: WINDOW at 1:82: its name is given twice. Give each window a name of its own.

-- Frames of other lengths
SELECT sex, SUM(COUNT(*)) OVER (ORDER BY sex GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM patients GROUP BY sex
-- refused: GROUPS at 1:46: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT visited_on, SUM(COUNT(*)) OVER (ORDER BY visited_on RANGE BETWEEN INTERVAL 7 DAY PRECEDING AND CURRENT ROW) FROM visits GROUP BY visited_on
-- refused: RANGE at 1:60: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT visited_on, SUM(COUNT(*)) OVER (ORDER BY visited_on RANGE BETWEEN CURRENT ROW AND INTERVAL '7 days' FOLLOWING) FROM visits GROUP BY visited_on
-- refused: RANGE at 1:60: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT visited_on, SUM(COUNT(*)) OVER (ORDER BY visited_on RANGE INTERVAL 7 DAY PRECEDING) FROM visits GROUP BY visited_on
-- refused: RANGE at 1:60: the ends of a frame are counted in rows. Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.

SELECT initcap(city), COUNT(*) FROM patients GROUP BY 1
-- refused: initcap at 1:8: DuckDB has no such function. Write upper(left(city, 1)) || lower(substr(city, 2)) for one word.

SELECT list(n ORDER BY n) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- refused: list at 1:8: it puts the values of many rows into one: those of people are never shown, those of public tables as rows. Write SELECT n, COUNT(*) .. GROUP BY n, or SELECT n where the table is public.

SELECT COUNT(*) FROM patients WHERE patient_id[1] = '7'
-- refused: patient_id at 1:37: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM patients WHERE age[1] = 7
-- refused: [] at 1:37: only a text has characters, and a list of quantiles elements. Write QUANTILE_CONT(x, [0.25, 0.75])[1]. Of a text split_part(x, ',', 1) is the first piece.

SELECT COUNT(*) FROM patients WHERE weight > 1__000
-- refused: number at 1:46: this is not a plain decimal number. Write it like 1000, 0.5 or 1e-3.

SELECT CORR(n, m) FROM (SELECT sex, COUNT(*) AS n, AVG(age) AS m FROM patients GROUP BY sex)
-- refused: CORR at 1:8: over answers and public tables there are COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR and STDDEV. An answer has few rows: ORDER BY n shows them in order, with LIMIT 1 OFFSET 5 the sixth of them. Of people, not of groups, it is asked where people's rows are read.

SELECT QUANTILE_CONT(n, 0.9) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- refused: QUANTILE_CONT at 1:8: over answers and public tables there are COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR and STDDEV. An answer has few rows: ORDER BY n shows them in order, with LIMIT 1 OFFSET 5 the sixth of them. Of people, not of groups, it is asked where people's rows are read.

SELECT STDDEV(n) OVER () FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex)
-- refused: STDDEV .. OVER at 1:8: this is no window function here. There are ROW_NUMBER, RANK, DENSE_RANK, NTILE, PERCENT_RANK, CUME_DIST, COUNT, SUM, AVG, MIN, MAX, FIRST_VALUE, LAST_VALUE, LAG, LEAD, NTH_VALUE, with plain arguments.

SELECT COUNT(*) FROM (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) WHERE MEDIAN(n) > 3
-- refused: MEDIAN at 1:83: an aggregate cannot stand here. Conditions on aggregates belong into HAVING; an aggregate of aggregates needs a sub-query.

-- Windows over rows look at one unit's
SELECT AVG(cost) FROM (SELECT cost, ROW_NUMBER() OVER (ORDER BY visited_on) AS r FROM visits) WHERE r = 1
-- refused: window function at 1:37: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT AVG(cost) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY diagnosis ORDER BY visited_on) AS r FROM visits) WHERE r = 1
-- refused: window function at 1:37: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT COUNT(*) FROM (SELECT LAG(patient_id) OVER (PARTITION BY patient_id ORDER BY visited_on) AS other FROM visits)
-- refused: patient_id at 1:30: it may not stand in a window function: that would single out a person or a record. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT COUNT(*) FROM (SELECT LAG(cost) OVER (PARTITION BY v.patient_id ORDER BY visited_on) AS x FROM patients p LEFT JOIN visits v ON v.patient_id = p.patient_id)
-- refused: window function at 1:30: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT COUNT(*) FROM (SELECT SUM(cost) OVER (PARTITION BY patient_id) AS total FROM visits) WHERE total > 9
-- refused: SUM at 1:30: over the rows of one unit it is of whole numbers: sums of others depend on the order of the rows. Write SUM(CAST(round(x * 100) AS BIGINT)) OVER (..) / 100. For totals of a unit join a sub-query that is grouped by it: (SELECT unit, SUM(x) AS total FROM t GROUP BY unit).

SELECT COUNT(*) FROM (SELECT MIN(diagnosis) OVER (PARTITION BY patient_id) AS d FROM visits)
-- refused: MIN at 1:30: over the rows of one unit it is of numbers, days and moments. Write FIRST_VALUE(x) OVER (PARTITION BY unit ORDER BY x).

SELECT COUNT(*) FROM (SELECT cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY CASE WHEN cost > 3 THEN visit_id END) AS r FROM visits) WHERE r = 1
-- refused: visit_id at 1:36: nothing is computed from a privacy unit or a key. Select visit_id as it is, or leave it out.

SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY patient_id ORDER BY RANK() OVER (PARTITION BY patient_id)) AS r FROM visits)
-- refused: window function at 1:76: a window does not go over another. Write SELECT .. FROM (SELECT .., RANK() OVER (..) AS r .. GROUP BY ..) WHERE r <= 3.

SELECT COUNT(*) FROM (SELECT AVG(cost) OVER (PARTITION BY patient_id) AS mean FROM visits) WHERE mean > 9
-- refused: AVG .. OVER at 1:30: over the rows of one unit it is not supported. ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, LAST_VALUE, NTH_VALUE, COUNT, MIN, MAX, SUM are. For means of a unit join a sub-query that is grouped by it: (SELECT unit, AVG(x) AS mean FROM t GROUP BY unit).

SELECT COUNT(*) FROM (SELECT SUM(400000000000000 * year(visited_on)) OVER (PARTITION BY patient_id) AS s FROM visits) WHERE s > 9
-- refused: SUM at 1:30: the sum could be too large for the engine. Declare or narrow the bounds of its columns.

SELECT cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on) = 1
-- refused: QUALIFY at 1:8: it would show rows of people. Let it choose them in a sub-query, and ask for aggregates around it: SELECT AVG(x) FROM (SELECT x FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT AVG(ln(cost) - ln(age)) FROM visits JOIN patients USING (patient_id)
-- refused: AVG(ln(cost) - ln(age)) at 1:8: ln is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds. Keep cost away from 0, which > 0 alone does not: WHERE cost >= 1 leaves other rows out, greatest(cost, 1) lifts them. Or name bounds in the call: AVG(ln(cost) - ln(age), contribution_bounds_per_row => (-10, 10)).

-- policy: shop
SELECT AVG(placed - joined) FROM orders JOIN customers USING (customer_id)
-- refused: - at 1:12: the difference of two moments is an interval, which has no bounds. Write date_diff('minute', joined, placed), or 'second', 'day', 'month', and so on: numbers, as epoch(placed - joined) is of seconds. To compare them write placed <= joined + INTERVAL 4 HOUR.

-- policy: shop
SELECT COUNT(*) FROM (SELECT LEAD(placed) OVER (PARTITION BY customer_id ORDER BY placed) AS next, placed AS own FROM orders) WHERE next - own IS NULL
-- refused: - at 1:133: the difference of two moments is an interval, which has no bounds. Write date_diff('minute', own, next), or 'second', 'day', 'month', and so on: numbers, as epoch(next - own) is of seconds. To compare them write next <= own + INTERVAL 4 HOUR.

-- policy: shop
SELECT COUNT(*) FROM orders JOIN customers USING (customer_id) WHERE INTERVAL 2 MONTH < placed - joined
-- refused: INTERVAL at 1:70: a month has no fixed number of days. Write INTERVAL 60 DAY, or start + INTERVAL 2 MONTH < end.

-- policy: shop
SELECT COUNT(*) FROM orders WHERE items - 3 > INTERVAL 30 DAY
-- refused: INTERVAL at 1:43: an interval is added to a day or a moment, not to a value of type integer. Leave INTERVAL out beside a number. A text is a moment by CAST(x AS TIMESTAMP), if it is a constant.

-- policy: shop
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (delta = 0) placed, COUNT(*) FROM orders GROUP BY placed
-- refused: placed at 1:92: its values are not known. Write date_trunc('day', placed), or 'hour', or 'month': their values follow from its bounds; or give delta, such as delta = 1e-8, and groups of few people stay hidden. The owner can declare values in shop.yaml.

SELECT date_trunc('month', at) FROM visits
-- refused: AT at 1:28: this is a keyword, not a name. If it is a name, quote it: "at".

SELECT EXP(AVG(age)) FROM patients
-- refused: exp at 1:8: the result could be too large for the engine. A released number has no bounds. Keep it within constants, such as exp(least(AVG(ln(x)), 50)).

SELECT EXP(AVG(LN(cost))) FROM visits
-- refused: AVG(ln(cost)) at 1:12: ln is taken of numbers that may be 0 or less, or close to 0, so that its values have no bounds. Keep cost away from 0, which > 0 alone does not: WHERE cost >= 1 leaves other rows out, greatest(cost, 1) lifts them. Or name bounds in the call: AVG(ln(cost), contribution_bounds_per_row => (-5, 20)).

SELECT APPROX_COUNT_DISTINCT(patient_id, diagnosis) FROM visits
-- refused: patient_id at 1:30: it is no part of a tuple: each unit's tuples are its own. Write SUM(n) .. FROM (SELECT patient_id, COUNT(DISTINCT diagnosis) AS n .. GROUP BY patient_id).

SELECT APPROX_PERCENTILE(age, 1, 0.5) FROM patients
-- refused: APPROX_PERCENTILE at 1:8: it takes a column and a fraction. Write APPROX_PERCENTILE(x, 0.5), or PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x).

SELECT COUNT(*) FROM patients NATURAL JOIN (SELECT city, age FROM patients) AS others
-- refused: JOIN at 1:45: private tables are joined only where their privacy units are equal. Add: the two patient_id columns are equal (ON a.patient_id = b.patient_id).

SELECT sex FROM (SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC) AS a LIMIT 2
-- refused: LIMIT at 1:1: it goes by the order of the sub-query, which does not show what it orders by. Select that there, too, or write ORDER BY here.

-- What a sub-query orders by, but does not show, decides nothing around it
SELECT sex FROM (SELECT sex FROM patients GROUP BY sex ORDER BY COUNT(*) DESC) LIMIT 1
-- refused: LIMIT at 1:1: it goes by the order of the sub-query, which does not show what it orders by. Select that there, too, or write ORDER BY here.

SELECT COUNT(*) FROM visits WHERE age(visited_on) > 30
-- refused: age at 1:35: of one day it is the age today, and an answer may not depend on when it was asked. Write date_sub('year', visited_on, DATE '2024-12-31') for whole years on the day that you mean.

SELECT COUNT(*) FROM patients WHERE (age > 3) = 'yes'
-- refused: = at 1:38: it compares boolean with text. Write the condition itself, or NOT in front of it.

SELECT COUNT(*) FROM patients WHERE city SIMILAR TO '(A|B)%'
-- refused: SIMILAR TO at 1:42: % and _ are wildcards there in SQL's standard and letters in DuckDB; . ^ $ and \ are the reverse. Write regexp_full_match(x, '(A|B).*'), a regular expression; LIKE has % and _.

SELECT COUNT(*) FROM patients WHERE city GLOB 'A?*'
-- refused: GLOB at 1:42: dpsql reads * in its pattern alone. Write LIKE with % and _, or regexp_full_match(x, 'pattern') for classes of characters.

SELECT COUNT(*) FROM patients WHERE city ~ 'A' || 'b'
-- refused: ~ at 1:42: its pattern is one constant. Write a text in single quotes behind it, or a parameter.

SELECT COUNT(*) FROM patients WHERE xor(sex = 'F', age > 50)
-- refused: XOR at 1:37: it is of bits in DuckDB, and of conditions elsewhere. Of two conditions write (a) <> (b).

SELECT COUNT(*) FROM patients WHERE sex = 'F' XOR age > 50
-- refused: XOR at 1:47: dpsql does not read it. Write (a) <> (b): of two conditions it is true where one of them is.

SELECT COUNT(*) FROM patients WHERE sex IN ['F', NULL]
-- refused: IN at 1:41: it takes a list or a sub-query. Write IN (1, 2) or IN (SELECT ..).

SELECT * REPLACE (AVG(age) AS age) FROM patients
-- refused: SELECT * at 1:8: single rows of people are never shown. patients has the columns age, sex, city, weight, consent (DESCRIBE patients tells more). Ask for aggregates: SELECT sex, COUNT(*), AVG(age) FROM patients GROUP BY sex

SELECT * REPLACE (population / 2 AS pop) FROM cities
-- refused: * REPLACE at 1:8: there is no column pop to show another way. There are name, state, x_km, y_km, population, elevation_m.

SELECT * REPLACE (population / 2) FROM cities
-- refused: * REPLACE at 1:19: each of its values has the name of a column. Write SELECT * REPLACE (a + 1 AS a).

SELECT * RENAME (population AS name) FROM cities
-- refused: name at 1:8: two columns would have this name. Choose another name, or leave the other column out: * EXCLUDE (a).

SELECT * EXCLUDE (state) RENAME (state AS land) FROM cities
-- refused: * RENAME at 1:8: there is no column state to show another way. There are name, x_km, y_km, population, elevation_m.

SELECT AVG(age) FROM (SELECT * REPLACE (patient_id + 1 AS age) FROM patients)
-- refused: patient_id at 1:41: the privacy unit stands beside nothing but itself: anything else could single out a person. It may stand in joins and in COUNT(DISTINCT patient_id).

SELECT AVG(COLUMNS('age|weight')) FROM patients
-- refused: COLUMNS at 1:12: which columns a pattern or a star finds is not read. Write AVG(COLUMNS(['a', 'b'])) with the names of columns, or AVG(a), AVG(b).

SELECT COUNT(*) FROM patients WHERE COLUMNS(['age', 'weight']) > 3
-- refused: COLUMNS at 1:37: it stands in a select list. Write AVG(COLUMNS(['a', 'b'])) with the names of columns, or AVG(a), AVG(b).

SELECT COUNT(DISTINCT (patient_id, visited_on)) FROM visits
-- refused: patient_id at 1:24: it is no part of a tuple: each unit's tuples are its own. Write SUM(n) .. FROM (SELECT patient_id, COUNT(DISTINCT visited_on) AS n .. GROUP BY patient_id).

SELECT COUNT(DISTINCT patient_id, diagnosis, visited_on) FROM visits
-- refused: patient_id at 1:23: it is no part of a tuple: each unit's tuples are its own. Write SUM(n) .. FROM (SELECT patient_id, COUNT(DISTINCT (diagnosis, visited_on)) AS n .. GROUP BY patient_id).

SELECT COUNT(DISTINCT (sex, weight)) FROM patients
-- refused: CAST at 1:29: a cast from real to varchar could fail on some row. The digits of a real depend on how it is stored: write CAST(round(x, 1) AS VARCHAR), or cast to BIGINT.

SELECT AVG(c) FROM (SELECT p.patient_id, arg_min(v.cost, v.visited_on) AS c FROM patients p JOIN visits v USING (patient_id) GROUP BY p.patient_id)
-- refused: arg_min, first at 1:42: inside one unit it reads one table, or one sub-query. Write a sub-query around the join. For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT AVG(c) FROM (SELECT patient_id, arg_min(cost, visited_on, 2) AS c FROM visits GROUP BY patient_id)
-- refused: ARG_MIN at 1:40: inside one unit it shows a value of one row. Write arg_min(x, y). For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT AVG(c) FROM (SELECT patient_id, arg_min(visit_id, visited_on) AS c FROM visits GROUP BY patient_id)
-- refused: visit_id at 1:40: it may not stand in a window function: that would single out a person or a record. It may stand in joins and in COUNT(DISTINCT visit_id).

SELECT n, COUNT(*) FROM (SELECT patient_id, list(diagnosis) AS n FROM visits GROUP BY patient_id) GROUP BY n
-- refused: LIST at 1:45: inside one unit it is not supported. COUNT, COUNT_IF, SUM, AVG, MIN, MAX, BOOL_OR, BOOL_AND, arg_min(x, y), arg_max(x, y), first(x ORDER BY y) and last(x ORDER BY y) are. Of several values COUNT(DISTINCT x) says how many they are, BOOL_OR(x = 'a') whether one is among them.

SELECT DISTINCT ON (sex) sex, age FROM patients ORDER BY sex, age
-- refused: window function at 1:8: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT AVG(cost) FROM (SELECT DISTINCT ON (diagnosis) patient_id, cost FROM visits ORDER BY diagnosis, cost)
-- refused: window function at 1:31: it looks at rows of several people. Write PARTITION BY patient_id: over rows a window stays within one person. Over groups it stands beside GROUP BY: RANK() OVER (ORDER BY COUNT(*) DESC).

SELECT JSON_OBJECT('n', COUNT(*)) FROM patients
-- refused: json_object at 1:8: structs and maps are not supported. Write its values as columns of their own, with aliases.

SELECT version()
-- refused: version at 1:8: it tells of the engine, and not of the data. Leave it out; DESCRIBE table shows columns and types.

SELECT table_name FROM information_schema.tables
-- refused: information_schema.tables at 1:24: there is no such table (or the policy does not name it). Write SHOW TABLES, or DESCRIBE table.

SELECT SUM(cost) OVER (PARTITION BY patient_id) FROM visits
-- refused: window function at 1:8: it answers row by row, and rows are private. Of each person it is an aggregate in a sub-query: SELECT AVG(value) FROM (SELECT patient_id, SUM(cost) AS value FROM visits GROUP BY patient_id).

SELECT ROW_NUMBER() OVER (ORDER BY v.cost) AS r, v.diagnosis FROM visits v
-- refused: window function at 1:8: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) = 1). Of groups: SELECT diagnosis, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY diagnosis.

SELECT patient_id, cost, ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC) AS r FROM visits
-- refused: window function at 1:26: it answers row by row, and rows are private. Of each person's first row ask for aggregates: SELECT AVG(cost) FROM (SELECT cost FROM visits QUALIFY ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visited_on DESC) = 1). Of groups: SELECT key, COUNT(*) AS n, ROW_NUMBER() OVER (ORDER BY COUNT(*) DESC) AS r FROM visits GROUP BY key.

UNPIVOT patients ON age, weight INTO NAME what VALUE v
-- refused: UNION ALL at 1:1: its sides have v as integer and as real. Give v one type: CAST(x AS DOUBLE), or CAST(x AS VARCHAR).

UNPIVOT patients ON COLUMNS(* EXCLUDE sex) INTO NAME what VALUE v
-- refused: UNPIVOT at 1:1: its columns are named, by names alone. Write UNPIVOT t ON q1, q2 INTO NAME item VALUE v, or FROM t UNPIVOT (v FOR item IN (q1, q2)).

SELECT y, SUM(n) OVER (ORDER BY y ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) AS s FROM (SELECT year(visited_on) AS y, COUNT(*) AS n FROM visits GROUP BY y) AS a
-- refused: EXCLUDE at 1:76: a frame has all rows between its ends. Leave EXCLUDE out, and take the row itself away: SUM(n) OVER (..) - n, or COUNT(*) OVER (..) - 1.

SELECT sex, COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low FROM patients GROUP BY sex ORDER BY 3 DESC LIMIT 1
-- refused: 3 at 1:90: rows are not ordered by an end of an interval beside it. Order by n, or in a query over the answer: SELECT * FROM (..) ORDER BY 3.

SELECT COUNT(*) FROM patients WHERE age < (SELECT low FROM (SELECT AVG(age) AS a, DP_INTERVAL_LOW(a) AS low FROM patients))
-- refused: scalar sub-query at 1:44: a value made of several answers does not stand beside people's rows. Ask it first, then pass its answer as a parameter (?).

-- Windows that would set a person's row beside those of others
SELECT NTILE(4) OVER (ORDER BY weight) AS part, AVG(age) FROM patients GROUP BY part
-- refused: window function at 1:8: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. For groups by quantiles ask for these first: SELECT QUANTILE_CONT(weight, [0.25, 0.5, 0.75]) FROM t. Then write what it answers as constants: CASE WHEN weight < a THEN 1 WHEN weight < b THEN 2 .. END AS part.

SELECT weight, NTILE(5) OVER (ORDER BY weight) FROM patients
-- refused: window function at 1:16: it answers row by row, and rows are private. For groups by quantiles ask for these first: SELECT QUANTILE_CONT(weight, [0.2, 0.4, 0.6, 0.8]) FROM patients. Then write what it answers as constants: CASE WHEN weight < a THEN 1 WHEN weight < b THEN 2 .. END AS part.

SELECT part, AVG(age) FROM (SELECT age, NTILE(10) OVER (ORDER BY weight) AS part FROM patients) GROUP BY part
-- refused: window function at 1:41: it looks at rows of several people. For groups by quantiles ask for these first: SELECT QUANTILE_CONT(weight, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]) FROM t. Then write what it answers as constants: CASE WHEN weight < a THEN 1 WHEN weight < b THEN 2 .. END AS part.

SELECT COUNT(*) FROM patients WHERE PERCENT_RANK() OVER (ORDER BY weight DESC) > 0.9
-- refused: window function at 1:37: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. For groups by quantiles ask for these first: SELECT QUANTILE_CONT(weight, [0.25, 0.5, 0.75]) FROM t. Then write what it answers as constants: CASE WHEN weight < a THEN 1 WHEN weight < b THEN 2 .. END AS part.

SELECT AVG(weight - AVG(weight) OVER (PARTITION BY city)) FROM patients
-- refused: window function at 1:21: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. Of groups of people ask for it first: SELECT city, AVG(weight) FROM t GROUP BY city. Then write what it answers as constants.

SELECT AVG(weight - mean) FROM (SELECT weight, AVG(weight) OVER (PARTITION BY city) AS mean FROM patients)
-- refused: window function at 1:48: it looks at rows of several people. Of groups of people ask for it first: SELECT city, AVG(weight) FROM t GROUP BY city. Then write what it answers as constants.

SELECT AVG(cost - AVG(cost) OVER (PARTITION BY patient_id)) FROM visits
-- refused: window function at 1:19: over people's rows it stands in no aggregate, condition or GROUP BY, but in the SELECT list and in ORDER BY of an answer. Over groups put it there: RANK() OVER (ORDER BY COUNT(*) DESC). Over the rows of each person it stands in a sub-query of FROM: (SELECT ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) AS r FROM t).

-- Parameters as other drivers write them
SELECT COUNT(*) FROM patients WHERE age > %s
-- refused: % at 1:43: a parameter is written ? here. Write x = ?, or x = $name with a mapping.

SELECT COUNT(*) FROM patients WHERE age > %(least)s
-- refused: % at 1:43: a parameter is written ? here. Write x = ?, or x = $name with a mapping.

SELECT COUNT(*) FROM patients WHERE age > ALL([1, NULL])
-- refused: ALL at 1:43: dpsql compares with <> ALL of a list, or by < and > with written numbers. Write NOT IN (..).

SELECT COUNT(*) FROM patients WHERE age > ANY([])
-- refused: ANY at 1:43: dpsql compares with = ANY of a list, or by < and > with written numbers. Write = ANY (?), IN (..), > ANY ([1, 2]) or EXISTS.

SELECT COUNT(*) FROM visits WHERE visited_on > ANY(['2024-01-01', '2024-02-01'])
-- refused: ANY at 1:48: dpsql compares with = ANY of a list, or by < and > with written numbers. Write = ANY (?), IN (..), > ANY ([1, 2]) or EXISTS.

SELECT COUNT(*) FROM visits WHERE visited_on > DATE '2024-01-01' + INTERVAL (2 + 3) DAY
-- refused: INTERVAL at 1:68: only a constant interval is read. Write a whole number of one unit, like INTERVAL '3' DAY. For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15. For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000).

SELECT "count" (age) FROM patients
-- refused: quoted name before a parenthesis at 1:8: function names are written without quotes. Take the quotes off.

SELECT what, AVG(v) FROM patients UNPIVOT (v FOR what IN (age, weight)) GROUP BY what
-- refused: UNION ALL at 1:35: its sides have v as integer and as real. Give v one type: CAST(x AS DOUBLE), or CAST(x AS VARCHAR).

SELECT AVG(x) FROM (SELECT patient_id, SUM(cost) AS x, DP_INTERVAL_LOW(x) AS low FROM visits GROUP BY patient_id)
-- refused: DP_INTERVAL_LOW at 1:56: only a whole answer has intervals, which stand beside the column that they are of. Write it in the SELECT that is answered: COUNT(*) AS n, DP_INTERVAL_LOW(n) AS low.

SELECT COUNT(*) FROM patients WHERE age IN []
-- refused: IN at 1:41: the list is empty, so that it holds no row's value. Write at least one value.

SELECT COUNT(*) FROM patients WHERE age NOT IN UNNEST([])
-- refused: IN at 1:45: the list is empty, so that it holds no row's value. Write at least one value.

SELECT state, BOOL_OR(population > 100000) FROM cities GROUP BY state
-- refused: BOOL_OR at 1:15: over answers and public tables there are COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR and STDDEV. Write COUNT_IF(..) > 0, which says whether some row meets the condition.

WITH a AS (SELECT sex, COUNT(*) AS n FROM patients GROUP BY sex) SELECT LOGICAL_AND(n > 10) FROM a
-- refused: LOGICAL_AND at 1:73: over answers and public tables there are COUNT, SUM, AVG, MIN, MAX, MEDIAN, VAR and STDDEV. Write COUNT_IF(NOT (..)) = 0, which says whether no row fails the condition.
