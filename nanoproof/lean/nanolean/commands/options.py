"""`set_option` and `import`: what a text may ask of the system around it.

Lean refuses options and modules that it does not know, so they are refused here; so are those that Lean knows and that
would change something NanoLean does not have.
"""

from __future__ import annotations

import re

from nanoproof.lean.nanolean.commands.messages import CommandResult
from nanoproof.lean.nanolean.env_state import PP_UNIVERSES, TRACE_SIMP
from nanoproof.lean.nanolean.errors import ElabError
from nanoproof.lean.nanolean.syntax import SetOptionCmd

WORKING = {PP_UNIVERSES: bool, TRACE_SIMP: bool, f"{TRACE_SIMP}.rewrite": bool}
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

_SPACE = r"(?:\s|--[^\n]*\n|/-.*?-/)*"
_IMPORT = re.compile(_SPACE + r"import[ \t]+(?P<module>[^\s]+)", re.DOTALL)


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


def read_imports(result: CommandResult, text: str) -> str:
    """The text with the `import` lines at its beginning blanked out; unknown modules are errors."""
    for found in _imports(text):
        module = found["module"]
        if module not in MODULES:
            prefix = module.partition(".")[0]
            known = prefix in MODULES
            told = f"the module `{module}` is not available" if known else f"unknown module prefix '{prefix}'"
            reason = f"{told}\n\nNanoLean has parts of Lean's core and nothing else"
            result.say("error", reason, found.start("module"), found.end())
    return without_imports(text)


def without_imports(text: str) -> str:
    """The text with spaces in the place of the `import` lines at its beginning."""
    found = _imports(text)
    end = found[-1].end() if found else 0
    return "".join(char if char == "\n" else " " for char in text[:end]) + text[end:]


def _imports(text: str) -> list[re.Match[str]]:
    found: list[re.Match[str]] = []
    end = 0
    while (match := _IMPORT.match(text, end)) is not None:
        found.append(match)
        end = match.end()
    return found
