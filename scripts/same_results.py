"""Do two revisions do the same? Record what each does from one fixed checkpoint, and compare the records.

    git worktree add /tmp/before v2
    python -m scripts.same_results record --code /tmp/before --work /tmp/same --out before.json
    python -m scripts.same_results record --work /tmp/same --out after.json
    python -m scripts.same_results compare before.json after.json

For changes that are to change nothing: renamed things, moved code, options that go. The first record makes the folder's
networks, data and theorems, from which all others begin; the code is asked through its commands and their files alone,
so that an older revision answers too. Times, addresses, versions and paths are left out of a record, everything else
counts: results, proofs, logs of attempts, weights. A revision recorded twice tells what is not repeatable at all.
"""

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser
from nanoproof.common.errors import UserError, did_you_mean, run_main

ROOT = Path(__file__).resolve().parents[1]
FORMAT = 1
NUM_THEOREMS = 40  # of the benchmark's test split: what two searches try in some minutes
VOLATILE = re.compile(
    r"^(nanoproof|lean|digest)$|(^|[_/])(at|started|since|seconds|time|times|date|duration|memory|rss|bytes|version|versions"
    r"|revision|commit|host|hardware|address|port|pid|path|dir|folder|command|argv|cwd|home|load|utilization|mfu)([_/]|$)"
    r"|tokens_per|_per_second"
)
"""JSON fields that say when, where, how fast and by which code (`digest`, of a trace), and not what."""
COMPARED = (".json", ".jsonl", ".pt", ".lean", ".patch", ".md")
SKIPPED = re.compile(r"^(args\.json|meta\.json|events|timeline|status|log|samples_r)|index")
"""Files with options, of which there may be new ones, with times alone, or with places in other files."""
ON_CPU = ["--device-type", "cpu"]
ONE_BY_ONE = ["--lean-processes", "1", *ON_CPU]
"""With several processes the order of attempts is the order in which they end, which no two runs agree on."""
SMALL = ["--depth", "2", "--aspect-ratio", "32", "--head-dim", "32", "--sequence-len", "512", "--row-length", "256"]
SFT = [*SMALL, "--target-examples-per-step", "16", "--device-batch-size", "8", "--eval-every", "never", *ON_CPU]
SFT += ["--no-save-epochs"]
SCRIPTED_RL = """
import sys
from pathlib import Path
from unittest import mock

import torch
from nanoproof.rl import collection
from nanoproof.rl.collection import CollectSource
from tests.rl import scripted_rl as scripted

class InStep(CollectSource):
    # Actors go on while the network trains, with as many attempts as there is time for, of weights that may be either.
    # Here they draw nothing from the end of a collection to the beginning of the next one.
    wanted = False

    def begin(self, *limits):
        super().begin(*limits)
        self.wanted = True

    def next(self):
        return super().next() if self.wanted and not self.enough() else None

    def drain(self):
        self.wanted = False
        return super().drain()

torch.set_num_threads(1)
fleet = scripted.Fleet([scripted.Slot()], None, "scripted", None)
out = Path(sys.argv[1])
(out / "model").mkdir(parents=True)
model = scripted.make_model(out / "model")
words = scripted.words(model, out / "run", num_steps=6, negative_fraction=0.2, save_every="2steps")
with (
    scripted.scripted(),
    mock.patch.object(scripted.rl, "open_fleet", lambda *_: fleet),
    mock.patch.object(collection, "CollectSource", InStep),
):
    scripted.rl.main(words)
"""


