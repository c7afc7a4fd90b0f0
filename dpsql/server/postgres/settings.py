"""PostgreSQL's own settings: clients set and show them, and they mean nothing here. Those of dpsql are shown, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpsql.plan.options import NAMES
from dpsql.server.core import Guest
from dpsql.server.postgres.scan import Word
from dpsql.server.postgres.states import PgRefusal

__all__ = ["KNOWN", "REPORTED", "SERVER_VERSION", "Settings", "assignment", "shown"]

SERVER_VERSION = "16.4"
"""The version of PostgreSQL whose protocol and catalogue are offered: clients choose their questions by it."""

KNOWN: Mapping[str, str] = {
    "application_name": "", "bytea_output": "hex", "client_encoding": "UTF8", "client_min_messages": "notice",
    "cpu_operator_cost": "0.0025", "cpu_tuple_cost": "0.01", "cursor_tuple_fraction": "0.1", "datestyle": "ISO, MDY",
    "default_transaction_deferrable": "off", "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "off", "effective_cache_size": "4GB", "enable_hashjoin": "on",
    "enable_mergejoin": "on", "enable_nestloop": "on", "enable_seqscan": "on", "escape_string_warning": "on",
    "extra_float_digits": "1", "from_collapse_limit": "8", "geqo": "on", "gin_fuzzy_search_limit": "0",
    "idle_in_transaction_session_timeout": "0", "idle_session_timeout": "0", "in_hot_standby": "off",
    "integer_datetimes": "on", "intervalstyle": "postgres", "is_superuser": "off", "jit": "off",
    "join_collapse_limit": "8", "lc_collate": "C", "lc_ctype": "C", "lc_messages": "C", "lc_monetary": "C",
    "lc_numeric": "C", "lc_time": "C", "lock_timeout": "0", "log_min_duration_statement": "-1", "log_statement": "none",
    "maintenance_work_mem": "64MB", "max_connections": "100", "max_identifier_length": "63",
    "max_index_keys": "32", "max_parallel_workers_per_gather": "0", "operator_precedence_warning": "off",
    "plan_cache_mode": "auto", "quote_all_identifiers": "off", "random_page_cost": "4", "role": "none",
    "row_security": "on", "search_path": '"$user", public', "seq_page_cost": "1", "server_encoding": "UTF8",
    "server_version": SERVER_VERSION, "server_version_num": "160004", "session_authorization": "",
    "ssl_renegotiation_limit": "0", "standard_conforming_strings": "on", "statement_timeout": "0",
    "synchronize_seqscans": "on", "synchronous_commit": "on", "tcp_keepalives_idle": "0", "temp_buffers": "8MB",
    "timezone": "UTC", "transaction_deferrable": "off", "transaction_isolation": "serializable",
    "transaction_read_only": "off", "transform_null_equals": "off", "wal_sender_timeout": "0", "work_mem": "4MB",
    "xmloption": "content", "default_table_access_method": "heap", "default_tablespace": "",
    "transaction_timeout": "0", "check_function_bodies": "on", "compute_query_id": "auto", "event_triggers": "on",
    "default_toast_compression": "pglz", "lo_compat_privileges": "off", "password_encryption": "scram-sha-256",
    "restrict_nonsystem_relation_kind": "", "vacuum_cost_delay": "0", "createrole_self_grant": "", "array_nulls": "on",
    "backslash_quote": "safe_encoding",
}  # fmt: skip
"""The settings of PostgreSQL that clients set or ask for, and what they are here: chapter 20 of its manual."""
SPELLED = {"datestyle": "DateStyle", "timezone": "TimeZone", "intervalstyle": "IntervalStyle"}
"""Names that PostgreSQL shows with capitals."""
REPORTED = (
    "server_version", "server_encoding", "client_encoding", "application_name", "default_transaction_read_only",
    "in_hot_standby", "is_superuser", "session_authorization", "datestyle", "intervalstyle", "timezone",
    "integer_datetimes", "standard_conforming_strings",
)  # fmt: skip
"""What clients are told of by themselves, and again when it changes."""
FIXED = ("server_version", "server_version_num", "server_encoding", "integer_datetimes", "is_superuser")
"""What no client can change."""
ENCODINGS = ("utf8", "utf-8", "unicode", "sql_ascii", "auto")
"""How clients say that they read UTF-8, or bytes as they come."""
LONGEST = 1000  # Characters of a setting's value that are kept. It is a choice.


class Settings:
    """The settings of one connection.

    Args:
        user: The analyst.
    """

    def __init__(self, user: str) -> None:
        self._begun = dict(KNOWN) | {"session_authorization": user}
        self._values = dict(self._begun)

    def __contains__(self, name: str) -> bool:
        return name in self._values or "." in name

    def set(self, name: str, value: str | None) -> tuple[str, str] | None:
        """Sets one; None puts it back.

        Returns:
            Its name and value, where clients are to be told.

        Raises:
            PgRefusal: There is no such setting, or it cannot have that value.
        """
        name = name.lower()
        if name not in self:
            raise PgRefusal("42704", f'unrecognized configuration parameter "{name}"', UNKNOWN_HINT)
        if name in FIXED and value is not None:
            raise PgRefusal("55P02", f'parameter "{name}" cannot be changed')
        if name == "client_encoding" and value is not None:
            if value.strip("'").lower() not in ENCODINGS:
                raise PgRefusal("22023", f'invalid value for parameter "client_encoding": "{value}"', "Use UTF8.")
            value = "UTF8"
        self._values[name] = (self._begun.get(name, "") if value is None else value)[:LONGEST]
        return (SPELLED.get(name, name), self._values[name]) if name in REPORTED else None

    def reset(self) -> None:
        """Puts all back."""
        self._values = dict(self._begun)

    def show(self, name: str) -> str:
        """The value of one.

        Raises:
            PgRefusal: There is no such setting.
        """
        if name.lower() not in self._values:
            raise PgRefusal("42704", f'unrecognized configuration parameter "{name}"', UNKNOWN_HINT)
        return self._values[name.lower()]

    def reported(self) -> Iterator[tuple[str, str]]:
        """What clients are told of by themselves."""
        return ((SPELLED.get(name, name), self._values[name]) for name in REPORTED)

    def all(self) -> list[tuple[str, str, str]]:
        """Each with its value and an empty description, as SHOW ALL has them."""
        return [(SPELLED.get(name, name), value, "") for name, value in sorted(self._values.items())]


UNKNOWN_HINT = "Options of dpsql are epsilon, delta, mechanism and those of its OPTIONS clause; and intervals."


def shown(name: str, settings: Settings, guest: Guest) -> str:
    """The value of one of PostgreSQL's settings or of dpsql's options, as it is in force; '' for an option without.

    Raises:
        PgRefusal: There is neither.
    """
    name = name.lower()
    if name == "intervals":
        return "on" if guest.intervals else "off"
    return guest.free(lambda session: session.option(name)) if name in NAMES else settings.show(name)


def assignment(found: Sequence[Word]) -> tuple[str, str | None]:
    """The name and value of a SET or RESET, without its first word; None puts it back.

    Raises:
        PgRefusal: It is none.
    """
    rest = list(found)
    while rest and rest[0].text in ("session", "local") and len(rest) > 1 and rest[1].kind in ("word", "quoted"):
        rest.pop(0)
    texts = [word.text for word in rest]
    match texts:
        case ["characteristics", "as", "transaction", *_] | ["transaction", *_]:
            return "transaction_isolation", KNOWN["transaction_isolation"]
        case ["authorization", *_]:
            raise PgRefusal("0A000", "Nobody can ask in another's name.")
        case ["time", "zone", *zone] if zone:
            return "timezone", _plain("".join(zone))
        case ["names", *names]:
            return "client_encoding", _plain("".join(names) or "UTF8")
    name, at = "", 0
    while at < len(rest) and (rest[at].kind in ("word", "quoted") or rest[at].text == ".") and texts[at] != "to":
        name, at = name + texts[at], at + 1
    if not name or at >= len(texts) - 1 or texts[at] not in ("=", "to"):
        raise PgRefusal("42601", "SET is not written as one.", "Write SET epsilon = 0.5.")
    value, end = "", rest[at + 1].start
    for word in rest[at + 1 :]:
        value, end = f"{value}{' ' * (word.start > end)}{_plain(word.text)}", word.end
    return name, None if value.lower() == "default" else value


def _plain(text: str) -> str:
    """A constant without its quotes."""
    return text[1:-1].replace("''", "'") if text.startswith("'") else text
