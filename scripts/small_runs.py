"""Shared by the quickstart, the comparison of RL with its control and the measurement on miniF2F: sizes and stages.

The network has a million parameters and proves NanoLean's theorems. Stages are commands, run one after the other. A
stage that was finished is not run again, and one that was stopped is resumed: a training run leaves the file `finished`
in its directory, an evaluation its `summary.json`.
"""

import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import psutil

from nanoproof.common import launch
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_json, read_jsonl
from nanoproof.common.run_dir import FINISHED, REPO_ROOT, SCRIPTS

RANKS = max(1, min(2, os.cpu_count() or 1))
SAMPLES = 6
MODEL = ["--depth", "4", "--aspect-ratio", "32", "--head-dim", "32"]
MODEL += ["--sequence-len", "384", "--window-pattern", "L"]
BATCH = ["--row-length", "320", "--device-batch-size", "12", "--value-weight", "0.1", "--device-type", "cpu"]
SFT = ["--data", "nanolean", *MODEL, *BATCH, "--target-examples-per-step", "64"]
SFT += ["--eval-every", "250steps", "--max-eval-examples", "400"]  # of 3,200, which take four seconds
SAMPLING = ["--num-sampled-tactics", str(SAMPLES)]
SETS = ("nanolean", "nanolean-hard")
"""Training and held-out theorems: those of plain proofs in small steps, and those that resist solvers at every node."""
SEARCH = ["--search-preset", "small", "--step-tactics", "0"]
"""Scores are of what a network writes itself, beside baselines that have no steps either; `prove` and `prover_eval`
give a small network twelve, which prove more and cost three times the tactics."""
RL = ["--preset", "small", "--device-type", "cpu"]
SFT_ONLY = ["--collect-transitions", "0", "--fraction-sft", "1"]
"""Flags that turn RL into its control: the same optimizer and batches, supervised data alone."""


class StageFailed(UserError):
    """The command of a stage ended with another exit `code` than 0."""

    def __init__(self, stage: str, code: int) -> None:
        if code < 0:
            reason = f"was ended by {signal.Signals(-code).name}"
        else:
            reason = f"failed with exit code {code}; its message is above"
        super().__init__(f"the stage '{stage}' {reason}")
        self.code = code


@dataclass
class Commands:
    """Runs commands and keeps how long each stage took. Raises StageFailed where one fails."""

    ranks: int = RANKS
    lean_processes: int = 16
    seconds: dict[str, float] = field(default_factory=dict)
    lock: IO[str] | None = None
    """A lock file that the commands hold as well, should they outlive this process."""

    def run(self, stage: str, text: str, command: list[str], ranks: int = 1) -> None:
        """Print what happens, and run a module with its arguments (on several ranks)."""
        module, arguments = command[0], command[1:]
        if ranks > 1:
            torchrun = ["--standalone", f"--nproc_per_node={ranks}", "-m", module]
            launched = ["torch.distributed.run", *torchrun]
            # Without it torchrun takes flags such as `--run` for its own.
            arguments = ["--", *arguments]
            shown = f"torchrun {shlex.join(torchrun)}"
        else:
            launched = [module]
            # As a user types it, who may have the wheel and no `scripts` package beside it.
            shown = f"python -m {module}".replace("python -m scripts.", SCRIPTS)
        print(f"\n== {text}\n   $ {shown} {shlex.join(arguments)}", flush=True)
        started = time.monotonic()
        code = run_with_signals([sys.executable, "-m", *launched, *arguments], environment(), self.lock)
        # Several commands may be of one stage: all evaluations of a comparison are.
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + time.monotonic() - started, 1)
        if code != 0:
            raise StageFailed(stage, code)

    def train(self, stage: str, text: str, command: list[str], run_dir: Path, ranks: int | None = None) -> None:
        """Run a training stage to its end, from where it is. Raises UserError if it was stopped before."""
        if (run_dir / FINISHED).exists():
            return
        # `model_N.json` is the manifest of a checkpoint of ours, `checkpoint-N` the folder of one of transformers.
        if any(run_dir.glob("model_*.json")) or any(run_dir.glob("checkpoint-*/nanoproof.json")):
            command = [command[0], "--resume-from", str(run_dir)]
        else:
            # Begun, and nothing was saved: a run directory with files of an earlier run is refused.
            shutil.rmtree(run_dir, ignore_errors=True)
            # Absolute: a relative one is of $NANOPROOF_HOME.
            command = [*command, "--run-dir", str(run_dir.absolute())]
        if ranks is None:
            ranks = self.ranks
        self.run(stage, text, command, ranks)
        # Ctrl-C ends training with a checkpoint and exit code 0.
        if not (run_dir / FINISHED).exists():
            raise UserError(f"the stage '{stage}' was stopped before its end; {run_dir} has what it did")

    def evaluate(
        self, stage: str, text: str, policy: list[str], out: Path, simulations: int
    ) -> dict[str, dict[str, Any]]:
        """Score a policy on the held-out test theorems of both `SETS`; returns their summaries."""
        files = {name: out / evaluation_name(name) / "summary.json" for name in SETS}
        if not all(file.exists() for file in files.values()):
            command = ["scripts.prover_eval", *policy, "--datasets", *SETS, "--split", "test", *SAMPLING, *SEARCH]
            command += ["--num-simulations", str(simulations), "--lean-processes", str(self.lean_processes)]
            command += ["--device-type", "cpu", "--cpu-dtype", "auto", "--output-dir", str(out)]
            command += ["--log-level", "warning", "--continue"]
            # In one process: the search waits for Lean's, and a second one takes three seconds to start.
            self.run(stage, text, command)
        return {name: read_json(file) for name, file in files.items()}

    def data_and_tokenizer(self, tokenizer: Path) -> None:
        """Make NanoLean's training data and a tokenizer for them, unless they are there."""
        self.run(
            "data",
            "Making training data, some minutes the first time: proofs of the library and of generated statements",
            ["nanoproof.data.nanolean", "make"],
        )
        if not (tokenizer / "tokenizer.json").exists():
            command = ["scripts.tok_train", "--vocab-size", "1024", "--out", str(tokenizer)]
            self.run("tokenizer", "Training a tokenizer on it", command)


