"""What users type: commands of the README, of earlier versions, and of habits, so that no change takes one away."""

import importlib.util
import json
import os
import re
import shlex
import subprocess
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from nanolean.tests.each import each
from nanoproof.__main__ import programs
from nanoproof.common import packages
from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError
from nanoproof.lean.server.__main__ import settings_of
from tests.helpers import main_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
SERVER = "--project-path P --repl-exe P/.lake/build/bin/repl --imports Mathlib"
MINIF2F = "FormalConjecturesForMathlib.Analysis.SpecialFunctions.NthRoot FormalConjectures.Util.Answer"

WORK = [
    # set-up, data, tokenizer
    "python -m nanoproof.data.download",
    "python -m nanoproof.data.download all",
    "python -m nanoproof.data.download minif2f proofnet leantree",
    "python -m nanoproof.data.download sft rl",
    "python -m nanoproof.data.download nemotron --shards 4",
    "python -m nanoproof.data.midtrain.leangithubraw build",
    "python -m nanoproof.data.nanolean make",
    *(f"python -m nanoproof.data.rl.{name} stats" for name in ("leanworkbook", "numinamath", "deepseek_prover")),
    "python -m nanoproof.data.rl.numinamath show --split valid --n 5",
    "python -m nanoproof.data.rl.numinamath check-init --lean-server 10.0.0.1:8000 --lean-project P --jobs 0 --limit 9",
    "python -m nanoproof.data.rl.leanworkbook check-init --lean-servers 10.0.0.1:8000 --lean-project P",
    "python -m nanoproof.data.bench.minif2f check-init --lean-server 10.0.0.1:8000",
    "python -m nanoproof.data.whitelist check-init deepseek_prover --lean-servers 10.0.0.1:8000 10.0.0.2",
    "python -m scripts.tok_build",
    "python -m scripts.tok_train --vocab-size 1024",
    # training
    "python -m nanoproof.pretrain",
    "python -m nanoproof.pretrain --depth 20",
    "torchrun --standalone --nproc_per_node=2 -m nanoproof.pretrain",
    "python -m nanoproof.midtrain",
    "python -m nanoproof.midtrain --model-path pretrain/RUN",
    "python -m nanoproof.sft",
    "python -m nanoproof.sft --data nanolean --depth 4 --aspect-ratio 32 --head-dim 32",
    # Lean
    f"leanserver {SERVER} --max-processes 32 --address=0.0.0.0 --port=8000",
    f"leanserver {SERVER} {MINIF2F} --max-processes 32 --address=0.0.0.0 --port=8000 --warmup --log-level INFO",
    "python -m nanoproof.lean.server --project-path DIR --repl-exe repl --imports Mathlib --max-processes 8 --warmup",
    "python -m nanoproof.lean.server --backend nanolean --address 10.0.0.11 --no-token",
    "python -m nanoproof.lean.project create DIR --lean v4.27.0 --libraries mathlib formal_conjectures",
    "python -m nanoproof.lean.project setup DIR",
    "python -m nanolean repl",
    "python -m nanoproof.lean.nanolean repl",
    "python -m nanolean check FILE.lean --axioms",
    # reinforcement learning
    "python -m nanoproof.rl --model-path sft/RUN",
    "python -m nanoproof.rl --resume-from rl/RUN",
    "python -m nanoproof.rl --model-path M --lean-servers 10.10.25.35:8000 10.10.25.36 --lean-project P",
    "torchrun --standalone --nproc_per_node=2 -m nanoproof.rl -- --model-path M --lean-servers 10.10.25.35:8000",
    "python -m nanoproof.rl --model-path M --lean-server 10.10.25.35:8000",
    "python -m nanoproof.rl --model-path M --collect_transitions=200 --augment_data=False --datasets numinamath",
    "python -m nanoproof.rl --model-path M --eval-start 0 --eval-every 100steps --save-every 2:30:00 --load-buffer R",
    "python -m nanoproof.rl --model-path M --num-sampled-tactics 6 --first-token-occurrences-cap none --log-level INFO",
    "python -m nanoproof.rl --model-path M --disable-solvers --no-proof-simplification --fraction-sft 0.2 --run dummy",
    "python -m nanoproof.ttrl FILE.lean --model-path rl/RUN --minutes 30 --save",
    "python -m nanoproof.ttrl 'theorem t (a b : Nat) : a + b = b + a' --model-path rl/RUN --lean-servers H:8000",
    "python -m nanoproof.monitor --run-dir rl/RUN",
    "python -m nanoproof.monitor export rl/RUN --out run.html --trees 40 --tree 0/64/2567 0/1/2",
    "python -m nanoproof.runs list",
    "python -m nanoproof.runs diff rl/RUN rl/OTHER",
    "python -m nanoproof.runs note rl/RUN --title NAME --note TEXT",
    "python -m nanoproof.runs rm rl/RUN --yes",
    "python -m nanoproof.inference --model-path sft/RUN --port 5000",
    # proving, evaluation, looking
    "python -m scripts.prover_eval --model-path M --datasets minif2f,proofnet --lean-servers H:8000 --split test",
    "python -m scripts.prover_eval --run-dir rl/RUN --disable-solvers --max-theorems 10 --seed 1 --continue",
    "python -m scripts.prover_eval --model-path M --whole-proofs --samples 32 --repair 1 --proof-temperature 0.7",
    "python -m scripts.prove FILE.lean --model-path M --whole-proof --samples 128",
    "python -m scripts.passk RESULTS --budgets 1,32,128,640,3200 --json passk.json",
    "python -m scripts.run_evaluation --dataset_path F --max_problems 9 --model_name M --max_tokens 512 --output_dir O",
    "python -m scripts.run_generation_and_test M out --raw_dataset_config C --save_file_name tests --seed 1",
    "python -m scripts.minif2f --model-path M --whole-proofs hf:W --simulations 512 --claim 52.7",
    "python -m nanoproof.sft --model-path sft/RUN --data nanolean --continuations proof",
    "python -m nanoproof.grpo --model-path sft/RUN --data nanolean --reward lean --lora 16 --lean-servers H:8000",
    "python -m nanoproof.grpo --model-path hf:FOLDER --data nanolean --reward rewards.py:shortest --batch-size 8",
    "python -m nanoproof.progress train --dataset D --output-dir O --model-name M --max-length 512 --seed 42",
    "python -m scripts.prove FILE.lean --model-path M --progress-model O --progress-weight 0.3",
    "python -m scripts.test_eval --model-path rl/RUN --num-runs 5",
    "python scripts/prove.py --model-path M --theorem 'theorem t : True' --lean-server 10.0.0.1:8000 --num-samples 6",
    "python -m scripts.prove 'theorem t (p q : Prop) (h : p ∧ q) : q ∧ p' --policy uniform",
    "python -m scripts.prove mine.lean --model-path rl/RUN --out proved.lean",
    "python -m scripts.interact --model-path rl/RUN",
    "python -m scripts.policy_eval --model-path sft/RUN --show 3",
    "python -m scripts.compare_evals A B",
    "python -m scripts.check_with_lean DIR --lean nanolean",
    "python -m scripts.inspect_proofs rl/RUN",
    "python -m scripts.inspect_buffer rl/RUN",
    "python -m scripts.inspect_problems nanolean",
    "python -m scripts.inspect_parquet nemotron",
    "python -m scripts.tok_show 'theorem t'",
    "python -m scripts.tok_eval",
    # repositories
    "python -m nanoproof.repos add https://host/owner/name@1f3e5c7 --name mine --lean-servers H:8000 --no-trace",
    "python -m nanoproof.repos list --by difficulty --json",
    "python -m nanoproof.repos export A B --format leandojo --splits leandojo --redraw --out DIR",
    "python -m nanoproof.repos import dynamic_database.json --store F.sqlite",
    "python -m nanoproof.retrieval train --data raid/data/merged repo:A --encoder hf:M --out R --loss mse",
    "python -m nanoproof.retrieval evaluate --retriever R --data store:A --strategy novel_premises --bm25",
    "python -m scripts.prover_eval --model-path M --retrieve 8 --retriever R",
    "python -m nanoproof.doctor --for rl",
    # provers outside of the learner
    "python -m nanoproof.rl --model-path M --cluster auto --policy-replicas 2 --prover-cpus 16 --max-staleness 4",
    "python -m scripts.prover_eval --model-path M --cluster H:6379 --prover-cpus 16",
    "python -m nanoproof.cluster status --run-dir rl/RUN",
    "python -m nanoproof.prover_server --rl-server H:5050 --lean-server L:8000 --port 5001 --num-actors 32",
    "python tests/test_cli.py",
]
"""Commands that are understood; what they do is tested where it is done."""

