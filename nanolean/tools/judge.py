"""Certificates judged by Lean's own kernel: `python -m nanolean judge LIBRARY`, files on standard input, JSON out.

The first line says which Lean it is, and each further one what came of a certificate. For a `.lean` file there are two:
first why the certificate beside it is none of its theorems by our kernel, empty if it is, and then Lean's answer. The
library is loaded once for all; what files have in common is checked once by each kernel. A file counts only where
everything that Lean's kernel knows by name, without looking at how it is declared, is what it is in NanoLean's library:
with another `Nat.add` the kernel alone accepts a proof of `False`.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nanolean.env_state import EnvState
from nanolean.kernel.declaration import (
    AxiomDecl,
    AxiomInfo,
    Declaration,
    InductiveDecl,
    InductiveInfo,
    QuotDecl,
    ValueInfo,
)
from nanolean.kernel.env import Environment, declaration_of
from nanolean.kernel.expr import alpha_eq
from nanolean.kernel.reserved import KERNEL_NAMES
from nanolean.library.loader import load_library
from nanolean.ndjson.export_ndjson import QUOT_KINDS, closure
from nanolean.ndjson.import_ndjson import (
    MAX_REASON,
    PERMITTED,
    Checked,
    Listed,
    Reader,
    name_of,
    names_made,
    names_used,
)
from nanolean.ndjson.ndjson_rows import Declined, Refused
from nanolean.system import UserError, freeze_gc
from nanolean.tools.certificates import certificate_of, difference, export_file_lines
from nanolean.tools.lean_kernel import TRIED, LeanGaveUp, LeanKernel, LeanRefused

MAX_WORLDS = 8
"""Environments that are kept for files to come."""


@dataclass
class Listing(Reader):
    """The declarations of a file in their order, read as strictly as our kernel's reader does, and not checked."""

    def _add(self, decl: Declaration, height: int | None = 0) -> None:
        self._no_quotients_missing()
        self.declarations.append((self.line, decl, height))

    def add_axiom(self, content: Any) -> None:
        """Note an axiom; one that is not permitted is left out, so what uses it is refused."""
        name, params, type_ = self._head(content, "isUnsafe")
        if name in PERMITTED:
            self._add(AxiomDecl(name, params, type_))
        else:
            self.left_out |= {name}

    def add_quotient(self, content: Any) -> None:
        """Note the quotients, which Lean's kernel makes itself."""
        name, _, _ = self._head(content, "kind")
        kinds = list(QUOT_KINDS.items())
        if self.quotients == len(kinds) or (name, content["kind"]) != kinds[self.quotients]:
            raise Refused(f"the quotients are {', '.join(QUOT_KINDS)} in this order, once")
        if self.quotients == 0:
            self._add(QuotDecl())
        self.quotients += 1

    def add_inductive(self, content: Any) -> None:
        """Note a type with its constructors; Lean's kernel makes the recursor itself."""
        self._add(self._inductive(content)[0])


def listing(lines: Iterable[str]) -> Listing:
    """Read a file. Raises Refused or Declined, with the line that was reached."""
    found = Listing()
    try:
        for line in lines:
            found.feed(line)
        found.finish()
    except (Refused, Declined) as error:
        raise type(error)(f"line {found.line}: {error}") from None
    return found


@dataclass
class World:
    """An environment of Lean's kernel, and what is declared in it, by name."""

    env: int
    declared: dict[str, Declaration] = field(default_factory=dict)

    def fits(self, declarations: Iterable[Listed]) -> bool:
        """Return whether nothing of a file is declared here as something else."""
        for _, decl, _ in declarations:
            known = self.declared.get(name_of(decl), decl)
            if known is not decl and known != decl:
                return False
        return True


