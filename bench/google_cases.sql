-- basic_delta_not_set => refused
OPTIONS (epsilon = 100) SUM(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- basic_delta_too_large => refused
OPTIONS (epsilon = 100, delta = 1.01) SUM(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- sum_int64_explicit_bounds => 18
{dp} SUM(int64_val, contribution_bounds_per_group => (2, 3)) FROM one

-- sum_int64_explicit_bounds_multi_user => 8
{dp} SUM(int64_val, contribution_bounds_per_group => (2, 3)) FROM two

-- sum_int64_explicit_bounds_multi_user_smaller_delta => 8
OPTIONS (epsilon = 100, delta = 0.7) SUM(int64_val, contribution_bounds_per_group => (2, 3)) FROM two

-- avg_int64_explicit_bounds_multi_user => 2.1333
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(int64_val, contribution_bounds_per_group => (2, 3)) FROM two

-- avg_int64_explicit_bounds_multi_user_smaller_delta => 2.1333
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(int64_val, contribution_bounds_per_group => (2, 3)) FROM two

-- basic_epsilon_not_set => refused
OPTIONS () PERCENTILE_CONT(double_val, 0.4) FROM two

-- basic_sum_double_implicit_bounds => 11
{dp} SUM(double_val) FROM one

-- basic_sum_double_implicit_bounds_multi_user => 11
{dp} SUM(double_val) FROM two

-- basic_avg_double_implicit_bounds => 1.375
{dp} AVG(double_val) FROM one

-- basic_avg_double_implicit_bounds_multi_user => 1.3333
{dp} AVG(double_val) FROM two

-- basic_sum_int64_implicit_bounds => 16
{dp} SUM(int64_val) FROM one

-- basic_sum_int64_implicit_bounds_multi_user => 16
{dp} SUM(int64_val) FROM two

-- basic_avg_int64_implicit_bounds => 2
{dp} AVG(int64_val) FROM one

-- sum_double_explicit_bounds => 13
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- sum_double_explicit_bounds_multi_user => 11
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10)) FROM two

-- avg_double_explicit_bounds => 1.625
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- avg_double_explicit_bounds_multi_user => 1.3333
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10)) FROM two

-- avg_int64_explicit_bounds => 2.25
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(int64_val, contribution_bounds_per_group => (2, 3)) FROM one

-- delta_eliminates_row => no rows
OPTIONS (epsilon = 100, delta = 1e-18) SUM(double_val) FROM one

-- delta_eliminates_row_for_avg => no rows
OPTIONS (epsilon = 100, delta = 1e-18) AVG(double_val) FROM one

-- explicit_bounds_sum_and_count => 18, 8
{dp} SUM(int64_val, contribution_bounds_per_group => (2, 3)), COUNT(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- explicit_bounds_avg_and_count => 2.25, 8
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(int64_val, contribution_bounds_per_group => (2, 3)), COUNT(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- max_groups_contributed_scalar_aggregation => 30
{dp} COUNT(*) FROM one CROSS JOIN UNNEST([1, 2, 3]) AS x

-- max_groups_contributed_scalar_aggregation_explicit => 30
OPTIONS (epsilon = 100, max_groups_contributed = 1) COUNT(*) FROM one CROSS JOIN UNNEST([1, 2, 3]) AS x

-- max_groups_contributed_group_by_3 => 1, 10; 2, 10; 3, 10
OPTIONS (epsilon = 100, max_groups_contributed = 3) x, COUNT(*) FROM one CROSS JOIN UNNEST([1, 2, 3]) AS x GROUP BY x ORDER BY x ASC

-- max_groups_contributed_group_by_2 => 20
SELECT SUM(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100, max_groups_contributed = 2) x, COUNT(*) AS n FROM one CROSS JOIN UNNEST([1, 2, 3]) AS x GROUP BY x)

-- max_groups_contributed_group_by_1 => 10
SELECT SUM(n) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100, max_groups_contributed = 1) x, COUNT(*) AS n FROM one CROSS JOIN UNNEST([1, 2, 3]) AS x GROUP BY x)

-- max_rows_contributed_sum => 13
OPTIONS (epsilon = 100, max_rows_contributed = 1) SUM(double_val, contribution_bounds_per_group => (0, 10)) FROM one

-- max_rows_contributed_count => 10
OPTIONS (epsilon = 100, max_rows_contributed = 1) COUNT(*) FROM one

-- basic_var_pop_implicit_bounds => 2.359375, 1; 2.359375, 1
{laplace} VAR_POP(double_val), VAR_POP(int64_val), FROM two UNION ALL {laplace} VAR_POP(double_val), VAR_POP(int64_val) FROM two

