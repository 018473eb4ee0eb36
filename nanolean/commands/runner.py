"""`run_text`: run all commands of a text over an `EnvState`."""

import re
from collections.abc import Callable
from typing import Any

from nanolean.commands.declarations import run_axiom, run_declaration
from nanolean.commands.deriving import derive, run_deriving
from nanolean.commands.earlier_runs import EarlierRuns, Run
from nanolean.commands.header import full_name
from nanolean.commands.inductive import run_inductive, run_structure
from nanolean.commands.messages import CommandResult, LineMap, note_missing_library, read_header, run_set_option
from nanolean.commands.reports import run_check, run_nothing, run_print, run_print_axioms
from nanolean.commands.scopes import (
    run_attribute,
    run_end,
    run_include,
    run_namespace,
    run_open,
    run_section,
    run_universe,
    run_variable,
)
from nanolean.env_state import EnvState
from nanolean.parser import CommandParser, ParseError
from nanolean.proof_errors import ProofError
from nanolean.syntax import (
    AttributeCmd,
    AxiomCmd,
    CheckCmd,
    Command,
    DefCmd,
    DerivingCmd,
    EndCmd,
    ExampleCmd,
    IncludeCmd,
    InCmd,
    InductiveCmd,
    NamespaceCmd,
    OpenCmd,
    PrintAxiomsCmd,
    PrintCmd,
    SectionCmd,
    SetOptionCmd,
    StructureCmd,
    TheoremCmd,
    UniverseCmd,
    UnrunCmd,
    VariableCmd,
)
from nanolean.tactic_state import refusals

_UNEXPECTED = re.compile(r"unexpected (?:token|identifier) '([^\n]+)'; expected ")
RUNNERS: dict[type[Command], Callable[[CommandResult, Any], None]] = {
    TheoremCmd: run_declaration,
    ExampleCmd: run_declaration,
    DefCmd: run_declaration,
    AxiomCmd: run_axiom,
    InductiveCmd: run_inductive,
    StructureCmd: run_structure,
    NamespaceCmd: run_namespace,
    SectionCmd: run_section,
    EndCmd: run_end,
    OpenCmd: run_open,
    SetOptionCmd: run_set_option,
    IncludeCmd: run_include,
    DerivingCmd: run_deriving,
    VariableCmd: run_variable,
    UniverseCmd: run_universe,
    AttributeCmd: run_attribute,
    PrintAxiomsCmd: run_print_axioms,
    PrintCmd: run_print,
    CheckCmd: run_check,
    UnrunCmd: run_nothing,
}

DECLARATIONS = (TheoremCmd, ExampleCmd, DefCmd, AxiomCmd, InductiveCmd, StructureCmd)


def run_text(
    state: EnvState, text: str, header: bool = False, watch: bool = False, earlier: EarlierRuns | None = None
) -> CommandResult:
    """Run every command of a text in order; a command with an error leaves the state as it was and the next one runs.

    With `header` the text is a whole file, which may begin with a header; with `watch` the `by` blocks and the tactics
    that run are put on record. A text that begins as one of the `earlier` ones goes on from where they part; of what
    its beginning does, only state, messages and `sorry`s are in the result then. What is wrong comes back as messages;
    this raises nothing that a text can cause.
    """
    result = CommandResult(state, text, watch=watch)
    lines = LineMap(text)
    if header:
        text = read_header(result, text)
    note_missing_library(result, text)
    run = Run.of(state, result)
    parser = CommandParser(text) if earlier is None else earlier.resume(run, text, result)
    try:
        for command in parser.commands():
            run.note(parser, result)
            if isinstance(command, ParseError):
                offset = lines.offset(command.line, command.column)
                unexpected = _UNEXPECTED.match(command.message)
                result.say("error", command.message, offset, offset + (len(unexpected[1]) if unexpected else 0))
            else:
                run_command(result, command)
    except RecursionError:
        result.say("error", "the text is nested too deeply", 0, 0)
    return result


def run_command(result: CommandResult, command: Command) -> None:
    """Run one command; a refusal becomes an error message."""
    before = result.state
    try:
        with refusals():
            _run(result, command)
    except ProofError as error:
        result.state = before
        error = error.at(command.pos, command.end)
        result.say("error", error.message, error.pos or 0, error.pos or 0 if error.end is None else error.end)


def _run(result: CommandResult, command: Command) -> None:
    if isinstance(command, InCmd):
        scopes = result.state.scopes
        _run(result, command.first)
        run_command(result, command.second)
        result.state = result.state.with_scopes(scopes)
    else:
        if isinstance(command, DECLARATIONS):
            result.declared.append((command, result.state))
        RUNNERS[type(command)](result, command)
        if isinstance(command, InductiveCmd | StructureCmd):
            name = full_name(result.state, command.signature.name or "")
            wanted = ("ext",) if "ext" in command.modifiers.attributes else ()
            for class_name in (*wanted, *command.deriving):
                try:
                    derive(result, name, class_name, command.signature)
                except ProofError as error:  # the type is there all the same
                    result.say("error", error.message, command.signature.pos, command.signature.end)
