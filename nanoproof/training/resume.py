"""Going on with a run: the options it was started with, which of them may change, and what was written too far."""

import argparse
import shlex
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nanoproof.common.config import Parser, options_of
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_text, json_line, read_jsonl, read_object
from nanoproof.common.run_dir import resolve_model_path, resolve_run_dir
from nanoproof.gpt.checkpoint import read_manifest
from nanoproof.training.options import ModelOptions

START_OPTIONS = ("model_path", "resume_from", "resume_fresh_optimizer", "force", "run_dir")
"""What says how a run starts; a resumed run does not take it over."""
FIXED_OPTIONS = ("seed",)
"""What a resumed run cannot change, beside the shape of the model: the order of the data depends on it."""
SURROUNDINGS = ("device", "dtype", "ranks")
"""Decisions in `meta.json` whose change is worth a line."""


def parse_resumable(parser: Parser, argv: list[str] | None) -> argparse.Namespace:
    """Parse a command line; with `--resume-from`, options that are not given are those of the resumed run.

    Raises UserError for options that clash with the checkpoint to start from.
    """
    args = parser.parse_args(argv)
    given = given_options(parser, argv, vars(args))
    shape = {option.dest: given[option.dest] for option in options_of(ModelOptions) if option.dest in given}
    if args.resume_from is None:
        if args.model_path is not None and shape:
            check_shape(shape, resolve_model_path(args.model_path), f"--model-path {args.model_path}")
        return args
    if args.model_path is not None:
        raise UserError("--model-path starts a new run and --resume-from goes on with one: they clash; give one")
    if args.run_dir is not None:
        raise UserError("--run-dir clashes with --resume-from: a resumed run goes on in its own directory")
    run_path = resolve_run_dir(args.resume_from, "--resume-from")
    origin = f"--resume-from {args.resume_from}"
    saved = saved_options(run_path, origin)
    for name in FIXED_OPTIONS:
        if name in given and name in saved and given[name] != saved[name]:
            raise UserError(f"{flag(name)} {given[name]} clashes with {origin}: that run has {saved[name]}")
    if shape.get("tokenizer") == saved.get("tokenizer"):
        shape.pop("tokenizer", None)
    check_shape(shape, run_path, origin)
    parser.set_defaults(**{name: value for name, value in saved.items() if name in args and name not in START_OPTIONS})
    args = parser.parse_args(argv)
    args.run_dir = str(run_path)
    return args


def saved_options(run_path: Path, origin: str) -> dict[str, Any]:
    """The options that a run was started with. Raises UserError that says how to go on without them."""
    file = run_path / "args.json"
    if not file.exists():
        raise UserError(f"{origin}: no args.json there; its weights can start a new run")
    saved = read_object(file)
    if saved is None:
        raise UserError(
            f"{origin}: {file} is damaged, which holds the options of the run; write {{}} into it and give the options "
            "that were not the defaults again (meta.json beside it has the command)"
        )
    return saved


def given_options(parser: Parser, argv: list[str] | None, names: Collection[str]) -> dict[str, Any]:
    """The options that are on the command line, whether or not they have the values of the defaults."""
    missing = object()
    parsed = parser.parse_args(argv, argparse.Namespace(**dict.fromkeys(names, missing)))
    return {name: value for name, value in vars(parsed).items() if value is not missing}


def check_shape(shape: Mapping[str, Any], checkpoint: Path, origin: str) -> None:
    """Raise UserError for options of the model that say other things than the checkpoint, which brings its shape."""
    config = read_manifest(checkpoint)["config"] if shape else {}
    for name, value in shape.items():
        if name == "tokenizer":
            raise UserError(f"--tokenizer clashes with {origin}: a checkpoint brings its own")
        if value != config.get(name):
            own = config.get(name)
            raise UserError(f"{flag(name)} {value} clashes with {origin}: that model has {own}; leave it out")


def check_stage(manifest: dict[str, object], stage: str, path: Path) -> None:
    """Raise UserError unless a checkpoint's manifest was written by `stage`."""
    extra = manifest.get("extra")
    found = extra.get("stage") if isinstance(extra, dict) else None
    if found != stage:
        raise UserError(f"--resume-from {path} is a run of {found or 'another kind'}, not of {stage}")


def changes(path: Path, args: Mapping[str, Any], decisions: Mapping[str, str]) -> dict[str, tuple[Any, Any]]:
    """What differs from how the run in `path` was last started: `{"--eval-every": (before, now)}`."""
    saved = saved_options(path, f"--resume-from {path}")
    changed = {
        flag(name): (saved[name], plain)
        for name, value in args.items()
        if name in saved
        and name not in START_OPTIONS
        and saved[name] != (plain := list(value) if isinstance(value, tuple) else value)
    }
    before = saved_decisions(path) or {}
    for name in SURROUNDINGS:
        old, new = (str(source.get(name, "")).partition(" (")[0] for source in (before, decisions))
        if old and new and old != new:
            changed[name] = (old, new)
    return changed


def saved_decisions(path: Path) -> dict[str, Any] | None:
    """The decisions in a run's `meta.json`; None if that is damaged."""
    if not (path / "meta.json").exists():
        return {}
    decisions = (read_object(path / "meta.json") or {}).get("decisions")
    return decisions if isinstance(decisions, dict) else None


def describe(changed: Mapping[str, tuple[Any, Any]]) -> str:
    """The changes in one line: `--eval-every 200steps -> 50steps, ranks 2 -> 1`."""
    return ", ".join(f"{name} {_shown(old)} -> {_shown(new)}" for name, (old, new) in changed.items())


def _shown(value: Any) -> str:
    words = value if isinstance(value, list) else [value]
    return " ".join(shlex.quote(str(word)) for word in words) or "(nothing)"


def flag(name: str) -> str:
    """The flag of an option."""
    return "--" + name.replace("_", "-")


def drop_superseded(metrics: Path, step: int) -> int:
    """Remove the records of later steps than `step`, which a resumed run makes anew; returns how many there were.

    So there is one record for each step, and a curve drawn from the file never runs backwards.
    """
    if not metrics.exists():
        return 0
    records = list(read_jsonl(metrics))
    kept = [record for record in records if record.get("step", 0) <= step]
    if len(kept) < len(records):
        atomic_write_text(metrics, "".join(json_line(record) for record in kept))
    return len(records) - len(kept)
