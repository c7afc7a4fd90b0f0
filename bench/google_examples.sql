-- R1 Guests per hour of a day
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1, delta = 1e-5, max_groups_contributed = 1, privacy_unit_column = visitor_id)
       EXTRACT(HOUR FROM entered) AS hour_entered,
       COUNT(*, contribution_bounds_per_group => (0, 1)) AS visitors
FROM day_data
GROUP BY hour_entered

-- R2 Mean time per hour of a day
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1, delta = 1e-5, max_groups_contributed = 1, privacy_unit_column = visitor_id)
       EXTRACT(HOUR FROM entered) AS hour_entered,
       AVG(minutes_spent, contribution_bounds_per_row => (0, 60)) AS mean_minutes
FROM day_data
GROUP BY hour_entered

-- R3 Guests per day of a week
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1, delta = 1e-5, max_groups_contributed = 3, privacy_unit_column = visitor_id)
       day, COUNT(*, contribution_bounds_per_group => (0, 1)) AS visitors
FROM week_data
GROUP BY day

-- R4 Revenue per day of a week
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, delta = 1e-5, kappa = 3, privacy_unit_column = visitor_id)
       day, SUM(euros_spent, contribution_bounds_per_group => (10, 50)) AS euros
FROM week_data
GROUP BY day

-- R4 rewritten: kappa by its name of today
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1, delta = 1e-5, max_groups_contributed = 3, privacy_unit_column = visitor_id)
       day, SUM(euros_spent, contribution_bounds_per_group => (10, 50)) AS euros
FROM week_data
GROUP BY day

-- R5 Guests by time spent, in steps of ten minutes
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1, delta = 1e-5, max_groups_contributed = 1, privacy_unit_column = visitor_id)
       CAST(CEIL(minutes_spent / 10.0) * 10.0 AS BIGINT) AS time_spent,
       COUNT(CAST(CEIL(minutes_spent / 10.0) * 10.0 AS BIGINT), contribution_bounds_per_group => (0, 3)) AS visitors
FROM week_data
GROUP BY time_spent

-- P1 Mean quantity by item
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, AVG(quantity, contribution_bounds_per_group => (0, 100)) AS average_quantity
FROM professors
GROUP BY item

-- P2 How often each item was requested
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, COUNT(*) AS times_requested
FROM professors
GROUP BY item

-- P3 The same with bounds
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, COUNT(item, contribution_bounds_per_group => (0, 100)) AS times_requested
FROM professors
GROUP BY item

-- P4 Sum of quantities by item
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, SUM(quantity, contribution_bounds_per_group => (0, 100)) AS quantity
FROM professors
GROUP BY item

-- P5 Median quantity by item
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, PERCENTILE_CONT(quantity, 0.5, contribution_bounds_per_row => (0, 100)) AS percentile_requested
FROM professors
GROUP BY item

-- P6 Variance of quantities by item
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, VAR_POP(quantity, contribution_bounds_per_row => (0, 100)) AS pop_variance
FROM professors
GROUP BY item

-- P7 Without noise, for demonstration
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (epsilon = 1e20, delta = .01, max_groups_contributed = 1, privacy_unit_column = id)
       item, COUNT(*) AS times_requested
FROM professors
GROUP BY item

-- P8 The former words
SELECT WITH ANONYMIZATION OPTIONS (epsilon = 10, delta = .01, kappa = 1)
       item, ANON_AVG(quantity CLAMPED BETWEEN 0 AND 100) AS average_quantity
FROM professors
GROUP BY item

-- P8 rewritten: today's words
SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 10, delta = .01, max_groups_contributed = 1)
       item, AVG(quantity, contribution_bounds_per_row => (0, 100)) AS average_quantity
FROM professors
GROUP BY item

-- C1 All the carrots
SELECT SUM(carrots_eaten) AS total, AVG(carrots_eaten) AS mean, COUNT(*) AS animals
FROM carrots

-- C2 Who ate more than 90, and the most that one ate
SELECT COUNT_IF(carrots_eaten > 90) AS gourmands, MAX(carrots_eaten) AS most
FROM carrots

-- F1 How often each fruit was eaten
SELECT fruit, COUNT(fruit, epsilon => 0.55) AS number_eaten
FROM fruit_eaten
GROUP BY fruit

-- F1 tuned: five fruits of a person, as in the example
SELECT WITH DIFFERENTIAL_PRIVACY
       OPTIONS (max_groups_contributed = 5, max_rows_per_group = 2, group_selection_epsilon = 0.5)
       fruit, COUNT(fruit) AS number_eaten
FROM fruit_eaten
GROUP BY fruit