class Judge:
    """Lean's kernel, and what it has accepted so far. Files share what they declare alike."""

    def __init__(self, kernel: LeanKernel, library: Environment) -> None:
        self.kernel = kernel
        self.worlds: list[World] = []
        self.fixed = fixed_declarations(library)

    def judge(self, lines: Iterable[str]) -> int:
        """Have a file judged, and return how many declarations it has. Raises Refused or Declined."""
        found = listing(lines)
        known: set[str] = set()
        for line, decl, _ in found.declarations:
            missing = names_used(decl) - known
            if missing:
                axiom = " (an axiom that is not permitted)" if missing & found.left_out else ""
                raise Refused(f"line {line}: {name_of(decl)} uses {min(missing)}, which is not declared before{axiom}")
            known.update(names_made(decl))
        return self.judge_declarations(found.declarations)

    def judge_declarations(self, found: Sequence[Listed]) -> int:
        """Have declarations judged that mention nothing but each other; return how many. Raises Refused or Declined."""
        world = next((world for world in self.worlds if world.fits(found)), None)
        if world is not None:
            try:
                self._declare_all(world, found)
                return len(found)
            except (Refused, Declined):
                pass  # it may be for what other files have declared: ask again without them
        world = World(self.kernel.empty)
        self._declare_all(world, found)
        self.worlds = [*self.worlds[-MAX_WORLDS + 1 :], world]
        return len(found)

    def _check_fixed(self, line: int, decl: Declaration) -> None:
        for name in names_made(decl):
            if name in KERNEL_NAMES and name not in self.fixed:
                raise Declined(f"line {line}: Lean's kernel knows {name} by name, and NanoLean's library has none")
            if name in self.fixed and not same_declaration(decl, self.fixed[name]):
                raise Refused(f"line {line}: Lean's kernel knows {name} by name, and it is not the library's")

    def _declare_all(self, world: World, found: Sequence[Listed]) -> None:
        for line, decl, height in found:
            name = name_of(decl)
            if name in world.declared:
                continue
            self._check_fixed(line, decl)
            try:
                world.env = self.kernel.add(world.env, decl, height)
            except LeanRefused as error:
                raise Refused(f"line {line}: {name}: {error}") from None
            except LeanGaveUp as error:
                raise Declined(f"line {line}: {name}: {error}") from None
            world.declared[name] = decl


def fixed_declarations(library: Environment) -> dict[str, Declaration]:
    """Return what must be as in the library: all that Lean's kernel knows by name, and all that this rests on."""
    infos = {info.name: info for info in library}
    names = [name for name in (*KERNEL_NAMES, *PERMITTED) if name in infos]
    fixed: dict[str, Declaration] = {}
    for info in closure(library, names):
        if isinstance(info, InductiveInfo | ValueInfo | AxiomInfo) or info.name == "Quot":
            decl = declaration_of(info, infos)
            fixed.update((name, decl) for name in names_made(decl))
    return fixed


def same_declaration(a: Declaration, b: Declaration) -> bool:
    """Return whether two declarations say the same, up to the names of bound variables and hints."""
    if a.__class__ is not b.__class__:
        return False
    if isinstance(a, QuotDecl) or isinstance(b, QuotDecl):
        return True
    if (a.name, a.level_params) != (b.name, b.level_params) or not alpha_eq(a.type, b.type):
        return False
    if isinstance(a, InductiveDecl) and isinstance(b, InductiveDecl):
        ctors = zip(a.ctors, b.ctors)
        same = all(x.name == y.name and alpha_eq(x.type, y.type) for x, y in ctors)
        return same and len(a.ctors) == len(b.ctors) and a.num_params == b.num_params
    return alpha_eq(getattr(a, "value", a.type), getattr(b, "value", b.type))


def answers(judge: Judge, base: EnvState, files: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield what came of each file, as JSON objects."""
    checked = Checked()
    for name in files:
        verdict, certificate = None, Path(name)
        try:
            if certificate.suffix == ".lean":
                reason, verdict = difference(base, certificate, checked)
                yield {"file": name, "different": reason}
                certificate = certificate_of(certificate) or certificate
            if verdict is not None and verdict.outcome == "accepted":
                count = judge.judge_declarations(verdict.declarations)
            else:
                count = judge.judge(export_file_lines(certificate))
            yield {"file": name, "outcome": "accepted", "reason": "", "declarations": count}
        except (Refused, Declined) as error:
            outcome = "refused" if isinstance(error, Refused) else "declined"
            yield {"file": name, "outcome": outcome, "reason": " ".join(str(error).split())[:MAX_REASON]}
        except UserError as error:
            yield {"file": name, "outcome": "refused", "reason": str(error)}


def serve(library: Path) -> int:
    """Answer for the files that standard input names, one a line, until it ends."""
    kernel = LeanKernel(library)
    base = load_library(distrust=True)
    judge = Judge(kernel, base.env)
    freeze_gc()
    print(json.dumps({"kernel": "lean", "version": kernel.version, "tried": kernel.version in TRIED}), flush=True)
    for answer in answers(judge, base, (line.rstrip("\n") for line in sys.stdin)):
        print(json.dumps(answer, ensure_ascii=False), flush=True)
    return 0