class Checkout:
    """A checkout whose commands run with a home of their own and write what they say to its `log.txt`."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root.resolve(), home

    def call(self, command: list[str], cwd: Path | None = None, good: Sequence[int] = (0,)) -> None:
        """Run a program that uses this checkout's modules. Raises UserError if it fails."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), "NANOPROOF_HOME": str(self.home)}
        # Sums of floats depend on how many threads share them, the order of sets of strings on the seed of hashes.
        environment |= {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "WANDB_MODE": "disabled"}
        self.home.mkdir(parents=True, exist_ok=True)
        log = self.home / "log.txt"
        with log.open("ab") as file:
            code = subprocess.run(command, cwd=cwd or self.root, env=environment, stdout=file, stderr=file).returncode
        if code not in good:
            raise UserError(f"{self.root}: {' '.join(command)[:200]} ended with exit code {code}; see {log}")

    def run(self, module: str, *arguments: str, cwd: Path | None = None, good: Sequence[int] = (0,)) -> None:
        """Run one of the commands. Raises UserError if its exit code is not among the good ones."""
        self.call([sys.executable, "-m", module, *arguments], cwd, good)

    def revision(self) -> str:
        """Return the commit, with a `+` if files differ from it; "unknown" where there is no repository."""
        git = ["git", "-C", str(self.root)]
        commit = subprocess.run([*git, "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True)
        changes = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True, text=True)
        if commit.returncode != 0:
            return "unknown"
        if changes.stdout.strip():
            return f"{commit.stdout.strip()}+"
        return commit.stdout.strip()


# -- what all records begin with -----------------------------------------------------------------------------------


def make_base(checkout: Checkout, base: Path) -> None:
    """Make theorems, transitions, rows, a network of tactics and one of whole proofs, and copies of what is read."""
    library = checkout.root / "nanolean" / "library"
    source = ["--data", "repo:library", "--source", str(library)]
    checkout.run("nanoproof.repos", "trace", str(library), "--name", "library", "--lean-processes", "1")
    checkout.run("nanoproof.data.stp", "theorem-dict", *source, "--out", str(base / "lemmas.json"))
    checkout.run("nanoproof.data.stp", "build", *source, "--out", str(base / "stp"), "--format", "nanoproof")
    shutil.copy(checkout.home / "repos" / "library" / "trace" / "leantree.jsonl", base / "transitions.jsonl")
    write_theorems(checkout.root / "data" / "nanolean" / "test.lean", base / "theorems.lean")
    write_rows(base / "stp", base)
    shutil.copytree(checkout.root / "tests" / "fixtures" / "first_run", base / "first")
    shutil.copytree(checkout.root / "tests" / "data" / "example_repo", base / "example")

    tokenizer = ["--tokenizer", str(base / "tokenizer")]
    checkout.run(
        "scripts.tok_train", "--vocab-size", "512", "--input", str(base / "transitions.jsonl"), "--out", tokenizer[1]
    )
    flags = ["--data", str(base / "transitions.jsonl"), *tokenizer, "--epochs", "1"]
    checkout.run("nanoproof.sft", *SFT, *flags, "--run-dir", str(base / "tactics"))
    # Until it has them by heart: a network that proves nothing would be the same in every revision.
    flags = ["--data", str(base / "rows.json"), *tokenizer, "--epochs", "8"]
    checkout.run("nanoproof.sft", *SFT, *flags, "--run-dir", str(base / "proofs"))


def write_theorems(benchmark: Path, file: Path) -> None:
    """Write theorems of all levels of a benchmark, at equal distances."""
    theorems = re.split(r"\n\n(?=theorem )", benchmark.read_text(encoding="utf-8"))[1:]
    chosen = theorems[:: len(theorems) // NUM_THEOREMS][:NUM_THEOREMS]
    file.write_text("\n\n".join(chosen) + "\n", encoding="utf-8")


def write_rows(stp: Path, base: Path) -> None:
    """Write short proofs and conjectures to learn, and self-play's statements, of which a small network proves some."""

    def shortest(name: str, number: int) -> list[dict[str, Any]]:
        rows = json.loads((stp / name).read_text(encoding="utf-8"))
        rows.sort(key=lambda row: (len(row["prompt"] + row["target"]), row["prompt"], row["target"]))
        return list(rows[:number])

    proofs, conjectures = shortest("eval.json", 240), shortest("train.json", 120)
    (base / "rows.json").write_text(json.dumps(proofs + conjectures), encoding="utf-8")
    statements = []
    for number, row in enumerate(proofs[:96:4]):
        statement = row["prompt"].split(":= by")[0].replace("theorem", f"theorem easy_{number}", 1)
        statements.append({"formal_statement": f"{statement}:= by\n  sorry", "split": "train"})
    (base / "statements.json").write_text(json.dumps(statements), encoding="utf-8")
    (base / "config.json").write_text('[{"dataset_path": "statements.json", "weight": 1}]', encoding="utf-8")


# -- the parts ------------------------------------------------------------------------------------------------------


def evaluation(checkout: Checkout, base: Path, out: Path) -> None:
    """Evaluate forty theorems, by both searches."""
    for algorithm in ("best-first", "mcts"):
        flags = ["--model-path", str(base / "tactics"), "--datasets", str(base / "theorems.lean"), *ONE_BY_ONE]
        flags += ["--num-simulations", "16", "--max-gen-tokens", "32", "--search-algorithm", algorithm]
        checkout.run("scripts.prover_eval", *flags, "--output-dir", str(out / algorithm))


def whole_proofs(checkout: Checkout, base: Path, out: Path) -> None:
    """Let the network write twenty-four whole proofs."""
    flags = ["--model-path", str(base / "proofs"), "--datasets", str(base / "theorems.lean"), *ONE_BY_ONE]
    flags += ["--max-theorems", "6", "--whole-proofs", "--samples", "4", "--proof-max-new-tokens", "64"]
    flags += ["--output-dir", str(out / "eval")]
    checkout.run("scripts.prover_eval", *flags)


def self_play(checkout: Checkout, base: Path, out: Path) -> None:
    """Play three rounds."""
    flags = ["--model-path", str(base / "proofs"), "--dataset-config", str(base / "config.json"), *ONE_BY_ONE]
    flags += ["--theorem-dict", str(base / "lemmas.json"), "--held-out", "none", "--rounds", "3"]
    flags += ["--samples-first", "4", "--samples", "4", "--max-tokens", "48", "--batch", "16"]
    # By default proofs that took longer weigh less, and no two runs agree on how long one took.
    checkout.run("nanoproof.selfplay", *flags, "--time-decay", "0", "--exp-dir", str(out / "rounds"))


def finetuning(checkout: Checkout, base: Path, out: Path) -> None:
    """Finetune for sixty steps."""
    flags = ["--model-path", str(base / "tactics"), "--data", str(base / "transitions.jsonl"), "--epochs", "0.297"]
    checkout.run("nanoproof.sft", *SFT, *flags, "--run-dir", str(out / "run"))


def reinforcement(checkout: Checkout, base: Path, out: Path) -> None:
    """Do six steps of reinforcement learning on a scripted Lean."""
    checkout.call([sys.executable, "-c", SCRIPTED_RL, str(out / "rl")])


def first_version(checkout: Checkout, base: Path, out: Path) -> None:
    """Resume a run that the first version wrote."""
    folder = out / "first"
    shutil.copytree(base / "first", folder)
    run = folder / "rl" / "first_run"
    flags = ["--resume-from", str(run), "--num-steps", "3", "--lean-processes", "1"]
    flags += ["--eval-every", "never", "--no-eval-start", "--monitor-port", "none"]
    checkout.run("nanoproof.rl", *flags, cwd=folder)
    # Actors go on beside the last training, with as many attempts as there is time for: nobody learns from these.
    log, metrics = run / "attempts_r0.jsonl", run / "metrics.jsonl"
    num_before = len((base / "first" / "rl" / "first_run" / log.name).read_text(encoding="utf-8").splitlines())
    num_learned = json.loads(metrics.read_text(encoding="utf-8").splitlines()[-1])["attempts"]
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    log.write_text("".join(lines[: num_before + num_learned]), encoding="utf-8")


def own_repository(checkout: Checkout, base: Path, out: Path) -> None:
    """Trace the example repository, and prove what is open in it."""
    example = out / "example"
    shutil.copytree(base / "example", example)
    # Of an earlier try: files that are as before are not traced again.
    shutil.rmtree(checkout.home / "repos", ignore_errors=True)
    # 1 says that a file is not traced, or that something stays open: the example has both.
    flags = ["--name", "example", "--lean-processes", "1"]
    checkout.run("nanoproof.repos", "trace", str(example), *flags, good=(0, 1))
    shutil.copytree(checkout.home / "repos" / "example", out / "traced")
    flags = ["--policy", "solver-only", "--num-simulations", "8", "--lean-processes", "1"]
    flags += ["--report", str(out / "report")]
    checkout.run("nanoproof.repos", "prove", str(example), *flags, good=(0, 1))


PARTS: dict[str, Callable[[Checkout, Path, Path], None]] = {
    "evaluation": evaluation,
    "finetuning": finetuning,
    "whole_proofs": whole_proofs,
    "self_play": self_play,
    "reinforcement": reinforcement,
    "first_version": first_version,
    "own_repository": own_repository,
}


# -- a record of what they wrote ------------------------------------------------------------------------------------


def facts(value: Any, places: dict[str, str]) -> Any:
    """Return JSON data without what differs between equal runs; `places` maps folders to what stands for them."""
    if isinstance(value, dict):
        kept = [name for name in value if not VOLATILE.search(name)]
        return {facts(name, places): facts(value[name], places) for name in kept}
    if isinstance(value, list):
        return [facts(item, places) for item in value]
    if isinstance(value, str):
        for folder, name in places.items():
            value = value.replace(folder, name)
    return value


def values_of(file: Path, places: dict[str, str]) -> list[Any]:
    """Return what a file says, in order: lines of JSON or of text, or a digest of each of a checkpoint's tensors."""
    if file.suffix == ".pt":
        import torch

        def describe(tensor: Any) -> str:
            # As bytes: numpy has no bfloat16, and a tensor without dimensions cannot be viewed as another type.
            data = tensor.contiguous()
            if not tensor.dim():
                data = tensor.reshape(1)
            digest = hashlib.sha256(data.view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
            return f"{tensor.dtype} {list(tensor.shape)} {digest}"

        content = torch.load(file, map_location="cpu", weights_only=True)
        return [json.loads(json.dumps(content, default=describe))]
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".json":
        return [facts(json.loads(text), places)]
    lines: list[Any] = text.splitlines()
    if file.suffix == ".jsonl":
        lines = [json.loads(line) for line in lines]
    return [facts(line, places) for line in lines]


def outputs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files to compare, by their names below a folder."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in COMPARED and not SKIPPED.search(file.name):
            yield str(file.relative_to(folder)), file


def files_of(folder: Path, places: dict[str, str]) -> dict[str, list[Any]]:
    """Return what the files of a part say, by name. Raises UserError if there are none: nothing equals nothing."""
    files = {}
    for name, file in outputs(folder):
        files[name] = values_of(file, places)
    if not any(files.values()):
        raise UserError(f"{folder}: the commands of this part left nothing that can be compared")
    return files


def base_digest(base: Path) -> str:
    """Hash what records begin with."""
    digest = hashlib.sha256()
    for file in sorted(base.rglob("*")):
        if file.is_file() and file.suffix in (".json", ".jsonl", ".pt", ".lean"):
            digest.update(str(file.relative_to(base)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def record(code: Path, work: Path, out: Path, parts: Sequence[str]) -> None:
    """Run parts with the code of a checkout and write down what they leave. Raises UserError if one fails."""
    if not (code / "nanoproof" / "__init__.py").is_file():
        raise UserError(f"--code {code}: no checkout of nanoproof")
    base, side = work / "base", work / out.stem
    if not (base / "finished").exists():
        # Half of a base, of a record that was stopped, would be another one in the next record.
        shutil.rmtree(base, ignore_errors=True)
        base.mkdir(parents=True)
        print(f"making the networks and data in {base}", flush=True)
        make_base(Checkout(code, work / "home_of_base"), base)
        (base / "finished").touch()
    checkout = Checkout(code, side / "home")
    places = {str(side): "OUT", str(base): "BASE", str(checkout.root): "CODE"}
    content = {"format": FORMAT, "code": checkout.revision(), "base": base_digest(base)}
    recorded = recorded_before(out, content)
    for part in parts:
        folder = side / part
        shutil.rmtree(folder, ignore_errors=True)  # else what an earlier try left would be compared as well
        folder.mkdir(parents=True)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        PARTS[part](checkout, base, folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
        files = files_of(folder, places)
        recorded[part] = {"processor_seconds": round(seconds, 1), "files": files}
        print(f"{part}: {count_of(files)}, {seconds:.0f} s of processor time", flush=True)
        # After each part: where a later one fails, `--only` goes on with it.
        out.write_text(json.dumps({**content, "parts": recorded}, ensure_ascii=False) + "\n", encoding="utf-8")


def recorded_before(out: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Return the parts that a file has of the same commit and base; none of files that are in no commit."""
    if not out.exists():
        return {}
    earlier = read_record(out)
    # The commit does not say what these files were when the parts were recorded.
    if content["code"].endswith("+") or content["code"] == "unknown":
        return {}
    if any(earlier[name] != value for name, value in content.items()):
        return {}
    return dict(earlier["parts"])


# -- two records ----------------------------------------------------------------------------------------------------


def count_of(files: dict[str, list[Any]]) -> str:
    """Say how many files and lines were recorded."""
    return f"{len(files)} files, {sum(map(len, files.values())):,} records"


def read_record(file: Path) -> dict[str, Any]:
    """Read what `record` wrote. Raises UserError if it is no such file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if content["format"] == FORMAT and isinstance(content["parts"], dict):
            return dict(content)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(f"{file}: no record of same_results ({error})") from error
    raise UserError(f"{file}: a record of another revision of same_results; record anew")


def first_difference(before: Any, after: Any, place: str = "") -> str | None:
    """Say where two JSON values part, and how; None if they are equal. 1 and 1.0 are not equal, nor True and 1."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before:
            if name not in after:
                return f"{place}.{name}: only before"
            if difference := first_difference(before[name], after[name], f"{place}.{name}"):
                return difference
        for name in after:
            if name not in before:
                return f"{place}.{name}: only after"
        return None
    if isinstance(before, list) and isinstance(after, list):
        for index, (old, new) in enumerate(zip(before, after, strict=False)):
            if difference := first_difference(old, new, f"{place}[{index}]"):
                return difference
        if len(before) != len(after):
            return f"{place}: {len(before)} entries, now {len(after)}"
        return None
    if type(before) is type(after) and before == after:
        return None
    return f"{place}: {shown(before)}, now {shown(after)}"


def shown(value: Any) -> str:
    """Return a value as JSON, of a long one the beginning."""
    text = json.dumps(value, ensure_ascii=False)
    if len(text) > 160:
        return text[:160] + "..."
    return text


def differences(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> Iterator[str]:
    """Yield for each file that differs how many of its records do, and where the first one does."""
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield f"{name}: only before"
            continue
        if name not in before:
            yield f"{name}: only after"
            continue
        unlike = list(unlike_records(before[name], after[name]))
        if unlike:
            total = max(len(before[name]), len(after[name]))
            yield f"{name}: {len(unlike)} of {total} differ, first {unlike[0]}"


def unlike_records(before: list[Any], after: list[Any]) -> Iterator[str]:
    """Yield for each record of a file that differs where it does."""
    nothing = object()  # None is a record
    for number, (old, new) in enumerate(zip_longest(before, after, fillvalue=nothing), 1):
        if old is nothing:
            yield f"record {number}: only after"
        elif new is nothing:
            yield f"record {number}: only before"
        elif difference := first_difference(old, new):
            yield f"record {number}{difference}"


def compare(before_file: Path, after_file: Path) -> bool:
    """Print how two records differ; returns whether they are equal. Raises UserError if they cannot be compared."""
    before, after = read_record(before_file), read_record(after_file)
    if before["base"] != after["base"]:
        raise UserError(f"{before_file} and {after_file} began with different networks: record both with one --work")
    common = [part for part in before["parts"] if part in after["parts"]]
    if not common:
        raise UserError(f"{before_file} and {after_file} have no part in common")
    print(f"{before['code']} and {after['code']}")
    is_same = True
    for part in common:
        old, new = before["parts"][part]["files"], after["parts"][part]["files"]
        lines = list(differences(old, new))
        verdict = "equal"
        if lines:
            is_same, verdict = False, f"{len(lines)} files differ"
        print(f"{part}: {count_of(old)}: {verdict}")
        for line in lines:
            print(f"  {line}")
    for part in sorted(before["parts"].keys() ^ after["parts"].keys()):
        print(f"{part}: recorded once only, not compared")
    return is_same


def main(argv: Sequence[str] | None = None) -> int:
    """Record or compare; the exit code is 1 if two records differ."""
    parser = Parser(prog="python -m scripts.same_results", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="action", required=True)
    recording = commands.add_parser("record", help="Run everything and write down what it leaves.")
    recording.add_argument("--code", metavar="DIR", type=Path, default=ROOT, help="A checkout (default: this one).")
    recording.add_argument("--work", metavar="DIR", type=Path, required=True, help="What all records begin with; kept.")
    recording.add_argument("--out", metavar="FILE.json", type=Path, required=True, help="The record.")
    recording.add_argument("--only", metavar="PART", nargs="+", default=list(PARTS), help=f"Parts: {', '.join(PARTS)}.")
    comparing = commands.add_parser("compare", help="Say where two records part.")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    options = parser.parse_args(argv)
    if options.action == "compare":
        return int(not compare(options.before, options.after))
    for part in options.only:
        if part not in PARTS:
            raise UserError(f"--only {part}: no such part{did_you_mean(part, PARTS)}")
    record(options.code.resolve(), options.work.resolve(), options.out.resolve(), options.only)
    return 0


if __name__ == "__main__":
    run_main(main)