-- basic_var_pop_explicit_bounds => 0.125; 0.1875; 0.125; 0.1875
{dp} VAR_POP(double_val, contribution_bounds_per_row => (2, 3)), FROM two UNION ALL {dp} VAR_POP(int64_val, contribution_bounds_per_row => (2, 3)), FROM two UNION ALL {laplace} VAR_POP(v) FROM (SELECT CASE WHEN double_val < 2 THEN 2 WHEN double_val > 3 THEN 3 ELSE double_val END AS v FROM two) UNION ALL {laplace} VAR_POP(v) FROM (SELECT CASE WHEN int64_val < 2 THEN 2 WHEN int64_val > 3 THEN 3 ELSE int64_val END AS v FROM two)

-- basic_var_pop_explicit_bounds_all_nulls => 2025; 2025
{dp} VAR_POP(double_val, contribution_bounds_per_row => (10, 100)), FROM four UNION ALL {dp} VAR_POP(int64_val, contribution_bounds_per_row => (10, 100)) FROM four

-- verify_non_randomness_of_var_pop_implicit_bounds => True
SELECT ABS(({dp} VAR_POP(double_val) FROM two) - (SELECT VAR_POP(double_val) FROM two)) < 0.01

-- verify_randomness_of_var_pop_implicit_bounds => False
SELECT ABS(({dp} VAR_POP(double_val) FROM three) - (SELECT VAR_POP(double_val) FROM three)) < 0.000001

-- basic_stddev_pop_implicit_bounds => 1.536, 1; 1.536, 1
{laplace} STDDEV_POP(double_val), STDDEV_POP(int64_val) FROM two UNION ALL {laplace} STDDEV_POP(double_val), STDDEV_POP(int64_val) FROM two

-- basic_stddev_pop_explicit_bounds => 0.35355; 0.43301; 0.35355; 0.43301
{dp} STDDEV_POP(double_val, contribution_bounds_per_row => (2, 3)) FROM two UNION ALL {dp} STDDEV_POP(int64_val, contribution_bounds_per_row => (2, 3)), FROM two UNION ALL {laplace} STDDEV_POP(v) FROM (SELECT CASE WHEN double_val < 2 THEN 2 WHEN double_val > 3 THEN 3 ELSE double_val END AS v FROM two) UNION ALL {laplace} STDDEV_POP(v) FROM (SELECT CASE WHEN int64_val < 2 THEN 2 WHEN int64_val > 3 THEN 3 ELSE int64_val END AS v FROM two)

-- basic_stddev_pop_explicit_bounds_all_nulls => 0.5; 0.5
{dp} STDDEV_POP(double_val, contribution_bounds_per_row => (2, 3)) FROM four UNION ALL {dp} STDDEV_POP(int64_val, contribution_bounds_per_row => (2, 3)), FROM four

-- basic_percentile_cont_implicit_bounds => True, True
{dp} ABS(PERCENTILE_CONT(double_val, 0.4) - 1.5) < 0.01, ABS(PERCENTILE_CONT(int64_val, 0.6) - 2) < 0.01 FROM two

-- basic_percentile_cont_implicit_bounds_with_params => True, True
{dp} ABS(PERCENTILE_CONT(double_val, 0.4, contribution_bounds_per_row => (1, 3)) - 1.5) < 0.01, ABS(PERCENTILE_CONT(int64_val, 0.6, contribution_bounds_per_row => (1, 3)) - 2) < 0.01 FROM two

-- basic_percentile_cont_explicit_bounds => True, True
{dp} ABS(PERCENTILE_CONT(double_val, 0.4, contribution_bounds_per_row => (1, 3)) - 1.5) < 0.01, ABS(PERCENTILE_CONT(int64_val, 0.6, contribution_bounds_per_row => (1, 3)) - 2) < 0.01, FROM two

-- verify_non_randomness_of_percentile_cont_implicit_bounds => True; True; True
({dp} ABS(PERCENTILE_CONT(double_val, 0.1) + 1.5) < 0.01 FROM two) UNION ALL (SELECT ABS(PERCENTILE_CONT(double_val, 0.1) OVER () + 0.8) < 0.01 FROM two LIMIT 1) UNION ALL (SELECT ABS(PERCENTILE_DISC(double_val, 0.1) OVER () + 1.5) < 0.01 FROM two LIMIT 1)

