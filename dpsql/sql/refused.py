"""Words that the dialect knows and refuses: for each the construct, why not, and what to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "AFTER_STAR",
    "FIRST_ROW",
    "FRAMES",
    "LEFT_OUT",
    "LOCAL_TIME",
    "QUALIFIED",
    "QUARTERS",
    "REFUSED_FUNCTIONS",
    "REFUSED_STATEMENTS",
    "REFUSED_WORDS",
    "REGEXP",
    "SINCE_1970",
    "refused_word",
]

Refusal = tuple[str, str, str]

QUALIFIED: Final = "Write SELECT .. FROM (SELECT .., RANK() OVER (..) AS r .. GROUP BY ..) WHERE r <= 3."
"""How a condition on a window is written."""
FIRST_ROW: Final = (
    "For the first row of each unit write FROM (SELECT * FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY unit ORDER BY "
    "ts) = 1)."
)
"""How the first row of each person is reached, with names of no table."""
LOCAL_TIME: Final = (
    "Leave it out: moments are in UTC. x + INTERVAL 2 HOUR moves them; for summer time the owner casts in a view."
)
"""How moments of another time zone are reached."""
QUARTERS: Final = "For groups of 15 minutes write GROUP BY date_trunc('hour', x), minute(x) // 15."
"""How periods within an hour are keys."""
SINCE_1970: Final = "For the moment x seconds after 1970 began, in UTC, write make_timestamp(x * 1000000)."
"""How numbers that clocks count become moments."""
FRAMES: Final = (
    "the ends of a frame are counted in rows.",
    "Write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW: an answer has a row for each group, such as a month.",
)
"""What to write instead of GROUPS, and of RANGE with a distance."""
LEFT_OUT: Final = (
    "a frame has all rows between its ends.",
    "Leave EXCLUDE out, and take the row itself away: SUM(n) OVER (..) - n, or COUNT(*) OVER (..) - 1.",
)
"""What to write instead of EXCLUDE in a frame."""
REGEXP: Final = (
    "databases differ in whether all of the text must match.",
    "Write regexp_matches(x, 'pattern') for a part of it, or regexp_full_match(x, 'pattern') for all.",
)
"""Why a condition on a pattern is not read, and what is."""
_SET_OPERATION: Final = "a condition in WHERE says the same."
_CLOCK: Final = ("an answer may not depend on when it was asked.", "Write the date: DATE '2024-05-31'.")
_SESSION: Final = ("an answer may not depend on who runs the engine.", "Leave it out.")
_PIVOT: Final = (
    "its keys are missing, or it stands in the wrong place.",
    "Write PIVOT t ON sex USING AVG(age) GROUP BY city, or "
    "FROM (SELECT city, sex, age FROM t) PIVOT (AVG(age) FOR sex IN ('F', 'M')).",
)
_UNPIVOT: Final = (
    "its columns are named, by names alone.",
    "Write UNPIVOT t ON q1, q2 INTO NAME item VALUE v, or FROM t UNPIVOT (v FOR item IN (q1, q2)).",
)
_LATERAL: Final = "Write a join, or for a computed column a sub-query: FROM (SELECT a + b AS x FROM t)."
_JOIN: Final = ("dpsql joins on written conditions only.", "Write JOIN .. ON or JOIN .. USING (column).")
_QUANTIFIER: Final = (
    "dpsql compares with = ANY of a list, or by < and > with written numbers.",
    "Write = ANY (?), IN (..), > ANY ([1, 2]) or EXISTS.",
)
_WINDOW: Final = "Write f(x) OVER (PARTITION BY .. ORDER BY ..), or f(x) OVER w .. WINDOW w AS (ORDER BY ..)."
_SAMPLE: Final = (
    "the sample would be drawn outside the accounting, and would only add error.",
    "Leave it out: all rows cost no more.",
)
_FEW_PATTERNS: Final = (
    "this kind of pattern is not supported.",
    "Use LIKE with % and _, or regexp_full_match(x, 'pattern').",
)
_OPERATOR: Final = ("it is an operator, not a function.", "Write -x, x IS NULL or x IS DISTINCT FROM y.")
_SUMMARIZE: Final = ("it would show exact values of the data.", "Use DESCRIBE table, or aggregates.")

REFUSED_WORDS: Mapping[str, Refusal] = {
    "over": ("OVER", "no window has this name here.", _WINDOW),
    "window": ("WINDOW", "it names windows behind HAVING.", _WINDOW),
    "intersect": ("INTERSECT", _SET_OPERATION, "Write WHERE id IN (SELECT ..) AND id IN (SELECT ..)."),
    "except": ("EXCEPT", _SET_OPERATION, "Write WHERE id IN (SELECT ..) AND id NOT IN (SELECT ..)."),
    "pivot": ("PIVOT", *_PIVOT),
    "pivot_wider": ("PIVOT", *_PIVOT),
    "unpivot": ("UNPIVOT", *_UNPIVOT),
    "pivot_longer": ("UNPIVOT", *_UNPIVOT),
    "recursive": ("WITH RECURSIVE", "a query may not feed on itself.", "Write WITH name AS (..)."),
    "lateral": ("LATERAL", "a table may not depend on the row beside it.", _LATERAL),
    "into": ("SELECT INTO", "dpsql reads only.", "Leave INTO out, and keep the answer in your program."),
    "for": ("FOR", "dpsql neither locks rows nor reads FOR inside a function.", "Leave it out, or use commas."),
    "fetch": ("FETCH", "dpsql reads LIMIT.", "Write LIMIT 10."),
    "collate": ("COLLATE", "text is compared by its bytes.", "Leave it out, or use lower(text)."),
    "similar": ("SIMILAR TO", *_FEW_PATTERNS),
    "glob": ("GLOB", *_FEW_PATTERNS),
    "overlaps": ("OVERLAPS", "it is not supported.", "Compare the dates with < and >=."),
    "isnull": ("ISNULL", "dpsql reads the standard form.", "Write IS NULL."),
    "notnull": ("NOTNULL", "dpsql reads the standard form.", "Write IS NOT NULL."),
    "any": ("ANY", *_QUANTIFIER),
    "some": ("SOME", *_QUANTIFIER),
    "array": ("ARRAY", "lists are not supported.", "Write plain columns and values."),
    "lambda": ("LAMBDA", "functions of functions are not supported.", "Write the expression itself."),
    "semi": ("SEMI JOIN", "dpsql asks for a partner in WHERE.", "Write WHERE id IN (SELECT id FROM ..)."),
    "anti": ("ANTI JOIN", "dpsql asks for a partner in WHERE.", "Write WHERE id NOT IN (SELECT id FROM ..)."),
    "asof": ("ASOF JOIN", *_JOIN),
    "positional": ("POSITIONAL JOIN", "rows have no position.", _JOIN[1]),
    "tablesample": ("TABLESAMPLE", *_SAMPLE),
    "at": (
        "AT",
        "dpsql keeps no time zones and no versions of tables.",
        LOCAL_TIME,
    ),
    "symmetric": ("BETWEEN SYMMETRIC", "dpsql reads BETWEEN low AND high.", "Write the smaller bound first."),
    "summarize": ("SUMMARIZE", *_SUMMARIZE),
    "show": ("SHOW", "it is a statement of its own.", "Write SHOW BUDGET or SHOW TABLES alone."),
    "describe": ("DESCRIBE", "it is a statement of its own.", "Write DESCRIBE table alone."),
    "user": ("USER", *_SESSION),
    "current_user": ("CURRENT_USER", *_SESSION),
    "session_user": ("SESSION_USER", *_SESSION),
    "current_role": ("CURRENT_ROLE", *_SESSION),
    "current_schema": ("CURRENT_SCHEMA", *_SESSION),
    "current_catalog": ("CURRENT_CATALOG", *_SESSION),
    "current_date": ("CURRENT_DATE", *_CLOCK),
    "current_time": ("CURRENT_TIME", *_CLOCK),
    "current_timestamp": ("CURRENT_TIMESTAMP", *_CLOCK),
    "localtime": ("LOCALTIME", *_CLOCK),
    "localtimestamp": ("LOCALTIMESTAMP", *_CLOCK),
}


def refused_word(word: str, *, as_name: bool) -> Refusal:
    """The refusal of a word of `REFUSED_WORDS`; where it stands as a name would, that it is none.

    >>> refused_word("at", as_name=True)
    ('AT', 'this is a keyword, not a name.', 'If it is a name, quote it: "at".')
    """
    construct, reason, hint = REFUSED_WORDS[word]
    if not as_name or word.startswith(("current_", "local")):
        return construct, reason, hint
    return construct, "this is a keyword, not a name.", f'If it is a name, quote it: "{word}".'


REFUSED_FUNCTIONS: Mapping[str, Refusal] = {
    "values": ("VALUES", "rows stand in parentheses.", "Write VALUES (1), (2), or FROM (VALUES (1), (2)) AS t (x)."),
    "columns": ("COLUMNS", "the columns must be named.", "Name the columns."),
    "map": ("MAP", "structs and maps are not supported.", "Write plain columns and values."),
    "struct": ("STRUCT", "structs and maps are not supported.", "Write plain columns and values."),
    "negate": ("negate", *_OPERATOR),
    "is_null": ("is_null", *_OPERATOR),
    "is_distinct_from": ("is_distinct_from", *_OPERATOR),
    "now": ("now", *_CLOCK),
    "today": ("today", *_CLOCK),
}

AFTER_STAR = frozenset("replace rename like ilike glob similar".split())
"""What DuckDB lets follow a star to choose columns."""

REFUSED_STATEMENTS: Mapping[str, Refusal] = {
    "unpivot": REFUSED_WORDS["unpivot"],
    "summarize": REFUSED_WORDS["summarize"],
    "table": ("TABLE", "dpsql reads SELECT.", "Write SELECT .. FROM .."),
}
"""First words of statements that deserve a hint of their own; all others hear that dpsql reads only."""
