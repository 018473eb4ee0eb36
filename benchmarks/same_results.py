"""Do two checkouts do the same? They run the same commands from one checkpoint, and what they write is compared.

    git worktree add /tmp/before v2; python -m benchmarks.same_results /tmp/before . --work /tmp/same

For changes that are to change nothing: renamed things, moved code, options that go. The first checkout makes the data
and the checkpoint that both begin with. Times, addresses, versions and paths are left out of the comparison, everything
else counts: results, proofs, trees, logs of attempts, weights. With the same checkout twice it says what is not
repeatable at all.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VOLATILE = re.compile(
    r"^nanoproof$|^lean$|started|since|seconds|time|date|duration|memory|rss|bytes|version|revision|host|hardware"
    r"|address|port|pid|path|dir|command|argv|cwd|home|decisions|load|tokens_per|utilization|mfu"
)
"""Names of JSON fields that say when, where and how fast, and not what."""
SMALL = ["--depth", "2", "--aspect-ratio", "32", "--head-dim", "32", "--sequence-len", "256", "--row-length", "256"]
SFT = ["--data", "nanolean", *SMALL, "--target-examples-per-step", "16", "--device-batch-size", "8"]
SFT += ["--eval-every", "never", "--device-type", "cpu"]
ONE_BY_ONE = ["--lean-processes", "1", "--device-type", "cpu"]
"""With several processes the order of attempts is that of their ends."""
RL = """
from unittest import mock
from threading import Lock
from tests.rl import scripted_rl as scripted

class Resting(scripted.Policy):
    # A policy that truly rests while the network trains, so that each step begins with the same attempts.
    gate = Lock()
    def pause(self, release=False):
        self.gate.acquire()
    def resume(self):
        self.gate.release()
    def suggest(self, *args, **kwargs):
        with self.gate:
            return super().suggest(*args, **kwargs)

import sys, torch
from pathlib import Path
torch.set_num_threads(1)
fleet = scripted.Fleet([scripted.Slot()], None, "scripted", None)
with scripted.scripted(), mock.patch.object(scripted.rl, "open_fleet", lambda *_: fleet), \\
        mock.patch.object(scripted.learner, "model_policy", Resting):
    out = Path(sys.argv[1])
    (out / "model").mkdir(parents=True)
    model = scripted.make_model(out / "model")
    scripted.rl.main(scripted.words(model, out / "run", num_steps=6, negative_fraction=0.2, save_every="2steps"))
"""


class Checkout:
    """A checkout whose commands run with a home of their own."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root.resolve(), home

    def call(self, command: list[str], cwd: Path | None = None, **variables: str) -> None:
        """Run a program that uses this checkout's modules. Raises SystemExit if it fails."""
        environment = {**os.environ, "PYTHONPATH": str(self.root), "NANOPROOF_HOME": str(self.home)}
        environment |= {"OMP_NUM_THREADS": "1", "WANDB_MODE": "disabled", "PYTHONHASHSEED": "0", **variables}
        log = self.home / "log.txt"
        with log.open("ab") as file:
            code = subprocess.run(command, cwd=cwd or self.root, env=environment, stdout=file, stderr=file).returncode
        if code not in (0, 1):  # 1 says that something stays open
            raise SystemExit(f"{self.root}: {' '.join(command)[:200]} ended with {code}; see {log}")

    def run(self, module: str, *words: str, cwd: Path | None = None) -> None:
        """Run one of the commands."""
        self.call([sys.executable, "-m", module, *words], cwd)


def make_base(checkout: Checkout, base: Path) -> None:
    """Make what all begin with: a tokenizer, a network finetuned for a little while, and one for whole proofs."""
    checkout.run("nanoproof.data.nanolean", "make")
    checkout.run("scripts.tok_train", "--vocab-size", "512", "--out", str(base / "tokenizer"))
    words = ["--tokenizer", str(base / "tokenizer"), "--epochs", "0.2"]
    checkout.run("nanoproof.sft", *SFT, *words, "--run-dir", str(base / "sft"))
    words += ["--continuations", "proof"]
    checkout.run("nanoproof.sft", *SFT, *words, "--run-dir", str(base / "proofs"))


def evaluation(checkout: Checkout, base: Path, out: Path) -> None:
    """Evaluate forty theorems, by both searches."""
    for algorithm in ("best-first", "mcts"):
        words = ["--model-path", str(base / "sft"), "--datasets", "nanolean", "--max-theorems", "40", *ONE_BY_ONE]
        words += ["--num-simulations", "16", "--max-gen-tokens", "32", "--search-algorithm", algorithm]
        checkout.run("scripts.prover_eval", *words, "--output-dir", str(out / algorithm))


def whole_proofs(checkout: Checkout, base: Path, out: Path) -> None:
    """Let the network write twenty-four whole proofs."""
    words = ["--model-path", str(base / "proofs"), "--datasets", "nanolean", "--max-theorems", "6", *ONE_BY_ONE]
    words += ["--whole-proofs", "--samples", "4", "--output-dir", str(out / "eval")]
    checkout.run("scripts.prover_eval", *words)