-- verify_non_randomness_of_percentile_cont_implicit_bounds_2 => True; True; True
({dp} ABS(PERCENTILE_CONT(double_val, 0.7) - 2.5) < 0.01 FROM two) UNION ALL (SELECT ABS(PERCENTILE_CONT(double_val, 0.7) OVER () - 2.4) < 0.01 FROM two LIMIT 1) UNION ALL (SELECT ABS(PERCENTILE_DISC(double_val, 0.7) OVER () - 2.5) < 0.01 FROM two LIMIT 1)

-- basic_approx_quantiles_explicit_bounds => True, True
{dp} ABS(APPROX_QUANTILES(double_val, 5, contribution_bounds_per_row => (1, 3))[OFFSET(2)] - 1.5) < 0.01, ABS(APPROX_QUANTILES(int64_val, 5, contribution_bounds_per_row => (1, 3))[OFFSET(3)] - 2) < 0.01 FROM two

-- basic_approx_quantiles_explicit_bounds_result_length => 6, 6
{dp} ARRAY_LENGTH(APPROX_QUANTILES(double_val, 5, contribution_bounds_per_row => (1, 3))), ARRAY_LENGTH(APPROX_QUANTILES(int64_val, 5, contribution_bounds_per_row => (1, 3))) FROM two

-- verify_non_randomness_of_approx_quantiles_explicit_bounds => True; True
({dp} ABS(APPROX_QUANTILES(double_val, 10, contribution_bounds_per_row => (-2, 10))[OFFSET(1)] + 1.5) < 0.01 FROM two) UNION ALL (SELECT ABS(APPROX_QUANTILES(double_val, 10)[OFFSET(1)] + 1.5) < 0.01 FROM two)

-- verify_non_randomness_of_approx_quantiles_explicit_bounds_2 => True; True
({dp} ABS(APPROX_QUANTILES(double_val, 10, contribution_bounds_per_row => (-2, 10))[OFFSET(7)] - 2.5) < 0.01 FROM two) UNION ALL (SELECT ABS(APPROX_QUANTILES(double_val, 10)[OFFSET(7)] - 2.5) < 0.01 FROM two)

-- group_selection_laplace_with_delta => 11
OPTIONS (epsilon = 100, delta = 0.99, max_groups_contributed = NULL, group_selection_strategy = LAPLACE_THRESHOLD) SUM(double_val) FROM two

-- public_groups_without_group_by => 8
OPTIONS (epsilon = 100, max_groups_contributed = NULL, group_selection_strategy = PUBLIC_GROUPS) COUNT(int64_val) FROM one

-- public_groups_with_group_by => 0, 0; 1, 3; 3, 1; 4, 1; 1234, 0
OPTIONS (epsilon = 100, max_groups_contributed = NULL, group_selection_strategy = PUBLIC_GROUPS) int64_val, COUNT(*, contribution_bounds_per_group => (0, 1)) FROM one RIGHT OUTER JOIN (SELECT DISTINCT int64_val FROM listed) AS l USING (int64_val) GROUP BY int64_val

-- public_groups_with_group_by_and_max_groups_contributed => 0, 0; 1, 3; 3, 1; 4, 1; 1234, 0
OPTIONS (epsilon = 100, max_groups_contributed = 3, group_selection_strategy = PUBLIC_GROUPS) int64_val, COUNT(*, contribution_bounds_per_group => (0, 1)) FROM one RIGHT OUTER JOIN (SELECT DISTINCT int64_val FROM listed) AS l USING (int64_val) GROUP BY int64_val

-- min_privacy_units_per_group_is_one => 1, 4.5; 2, 3; 3, 2.5; 4, -1.5; None, 2.5
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 1, max_groups_contributed = NULL) int64_key, SUM(double_val, contribution_bounds_per_group => (-4.0, 4.0)) FROM one GROUP BY int64_key

-- min_privacy_units_per_group_is_2 => 1, 3; 2, 3; None, 2
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 2, max_groups_contributed = NULL) int64_key, COUNT(uid, contribution_bounds_per_group => (0, 1)) FROM one GROUP BY int64_key

-- min_privacy_units_per_group_is_3 => 1, 3; 2, 3
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 3, max_groups_contributed = NULL) int64_key, COUNT(uid, contribution_bounds_per_group => (0, 1)) FROM one GROUP BY int64_key

-- min_privacy_units_per_group_and_explicit_laplace_thresholding => 1, 3; 2, 3
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 3, group_selection_strategy = LAPLACE_THRESHOLD, max_groups_contributed = NULL) int64_key, COUNT(uid, contribution_bounds_per_group => (0, 1)) FROM one GROUP BY int64_key

