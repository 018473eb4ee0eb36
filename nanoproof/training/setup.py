"""What every stage does before its loop: its options, those of a resumed run, ranks and seeds, the run directory.

Nothing here needs torch to be imported, so that options are parsed without it.
"""

import argparse
import contextlib
import logging
import platform
import random
import secrets
import shlex
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nanoproof.common import run_dir, trackers
from nanoproof.common.config import Given, Parser, add_flags, from_args, options_of
from nanoproof.common.distributed import DistInfo, broadcast_json, gather_json, init_distributed, on_all_ranks, on_main
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, json_line, read_jsonl, read_object
from nanoproof.common.process import dump_stacks_on_usr1
from nanoproof.common.retired import refuse_retired, refuse_retired_choices, without_retired
from nanoproof.model.checkpoint_files import find_checkpoint, read_manifest
from nanoproof.training import options
from nanoproof.training.named_data import choose_data
from nanoproof.training.options import ModelOptions, RunOptions

log = logging.getLogger(__name__)

PREFIX = "hf:"

# -- Options, those of a resumed run among them ------------------------------------------------------------------------

START_OPTIONS = ("model_path", "resume_from", "resume_fresh_optimizer", "force", "run_dir")
"""Options of how a run starts, which a resumed run does not take over."""
FIXED_OPTIONS = ("seed",)
"""What a resumed run cannot change, beside the shape of the model: the order of the data depends on it."""
SURROUNDINGS = ("device", "dtype", "ranks")
"""Decisions in `meta.json` whose change is worth a line."""


def parse_stage(
    command: str,
    groups: Sequence[type],
    description: str,
    argv: Given,
    defaults: Mapping[str, Any] | None = None,
    choose: Callable[[argparse.Namespace], None] = lambda args: None,
) -> argparse.Namespace:
    """Parse what the command of a stage is given, and check what can be without a network.

    `defaults` are those in which a stage differs from its groups, `choose` replaces options that depend on local data.
    `kill -USR1` prints the stacks of all threads.
    """
    parser = Parser(prog=f"python -m nanoproof.{command}", description=description.splitlines()[0])
    for group in groups:
        add_flags(parser, group)
    parser.set_defaults(**(defaults or {}))
    args = parse_resumable(parser, argv)
    dump_stacks_on_usr1()
    for group in groups:
        from_args(group, args)  # what is wrong with options is said before `choose` looks at data
    is_ours = options.ComputeOptions in groups  # no model of transformers
    # Before data, which take long, and are of another kind in the run of another stage.
    if is_ours and args.model_path is not None:
        find_checkpoint(run_dir.resolve_model_path(args.model_path))
    if is_ours and args.resume_from is not None:
        path = run_dir.resolve_run_dir(args.resume_from, "--resume-from")
        check_stage(read_manifest(path), command, path)
    choose(args)
    return args


def parse_hub_sft(argv: Given, description: str) -> argparse.Namespace:
    """Parse what finetuning is given for a model of transformers."""
    command = "sft --model-path hf:PATH_OR_ID"
    return parse_stage(command, options.HUB_SFT, description, argv, options.HUB_SFT_DEFAULTS, choose_data)


def means_hub(argv: Given) -> bool:
    """Tell whether a command is about a model of transformers: it is given one, or a run that trains one."""
    given = argv
    if not isinstance(given, Mapping):
        parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
        parser.add_argument("--model-path", "--model_path", "--model")
        parser.add_argument("--resume-from", "--resume_from")
        given = vars(parser.parse_known_args(given)[0])
    model_path, run = given.get("model_path"), given.get("resume_from")
    if run is not None:
        with contextlib.suppress(UserError):
            saved = read_object(run_dir.resolve_run_dir(run, "--resume-from") / "args.json") or {}
            return "prompt_format" in saved
        return False
    return str(model_path).startswith(PREFIX) and run_dir.exported_folder(str(model_path)) is None


def parse_resumable(parser: Parser, argv: Given) -> argparse.Namespace:
    """Parse what a command is given; with `--resume-from`, options that are not given are those of the resumed run.

    Raises UserError for options that clash with the checkpoint to start from.
    """
    args = parser.parse_args(argv)
    given = given_options(parser, argv, vars(args))
    shape = {option.dest: given[option.dest] for option in options_of(ModelOptions) if option.dest in given}
    if args.resume_from is None:
        if args.model_path is not None and shape:
            check_shape(shape, run_dir.resolve_model_path(args.model_path), f"--model-path {args.model_path}")
        return args
    if args.model_path is not None:
        raise UserError("--model-path starts a new run and --resume-from resumes one: they clash; give one")
    if args.run_dir is not None:
        raise UserError("--run-dir clashes with --resume-from: a resumed run keeps its own directory")
    run_path = run_dir.resolve_run_dir(args.resume_from, "--resume-from")
    origin = f"--resume-from {args.resume_from}"
    saved = saved_options(run_path, origin, vars(args))
    for name in FIXED_OPTIONS:
        if name in given and name in saved and given[name] != saved[name]:
            raise UserError(f"{flag(name)} {given[name]} clashes with {origin}: that run has {saved[name]}")
    if shape.get("tokenizer") == saved.get("tokenizer"):
        shape.pop("tokenizer", None)
    check_shape(shape, run_path, origin)
    for name, value in saved.items():
        if name in args and name not in START_OPTIONS:
            parser.set_defaults(**{name: value})
    args = parser.parse_args(argv)
    args.run_dir = str(run_path)
    return args


