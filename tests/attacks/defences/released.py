"""What keeps noise, sensitivities and thresholds right."""

from __future__ import annotations

from tests.attacks.defences.defence import Defence

__all__ = ["RELEASED"]

SAMPLING = "dpsql/privacy/sampling.py"
WORDS = "dpsql/privacy/words.py"
SENSITIVITY = "dpsql/mechanisms/noise/sensitivity.py"
THRESHOLDS = "dpsql/mechanisms/noise/thresholds.py"
OF_SAMPLING = ("tests/unit/privacy/test_sampling.py",)
OF_WORDS = ("tests/unit/privacy/test_words.py",)
OF_SENSITIVITY = ("tests/unit/mechanisms/noise",)

RELEASED = (
    Defence(
        "a coin that floats cannot decide is decided exactly",
        SAMPLING,
        "        for i in np.flatnonzero(~yes & (u < e + error)):\n",
        "        for i in np.flatnonzero(~yes & (u < e - 1)):\n",
        OF_SAMPLING,
    ),
    Defence(
        "uniform numbers by rejection, without a bias of the remainder",
        SAMPLING,
        "            kept.append(draws[draws < m][:missing])\n",
        "            kept.append((draws % m)[:missing])\n",
        OF_SAMPLING,
    ),
    Defence(
        "one uniform number by rejection, without a bias of the remainder",
        WORDS,
        "            if (kept := number & ((1 << bits) - 1)) < m:\n                return int(kept)\n",
        "            return int(number & ((1 << bits) - 1)) % m\n",
        OF_WORDS,
    ),
    Defence(
        "a source of randomness that runs dry draws nothing",
        WORDS,
        "    if len(found) != size:\n",
        "    if False:\n",
        OF_WORDS,
    ),
    Defence(
        "one draw never serves two values",
        SAMPLING,
        "    if exact.shape != drawn.shape:\n",
        "    if False:\n",
        ("tests/unit/privacy/test_noised.py",),
    ),
    Defence(
        "a sum is as sensitive as its largest value, not as its range",
        SENSITIVITY,
        "    return _times(max(1, abs(low), abs(high)), request, held)\n",
        "    return _times(max(1, high - low), request, held)\n",
        OF_SENSITIVITY,
    ),
    Defence(
        "a replaced row counts as one that goes and one that comes",
        SENSITIVITY,
        "    reach *= request.neighbour_rows\n",
        "    reach *= 1\n",
        (*OF_SENSITIVITY, "tests/attacks/test_replay_audit.py"),
    ),
    Defence(
        "a square is largest at the end that is further from 0",
        SENSITIVITY,
        "        return 0, max(low**2, high**2)\n",
        "        return 0, high**2\n",
        OF_SENSITIVITY,
    ),
    Defence(
        "a group appears strictly above its threshold",
        THRESHOLDS,
        "shown = (np.asarray(units) >= self.min_units) & (noise > self.threshold)",
        "shown = (np.asarray(units) >= self.min_units) & (noise >= self.threshold)",
        ("tests/unit/mechanisms/test_threshold.py",),
    ),
    Defence(
        "groups of fewer units than the owner allows never appear",
        THRESHOLDS,
        "shown = (np.asarray(units) >= self.min_units) & (noise > self.threshold)",
        "shown = noise > self.threshold",
        ("tests/unit/prepare/test_min_units.py", "tests/unit/mechanisms/test_threshold.py"),
    ),
    Defence(
        "units of groups that nobody asks for count where a clamp is chosen",
        "dpsql/answers/released/release.py",
        "rest=need.all_units",
        "rest=False",
        ("tests/unit/answers",),
    ),
    Defence(
        "facts give a clamp where they prove what it clips",
        "dpsql/mechanisms/clamped/facts.py",
        " if clipped(at_most, end, 1.0) <= USEFUL * noise(end)]",
        "]",
        ("tests/unit/mechanisms/clamped/test_facts.py",),
    ),
    Defence(
        "totals of grouping sets are of the rows that are in a group",
        "dpsql/plan/resolve.py",
        "        self.relation = listed_rows(self.relation, self.keys, resolver, self.query.position)\n",
        "",
        ("tests/unit/answers/released/test_consistency.py",),
    ),
    Defence(
        "cells of sets that do not lie one within the other are not rounded",
        "dpsql/answers/released/consistency.py",
        "    nested = all(set(own) == set(keys[: len(own)]) for own in sets)\n",
        "    nested = True\n",
        ("tests/unit/answers/released/test_consistency.py",),
    ),
    Defence(
        "a threshold pays for all groups that one unit may have alone",
        THRESHOLDS,
        "    silent = digits.power(digits.subtract(Decimal(1), p), groups)\n",
        "    silent = digits.power(digits.subtract(Decimal(1), p), 1)\n",
        ("tests/unit/mechanisms/test_threshold.py",),
    ),
    Defence(
        "no noise makes all pairs of rows be compared",
        "dpsql/mechanisms/friendly_core/place.py",
        "    return points if points.shape[1] == 1 or len(points) <= MOST_COMPARED else points[:0]\n",
        "    return points\n",
        ("tests/unit/mechanisms/friendly_core/test_located.py",),
    ),
    Defence(
        "a function of listed columns may be another thing where one of them is NULL",
        "dpsql/plan/known/value_lists.py",
        "    missing = 0 if is_strict(function) else 1\n",
        "    missing = 0\n",
        ("tests/unit/plan/known/test_value_lists.py",),
    ),
)
