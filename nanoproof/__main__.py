"""The command `nanoproof`: what `python -m scripts.X` and `python -m nanoproof.X` run, by the name X.

nanoproof                                                       # which names there are
nanoproof --version                                             # what a bug report needs
eval "$(nanoproof completion bash)"                             # names and flags by the Tab key; or zsh
nanoproof prove FILE.lean --policy solver-only                  # python -m scripts.prove FILE.lean ..
nanoproof rl --model-path sft/RUN                               # python -m nanoproof.rl --model-path sft/RUN
torchrun --nproc_per_node=2 -m nanoproof -- prover_eval ..      # on several ranks

A wheel has `scripts/` below `nanoproof/shipped`, because a package of that name does not belong beside those of others:
there this is the one way to run them.
"""

import ast
import runpy
import sys
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from nanoproof.common.completion import completion
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.run_dir import INSTALLED, REPO_ROOT, code_revision

STAGES = (
    *("data.download", "data.nanolean", "data.whitelist", "data.contamination"),
    *("pretrain", "midtrain", "sft", "grpo", "rl", "ttrl", "progress", "inference", "monitor", "runs", "doctor"),
    *("lean.server", "lean.project", "lean.probe"),
    *("repos", "retrieval", "mcp", "selfplay", "cluster", "data.stp"),
)
"""Commands that are modules of this package."""


def programs() -> dict[str, tuple[str, Path]]:
    """Return every command by its name, with its module and file."""
    found = {}
    for name in STAGES:
        place = Path(__file__).parent.joinpath(*name.split("."))
        found[name] = (f"nanoproof.{name}", place / "__main__.py" if place.is_dir() else place.with_suffix(".py"))
    for file in sorted((REPO_ROOT / "scripts").glob("*.py")):
        if file.read_text(encoding="utf-8").endswith("\n    run_main(main)\n"):
            found[file.stem] = (f"scripts.{file.stem}", file)
    return found


def overview() -> str:
    """Return the names, each with the first line of its module."""
    lines = ["usage: nanoproof NAME ...", ""]
    for name, (_, file) in programs().items():
        about = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        lines.append(f"  {name:<24} {about.splitlines()[0]}")
    return "\n".join([*lines, "", "nanoproof NAME --help shows the options of one."])


def version() -> str:
    """Return what `--version` prints: of a wheel its version, of a checkout the git revision too."""
    if INSTALLED:
        return f"nanoproof {code_revision()}"
    # Metadata of an editable installation may be that of another checkout than the one which runs.
    project = tomllib.loads((REPO_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"nanoproof version {project['version']}, revision {code_revision()}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the first word names. Raises UserError where there is none."""
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in ("-h", "--help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        print(version())
        return 0
    known = programs()
    if words[0] == "completion":
        print(completion(words[1:], known))
        return 0
    name = words[0].replace("-", "_")
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else "nanoproof alone lists them"
        raise UserError(f"there is no command {words[0]}; {hint}")
    sys.path.insert(0, str(REPO_ROOT))
    sys.argv = [sys.argv[0], *words[1:]]
    runpy.run_module(known[name][0], run_name="__main__", alter_sys=True)
    return 0


def command() -> None:
    """Run the console script `nanoproof`."""
    run_main(main)


if __name__ == "__main__":
    command()