def saved_options(run_path: Path, origin: str, known: Collection[str]) -> dict[str, Any]:
    """Read the options that a run was started with. Raises UserError with the way to continue without them.

    `known` are the names of the options that its command has today: others may be retired.
    """
    file = run_path / "args.json"
    if not file.exists():
        raise UserError(f"{origin}: no args.json there; its weights can start a new run")
    saved = read_object(file)
    if saved is None:
        raise UserError(
            f"{origin}: {file} is damaged, which holds the options of the run; write {{}} into it and give the options "
            "that were not the defaults again (meta.json beside it has the command)"
        )
    of_today = {name: value for name, value in saved.items() if name in known}
    others = {name: value for name, value in saved.items() if name not in known}
    refuse_retired(others, origin)
    refuse_retired_choices(saved, origin)
    return {**of_today, **without_retired(others)}


def given_options(parser: Parser, argv: Given, names: Collection[str]) -> dict[str, Any]:
    """Return the options that were given, whether or not they have the values of the defaults."""
    # argparse puts a default only where the namespace has no value yet: what is still `missing` was not on the line.
    missing = object()
    parsed = parser.parse_args(argv, argparse.Namespace(**dict.fromkeys(names, missing)))
    return {name: value for name, value in vars(parsed).items() if value is not missing}


def check_shape(shape: Mapping[str, Any], checkpoint: Path, origin: str) -> None:
    """Raise UserError for options of the model that contradict the checkpoint, which brings its shape."""
    config = read_manifest(checkpoint)["config"] if shape else {}
    for name, value in shape.items():
        if name == "tokenizer":
            raise UserError(f"--tokenizer clashes with {origin}: a checkpoint brings its own")
        if value != config.get(name):
            own = config.get(name)
            raise UserError(f"{flag(name)} {value} clashes with {origin}: that model has {own}; leave it out")


def check_stage(manifest: dict[str, object], stage: str, path: Path) -> None:
    """Raise UserError unless a checkpoint's manifest was written by `stage`."""
    extra, written_by = manifest.get("extra"), None
    if isinstance(extra, dict):
        written_by = extra.get("stage")
    if written_by != stage:
        raise UserError(f"--resume-from {path} is a run of {written_by or 'another kind'}, not of {stage}")


def changes(path: Path, args: Mapping[str, Any], decisions: Mapping[str, str]) -> dict[str, tuple[Any, Any]]:
    """Compare with how the run in `path` was last started: `{"--eval-every": (before, now)}`."""
    saved = saved_options(path, f"--resume-from {path}", args)
    changed: dict[str, tuple[Any, Any]] = {}
    for name, value in args.items():
        if name not in saved or name in START_OPTIONS:
            continue
        if isinstance(value, tuple):
            value = list(value)  # as JSON has it
        if saved[name] != value:
            changed[flag(name)] = (saved[name], value)
    before = saved_decisions(path) or {}
    for name in SURROUNDINGS:
        # "cuda:0 (the best there is)": the reason in brackets may be another, on the same device.
        old = str(before.get(name, "")).partition(" (")[0]
        new = str(decisions.get(name, "")).partition(" (")[0]
        if old and new and old != new:
            changed[name] = (old, new)
    return changed


def saved_decisions(path: Path) -> dict[str, Any] | None:
    """Read the decisions in a run's `meta.json`; None if that is damaged."""
    if not (path / "meta.json").exists():
        return {}
    decisions = (read_object(path / "meta.json") or {}).get("decisions")
    if not isinstance(decisions, dict):
        return None
    return decisions


def describe(changed: Mapping[str, tuple[Any, Any]]) -> str:
    """Describe changes in one line: `--eval-every 200steps -> 50steps, ranks 2 -> 1`."""
    return ", ".join(f"{name} {_shown(old)} -> {_shown(new)}" for name, (old, new) in changed.items())


def _shown(value: Any) -> str:
    items = [value]
    if isinstance(value, list):
        items = value
    return " ".join(shlex.quote(str(item)) for item in items) or "(nothing)"


def flag(name: str) -> str:
    """Name the flag of an option."""
    return "--" + name.replace("_", "-")