-- min_privacy_units_per_group_is_4 => no rows
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 4, max_groups_contributed = NULL) int64_key, COUNT(uid, contribution_bounds_per_group => (0, 1)) FROM one GROUP BY int64_key

-- public_groups_and_min_privacy_units_per_group_set => refused
OPTIONS (epsilon = 100, delta = 0.99, min_privacy_units_per_group = 2, group_selection_strategy = PUBLIC_GROUPS, max_groups_contributed = NULL) SUM(double_val, contribution_bounds_per_group => (0.0, 2.0)) FROM one

-- approx_bounds_on_no_data_returns_null => 9999, None
OPTIONS (epsilon = 1, delta = 0, group_selection_strategy = PUBLIC_GROUPS, max_groups_contributed = 3) int64_val, COUNT(*) FROM one RIGHT OUTER JOIN (SELECT DISTINCT int64_val FROM UNNEST([9999]) AS int64_val) AS l USING (int64_val) GROUP BY int64_val

-- per_aggregation_epsilon => 1, 3, 4.5, 1.5, 2.667; 2, 3, 3, 1.5, 0; 3, 1, 2.5, 2.5, 1; 4, 1, -1.5, -1.5, 0.25; None, 2, 2.5, 2.5, 1
OPTIONS (epsilon = 500000, delta = 0.99, group_selection_epsilon = 100000) int64_key, COUNT(*, epsilon => 100000), ROUND(SUM(double_val, epsilon => 100000), 3), ROUND(AVG(double_val, epsilon => 100000), 3), ROUND(VAR_POP(double_val, epsilon => 100000), 3), FROM one GROUP BY int64_key

-- nested_public_groups => 1, 3; 2, 3; 3, 1; 4, 1; None, None
WITH chosen AS (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 100, delta = 0.5, max_groups_contributed = 1) int64_key FROM one GROUP BY int64_key) {dp} int64_key, COUNT(*) AS n FROM one RIGHT OUTER JOIN chosen USING (int64_key) GROUP BY int64_key

-- sum_double_explicit_bounds_multi_user_with_report_json => value 11
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two

-- basic_sum_int64_implicit_bounds_multi_user_with_report_json => value 16
{dp} SUM(int64_val, report_format => 'JSON') FROM two

-- basic_sum_int64_implicit_bounds_multi_user_with_report_json_zero_rows => refused, for the data
{dp} SUM(int64_val, report_format => 'JSON') FROM two WHERE note > 1000

-- sum_double_explicit_bounds_multi_user_with_report_json_zero_rows => value 0
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two WHERE note > 1000

-- avg_double_explicit_bounds_multi_user_with_report_json => value 1.3333
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two

-- avg_int64_implicit_bounds_multi_user_with_report_json => value 1.6333
{dp} AVG(int64_val, report_format => 'JSON') FROM two

-- avg_int64_implicit_bounds_multi_user_with_report_json_zero_rows => refused, for the data
{dp} AVG(int64_val, report_format => 'JSON') FROM two WHERE note > 1000

-- avg_double_explicit_bounds_multi_user_with_report_json_zero_rows => value 5
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two WHERE note > 1000

