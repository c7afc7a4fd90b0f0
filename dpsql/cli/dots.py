"""What the texts of `dpsql shell` do: statements, and commands with a dot in front, at one session.

Tests: tests/unit/cli/test_shell.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.cli.arguments import statements_of
from dpsql.cli.running import line, screen_width
from dpsql.errors import Error, ProgrammingError, UnsupportedQuery

if TYPE_CHECKING:
    from dpsql.answers.answer import Answer
    from dpsql.session import Session

__all__ = ["COMMANDS", "Shell", "is_whole"]

COMMANDS: Mapping[str, str] = {
    ".help": "These lines; so does help.",
    ".tables [NAME]": "The tables, or the columns of one, from the policy alone.",
    ".explain [SQL]": "What a statement would cost, free; without one, the last that was typed.",
    ".price [EPSILON]": "What each statement may cost from now on; default: what the policy says; alone: what it is.",
    ".plot FILE": "Draw the last answer; FILE ends in .png or .svg.",
    ".budget": "What was spent, and what is left.",
    ".mechanisms": "The mechanisms, and what each is for.",
    ".intervals on|off": "Columns n_low and n_high beside each noised column n.",
    ".batch FILE": "Buy the statements of a file together: what they ask alike is paid once.",
    ".exit": "Leave; so do exit and Ctrl-D.",
}
"""The commands, each with what it does."""

ALONE = ("show", "describe", "desc", "set")  # Words with which statements of one line begin.

LEAVING = {".exit", ".quit", "exit", "quit", "exit;", "quit;"}
HELPING = {"help", "help;"}
PSQL: Mapping[str, str] = {
    **dict.fromkeys(("\\d", "\\d+", "\\dt", "\\dt+"), ".tables"),
    **dict.fromkeys(("\\?", "\\h"), ".help"),
    "\\q": ".exit",
}
"""What psql's users type by habit, with the command that does it here."""

INTERRUPTED = "Interrupted. What was charged stays charged."

Working = Callable[[], AbstractContextManager[Callable[[str, float], None]]]


def is_whole(text: str) -> bool:
    """Whether a text can be taken: a command, statements that a semicolon ends, or nothing.

    >>> is_whole("SELECT 1"), is_whole("SELECT 1;"), is_whole("SELECT ';"), is_whole(".budget")
    (False, True, False, True)
    """
    stripped = _here(text)
    if not stripped or stripped.startswith(".") or stripped.lower() in LEAVING | HELPING:
        return True
    from dpsql.sql.tokens import statements_in

    try:  # after a semicolon that is one, another word is another statement
        return len(statements_in(f"{text}\nx")) > len(statements_in(text))
    except Error:
        return stripped.endswith(";") and "'" not in stripped and '"' not in stripped


def _here(text: str) -> str:
    """A text without spaces around it; one that begins as psql's commands do with a dot for the backslash.

    >>> _here("\\\\d visits"), _here("\\\\x"), _here(" SELECT 1;")
    ('.tables visits', '.x', 'SELECT 1;')
    """
    stripped = text.strip()
    if not stripped.startswith("\\"):
        return stripped
    name, space, rest = stripped.partition(" ")
    return f"{PSQL.get(name, '.' + name[1:])}{space}{rest}".strip()