def drop_superseded(metrics: Path, step: int) -> int:
    """Remove the records of later steps than `step`, which a resumed run makes anew; returns how many there were.

    So there is one record for each step, and a curve drawn from the file never runs backwards.
    """
    if not metrics.exists():
        return 0
    records = list(read_jsonl(metrics))
    current = [record for record in records if isinstance(record, dict) and record.get("step", 0) <= step]
    if len(current) < len(records):
        atomic_write_text(metrics, "".join(json_line(record) for record in current))
    return len(records) - len(current)


# -- Starting a stage ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stage:
    """A started stage: its ranks, its run directory, its tracker."""

    dist: DistInfo
    run: run_dir.RunDir
    tracker: trackers.Tracker


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, numpy and torch; code that matters has generators of its own."""
    import torch  # here, as options are parsed without it

    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def start_stage(
    stage: str,
    options: RunOptions,
    args: dict[str, Any],
    dist: DistInfo,
    decisions: dict[str, str],
    resumed: bool = False,
    step: int | None = None,
) -> Stage:
    """Make the run directory (rank 0 decides its name), the log and the tracker, and record how it was started.

    A run that is `resumed` goes on from `step`, by default that of the last checkpoint of a network of ours.

    Raises UserError if the directory holds another run already, unless that is `resumed`, if another process writes
    there, and if not all ranks see it.
    """
    # From rank 0 to all: a dated name would differ from one clock to the next.
    name: str | None = None
    if dist.is_main:
        name = str(run_dir.new_run_path(stage, options.run, options.run_dir))
    path = Path(broadcast_json(name))
    if broadcast_json((path / "args.json").exists()) and not resumed:
        raise UserError(f"--run-dir {path} holds a run already; choose another, or resume it")
    decisions = {**dist.decisions(), **decisions}
    if resumed and step is None:
        step = read_manifest(path)["step"]
    # Compared before `write_args` replaces what is compared with; locked before anything is written.
    changed: dict[str, tuple[Any, Any]] = {}
    if resumed:
        changed = changes(path, args, decisions)
    lock = take_lock(path, bool(args.get("force")))
    require_shared(path, dist)
    dropped = 0
    if step is not None and dist.is_main:
        dropped = drop_superseded(path / "metrics.jsonl", step)
    run = run_dir.RunDir(path, rank=dist.rank, lock=lock)
    log_name = f"log_r{dist.rank}.txt"
    if dist.is_main:
        log_name = "log.txt"
    run_dir.setup_logging(options.log_level, run.path / log_name, dist.rank)
    if dist.is_main:
        if resumed and saved_decisions(path) is None:
            log.warning("meta.json was damaged and is written anew: if device or ranks are others now is not known")
        run.write_args(args)
        run.write_meta(decisions)
        for name, decision in decisions.items():
            log.info("%s: %s", name, decision)
        if step is not None:
            run.event("resumed", step=step, changed=changed, records_dropped=dropped)
            note = ""
            if dropped:
                note = f" ({dropped} later metrics dropped)"
            log.info("going on from step %d%s", step, note)
        if changed:
            log.warning("other options than before: %s", describe(changed))
        (run.path / run_dir.FINISHED).unlink(missing_ok=True)
    tracker = trackers.make_tracker(
        options.loggers, stage, options.run, run_dir.without_secrets(args), dist.rank, run.path
    )
    return Stage(dist, run, tracker)


def take_lock(path: Path, force: bool) -> run_dir.RunLock | None:
    """Lock a run directory on rank 0; raises UserError on all ranks if another process holds it (a collective)."""
    locks: list[run_dir.RunLock] = []

    def take() -> None:
        path.mkdir(parents=True, exist_ok=True)
        locks.append(run_dir.RunLock(path, force))

    on_main(take)
    if not locks:
        return None
    return locks[0]


def require_shared(path: Path, dist: DistInfo, seconds: float = 10.0) -> None:
    """Make a run directory on rank 0, and raise UserError on all ranks if one does not see it (a collective).

    Ranks on other machines write their shares of checkpoints and their logs there. What another machine made may show
    after some `seconds` only.
    """
    # A name that no earlier run has left there, in a copy of the directory on another machine say.
    probe = path / broadcast_json(f".seen_by_all_{secrets.token_hex(8)}")

    def make() -> None:
        if dist.is_main:
            path.mkdir(parents=True, exist_ok=True)
            probe.touch()

    on_all_ranks(make)
    deadline = time.monotonic() + seconds
    while not probe.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
    own: str | None = None
    if not probe.exists():
        own = f"rank {dist.rank} on {platform.node()}"
    blind = [rank for rank in gather_json(own) if rank]
    if dist.is_main:  # after `gather_json`: all have looked
        probe.unlink(missing_ok=True)
    if blind:
        raise UserError(
            f"the run directory {path} is not seen by {', '.join(blind)}: all machines need the same file system there "
            "(NANOPROOF_HOME or --run-dir says where it is)"
        )


def start_ranks(options: RunOptions) -> DistInfo:
    """Join the other ranks and seed the generators."""
    dist = init_distributed(options.device.device_type)
    seed_everything(options.seed + dist.rank)
    return dist