ARE_ANSWERED = [
    ("python -m nanoproof.rl", "give either --model-path sft/RUN .* or --resume-from rl/RUN"),
    ("python -m nanoproof.rl lean_server=10.10.25.35:8000", "write --lean-servers 10.10.25.35:8000"),
    ("python -m nanoproof.rl infra_file=infra.toml", "name the Lean servers with --lean-servers"),
    ("python -m nanoproof.rl num_steps=10", "write --num-steps 10"),
    ("python -m nanoproof.rl --distributed=True", "write --cluster auto, .*torchrun starts ranks .*--lean-servers"),
    ("python -m scripts.prover_eval --distributed=True", "write --cluster auto"),
    ("python -m nanoproof.ttrl --distributed=True F.lean", "torchrun starts ranks .*--lean-servers"),
    ("python -m nanoproof.repos list --name x", r"arguments: --name x; --name is a flag of .*add .*repos list --help"),
    ("python -m nanoproof.repos add P --nane x", r"did you mean --name\?"),
    ("python -m nanoproof.rl --num_actors=16", "--lean-processes, or the servers their --max-processes"),
    ("python -m nanoproof.rl --inference-server-port 5000", "python -m nanoproof.inference"),
    ("python -m nanoproof.dataset -n 8", "python -m nanoproof.data.download nemotron, and its -n N is --shards N"),
    (
        "python -m nanoproof.prover_server --rl-server localhost:9 --lean-server B:8000 --port 5001 --num-actors 32",
        "nanoproof.rl",
    ),
    ("python -m nanoproof.prover_server --infra-file infra.toml --num-actors 32", "nanoproof.rl --lean-servers"),
    ("python -m scripts.prover_eval --model-path M --output-suffix _x", "--output-dir"),
    ("python -m scripts.prover_eval --model-path M --verbose", "--log-level debug"),
    ("python -m nanoproof.data.bench.minif2f check-init --split test", "all splits are checked"),
]
"""Commands that end with exit code 2 and one line, which names what to type instead."""


