"""Where the shell's texts come from: a terminal with history and completion, a plain one, or a pipe.

Tests: tests/unit/cli/test_shell.py.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dpsql.cli.dots import COMMANDS, is_whole

if TYPE_CHECKING:
    from prompt_toolkit import PromptSession

    from dpsql.session import Session

__all__ = ["reading"]

_WORD = re.compile(r"\w+")
CONTINUED = "... "
WELCOME = "Write a statement and a semicolon, or .help. Ctrl-D leaves."
PLAIN = "Completion and colours come with an extra. In a copy of dpsql's repository: pip install '.[shell]'"

Reading = tuple[Callable[[], str], Callable[[str], bool]]
"""Reads the next whole text, and asks for a yes. Both raise EOFError at the end, and KeyboardInterrupt."""


@contextmanager
def reading(session: Session, prompt: str) -> Iterator[Reading]:
    """What reads texts, and asks whether one is sure: with the extra ``shell`` completion and colours.

    Args:
        session: Whose tables and columns are completed.
        prompt: What stands in front of a text.
    """
    if not sys.stdin.isatty():
        yield lambda: _lines(_piped, "", ""), lambda question: True
        return
    typer.echo(WELCOME, err=True)
    try:
        own = _prompt_session(session)
    except ImportError:
        typer.echo(PLAIN, err=True)
        with suppress(ImportError):
            import readline  # noqa: F401 - `input` edits lines and keeps their history then
        yield lambda: _lines(input, prompt, CONTINUED), lambda question: _yes(input(question))
        return
    begun = CONTINUED.rjust(len(prompt))
    yield (
        lambda: own.prompt(prompt, prompt_continuation=lambda width, number, soft: begun),
        lambda question: _yes(input(question)),
    )


def _yes(text: str) -> bool:
    return text.strip().lower() in ("y", "yes")


def _piped(prompt: str) -> str:
    text = sys.stdin.readline()
    if not text:
        raise EOFError
    return text.rstrip("\n")


def _lines(read: Callable[[str], str], prompt: str, continued: str) -> str:
    """Lines until they are whole; at the end of the input what there is."""
    text = read(prompt)
    while not is_whole(text):
        try:
            more = read(continued)
        except EOFError:
            return text
        text += f"\n{more}"
    return text


def _history() -> Path:
    """Where texts are kept between shells, for nobody but their user."""
    from dpsql.ledger.mark import default_folder

    file = default_folder() / "shell_history"
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    os.close(os.open(file, os.O_CREAT | os.O_APPEND, 0o600))
    return file


def _prompt_session(session: Session) -> PromptSession[str]:
    """A prompt that knows the session's words.

    Raises:
        ImportError: The extra is not installed.
    """
    from prompt_toolkit import PromptSession
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document
    from prompt_toolkit.filters import Condition
    from prompt_toolkit.history import FileHistory
    from prompt_toolkit.key_binding import KeyBindings
    from prompt_toolkit.key_binding.key_processor import KeyPressEvent
    from prompt_toolkit.lexers import PygmentsLexer
    from pygments.lexers.sql import PostgresLexer

    from dpsql.cli.completing import Words

    class Next(Completer):
        def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
            text = document.text_before_cursor
            words = Words.of(session, [command.split()[0] for command in COMMANDS])
            begun = text if text.startswith(".") and " " not in text else document.get_word_before_cursor(pattern=_WORD)
            for word in words.next(text):
                yield Completion(word, start_position=-len(begun))

    def ends() -> bool:
        """An empty line ends a statement here, too: what is pasted comes as one piece, and is not cut by it."""
        text = own.default_buffer.text
        return is_whole(text) or text.endswith("\n")

    keys = KeyBindings()

    @keys.add("enter", filter=Condition(ends))
    def take(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    own: PromptSession[str] = PromptSession(
        history=FileHistory(str(_history())),
        completer=Next(),
        complete_while_typing=False,
        lexer=PygmentsLexer(PostgresLexer),
        key_bindings=keys,
        multiline=True,
    )
    return own
