"""Exact laws of releases over all tiny neighbouring tables: e^epsilon, and delta, for every pair and every output.

    tables      all tables of up to four rows of three kinds, which of them are neighbours, and their policies
    world       the same behind the real engine, under both relations
    statements  SQL over each of them: planned, priced, run, and the law of what it would release
    branching   the sampler that takes every outcome in turn, with its exact chance
    chances     exact numbers: sums of exponentials over products of such sums, and how two are compared
    in_step     what draws too often for that: two tables at once, draw by draw
    steps       one draw in both: what shows of it, and what that costs
    synthetic   synthetic tables of all tiny tables of cells
    friends     FriendlyCore's filter over all graphs of friends, and the average behind it, whole and part by part
    random_means  declared means of random differential privacy, and how often gamma's event happens
    verdicts    two laws beside a claim
    corpus      what is asked, and which mechanisms or parts of them are left out, with the reason
    trees       the real sampler on every string of bits up to a length

Nothing here draws noise, and no float decides anything. ``bench/exhaustive.py`` writes what came of it to
docs/under_fire.md.
"""
