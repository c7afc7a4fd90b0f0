"""The lexer cuts a text as DuckDB does, or refuses it."""

from __future__ import annotations

import pytest

from dpsql.errors import UnsupportedQuery
from dpsql.sql.tokens import LONGEST_TEXT, MOST_TOKENS, TokenKind, fold, name_of, statements_in, tokenize


def texts(text: str) -> list[str]:
    return [token.text for token in tokenize(text)]


def refusal(text: str) -> UnsupportedQuery:
    with pytest.raises(UnsupportedQuery) as caught:
        tokenize(text)
    return caught.value


def test_positions_count_lines_and_columns_from_one() -> None:
    tokens = tokenize("SELECT a,\r\n  b -- note\n/* two\nlines */ c")
    assert [(token.text, token.position) for token in tokens] == [
        ("SELECT", (1, 1)),
        ("a", (1, 8)),
        (",", (1, 9)),
        ("b", (2, 3)),
        ("c", (4, 10)),
    ]


def test_comments_and_space_vanish() -> None:
    assert texts("a/**/b--c\n\t d") == ["a", "b", "d"]


def test_quotes_hold_everything_and_double_themselves() -> None:
    tokens = tokenize("""'it''s -- /* " ' "a""b'" """)
    assert [token.kind for token in tokens] == [TokenKind.STRING, TokenKind.QUOTED]
    assert name_of(tokens[1]) == "a\"b'"


@pytest.mark.parametrize("sign", ["=", "<", ">", "<=", ">=", "<>", "+", "*", "/", "//"])
def test_a_minus_may_follow_an_operator_of_plain_signs(sign: str) -> None:
    assert texts(f"a{sign}-1") == ["a", sign, "-", "1"]


@pytest.mark.parametrize("sign", ["!=", "%", "||"])
def test_a_minus_glued_to_other_operators_is_refused_as_duckdb_does(sign: str) -> None:
    assert refusal(f"a{sign}-1").hint == "Put a space between the operator and the sign."
    assert texts(f"a{sign} -1") == ["a", sign, "-", "1"]


@pytest.mark.parametrize(
    ("text", "construct", "column"),
    [
        ("a b 5!", "!", 6),
        ("x ^ 2", "^", 3),
        ("x ** 2", "**", 3),
        ("x -> y", "->", 3),
        ("x->>'a'", "->>", 2),
        ("x ~~~ 'a'", "~~~", 3),
        ("@x", "@", 1),
        ("{'a': 1}", "struct", 1),
        ("a : 1", ":", 3),
        ("f(x := 1)", ":", 5),
        ("`i`", "backtick", 1),
        ("$$a$$", "dollar-quoted string", 1),
        ("$tag$a$tag$", "dollar-quoted string", 1),
        ("$", "parameter", 1),
        ("1a", "number", 1),
        ("1e1e1", "number", 1),
        ("0x1F", "number", 1),
        ("1__000", "number", 1),
        ("1..2", "number", 1),
        ("'abc", "string", 1),
        ('"abc', "quoted name", 1),
        ("a /* b", "comment", 3),
        ("a /* b /* c */ d */", "comment", 3),
        ("a \\ b", "'\\'", 3),
        ("a § b", "character U+00A7", 3),
    ],
)
def test_what_is_no_token_is_refused_in_its_place(text: str, construct: str, column: int) -> None:
    error = refusal(text)
    assert (error.construct, error.position) == (construct, (1, column))
    assert error.hint


@pytest.mark.parametrize(
    "character",
    [
        "\0",
        "\x07",
        "\x0b",
        "\x0c",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
        "\xad",
        "\u200b",
        "\u2028",
        "\u202e",
        "\u3000",
        "\ufeff",
        "\ud800",
    ],
)
@pytest.mark.parametrize("frame", ["a{}b", "'a{}b'", '"a{}b"', "-- a{}b", "/* a{}b */"])
def test_invisible_characters_are_refused_everywhere(frame: str, character: str) -> None:
    error = refusal(frame.format(character))
    assert error.construct == f"character U+{ord(character):04X}"
    assert character not in str(error)


def test_letters_of_all_scripts_are_names_and_fold_in_ascii_only() -> None:
    assert texts("größe 年齢") == ["größe", "年齢"]
    assert fold("GRÖSSE") == "grÖsse"
    assert fold("\u212a") == "\u212a"  # the Kelvin sign, of which str.lower would make a k


def test_text_and_tokens_are_capped() -> None:
    assert len(tokenize("a " * MOST_TOKENS)) == MOST_TOKENS
    assert "2000 words" in str(refusal("a " * (MOST_TOKENS + 1)))
    assert "bytes" in str(refusal("é" * (LONGEST_TEXT // 2 + 1)))
    assert len(tokenize("'" + "a" * (LONGEST_TEXT - 2) + "'")) == 1


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ;\n; -- nothing; here\n/* ; */", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT ';', \";\" ;; SELECT 2 -- and; so\n;\n", ["SELECT ';', \";\"", "SELECT 2 -- and; so"]),
        ("/* a;b */ SELECT 'it''s;' FROM t;\r\nSHOW BUDGET;", ["/* a;b */ SELECT 'it''s;' FROM t", "SHOW BUDGET"]),
        (f"SELECT {'1 + ' * LONGEST_TEXT}1; SELECT 2", [f"SELECT {'1 + ' * LONGEST_TEXT}1", "SELECT 2"]),
    ],
)
def test_semicolons_between_statements_part_them(text: str, statements: list[str]) -> None:
    assert statements_in(text) == statements


@pytest.mark.parametrize("text", ["SELECT 1; SELECT 'x", "SELECT 1; /* x", 'SELECT 1; SELECT "x'])
def test_what_is_not_closed_parts_nothing(text: str) -> None:
    with pytest.raises(UnsupportedQuery, match=r"1:1\d"):
        statements_in(text)
