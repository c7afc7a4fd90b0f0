"""Mechanisms: the only place where a raw number becomes one that may leave. One theorem per file.

To add one, write its file, add its line to `MECHANISMS`, and test it; `choose.choose` takes the best offer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsql.mechanisms.late import Late, choosing, first_groups, named, of, priced_by_a_metric
from dpsql.plan.measured.domains import Evaluate

if TYPE_CHECKING:
    from dpsql.mechanisms.metric.row_metric import PublicRows, RowMetric

__all__ = ["MECHANISMS", "by_name", "under_policy"]

QUANTILES = ("quantile_cont", "quantile_disc", "min", "max")
COUNTS = ("count_rows", "count", "count_units")
VARIANCES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
PAIRS = ("covar_pop", "covar_samp", "corr", "regr_slope")
TABLES = ("dp_kmeans", "dp_covariance")
NOISED = (*COUNTS, "count_distinct", "sum", "avg", *VARIANCES, *PAIRS)  # What sums and counts make.

MECHANISMS: tuple[Late, ...] = (
    Late("public", home="public:Public", kind=of("count_rows")),
    Late("capped", home="capped.mechanism:Capped", kind=of("avg", *VARIANCES, *QUANTILES, chooses=True)),
    Late("located", home="located.mechanism:AtOwnPlace", kind=of("avg", *VARIANCES)),
    Late("laplace", home="laplace:Laplace", kind=of(*NOISED)),
    Late("gaussian", home="gaussian:Gaussian", kind=of(*NOISED)),
    Late(
        "clamped",
        home="clamped.mechanism:Clamped",
        kind=of(*COUNTS, "sum", "avg", *VARIANCES),
    ),
    Late("threshold", home="threshold:Threshold", kind=of(*COUNTS, "count_distinct", chooses=True)),
    Late("gaussian_threshold", home="gaussian_threshold:GaussianThreshold", kind=choosing),
    Late("exponential", frozenset({"interval"}), home="exponential:Exponential", kind=of("mode", *QUANTILES)),
    Late("top_k", home="top_k:TopK", kind=first_groups),
    Late(
        "friendly_core",
        frozenset({"scale"}),
        home="friendly_core.mechanism:FriendlyCore",
        kind=of("avg", *PAIRS, *TABLES),
    ),
    Late(
        "preprocessing",
        frozenset({"sensitivity", "centre"}),
        home="preprocessing.mechanism:Preprocessing",
        kind=of("avg", "trimmed_mean", "sum", *VARIANCES, *QUANTILES, classes=True),
    ),
    Late("random_dp", frozenset({"gamma"}), home="random_dp:RandomDP", kind=named("random_dp")),
    Late("metric", frozenset({"metric", "multiple"}), home="metric.mechanism:MetricPrivacy", kind=priced_by_a_metric),
)
"""Every mechanism, in the order in which equal offers are preferred: its name, the options that are its own, where it
is, and which requests may be for it. It is loaded when the first of them comes. Where all are expected to say nothing,
as far as public guesses tell, those are preferred that find out more than was guessed."""


def under_policy(metrics: Mapping[str, RowMetric], evaluate: Evaluate, public: PublicRows) -> tuple[Late, ...]:
    """Every mechanism, with what one policy declares for them.

    Args:
        metrics: Its metrics, by name.
        evaluate: Runs expressions over public values.
        public: Reads public tables.
    """
    given = {"metrics": metrics, "evaluate": evaluate, "public": public}
    return tuple(replace(own, given=given) if own.name == "metric" else own for own in MECHANISMS)


def by_name(name: str) -> Late | None:
    """The mechanism of that name, or None.

    >>> by_name("laplace").loaded
    Laplace(name='laplace', options=frozenset())
    """
    return next((mechanism for mechanism in MECHANISMS if mechanism.name == name), None)
