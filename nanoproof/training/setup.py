"""What every stage does before its loop: seeds, run directory, log, and a model that is loaded or made."""

import logging
import platform
import random
import secrets
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.config import to_dict
from nanoproof.common.dist import DistInfo, broadcast_json, gather_json, init_distributed, on_main, together
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import (
    FINISHED,
    RunDir,
    RunLock,
    home,
    new_run_path,
    resolve_model_path,
    setup_logging,
    without_secrets,
)
from nanoproof.common.tracker import Tracker, make_tracker
from nanoproof.gpt.checkpoint import load_model, read_manifest
from nanoproof.gpt.model import GPT, GPTConfig
from nanoproof.gpt.tokenizer import Tokenizer
from nanoproof.training.options import ModelOptions, RunOptions
from nanoproof.training.resume import changes, describe, drop_superseded, saved_decisions

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Stage:
    """A started stage: where it runs, where it writes, whom it reports to."""

    dist: DistInfo
    run: RunDir
    tracker: Tracker


def seed_everything(seed: int) -> None:
    """Seed the global generators of Python, numpy and torch; code that matters has generators of its own."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def load_or_build_model(
    options: ModelOptions, model_path: str | None, dist: DistInfo, seed: int
) -> tuple[GPT, Tokenizer]:
    """Load `model_path`, or make a model with fresh weights (the same on all ranks) for the tokenizer of `options`.

    Raises UserError if the checkpoint or the tokenizer is missing or of another shape.
    """
    if model_path is not None:
        model, tokenizer, _ = load_model(resolve_model_path(model_path), dist.device, dist.dtype)
        return model, tokenizer
    tokenizer = Tokenizer.load(Path(options.tokenizer) if options.tokenizer else home() / "tokenizer")
    try:
        config = GPTConfig(vocab_size=tokenizer.vocab_size, **to_dict(options.network))
    except ValueError as error:
        raise UserError(str(error)) from error
    torch.manual_seed(seed)
    return GPT.create(config, dist.device, dist.dtype), tokenizer


def start_stage(
    stage: str,
    options: RunOptions,
    args: dict[str, Any],
    dist: DistInfo,
    decisions: dict[str, str],
    resumed: bool = False,
) -> Stage:
    """Make the run directory (rank 0 decides its name), the log and the tracker, and write down how it was started.

    Raises UserError if the directory holds another run already, unless that is `resumed`, if another process writes
    there, and if not all ranks see it.
    """
    path = Path(broadcast_json(str(new_run_path(stage, options.run, options.run_dir)) if dist.is_main else None))
    if broadcast_json((path / "args.json").exists()) and not resumed:
        raise UserError(f"--run-dir {path} holds a run already; choose another, or resume it")
    decisions = {**dist.decisions(), **decisions}
    step = read_manifest(path)["step"] if resumed else None
    changed = changes(path, args, decisions) if resumed else {}
    lock = take_lock(path, bool(args.get("force")))
    require_shared(path, dist)
    dropped = drop_superseded(path / "metrics.jsonl", step) if step is not None and dist.is_main else 0
    run = RunDir(path, rank=dist.rank, lock=lock)
    log_name = "log.txt" if dist.is_main else f"log_r{dist.rank}.txt"
    setup_logging(options.log_level, run.path / log_name, dist.rank)
    if dist.is_main:
        if resumed and saved_decisions(path) is None:
            log.warning("meta.json was damaged and is written anew: if device or ranks are others now is not known")
        run.write_args(args)
        run.write_meta(decisions)
        for name, decision in decisions.items():
            log.info("%s: %s", name, decision)
        if step is not None:
            run.event("resumed", step=step, changed=changed, records_dropped=dropped)
            log.info("going on from step %d%s", step, f" ({dropped} later metrics dropped)" if dropped else "")
        if changed:
            log.warning("other options than before: %s", describe(changed))
        (run.path / FINISHED).unlink(missing_ok=True)
    tracker = make_tracker(options.loggers, stage, options.run, without_secrets(args), dist.rank, run.path)
    return Stage(dist, run, tracker)


def take_lock(path: Path, force: bool) -> RunLock | None:
    """The lock of a run directory, on rank 0; UserError on all ranks if another process has it (a collective)."""
    locks: list[RunLock] = []

    def take() -> None:
        path.mkdir(parents=True, exist_ok=True)
        locks.append(RunLock(path, force))

    on_main(take)
    return locks[0] if locks else None


def require_shared(path: Path, dist: DistInfo, seconds: float = 10.0) -> None:
    """Make a run directory on rank 0, and raise UserError on all ranks if one does not see it (a collective).

    Ranks on other machines write their shares of checkpoints and their logs there. What another machine made may show
    after some `seconds` only.
    """
    probe = path / broadcast_json(f".seen_by_all_{secrets.token_hex(8)}")

    def make() -> None:
        if dist.is_main:
            path.mkdir(parents=True, exist_ok=True)
            probe.touch()

    together(make)
    deadline = time.monotonic() + seconds
    while not (seen := probe.exists()) and time.monotonic() < deadline:
        time.sleep(0.2)
    blind = [place for place in gather_json(None if seen else f"rank {dist.rank} on {platform.node()}") if place]
    if dist.is_main:
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
