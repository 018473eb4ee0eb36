"""The parser, from text to syntax: its entry points."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from nanolean import syntax as stx
from nanolean.parser.lexer import EOF, ParseError
from nanolean.parser.parse_commands import CommandParser

_Node = TypeVar("_Node")


def parse_term(text: str) -> stx.Term:
    """Parse a text that is one term. Raises `ParseError`."""
    return _parse_all(text, CommandParser.term)


def parse_tactic(text: str) -> stx.Tactic:
    """Parse a text that is one tactic; a sequence stands in parentheses or braces. Raises `ParseError`."""
    return _parse_all(text, CommandParser.tactic)


def parse_commands(text: str) -> tuple[stx.Command, ...]:
    """Parse all commands of a file. Raises `ParseError` for the first mistake."""
    commands: list[stx.Command] = []
    for command in iter_commands(text):
        if isinstance(command, ParseError):
            raise command
        commands.append(command)
    return tuple(commands)


def iter_commands(text: str) -> Iterator[stx.Command | ParseError]:
    """Yield the commands of a text in order; a mistake is yielded as a value, and the next command follows."""
    return CommandParser(text).commands()


def _parse_all(text: str, read: Callable[[CommandParser], _Node]) -> _Node:
    parser = CommandParser(text)
    node = read(parser)
    if parser.kinds[parser.i] != EOF:
        parser.fail("end of input")
    return node
