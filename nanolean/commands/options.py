"""`set_option` and a file's header: what a text may ask of the system around it.

Lean refuses options and modules that it does not know, so they are refused here; so are those that Lean knows and that
would change something NanoLean does not have.
"""

from __future__ import annotations

from nanolean.commands.messages import CommandResult
from nanolean.env_state import EXPONENTIATION, PP_UNIVERSES, TRACE_SIMP
from nanolean.errors import ElabError
from nanolean.lexer import blank, header
from nanolean.syntax import SetOptionCmd

WORKING = {PP_UNIVERSES: bool, TRACE_SIMP: bool, f"{TRACE_SIMP}.rewrite": bool, EXPONENTIATION: int}
"""Options that do something, with the type of their value."""
WITHOUT_EFFECT = {
    "maxRecDepth": int,
    "maxHeartbeats": int,
    "synthInstance.maxHeartbeats": int,
    "synthInstance.maxSize": int,
    "autoImplicit": bool,
    "relaxedAutoImplicit": bool,
    "linter.all": bool,
    "linter.unusedVariables": bool,
    "linter.unusedSimpArgs": bool,
    "linter.unusedSectionVars": bool,
    "linter.unnecessarySimpa": bool,
    "linter.missingDocs": bool,
    "linter.deprecated": bool,
}
"""Options that may be set because what they limit or warn of never happens here."""
FAMILIES = ("pp.", "trace.", "linter.", "profiler", "format.", "compiler.", "debug.", "smartUnfolding", "eval.")
"""Beginnings of names of Lean's other options."""

MODULES = ("Init", "Std", "Lean")
"""Modules that come with Lean; what NanoLean knows of them is there without being imported."""


def run_set_option(result: CommandResult, cmd: SetOptionCmd) -> None:
    """Set an option until the end of the scope."""
    kind = WORKING.get(cmd.name) or WITHOUT_EFFECT.get(cmd.name)
    if kind is None:
        known = cmd.name.startswith(FAMILIES)
        text = f"the option `{cmd.name}` is not supported" if known else f"Unknown option `{cmd.name}`"
        raise ElabError(text, cmd.pos, cmd.end)
    if type(cmd.value) is not kind:
        wanted = "Bool" if kind is bool else "Nat"
        raise ElabError(f"set_option value type mismatch: The option `{cmd.name}` is a `{wanted}`", cmd.pos, cmd.end)
    result.state = result.state.with_option(cmd.name, cmd.value)


def read_header(result: CommandResult, text: str) -> str:
    """The text with blanks in the place of its header; what is wrong with that, such as an unknown module, is said."""
    found = header(text)
    is_module = any(match["words"] == "module" for match in found)
    for match in found:
        start, end = match.span("words")
        keywords = match["words"].partition("import")[0].split()
        if match["words"] == "prelude":
            result.say("error", "`prelude` is not supported: NanoLean has its library built in", start, end)
        elif keywords and match["module"] and not is_module:
            result.say("error", f"cannot use `{keywords[0]} import` without `module`", start, end)
        elif match["module"] and match["module"] not in MODULES:
            result.say("error", _unknown(match["module"]), match.start("module"), end)
    end = found[-1].end() if found else 0
    return blank(text[:end]) + text[end:]


def _unknown(module: str) -> str:
    prefix = module.partition(".")[0]
    told = f"the module `{module}` is not available" if prefix in MODULES else f"unknown module prefix '{prefix}'"
    return f"{told}\n\nNanoLean has parts of Lean's core and nothing else"
