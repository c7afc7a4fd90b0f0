"""Releases: one payment for a table of numbers or rows, which then answers every question for nothing.

Each module is one theorem, usable without SQL: it takes exact numbers of rows, a `Payment` and a sampler.

    cells       noise on every cell of a declared domain
    tree        noise on a tree of ranges, made consistent by least squares
    ranges      which of the two errs less for ranges, from public facts
    marginals   a tree of noisy pairs of columns, for tables of any width; `parts` cuts columns of many codes for it,
                and `rows` makes rows of it
    graphical   the same with more pairs, and a graphical model of them (the extra ``synthetic``)
    intervals   cuts into parts of equal numbers of rows (ReleaseIntervals, corrected); `rectangles` in up to three
                dimensions, on grids of numbers, dates and decimals
    smalldb     the small database that answers a class of questions best, by exact sampling; `smalldb_paths` for
                ordered domains, in polynomial time
    mwem        a histogram learnt from the questions that it answers worst
    halfplanes  all half planes through the origin, from angles; `halfspaces` learns those of three and four dimensions,
                `projected` is the paper's structure for them

`payment` says what a release costs and what a neighbour changes, `shares` makes noised numbers whole, non-negative and
of a given total. Whatever is computed from a release is post-processing, and free.

**What is never claimed.** A chain of random steps that only tends to a distribution (Markov chain Monte Carlo,
annealing) is at an unknown distance from it after any number of steps: none is used here. "Distributional privacy"
(Blum, Ligett, Roth, section 7) hides all of a sample but the population that it was drawn from; nobody can check that
the rows were so drawn, and it is offered under no name.

Source: Blum, Ligett, Roth 2013, "A learning theory approach to noninteractive database privacy" (the family); each
module names its own.
"""
