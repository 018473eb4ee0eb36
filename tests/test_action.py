"""The GitHub Action: its steps run in a shell, as a runner runs them, on NanoLean or on a stand-in of Lake."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "integrations" / "action"
ACTION = yaml.safe_load((FOLDER / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
SWAP = "theorem swap (p q : Prop) (h : p ∧ q) : q ∧ p := by\n  sorry\n"
FALSE = "theorem wrong (n : Nat) : n = n + 1 := by\n  sorry\n"
LAKE = """#!/bin/sh
echo "$PWD: lake $*" >> "$LAKE_LOG"
case "$1 $2" in
"exe cache") exit 1 ;;
"build repl")
    mkdir -p .lake/build/bin
    printf '#!/bin/sh\\nexec "%s" -m nanolean repl --json\\n' "$PYTHON" > .lake/build/bin/repl
    chmod +x .lake/build/bin/repl ;;
env*) shift; exec "$@" ;;
esac
"""


def git(project: Path, *words: str) -> str:
    """Run git as a person with a name."""
    person = ["-c", "user.name=A", "-c", "user.email=a@b.example"]
    done = subprocess.run(["git", *person, *words], cwd=project, check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Runner:
    """What a runner gives to the steps of a composite action: variables, inputs, outputs, a shell for each."""

    def __init__(self, folder: Path) -> None:
        self.workspace = folder / "workspace"
        self.temp = folder / "temp"
        self.programs = folder / "programs"
        self.home = folder / "user"
        self.summary = folder / "summary.md"
        for place in (self.workspace, self.temp, self.programs, self.home):
            place.mkdir()
        self.program("pip", 'echo "pip $*" >> "$RUNNER_TEMP/installed.txt"\n')
        self.program("uv", 'echo "uv $*" >> "$RUNNER_TEMP/installed.txt"\n')
        self.program("python", f'exec {sys.executable} "$@"\n')  # a link would leave the virtual environment
        git(self.workspace, "init", "-q")

    def program(self, name: str, script: str) -> None:
        """Put a shell script into the first folder of PATH."""
        file = self.programs / name
        file.write_text("#!/bin/sh\n" + script)
        file.chmod(0o755)

    def commit(self, **files: str) -> str:
        """Commit files, named without `.lean`, and return the commit."""
        for name, text in files.items():
            (self.workspace / f"{name}.lean").write_text(text, encoding="utf-8")
        git(self.workspace, "add", "--all")
        git(self.workspace, "commit", "-q", "-m", "change")
        return git(self.workspace, "rev-parse", "HEAD")

    def run(self, **given: str) -> subprocess.CompletedProcess[str]:
        """Run the steps with these inputs, and return the first that failed, else the one that proves."""
        inputs = {name: str(entry["default"]) for name, entry in ACTION["inputs"].items()}
        inputs |= {"base": "", "simulations": "2", **given}
        values = {f"inputs.{name}": value for name, value in inputs.items()}
        values |= {"github.action_path": str(FOLDER), "runner.temp": str(self.temp)}
        outputs = self.temp.parent / "outputs.txt"
        outputs.write_text("")
        proving = None
        for step in STEPS:
            condition = step.get("if")
            if "run" not in step or (condition == "inputs.lean == 'project'" and inputs["lean"] != "project"):
                continue
            assert step["shell"] == "bash"
            environment = {name: self.fill(text, values) for name, text in step.get("env", {}).items()}
            done = self.shell(step["run"], environment)
            if step.get("id") == "prove":
                proving = done
                for line in outputs.read_text().splitlines():
                    name, value = line.split("=", 1)
                    values[f"steps.prove.outputs.{name}"] = value
            if done.returncode:
                return done
        assert proving is not None
        return proving

    def fill(self, text: str, values: dict[str, str]) -> str:
        return re.sub(r"\$\{\{ ([\w.]+) \}\}", lambda expression: values[expression[1]], text)

    def shell(self, script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a script with the flags that GitHub documents for `shell: bash`."""
        variables = {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PYTHON": sys.executable,
            "HOME": str(self.home),
            "LAKE_LOG": str(self.temp / "lake.txt"),
            "NANOPROOF_HOME": os.environ["NANOPROOF_HOME"],
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_ACTION_PATH": str(FOLDER),
            "GITHUB_OUTPUT": str(self.temp.parent / "outputs.txt"),
            "GITHUB_STEP_SUMMARY": str(self.summary),
        }
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
        return subprocess.run(
            command,
            cwd=self.workspace,
            env=variables | environment,
            capture_output=True,
            text=True,
            timeout=200,
        )

    @property
    def patch(self) -> str:
        return (self.temp / "nanoproof" / "proofs.patch").read_text(encoding="utf-8")


