-- Aggregates
SELECT QUANTILE_DISC(age, [0.25, 0.75]) FROM patients
-- refused: list at 1:27: lists and subscripts are not supported. Write plain columns and values.

SELECT ARG_MAX(sex, age) FROM patients
-- refused: ARG_MAX at 1:8: this aggregate is not supported. Did you mean max?

-- Functions
SELECT COUNT(*) FROM patients WHERE regexp_matches(city, '^San')
-- refused: regexp_matches at 1:37: there is no such function here. See the list of functions in the documentation.

SELECT strftime(visited_on, '%Y-%m') AS m, COUNT(*) FROM visits GROUP BY m
-- refused: strftime at 1:8: there is no such function here. Did you mean trim or rtrim or ltrim?

SELECT width_bucket(age, 0, 100, 10) AS b, COUNT(*) FROM patients GROUP BY b
-- refused: width_bucket at 1:8: there is no such function here. See the list of functions in the documentation.

SELECT COUNT(*) FROM patients WHERE strpos(city, 'x') > 0
-- refused: strpos at 1:37: there is no such function here. See the list of functions in the documentation.

SELECT last_day(visited_on) AS d, COUNT(*) FROM visits GROUP BY d
-- refused: last_day at 1:8: there is no such function here. Did you mean least?

SELECT AVG(pi() * age) FROM patients
-- refused: pi at 1:12: there is no such function here. See the list of functions in the documentation.

SELECT COUNT(*) FROM patients WHERE xor(age, 1) = 2
-- refused: xor at 1:37: there is no such function here. Did you mean or?

SELECT AVG(date_sub('month', visited_on, DATE '2026-01-01')) FROM visits
-- refused: date_sub at 1:12: there is no such function here. Did you mean date_trunc?
