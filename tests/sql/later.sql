-- Aggregates
SELECT ARG_MAX(sex, age) FROM patients
-- refused: ARG_MAX at 1:8: it shows a value of one person's row. Write SELECT key, AVG(x) .. GROUP BY key ORDER BY 2 DESC LIMIT 1, or MODE(key). For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY ts) = 1).

SELECT COUNT(*) FROM patients WHERE xor(age, 1) = 2
-- refused: XOR at 1:37: it is of bits in DuckDB, and of conditions elsewhere. Of two conditions write (a) <> (b).