class Parsed(Exception):
    """A command line was understood; holds what it says."""


def module_and_words(command: str) -> tuple[str, list[str]]:
    """The module that a command runs, and the words behind it."""
    words = shlex.split(command)
    if words[0] == "leanserver":
        return "nanoproof.lean.server", words[1:]
    if "-m" not in words:
        return words[1].removesuffix(".py").replace("/", "."), words[2:]
    start = words.index("-m") + 1
    rest = words[start + 1 :]
    return words[start], rest[1:] if rest[:1] == ["--"] else rest


def run(command: str) -> Any:
    module, words = module_and_words(command)
    return main_of(module)(words)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Parse a command by the parser that it has itself, and go no further."""
    ours, standard = Parser.parse_args, ArgumentParser.parse_args

    def parse(command: str) -> Namespace:
        for parser, parse_args in ((ArgumentParser, standard), (Parser, ours)):  # NanoLean's commands have the former

            def parse_and_stop(self: Any, args: Any = None, namespace: Any = None, parse_args: Any = parse_args) -> Any:
                monkeypatch.setattr(ArgumentParser, "parse_args", standard)
                raise Parsed(parse_args(self, args, namespace))

            monkeypatch.setattr(parser, "parse_args", parse_and_stop)
        monkeypatch.setattr("sys.stdin", open(os.devnull))
        with pytest.raises(Parsed) as stopped:
            run(command)
        found: Namespace = stopped.value.args[0]
        return found

    return parse


@each("command", WORK)
def test_commands_that_users_know_are_understood(command: str, parsed: Any) -> None:
    if "test_cli" in command:  # it is run, below
        assert (ROOT / "tests" / "test_cli.py").is_file()
        return
    parsed(command)


@pytest.mark.parametrize(("command", "line"), ARE_ANSWERED)
def test_commands_that_are_gone_name_their_successor_in_one_line(
    command: str, line: str, capfd: pytest.CaptureFixture[str]
) -> None:
    try:
        with pytest.raises(SystemExit) as stopped:
            run(command)
        assert stopped.value.code == 2
        said = capfd.readouterr().err
    except UserError as error:  # which `run_main` prints, and exits with 2
        said = f"{error}\n"
    assert re.search(line, said) and said.count("\n") == 1, said


@pytest.mark.parametrize(
    ("command", "values"),
    [
        ("python -m nanoproof.rl --eval-start 0", {"eval_start": "now"}),
        ("python -m nanoproof.rl --eval-start 100", {"eval_start": "100steps"}),
        ("python -m nanoproof.rl --no_eval_start --augment-data=False", {"eval_start": "never", "augment_data": False}),
        ("python -m nanoproof.rl --collect_transitions=200", {"collect_transitions": 200}),
        ("python -m nanoproof.rl --lean-server a:1", {"lean_servers": ["a:1"]}),
        ("python -m nanoproof.data.rl.numinamath check-init --jobs 3", {"workers": 3}),
        ("python -m nanoproof.data.rl.numinamath show --n 3", {"max": 3}),
    ],
)
def test_other_ways_to_write_an_option_say_the_same(command: str, values: dict[str, Any], parsed: Any) -> None:
    found = vars(parsed(command))
    assert {name: found[name] for name in values} == values


def test_the_theorem_to_prove_may_be_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    from scripts import prove

    assert prove.parse_args(["--theorem", "theorem t : True"]).theorem == "theorem t : True"
    with pytest.raises(SystemExit):
        prove.parse_args(["--theorem", "a", "b"])
    assert "give one theorem" in capsys.readouterr().err


# -- programs that are really started ----------------------------------------------------------------------------

RUN_AS_PATHS = """
import contextlib, io, json, runpy, sys
from pathlib import Path