@pytest.fixture
def runner(tmp_path: Path, empty_home: Path) -> Runner:
    return Runner(tmp_path)


@pytest.mark.nightly
def test_only_the_files_of_the_change_are_tried_and_what_is_left_is_no_failure(runner: Runner) -> None:
    base = runner.commit(Old=SWAP, Gone=SWAP)
    (runner.workspace / "Gone.lean").unlink()
    runner.commit(**{"New file": SWAP, "-Wrong": FALSE})
    done = runner.run(lean="nanolean", base=base)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"^\+\+\+ b/(.*?)\t?$", runner.patch, re.MULTILINE) == ["New file.lean"]
    assert git(runner.workspace, "status", "--porcelain") == ""
    git(runner.workspace, "apply", str(runner.temp / "nanoproof" / "proofs.patch"))
    assert "sorry" not in (runner.workspace / "New file.lean").read_text()
    assert "1 of 1 proved" in runner.summary.read_text() and "0 of 1 proved" in runner.summary.read_text()
    assert "--torch-backend cpu" in (runner.temp / "installed.txt").read_text()


def test_a_forged_log_from_the_cache_proves_nothing(runner: Runner) -> None:
    runner.commit(Wrong=FALSE)
    assert runner.run(lean="nanolean").returncode == 0
    log = next((runner.temp / "nanoproof" / "report").rglob("attempts.jsonl"))
    record = json.loads(log.read_text().splitlines()[0])
    log.write_text(json.dumps(record | {"outcome": "proved", "proof": "exact Nat.le_refl n"}) + "\n")
    done = runner.run(lean="nanolean")
    assert done.returncode == 0 and "counts as nothing" in done.stdout, done.stdout
    assert runner.patch == ""


@pytest.mark.nightly
def test_with_its_own_lean_the_project_is_built_before_and_with_the_proofs(runner: Runner) -> None:
    """The REPL that "Lake builds" is NanoLean's, which speaks the same protocol."""
    (runner.workspace / "lean-toolchain").write_text("leanprover/lean4:v4.27.0\n")
    runner.commit(New=SWAP)
    elan = runner.home / ".elan" / "bin"
    elan.mkdir(parents=True)
    (elan / "lake").write_text(LAKE)
    (elan / "lake").chmod(0o755)
    real_git = shutil.which("git")
    runner.program("git", f'[ "$1" != clone ] || {{ mkdir -p "$8"; exit; }}\nexec {real_git} "$@"\n')
    done = runner.run(imports="Init")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "+++ b/New.lean" in runner.patch
    commands = [line.split(": lake ")[1] for line in (runner.temp / "lake.txt").read_text().splitlines()]
    assert commands[:3] == ["exe cache get", "build", "build repl"] and commands[-1] == "build"
    assert any(command.startswith("env ") for command in commands)
    assert (runner.workspace / "New.lean").read_text() == SWAP


@pytest.mark.parametrize(
    ("inputs", "complaint"),
    [
        ({"minutes": "a[$(touch hacked)]"}, "minutes: a whole number"),
        ({"lean": "lean3"}, "lean: project or nanolean"),
        ({"project": "nowhere"}, "project: there is no folder 'nowhere'"),
        ({"base": "0" * 40}, "fetch-depth: 0"),
        ({"base": "--output=hacked"}, "is not in the checkout"),
        ({"simulations": "many"}, "exit code 2"),
    ],
)
def test_wrong_inputs_are_an_error_of_one_line(runner: Runner, inputs: dict[str, str], complaint: str) -> None:
    runner.commit(New=SWAP)
    done = runner.run(**{"lean": "nanolean", **inputs})
    errors = [line for line in done.stdout.splitlines() if line.startswith("::error::")]
    assert done.returncode == 2 and len(errors) == 1 and complaint in errors[0], done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert not (runner.workspace / "hacked").exists()


def test_no_expression_is_a_part_of_a_script() -> None:
    """Inside of `run` GitHub puts the value in as text, and a shell would run what it says."""
    assert [step["name"] for step in STEPS if "${{" in step.get("run", "")] == []


def test_the_example_gives_the_action_inputs_that_it_has_and_no_rights() -> None:
    workflow = yaml.safe_load((ROOT / "docs" / "examples" / "prove-sorries.yml").read_text(encoding="utf-8"))
    use = workflow["jobs"]["prove"]["steps"][-1]
    assert use["uses"].startswith("OWNER/nanoproof/integrations/action@")
    assert set(use["with"]) <= set(ACTION["inputs"])
    assert workflow["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in workflow[True]  # YAML reads the key `on` as true