def evaluation_name(dataset: str, split: str = "test") -> str:
    """Name the directory of an evaluation on a split of a set, below that of several."""
    if split == "valid":
        return f"eval_{dataset}"
    return f"eval_{dataset}_{split}"


def environment() -> dict[str, str]:
    """Return the environment of the commands."""
    # This checkout first: another one may be installed, and the stages are to be of one revision.
    paths = [str(REPO_ROOT)]
    if os.environ.get("PYTHONPATH"):
        paths.append(os.environ["PYTHONPATH"])
    return {
        **os.environ,
        "OMP_NUM_THREADS": "1",  # more, beside Lean processes on two cores, wait for each other
        "PYTHONPATH": os.pathsep.join(paths),
    }


def keep_settings(file: Path, settings: dict[str, Any]) -> None:
    """Record the settings of what is in a folder, which is made. Raises UserError if it was begun with others."""
    earlier = settings
    if file.exists():
        earlier = read_json(file)
    changed = []
    for name, value in settings.items():
        if earlier.get(name) != value:
            changed.append(f"{name} was {earlier.get(name)}, is {value}")
    if changed:
        out = file.parent
        raise UserError(
            f"{out} was begun with other options ({'; '.join(changed)}); choose another --out, or remove it"
        )
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        atomic_write_json(file, settings)
    except OSError as error:
        raise UserError(f"--out {file.parent}: cannot write there: {error.strerror}") from error


def take_lock(file: Path) -> IO[str]:
    """Lock a file for as long as this process lives, and whoever inherits it. Raises UserError if it is locked."""
    handle = file.open("w", encoding="utf-8")
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        handle.close()
        raise UserError(
            f"{file.parent} is in use: another script works there, or a stage of one that was killed still runs"
        ) from error
    return handle


def run_with_signals(command: list[str], environment: dict[str, str], lock: IO[str] | None = None) -> int:
    """Run a command and return its exit code; Ctrl-C and SIGTERM are passed on, and it ends in its own time.

    It is told to end when this process is killed, too: else a stage of half an hour goes on, and torchrun with it.
    """
    command = [sys.executable, "-I", launch.__file__, str(os.getpid()), "SIGTERM", "0", *command]
    inherited: tuple[int, ...] = ()
    if lock is not None:
        inherited = (lock.fileno(),)
    started: list[subprocess.Popen[bytes]] = []
    stop_requested = threading.Event()

    def forward(*_: object) -> None:
        stop_requested.set()
        for process in started:
            process.terminate()

    previous = signal.signal(signal.SIGTERM, forward)
    try:
        with subprocess.Popen(command, env=environment, pass_fds=inherited) as process:
            started.append(process)
            if stop_requested.is_set():  # before there was a process to forward it to
                process.terminate()
            try:
                return process.wait()
            except KeyboardInterrupt:  # a terminal tells the command as well
                print("stopping; the stage saves what it has", flush=True)
                process.wait()
                raise
    finally:
        signal.signal(signal.SIGTERM, previous)


def checkpoint_steps(run_dir: Path) -> list[int]:
    """Return the steps of a run's checkpoints in order. Raises UserError if there is none."""
    # By number: `model_1000` stands before `model_200` in the order of names.
    steps = sorted(int(file.stem.removeprefix("model_")) for file in run_dir.glob("model_*.json"))
    if not steps:
        raise UserError(f"{run_dir} holds no checkpoint")
    return steps


def updates_of(run_dir: Path, step: int) -> int:
    """Count the optimizer updates of an RL run up to a step."""
    return step * int(read_json(run_dir / "args.json")["num_updates_per_step"])


def read_metrics(run_dir: Path) -> list[dict[str, Any]]:
    """Read the metrics of a run's steps."""
    return list(read_jsonl(run_dir / "metrics.jsonl"))


def hms(seconds: float) -> str:
    """Format seconds as H:M:S, at least one."""
    minutes, last_seconds = divmod(max(1, round(seconds)), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{last_seconds:02}"


class PeakMemory(threading.Thread):
    """Watches the resident memory of this process and all its children."""

    def __init__(self) -> None:
        super().__init__(name="peak-memory", daemon=True)
        self.peak_bytes = 0

    def run(self) -> None:
        process = psutil.Process()
        while True:
            # Pages that processes share count once for each: an upper bound of what the machine needs.
            total = 0
            for member in [process, *process.children(recursive=True)]:
                try:
                    total += member.memory_info().rss
                except psutil.Error:
                    continue  # it ended meanwhile
            self.peak_bytes = max(self.peak_bytes, total)
            time.sleep(0.5)