def self_play(checkout: Checkout, base: Path, out: Path) -> None:
    """Play three rounds; proofs that took longer weigh less by default, which no two runs agree on."""
    command = ["bash", "runs/selfplay.sh", "--tiny", "--time-decay", "0", "--lean-processes", "1"]
    checkout.call(command, TINY_OUT=str(out / "rounds"))


def finetuning(checkout: Checkout, base: Path, out: Path) -> None:
    """Finetune for sixty steps."""
    words = ["--model-path", str(base / "sft"), "--epochs", "0.058"]
    checkout.run("nanoproof.sft", *SFT, *words, "--run-dir", str(out / "run"))


def reinforcement(checkout: Checkout, base: Path, out: Path) -> None:
    """Do six steps of reinforcement learning on a scripted Lean."""
    checkout.call([sys.executable, "-c", RL, str(out / "rl")])


def first_version(checkout: Checkout, base: Path, out: Path) -> None:
    """Resume a run that the first version wrote."""
    folder = out / "first"
    shutil.copytree(checkout.root / "tests" / "fixtures" / "first_run", folder)
    words = [
        "--num-steps",
        "3",
        "--eval-every",
        "never",
        "--no-eval-start",
        "--monitor-port",
        "none",
        "--lean-processes",
        "1",
    ]
    checkout.run("nanoproof.rl", "--resume-from", str(folder / "rl" / "first_run"), *words, cwd=folder)


def own_repository(checkout: Checkout, base: Path, out: Path) -> None:
    """Trace NanoLean's library, and prove what is open in the example repository."""
    library = str(checkout.root / "nanolean" / "library")
    checkout.run("nanoproof.repos", "trace", library, "--name", "library", "--lean-processes", "1")
    shutil.copytree(checkout.home / "repos", out / "traced")
    example = out / "example"
    shutil.copytree(checkout.root / "tests" / "data" / "example_repo", example)
    words = ["--policy", "solver-only", "--num-simulations", "8", "--lean-processes", "1"]
    checkout.run("nanoproof.repos", "prove", str(example), *words, "--report", str(out / "report"))


SCENES = {
    "evaluation": evaluation,
    "finetuning": finetuning,
    "whole_proofs": whole_proofs,
    "self_play": self_play,
    "reinforcement": reinforcement,
    "first_version": first_version,
    "own_repository": own_repository,
}


def facts(value: Any) -> Any:
    """Return JSON data without what differs between equal runs."""
    if isinstance(value, dict):
        return {name: facts(item) for name, item in value.items() if not VOLATILE.search(name)}
    if isinstance(value, list):
        return [facts(item) for item in value]
    return value


def content(file: Path, side: Path) -> str:
    """Return a digest of what a file says: of JSON its facts, of weights their values, of the rest its bytes.

    The folder of its side, which texts may name, is no difference.
    """
    if file.suffix == ".pt":
        import torch

        weights = torch.load(file, map_location="cpu", weights_only=True)
        text = json.dumps(weights, default=lambda value: hashlib.sha256(value.numpy().tobytes()).hexdigest())
        return hashlib.sha256(text.encode()).hexdigest()
    data = file.read_bytes().replace(str(side).encode(), b"")
    if file.suffix in (".json", ".jsonl"):
        lines = data.splitlines() if file.suffix == ".jsonl" else [data]
        data = json.dumps([facts(json.loads(line)) for line in lines if line.strip()], sort_keys=True).encode()
    return hashlib.sha256(data).hexdigest()


COMPARED = (".json", ".jsonl", ".pt", ".lean", ".patch")
SKIPPED = ("args.json", "meta.json", "events", "timeline", "status", "log", "samples_r", "index")


def outputs(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files to compare, by their names below a folder."""
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix in COMPARED and not file.name.startswith(SKIPPED):
            yield str(file.relative_to(folder)), file


def main(argv: list[str] | None = None) -> int:
    """Run everything in both checkouts and compare."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.same_results", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="a folder for what is made; kept")
    parser.add_argument("--only", nargs="+", choices=list(SCENES), default=list(SCENES))
    options = parser.parse_args(argv)
    work = options.work.resolve()
    base = work / "base"
    sides = {"before": options.before, "after": options.after}
    checkouts = {side: Checkout(root, work / f"home_{side}") for side, root in sides.items()}
    for checkout in checkouts.values():
        checkout.home.mkdir(parents=True, exist_ok=True)
    shared = checkouts["after"].home / "data"
    if not shared.exists():  # made once: the same code finds it under the same digest, other code makes its own
        shared.mkdir()
        (shared / "nanolean").symlink_to(checkouts["before"].home / "data" / "nanolean")
    if not (base / "sft" / "finished").exists():
        make_base(checkouts["before"], base)
    different = 0
    for scene in options.only:
        for side, checkout in checkouts.items():
            out = work / side / scene
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir(parents=True)
            SCENES[scene](checkout, base, out)
        before, after = (dict(outputs(work / side / scene)) for side in sides)
        unlike = []
        for name in before.keys() & after.keys():
            if content(before[name], work / "before") != content(after[name], work / "after"):
                unlike.append(name)
        missing = sorted(before.keys() ^ after.keys())
        different += len(unlike) + len(missing)
        print(f"{scene}: {len(before)} files, {len(unlike)} differ, {len(missing)} on one side only", flush=True)
        for name in sorted(unlike) + missing:
            print(f"  {name}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