class Shell:
    """One session, and what its user types. It prints; it decides nothing about privacy.

    Args:
        session: What answers.
        tell: Prints an answer.
        complain: Prints a refusal.
        working: A bar of progress, for as long as something is asked.
        sure: Asks for a yes before several statements are bought.
    """

    def __init__(
        self,
        session: Session,
        tell: Callable[[str], None],
        complain: Callable[[str], None],
        working: Working,
        sure: Callable[[str], bool] = lambda question: True,
    ) -> None:
        self._session = session
        self._tell, self._complain, self._working, self._sure = tell, complain, working, sure
        self._last = ""
        self._answer: list[Answer] = []
        self._intervals = False
        self.refused = False

    def take(self, text: str) -> bool:
        """Do what a whole text says.

        Returns:
            Whether there is more to come: False once it says to leave.
        """
        stripped = _here(text)
        if stripped.lower() in LEAVING:
            return False
        try:
            if stripped.lower() in HELPING:
                self._help()
            elif stripped.startswith("."):
                self._command(stripped)
            else:
                self._ask_all(stripped)
        except KeyboardInterrupt:
            self._complain(f"{INTERRUPTED}\n{self._left()}")
        except Error as refusal:
            self.refused = True
            self._complain(str(refusal))
        return True

    def _ask_all(self, text: str) -> None:
        from dpsql.answers.switch import intervals_set
        from dpsql.sql.tokens import statements_in

        for statement in statements_in(text):
            on = intervals_set(statement)
            if on is not None:
                self._intervals = on
                continue
            self._last = statement
            with self._working() as bar:
                bar("Asking. Ctrl-C interrupts", 0.0)
                answer = self._asked(statement, bar)
            self._answer = [answer]
            self._tell(str(answer.with_intervals() if self._intervals else answer))
            if answer.measurements:
                self._tell(self._left())

    def _asked(self, statement: str, bar: Callable[[str, float], None]) -> Answer:
        """The answer; the refusal of what seems to be several statements says what ends one."""
        try:
            return self._session.query(statement, progress=bar)
        except UnsupportedQuery as refusal:
            line_, column = refusal.position or (1, 0)
            short = statement.split(maxsplit=1)[0].lower() in ALONE
            if "\n" in statement.strip() and (short or (line_ > 1 and column == 1)):
                self._complain("Statements end with a semicolon: several lines without one are read as one statement.")
            raise

    def _command(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        rest = rest.strip().rstrip(";")
        does = {
            ".help": lambda: self._help(),
            ".tables": lambda: self._tables(rest),
            ".explain": lambda: self._explain(rest),
            ".plot": lambda: self._plot(rest),
            ".price": lambda: self._price(rest),
            ".budget": lambda: self._tell(str(self._session.budget())),
            ".mechanisms": lambda: self._mechanisms(),
            ".intervals": lambda: self._switch(rest),
            ".batch": lambda: self._batch(rest),
        }.get(name.lower())
        if does is None:
            raise ProgrammingError(f"There is no command {line(name)}. Write .help to see them.")
        does()

    def _help(self) -> None:
        from dpsql.answers.shown.screen import text_table

        self._tell(text_table(("command", "what it does"), [*COMMANDS.items()], widest=None, screen=screen_width()))
        self._tell("Statements end with a semicolon.")

    def _tables(self, name: str) -> None:
        from dpsql.answers.listing import descriptions
        from dpsql.answers.shown.screen import WIDEST, safe

        told = self._session.describe(name) if name else self._session.tables()
        self._tell(told.to_text())
        for row, words in zip(told, descriptions(told), strict=True):
            if words is not None and len(words) > WIDEST:  # which a cell of the table cuts
                self._tell(safe(f"{row[0]}: {words}"))

    def _explain(self, sql: str) -> None:
        if not sql and not self._last:
            raise ProgrammingError("Nothing was asked yet. Write .explain SELECT ...")
        self._tell(str(self._session.explain(sql or self._last)))

    def _plot(self, name: str) -> None:
        from dpsql.answers.plots.files import ready_for

        if not name:
            raise ProgrammingError("Name a file for the picture: .plot answer.png")
        if not self._answer:
            raise ProgrammingError("Nothing was answered yet. Ask a statement, then write .plot answer.png")
        file = Path(name).expanduser()
        ready_for(file)
        try:
            self._answer[0].plot(file)
        except OSError as error:
            raise ProgrammingError(f"{line(name)} cannot be written: {error.strerror}.") from None
        self._tell(f"Wrote {line(name)}.")

    def _price(self, text: str) -> None:
        if text:
            try:
                price = "NULL" if text.lower() == "default" else format(Decimal(text), "f")
            except InvalidOperation:
                hint = "Write an epsilon, such as .price 0.1, or .price default."
                raise ProgrammingError(f"{line(text)} is no price. {hint}") from None
            self._session.query(f"SET epsilon = {price}")
        found = [f"{name} {amount}" for name in ("epsilon", "rho") if (amount := self._session.option(name))]
        self._tell(f"Each statement costs {found[0]}." if found else "No price is set: each statement names its own.")

    def _mechanisms(self) -> None:
        from dpsql.answers.shown.screen import text_table
        from dpsql.mechanisms import MECHANISMS

        rows = [(own.name, (type(own.loaded).__doc__ or "").splitlines()[0]) for own in MECHANISMS]
        self._tell(text_table(("mechanism", "what it answers"), rows, widest=None, screen=screen_width()))
        self._tell("The one with the least expected error is taken; .explain says which, and why not the others.")

    def _switch(self, text: str) -> None:
        from dpsql.answers.switch import intervals_set

        on = intervals_set(f"SET intervals = {text}") if text.isalnum() else None
        if on is None:
            raise ProgrammingError("Write .intervals on or .intervals off.")
        self._intervals = on

    def _batch(self, name: str) -> None:
        if not name:
            raise ProgrammingError("Name a file with statements: .batch dashboard.sql")
        statements = statements_of(None, Path(name).expanduser())
        quote = self._session.quote(statements)
        self._tell(str(quote))
        if not self._sure("Buy them together? [y/N] "):
            self._tell("Nothing was bought.")
            return
        with self._working() as bar:
            bar("Asking. Ctrl-C interrupts", 0.0)
            answers = self._session.query_all(statements)
        for answer in answers:
            self._tell(f"{answer.with_intervals() if self._intervals else answer}\n")
        self._tell(self._left())

    def _left(self) -> str:
        return f"Left: {self._session.budget().cells()[2]}."