failed = {}
for path in sys.argv[1:]:
    for name in [name for name in sys.modules if name.partition(".")[0] in ("scripts", "benchmarks", "tests")]:
        del sys.modules[name]
    sys.path[0], sys.argv = str(Path(path).parent), [path, "--help"]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            runpy.run_path(path, run_name="__main__")
    except SystemExit as stopped:
        if stopped.code or "usage:" not in said.getvalue():
            failed[path] = said.getvalue()
    except BaseException as error:
        failed[path] = repr(error)
print(json.dumps(failed))
"""


@pytest.mark.nightly
def test_scripts_run_by_their_paths_from_any_directory(tmp_path: Path) -> None:
    """All in one process, each with the `sys.path` that `python PATH` gives it."""
    files = [*sorted((ROOT / "scripts").glob("*.py")), ROOT / "tests" / "test_cli.py"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", RUN_AS_PATHS, *map(str, files)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == {}


def test_the_server_is_installed_by_the_name_that_users_know() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="leanserver")
    assert script.load().__module__ == "nanoproof.lean.server.__main__"
    assert (Path(sys.executable).parent / "leanserver").is_file()


def test_commands_of_the_page_work_where_the_page_was() -> None:
    here, page = (json.loads((ROOT / place / "package.json").read_text()) for place in ("nanoproof/web", "web"))
    for name in ("build", "dev"):
        assert here["scripts"][name] == f"cd ../../web && npm run {name}" and name in page["scripts"]
    assert here["scripts"]["install"] == "cd ../../web && npm install"


# -- which Lean a server runs ------------------------------------------------------------------------------------

BUILT = "repl/.lake/build/bin/repl"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("LEAN_PROJECT_PATH", "LEAN_REPL_EXE"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / BUILT).parent.mkdir(parents=True)
    (tmp_path / BUILT).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "variables", "expected"),
    [
        ([], {"LEAN_PROJECT_PATH": ".", "LEAN_REPL_EXE": "/own"}, ("repl", ".", "/own")),
        ([], {"LEAN_PROJECT_PATH": "."}, ("repl", ".", BUILT)),
        (["--project-path", "."], {"LEAN_PROJECT_PATH": "other"}, ("repl", ".", BUILT)),
        (["--repl-exe", "/given"], {"LEAN_PROJECT_PATH": ".", "LEAN_REPL_EXE": "/own"}, ("repl", ".", "/given")),
        (["--backend", "nanolean"], {"LEAN_PROJECT_PATH": ".", "LEAN_REPL_EXE": "/own"}, ("nanolean", "", "")),
    ],
)
def test_a_server_takes_the_lean_that_the_environment_names(
    words: Sequence[str],
    variables: dict[str, str],
    expected: tuple[str, str, str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = settings_of(words)
    assert (settings.backend, settings.project_path, settings.repl_exe) == expected
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "variables", "missing"),
    [
        ([], {"LEAN_PROJECT_PATH": "nowhere"}, r"--repl-exe \(or LEAN_REPL_EXE\) is needed"),
        ([], {"LEAN_REPL_EXE": "/own"}, r"--project-path \(or LEAN_PROJECT_PATH\) is needed"),
        (["--imports", "Mathlib"], {}, r"--project-path \(or LEAN_PROJECT_PATH\) is needed"),
    ],
)
def test_a_server_says_what_is_missing_of_a_lean_that_is_named_in_part(
    words: Sequence[str], variables: dict[str, str], missing: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=missing):
        settings_of(words)


def test_a_server_without_a_word_of_lean_says_that_it_serves_nanolean(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settings_of([]).backend == "nanolean"
    assert "NanoLean is served" in capsys.readouterr().err


# -- without torch -----------------------------------------------------------------------------------------------

WITHOUT_TORCH = """
import contextlib, importlib.util, io, json, runpy, shlex, sys

