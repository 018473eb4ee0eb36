"""Write a workspace for the public judges of Lean proofs (Comparator, lean-eval) for each proof of an evaluation.

    python -m scripts.export_comparator rl/RUN/evals/100_minif2f_valid --lean-project LEAN_PROJECT
    cd rl/RUN/evals/100_minif2f_valid/comparator/NAME && lake update && lake env comparator config.json

A workspace is a Lake project with `Challenge.lean` (the statement as it was given, with `sorry`), `Solution.lean` (the
text that the final check accepted) and `config.json`: the modules, the theorem's name and the axioms that it may rest
on. Toolchain and requirements are those of `--lean-project`. Statements and proofs come from `results.jsonl`; a
disproof is a proof of the negated statement.
"""

import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, add_flags, change, from_args, group, opt, validated
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_json, atomic_write_text, read_json, read_jsonl
from nanoproof.common.option_groups import LeanOptions
from nanoproof.evaluation.results import RESULTS, SETTINGS, proof_names
from nanoproof.evaluation.summary import by_theorem
from nanoproof.lean.declarations import declared_names
from nanoproof.lean.project.layout import EMBEDDED_LEAN, ROOT_MODULE
from nanoproof.lean.source import name_examples, negate
from nanoproof.lean.types import SourceError, Theorem
from nanoproof.prover.attempt import Attempt

CHALLENGE, SOLUTION, CONFIG = "Challenge", "Solution", "config.json"
TOOLCHAIN, MANIFEST, LAKEFILE = "lean-toolchain", "lake-manifest.json", "lakefile.toml"
AXIOMS = ("propext", "Quot.sound", "Classical.choice")
NANOLEAN_TOOLCHAIN = "leanprover/lean4:v4.33.0"
"""The Lean whose core has the names and statements that NanoLean's library follows."""


@validated("comparator")
class ComparatorOptions:
    """Export."""

    output_dir: str | None = opt(None, "Where to write; default DIR/comparator.")
    lean: LeanOptions = group(
        LeanOptions,
        "lean-",
        without=("servers", "token"),
        project=change(
            help="Lean project with the toolchain and the libraries; NanoLean's runs need none.", advanced=False
        ),
    )
    imports: tuple[str, ...] = opt((), "Modules to import; without any, what the project's LeanServers.lean imports.")
    share_packages: bool = opt(False, "Use the project's own copies of its libraries, which ties workspaces to it.")


@dataclass(frozen=True)
class Workspace:
    """The files of a workspace but for the two texts."""

    imports: tuple[str, ...]
    toolchain: str
    lakefile: str
    manifest: Path | None

    def write(self, folder: Path, challenge: str, solution: str, name: str) -> None:
        """Write a workspace into a folder."""
        header = "".join(f"import {module}\n" for module in self.imports)
        if header:
            header += "\n"
        folder.mkdir(parents=True, exist_ok=True)
        for module, text in ((CHALLENGE, challenge), (SOLUTION, solution)):
            atomic_write_text(folder / f"{module}.lean", f"{header}{text.rstrip()}\n")
        # The fields that Comparator reads.
        config = {"challenge_module": CHALLENGE, "solution_module": SOLUTION, "theorem_names": [name]}
        atomic_write_json(folder / CONFIG, {**config, "permitted_axioms": list(AXIOMS)})
        atomic_write_text(folder / LAKEFILE, self.lakefile)
        atomic_write_text(folder / TOOLCHAIN, f"{self.toolchain}\n")
        if self.manifest is not None:
            shutil.copyfile(self.manifest, folder / MANIFEST)


