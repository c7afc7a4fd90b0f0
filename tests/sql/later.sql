-- Aggregates
SELECT QUANTILE_DISC(age, [0.25, 0.75]) FROM patients
-- refused: list at 1:27: lists and subscripts are not supported. Write plain columns and values.

SELECT ARG_MAX(sex, age) FROM patients
-- refused: ARG_MAX at 1:8: this aggregate is not supported. There are COUNT, SUM, AVG, MEAN, MIN, MAX, MODE, MEDIAN, VAR_POP, VAR_SAMP, VARIANCE, STDDEV_POP, STDDEV_SAMP, STDDEV, TRIMMED_MEAN, AVG_VECTOR, COVAR_POP, COVAR_SAMP, CORR, REGR_SLOPE, QUANTILE_CONT, PERCENTILE_CONT, QUANTILE_DISC, PERCENTILE_DISC, QUANTILE, COUNT_IF, COUNTIF, BOOL_OR, LOGICAL_OR, BOOL_AND, LOGICAL_AND.

SELECT COUNT(*) FROM patients WHERE xor(age, 1) = 2
-- refused: xor at 1:37: there is no such function here. Did you mean or or ord?
