"""DuckDB's keywords, by what an unquoted one may be. The tests compare them with the engine's own list."""

from __future__ import annotations

__all__ = ["COLUMN_ONLY", "FUNCTION_ONLY", "KEYWORDS", "NEEDS_AS", "RESERVED"]

RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric both case cast check collate column constraint create
    default deferrable desc describe distinct do else end except false fetch for foreign from group having in
    initially intersect into lambda lateral leading limit not null offset on only or order pivot pivot_longer
    pivot_wider placing primary qualify references returning select show some summarize symmetric table then to
    trailing true union unique unpivot using variadic when where window with
    """.split()
)
"""Never a name without quotes."""

FUNCTION_ONLY = frozenset(
    """
    anti asof at authorization binary by collation concurrently cross freeze full glob ilike inner is isnull
    join left like natural notnull outer overlaps positional right semi similar tablesample unpack verbose
    """.split()
)
"""May name a function or a type, never a column or a table."""

COLUMN_ONLY = frozenset(
    """
    between bigint bit boolean char character coalesce columns dec decimal exists extract float generated
    grouping grouping_id inout int integer interval map national nchar none nullif numeric out overlay position
    precision real row setof smallint struct substring time timestamp treat trim try_cast tuple values varchar
    xmlattributes xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize
    xmltable
    """.split()
)
"""May name a column, not a function but for its own special form."""

_OTHER = frozenset(
    """
    abort absolute access action add admin after aggregate also alter always approx assertion assignment attach
    attribute backward before begin cache call called cascade cascaded catalog centuries century chain
    characteristics checkpoint class close cluster comment comments commit committed compression configuration
    conflict connect connection constraints content continue conversion copy cost csv cube current cursor cycle
    data database day days deallocate decade decades declare defaults deferred definer delete delimiter
    delimiters depends destroy detach dictionary disable discard disconnect distance document domain double drop
    each enable encoding encrypted enum error escape event exact exclude excluding exclusive execute explain
    export export_state extension extensions external family filter first following force forward function
    functions global grant granted groups handler header hold hour hours identity if ignore immediate immutable
    implicit import include including increment index indexes inherit inherits inline input insensitive insert
    install instead invoker isolation json key label language large last leakproof level listen load local
    location lock locked logged macro mapping match matched materialized maxvalue merge method microsecond
    microseconds millennia millennium millisecond milliseconds minute minutes minvalue mode month months move
    name names nearest new next no nothing notify nowait nulls object of off oids old operator option options
    ordinality others over overriding owned owner parallel parser partial partition partitioned passing password
    percent persistent plans policy pragma preceding prepare prepared preserve prior privileges procedural
    procedure program publication quarter quarters quote range read reassign recheck recursive ref referencing
    refresh register reindex relative release rename repeatable replace replica reset resource resources respect
    restart restrict returns revoke role rollback rollup rows rule sample savepoint schema schemas scope scroll
    search second seconds secret secure security sequence sequences serializable server session set sets share
    similarity simple skip snapshot sorted source sql stable standalone start statement statistics stdin stdout
    storage stored strict strip subscription sysid system tables tablespace target temp template temporary text
    ties transaction transform trigger truncate trusted type types unbounded uncommitted unencrypted unknown
    unlisten unlogged until update use user vacuum valid validate validator value variable varying version view
    views virtual volatile week weeks whitespace within without work wrapper write xml year years yes zone
    """.split()
)
"""May name anything."""

NEEDS_AS = frozenset(
    """
    centuries century day days decade decades escape exclude export_state filter hour hours ignore microsecond
    microseconds millennia millennium millisecond milliseconds minute minutes month months over precision quarter
    quarters rename replace respect second seconds varying week weeks within without year years
    """.split()
)
"""May name a column in the SELECT list behind AS alone. A table, and its columns in parentheses, need none."""

KEYWORDS = RESERVED | FUNCTION_ONLY | COLUMN_ONLY | _OTHER
"""Every word with a meaning of its own somewhere in DuckDB's grammar."""