-- count_double_explicit_bounds_multi_user_with_report_json => value 8
{dp} COUNT(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two

-- basic_count_int64_implicit_bounds_multi_user_with_report_json => value 8
{dp} COUNT(int64_val, report_format => 'JSON') FROM two

-- basic_count_int64_implicit_bounds_multi_user_with_report_json_zero_rows => refused, for the data
{dp} COUNT(int64_val, report_format => 'JSON') FROM two WHERE note > 1000

-- count_double_explicit_bounds_multi_user_with_report_json_zero_rows => value 0
{dp} COUNT(double_val, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two WHERE note > 1000

-- count_star_explicit_bounds_multi_user_with_report_json => value 10
{dp} COUNT(*, contribution_bounds_per_group => (0, 10), report_format => 'JSON') FROM two

-- approx_quantiles_double_explicit_bounds_multi_user_with_report_json => value [1, 1, 1.5, 1.5, 2.5, 2.5]
OPTIONS (epsilon = 100, mechanism = 'exponential') APPROX_QUANTILES(double_val, 5, contribution_bounds_per_row => (1, 3), report_format => 'JSON') FROM two

-- approx_quantiles_int64_explicit_bounds_multi_user_with_report_json => value [1, 1, 1, 2, 2, 3]
OPTIONS (epsilon = 100, mechanism = 'exponential') APPROX_QUANTILES(int64_val, 5, contribution_bounds_per_row => (1, 3), report_format => 'JSON') FROM two

-- approx_quantiles_double_explicit_bounds_multi_user_with_report_json_zero_rows => its interval
{dp} APPROX_QUANTILES(double_val, 3, contribution_bounds_per_row => (1, 10), report_format => 'JSON') FROM two WHERE note > 1000

-- approx_quantiles_int64_explicit_bounds_multi_user_with_report_json_zero_rows => its interval
{dp} APPROX_QUANTILES(int64_val, 3, contribution_bounds_per_row => (1, 10), report_format => 'JSON') FROM two WHERE note > 1000

-- min_privacy_units_per_group_works_with_json_report => 1, value 3; 2, value 3
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 3, max_groups_contributed = NULL) int64_key, COUNT(*, contribution_bounds_per_group => (0, 1), report_format => 'JSON') FROM one GROUP BY int64_key

-- sum_double_explicit_bounds_multi_user_with_report_proto => value 11
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two

-- basic_sum_int64_implicit_bounds_multi_user_with_report_proto => value 16
{dp} SUM(int64_val, report_format => 'PROTO') FROM two

-- basic_sum_int64_implicit_bounds_multi_user_with_report_proto_zero_rows => refused, for the data
{dp} SUM(int64_val, report_format => 'PROTO') FROM two WHERE note > 1000

-- sum_double_explicit_bounds_multi_user_with_report_proto_zero_rows => value 0
{dp} SUM(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two WHERE note > 1000

-- avg_double_explicit_bounds_multi_user_with_report_proto => value 1.3333
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two

-- avg_int64_implicit_bounds_multi_user_with_report_proto => value 1.6333
{dp} AVG(int64_val, report_format => 'PROTO') FROM two

-- avg_int64_implicit_bounds_multi_user_with_report_proto_zero_rows => refused, for the data
{dp} AVG(int64_val, report_format => 'PROTO') FROM two WHERE note > 1000

-- avg_double_explicit_bounds_multi_user_with_report_proto_zero_rows => value 5
OPTIONS (epsilon = 100, mechanism = 'laplace') AVG(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two WHERE note > 1000

-- count_double_explicit_bounds_multi_user_with_report_proto => value 8
{dp} COUNT(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two

-- basic_count_int64_implicit_bounds_multi_user_with_report_proto => value 8
{dp} COUNT(int64_val, report_format => 'PROTO') FROM two

-- basic_count_int64_implicit_bounds_multi_user_with_report_proto_zero_rows => refused, for the data
{dp} COUNT(int64_val, report_format => 'PROTO') FROM two WHERE note > 1000

-- count_double_explicit_bounds_multi_user_with_report_proto_zero_rows => value 0
{dp} COUNT(double_val, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two WHERE note > 1000

-- count_star_explicit_bounds_multi_user_with_report_proto => value 10
{dp} COUNT(*, contribution_bounds_per_group => (0, 10), report_format => 'PROTO') FROM two

-- approx_quantiles_double_explicit_bounds_multi_user_with_report_proto => value [1, 1, 1.5, 1.5, 2.5, 2.5]
{dp} APPROX_QUANTILES(double_val, 5, contribution_bounds_per_row => (1, 3), report_format => 'PROTO') FROM two

-- approx_quantiles_int64_explicit_bounds_multi_user_with_report_proto => value [1, 1, 1, 2, 2, 3]
{dp} APPROX_QUANTILES(int64_val, 5, contribution_bounds_per_row => (1, 3), report_format => 'PROTO') FROM two

-- approx_quantiles_double_explicit_bounds_multi_user_with_report_proto_zero_rows => its interval
{dp} APPROX_QUANTILES(double_val, 3, contribution_bounds_per_row => (1, 10), report_format => 'PROTO') FROM two WHERE note > 1000

-- approx_quantiles_int64_explicit_bounds_multi_user_with_report_proto_zero_rows => its interval
{dp} APPROX_QUANTILES(int64_val, 3, contribution_bounds_per_row => (1, 10), report_format => 'PROTO') FROM two WHERE note > 1000

-- min_privacy_units_per_group_works_with_proto_report => 1, value 3; 2, value 3
OPTIONS (epsilon = 1000000, delta = 0.99, min_privacy_units_per_group = 3, max_groups_contributed = NULL) int64_key, COUNT(*, contribution_bounds_per_group => (0, 1), report_format => 'PROTO') FROM one GROUP BY int64_key

-- count_unique_users_with_report_json_thresholding => value 10
{dp} COUNT(*, contribution_bounds_per_group => (0, 1), report_format => 'JSON') FROM one
