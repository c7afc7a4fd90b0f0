"""`marginals` with more pairs than a tree has, and a model fitted to all that was noised: private-PGM (`mbi`).

Neighbours, loss, theorem and proof: those of `marginals`, with 2 d - 3 pairs of d columns in place of d - 1. A pair may
follow those chosen if the model of them all stays small, which is worked out from public sizes.

All else is post-processing. The library `mbi` finds the distribution of largest entropy, a product of functions of the
chosen pairs, whose tables are nearest to the noised ones, and makes rows of it. Its rows are drawn from NumPy's own
generator: they are drawn from what is released already, and hide nothing.

It errs less than the tree and takes about a minute and a gigabyte (docs/releases.md). It is the extra ``synthetic``.

Source: McKenna, Sheldon, Miklau 2019, "Graphical-model based estimation and inference for differential privacy"; choice
and shares are those of `marginals`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import combinations, count
from typing import Any

import numpy as np
import numpy.typing as npt

from dpsql.mechanisms.releases.marginals import NoisyMarginals, Pair
from dpsql.mechanisms.releases.reach import deviation_of
from dpsql.mechanisms.releases.waiting import Told, unheard
from dpsql.privacy.sampling import Sampler

__all__ = ["MISSING", "SmallModel", "graphical_rows", "installed"]

LARGEST_MODEL = 2.0  # In MB, of the model's tables. It is a choice: fits of larger ones take many minutes.
STEPS = 1000  # Of mirror descent. It is the library's own default.
MISSING = "mbi is an extra, which is not installed: in a copy of dpsql's repository, pip install '.[synthetic]'."


class SmallModel:
    """About two pairs a column, whose model stays small."""

    def pairs(self, columns: int) -> int:
        """As many as cliques of three columns, each sharing two with the one before, hold."""
        return max(1, 2 * columns - 3)

    def candidates(self, chosen: Sequence[Pair], sizes: Sequence[int]) -> Sequence[Pair]:
        """The pairs with which the model of all chosen ones has at most two megabytes."""
        domain = _mbi().Domain([str(j) for j in range(len(sizes))], tuple(sizes))
        size = _mbi().junction_tree.hypothetical_model_size
        open_pairs = [pair for pair in combinations(range(len(sizes)), 2) if pair not in chosen]
        return [pair for pair in open_pairs if size(domain, _named([*chosen, pair])) <= LARGEST_MODEL]


def installed() -> bool:
    """Whether the library is there."""
    return find_spec("mbi") is not None


def graphical_rows(released: NoisyMarginals, sampler: Sampler, told: Told = unheard) -> npt.NDArray[np.int64]:
    """(total, d) codes of synthetic rows.

    Args:
        released: The noisy marginals.
        sampler: Of the order of rows.
        told: After each block of steps of the fit.

    Raises:
        ImportError: If mbi is not installed.
    """
    if released.total == 0:
        return np.zeros((0, len(released.sizes)), dtype=np.int64)
    mbi, names = _mbi(), [str(j) for j in range(len(released.sizes))]
    domain = mbi.Domain(names, released.sizes)
    seen = [
        mbi.LinearMeasurement(np.asarray(numbers, dtype=np.float64), (name,), float(np.sqrt(variances.mean())))
        for name, numbers, variances in zip(names, released.columns, released.variances, strict=True)
    ]
    of_pair = deviation_of(released.pair_law)
    for clique, table in zip(_named(released.pairs), released.pairs.values(), strict=True):
        seen.append(mbi.LinearMeasurement(np.asarray(table, dtype=np.float64).ravel(), clique, of_pair))
    steps = count(1)
    blocks = STEPS / getattr(mbi.estimation, "CALLBACK_EVERY", STEPS)  # the library says so once a block
    model = mbi.estimation.MirrorDescent().estimate(
        *(domain, seen, float(released.total)),
        iters=STEPS,
        callback_fn=lambda _: told(min(1.0, next(steps) / blocks)),
    )
    made = model.synthetic_data(rows=released.total)
    rows = np.stack([np.asarray(made.data[name], dtype=np.int64) for name in names], axis=1)
    rows = rows[sampler.order(len(rows)).astype(np.int64)]
    for j, cut in released.cuts.items():
        rows[:, j] = cut.filled(rows[:, j], sampler)
    return rows


def _named(pairs: Sequence[Pair] | dict[Pair, Any]) -> list[tuple[str, str]]:
    return [(str(a), str(b)) for a, b in pairs]


def _mbi() -> Any:
    """The library, with float64 and without a cache on the disk."""
    if not installed():
        raise ImportError(MISSING)
    import jax

    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_enable_compilation_cache", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import mbi

        return mbi