sys.modules["torch"] = None  # as if it were not installed

def end_by_hook(error, spec):
    # What Python does with an exception that leaves the program which `python -m` runs.
    sys.modules["__main__"].__spec__ = spec
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except SystemExit as stopped:
        return stopped.code
    return 1

ended = {}
said, complaint = io.StringIO(), io.StringIO()  # for all of them: loggers keep the file that they found first
for command in sys.argv[1:]:
    module, *words = shlex.split(command)
    for name in (module, f"{module}.__main__"):
        sys.modules.pop(name, None)  # which another program has imported
    sys.argv = [module, *(words or ["--help"])]
    for file in (said, complaint):
        file.seek(0)
        file.truncate()
    code = 0
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint):
            runpy.run_module(module, run_name="__main__")
    except SystemExit as stopped:
        code = stopped.code or 0
    except ModuleNotFoundError as error:
        main = importlib.util.spec_from_loader(f"{module}.__main__", None)
        with contextlib.redirect_stderr(complaint):
            code = end_by_hook(error, main)
    except BaseException as error:
        code = repr(error)
    ended[command] = [code, said.getvalue(), complaint.getvalue()]
print(json.dumps(ended))
"""


@pytest.mark.nightly
@pytest.mark.usefixtures("empty_home")
def test_without_torch_commands_parse_what_needs_no_network_works_and_the_rest_says_in_one_line_what_is_missing(
    tmp_path: Path,
) -> None:
    """Torch takes two seconds to import: no command does so for its help, or to refuse a flag."""
    modules = [module for module, _ in programs().values()]
    helped, refused = set(modules), {f"{module} --no-such-flag" for module in modules}
    project = tmp_path / "project"
    project.mkdir()
    (project / "A.lean").write_text("theorem t (n : Nat) : n + 0 = n := by sorry\n")
    proving = {
        "scripts.prove 'theorem t (n : Nat) : n + 0 = n' --policy solver-only": "proven in 1 tactic",
        f"nanoproof.repos prove {shlex.quote(str(project))} --policy solver-only": "1 of 1 proved",
    }
    needing = {
        "scripts.prove 'theorem t : True' --model-path sft/none",
        "nanoproof.inference --model-path sft/none --port 0",
        *(f"nanoproof.{name} --data nanolean" for name in ("pretrain", "midtrain", "sft", "grpo")),
        "nanoproof.rl --sft-data nanolean",
    }
    program = [sys.executable, "-c", WITHOUT_TORCH, *helped, *refused, *proving, *needing]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    ended = json.loads(done.stdout.splitlines()[-1])
    for command in helped:
        code, said, complaint = ended[command]
        assert (code, complaint) == (0, "") and said.startswith("usage:"), (command, said, complaint)
    for command in refused | needing:
        code, _, complaint = ended[command]
        assert code == 2 and complaint.count("\n") == 1, (command, complaint)
        assert ("needs torch" in complaint) == (command in needing), (command, complaint)
    for command, said in proving.items():
        assert ended[command][0] == 0 and said in ended[command][1], ended[command]


def test_ctrl_c_while_a_command_imports_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", importlib.util.find_spec("nanoproof.rl.__main__"))
    with pytest.raises(SystemExit, match="130"):
        packages.end_command_that_imports(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert capsys.readouterr().err == "interrupted\n"


@pytest.mark.parametrize("module", ["nanoproof.repos", "nanoproof.rl", "scripts.prove", "scripts.tok_eval"])
def test_where_the_environment_is_not_activated_a_command_says_so_in_one_line(module: str) -> None:
    without_packages = [sys.executable, "-S", "-m", module, "--help"]
    done = subprocess.run(without_packages, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert re.fullmatch(r"error: this command needs \w+, which is not installed.*\n", done.stderr), done.stderr


def test_a_module_of_ours_that_is_missing_keeps_its_traceback(tmp_path: Path) -> None:
    program = tmp_path / "scripts" / "broken.py"
    program.parent.mkdir()
    (program.parent / "__init__.py").write_text("import nanoproof\n")
    program.write_text("import nanoproof.no_such_module\n")
    done = subprocess.run(
        [sys.executable, "-m", "scripts.broken"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "Traceback" in done.stderr and "no_such_module" in done.stderr


@pytest.mark.parametrize(
    ("flags", "line"),
    [("--model-name nope", "--model-name nope: nothing there"), ("--model-name hf:x", "--prompt-format")],
)
def test_errors_of_the_evaluation_behind_a_command_name_its_own_flags(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: str, line: str
) -> None:
    file = tmp_path / "f.json"
    file.write_text('[{"formal_statement": "theorem a : 1 = 1 := by sorry", "split": "s"}]')
    with pytest.raises(SystemExit):
        run("python -m scripts.run_evaluation --help-all")
    own = set(re.findall(r"--[a-z][\w-]*", capsys.readouterr().out))
    with pytest.raises(UserError, match=re.escape(line)) as refused:
        run(f"python -m scripts.run_evaluation --dataset_path {file} --output_dir {tmp_path / 'o'} {flags}")
    assert set(re.findall(r"--[a-z][\w-]*", str(refused.value))) <= own


def test_sentences_about_earlier_flags_name_flags_that_the_command_has(monkeypatch: pytest.MonkeyPatch) -> None:
    parsers: list[Parser] = []
    parse_known = Parser.parse_known_args

    def noted(self: Any, *args: Any) -> Any:
        parsers.append(self)
        return parse_known(self, *args)

    monkeypatch.setattr(Parser, "parse_known_args", noted)
    for module in ("nanoproof.rl", "nanoproof.ttrl", "scripts.prover_eval", "scripts.test_eval", "scripts.prove"):
        with pytest.raises(SystemExit):
            run(f"python -m {module} --help")
    for parser in parsers:
        known = {*parser._option_string_actions, "--max-processes"}  # that of the Lean servers, which the line names
        for sentence in parser._earlier.values():
            assert set(re.findall(r"--[a-z][\w-]*", sentence)) <= known, (parser.prog, sentence)


EARLIER_NAMES = {"nanoproof.compat", "nanoproof.dataset", "nanoproof.prover_server", "nanoproof.lean.nanolean"}
NO_COMMANDS = {"nanoproof", *EARLIER_NAMES}
"""Modules with a `main` that are no commands of their own: the list itself, and what earlier versions named so."""
PARTS_OF_DOWNLOAD = "nanoproof.data."


def test_every_module_with_a_main_is_a_command() -> None:
    root = Path(__file__).resolve().parents[1]
    modules = set()
    for file in (root / "nanoproof").rglob("*.py"):
        if "run_main(main)" in file.read_text(encoding="utf-8"):
            name = ".".join(file.relative_to(root).with_suffix("").parts)
            modules.add(name.removesuffix(".__main__").removesuffix(".__init__"))
    known = {module for module, _ in programs().values()}
    left = {module for module in modules - known - NO_COMMANDS if not module.startswith(PARTS_OF_DOWNLOAD)}
    assert left == set()


@pytest.mark.parametrize("package", ["nanoproof", "nanolean"])
def test_an_old_python_is_refused_in_one_line(package: str) -> None:
    file = Path(__file__).resolve().parents[1] / package / "__init__.py"
    code = f"import sys; sys.version_info = (3, 9, 1); exec(open({str(file)!r}).read())"
    run = subprocess.run([sys.executable, "-c", code], timeout=60, capture_output=True, text=True, check=False)
    assert run.returncode == 2 and run.stderr.endswith("needs Python 3.11 or newer; this is Python 3.9\n")