def main(argv: list[str] | None = None) -> int:
    """Write the workspaces: exit code 0 if every proof has one, 1 if not."""
    parser = Parser(prog="python -m scripts.export_comparator", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dir", help=f"Directory of an evaluation, with {RESULTS}.")
    add_flags(parser, ComparatorOptions)
    args = parser.parse_args(argv)
    options = from_args(ComparatorOptions, args)
    folder = Path(args.dir)
    attempts = read_attempts(folder / RESULTS)
    workspace = make_workspace(options, folder)
    out = Path(options.output_dir or folder / "comparator")
    # Of all that was tried, so that a workspace is called as the file of the proof is.
    names = list(proof_names([attempt.theorem for attempt in attempts]).values())
    proofs = 0
    left_out = 0
    for attempt, file in zip(attempts, names, strict=True):
        if attempt.outcome not in ("proven", "disproven"):
            continue
        proofs += 1
        try:
            workspace.write(out / file.removesuffix(".lean"), *challenge_and_solution(attempt))
        except SourceError as error:
            left_out += 1
            print(f"left out: {attempt.theorem.id}: {error}")
        except OSError as error:
            raise UserError(f"cannot write to {out}: {error.strerror}") from error
    if proofs == 0:
        raise UserError(f"{folder / RESULTS} holds no proofs")
    print(f"{proofs - left_out} of {proofs} proofs have a workspace in {out}")
    print(f"in each of them: lake update && lake env comparator {CONFIG}")
    return int(left_out > 0)


def read_attempts(file: Path) -> list[Attempt]:
    """Read the attempts of an evaluation; raises UserError if they cannot be read."""
    try:
        attempts = list(by_theorem(map(Attempt.from_json, read_jsonl(file))).values())
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise UserError(f"{file} cannot be read: {error}") from error
    if not attempts:
        raise UserError(f"{file} holds no attempts")
    return attempts


def challenge_and_solution(attempt: Attempt) -> tuple[str, str, str]:
    """Return challenge, solution, and the full name of the theorem in both; an `example` gets a name.

    Raises SourceError if the solution declares other things than the challenge.
    """
    theorem: Theorem = attempt.theorem
    if attempt.outcome == "disproven":
        theorem = negate(theorem)
    # A judge compares constants by name, and an `example` leaves none.
    challenge = name_examples(theorem.source, "nanoproof")
    solution = name_examples(attempt.source, "nanoproof")
    asked, answered = declared_names(challenge), declared_names(solution)
    if not asked or asked != answered:
        raise SourceError(f"the statement declares {', '.join(asked)}, its proof {', '.join(answered) or 'nothing'}")
    return challenge, solution, asked[-1]  # the theorem stands behind its definitions


def make_workspace(options: ComparatorOptions, folder: Path) -> Workspace:
    """Return what all workspaces share; raises UserError if the project has no toolchain or no requirements to read."""
    if options.lean.project is None:
        lean = recorded_lean_version(folder / SETTINGS)
        if lean != EMBEDDED_LEAN:
            raise UserError(f"--lean-project DIR is needed: {folder} was proved under Lean {lean or 'of some version'}")
        return Workspace(options.imports, NANOLEAN_TOOLCHAIN, lakefile([], None), None)
    project = Path(options.lean.project)
    try:
        toolchain = (project / TOOLCHAIN).read_text(encoding="utf-8").strip()
        contents = tomllib.loads((project / LAKEFILE).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"--lean-project {project}: cannot read {error.filename}: {error.strerror}") from error
    except ValueError as error:
        raise UserError(f"--lean-project {project}: {LAKEFILE} or {TOOLCHAIN} is damaged: {error}") from error
    manifest = project / MANIFEST
    packages = None
    if options.share_packages:
        packages = (project / ".lake" / "packages").resolve()
    imports = options.imports or root_imports(project / f"{ROOT_MODULE}.lean")
    requirements: list[dict[str, Any]] = []
    for requirement in contents.get("require", []):
        # A path is relative to the project, and the workspace lies elsewhere.
        if "path" in requirement:
            requirement = {**requirement, "path": str((project / requirement["path"]).resolve())}
        requirements.append(requirement)
    text = lakefile(requirements, packages)
    if not manifest.is_file():
        return Workspace(imports, toolchain, text, None)
    # It has the versions that the proofs were found with.
    return Workspace(imports, toolchain, text, manifest)


def recorded_lean_version(settings: Path) -> str | None:
    """Return the Lean version that an evaluation recorded; None if unknown."""
    try:
        version = read_json(settings)["settings"]["lean"]
    except (OSError, UserError, ValueError, KeyError, TypeError):
        return None
    if version is None:
        return None
    return str(version)


def root_imports(module: Path) -> tuple[str, ...]:
    """Return the imports of the root module of a project for the servers; empty without such a file."""
    if not module.is_file():
        return ()
    modules = []
    for line in module.read_text(encoding="utf-8").splitlines():
        if line.startswith("import ") and len(line.split()) == 2:
            modules.append(line.split()[1])
    return tuple(modules)


def lakefile(requirements: list[dict[str, Any]], packages: Path | None) -> str:
    """Render `lakefile.toml` with the requirements of a project and the two modules."""
    head = f'name = "workspace"\ndefaultTargets = ["{CHALLENGE}", "{SOLUTION}"]\n'
    if packages:
        # Mathlib as it was built there: gigabytes, and hours, for each of a hundred workspaces else.
        head += f"packagesDir = {toml_value(str(packages))}\n"
    tables = [head]
    for requirement in requirements:
        lines = [f"{key} = {toml_value(value)}\n" for key, value in requirement.items()]
        tables.append("[[require]]\n" + "".join(lines))
    for module in (CHALLENGE, SOLUTION):
        tables.append(f'[[lean_lib]]\nname = "{module}"\n')
    return "\n".join(tables)


def toml_value(value: Any) -> str:
    """Render a text, truth value, number, list or table as TOML on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml_value(str(key))} = {toml_value(part)}" for key, part in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)  # texts with their escapes, and numbers, are the same in both


if __name__ == "__main__":
    run_main(main)
