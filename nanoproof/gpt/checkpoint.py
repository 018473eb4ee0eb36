"""Checkpoints: `model_<step>.pt` with `model_<step>.json` beside it, `optim_<step>.pt`, and the tokenizer.

The JSON is written last and says which files belong together, so a checkpoint without it is an unfinished one.
"""

import pickle
import re
from pathlib import Path
from typing import Any

import torch

from nanoproof.common.config import to_dict
from nanoproof.common.dist import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, read_json
from nanoproof.gpt.model import GPT, GPTConfig
from nanoproof.gpt.optim import MuonAdamW
from nanoproof.gpt.tokenizer import TOKENIZER_FILE, Tokenizer

CHECKPOINT_NAME = re.compile(r"model_(\d+)\.(?:pt|json)")


def save_checkpoint(
    directory: Path,
    step: int,
    model: GPT,
    tokenizer: Tokenizer,
    optimizer: MuonAdamW | None = None,
    extra: dict[str, Any] | None = None,
    dist: DistInfo | None = None,
) -> Path:
    """Write weights, tokenizer and (if given) optimizer state; returns the path of the weights.

    `extra` is JSON data (stage, metrics, the data seen so far ...) that `load_model` hands back. With several ranks all
    call it together, with the same arguments.
    """
    directory = Path(directory)
    weights, optimizer_file = directory / f"model_{step}.pt", directory / f"optim_{step}.pt"
    if dist is not None and not dist.is_main:
        return weights
    tokenizer.save(directory / TOKENIZER_FILE)
    state = model.state_dict()
    atomic_write(weights, lambda file: torch.save(state, file))
    if optimizer is not None:
        optimizer_state = optimizer.state_dict()
        atomic_write(optimizer_file, lambda file: torch.save(optimizer_state, file))
    manifest = {
        "step": step,
        "config": to_dict(model.config),
        "weights": weights.name,
        "optimizer": optimizer_file.name if optimizer is not None else None,
        "tokenizer": TOKENIZER_FILE,
        "extra": extra or {},
    }
    atomic_write_json(weights.with_suffix(".json"), manifest)
    return weights


def find_checkpoint(path: Path | str) -> Path:
    """The manifest (JSON) of a checkpoint: of this file, or of the latest step in this directory.

    Raises UserError where there is no finished checkpoint.
    """
    path = Path(path)
    if path.is_dir():
        steps = {int(match[1]): file for file in path.iterdir() if (match := CHECKPOINT_NAME.fullmatch(file.name))}
        finished = [step for step in steps if (path / f"model_{step}.json").exists()]
        if not finished:
            raise UserError(f"no checkpoint (model_<step>.pt with model_<step>.json) in {path}")
        return path / f"model_{max(finished)}.json"
    manifest = path.with_suffix(".json")
    if CHECKPOINT_NAME.fullmatch(path.name) is None or not manifest.exists():
        raise UserError(f"no checkpoint at {path}: expected a directory, or model_<step>.pt with its .json beside it")
    return manifest


def read_manifest(path: Path | str) -> dict[str, Any]:
    """The manifest of a checkpoint file or of the latest in a directory (`step`, `config`, `extra` ...)."""
    manifest: dict[str, Any] = read_json(find_checkpoint(path))
    return manifest


def load_model(
    path: Path | str, device: torch.device | str = "cpu", compute_dtype: torch.dtype = torch.float32
) -> tuple[GPT, Tokenizer, dict[str, Any]]:
    """Model, tokenizer and manifest (`step`, `config`, `extra` ...) of a checkpoint file or the latest in a directory.

    Raises UserError naming what is missing, damaged or does not fit.
    """
    manifest_path = find_checkpoint(path)
    manifest = read_json(manifest_path)
    try:
        config = GPTConfig(**manifest["config"])
        weights, tokenizer_file = manifest_path.parent / manifest["weights"], manifest["tokenizer"]
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{manifest_path} does not describe a checkpoint: {error}") from error
    tokenizer = Tokenizer.load(manifest_path.parent / tokenizer_file)
    if tokenizer.vocab_size != config.vocab_size:
        raise UserError(
            f"{manifest_path.parent / tokenizer_file} has {tokenizer.vocab_size} tokens, the model {config.vocab_size}"
        )
    model = GPT.allocate(config, device, compute_dtype)
    load_weights(model, _load_tensors(weights), str(weights))
    return model, tokenizer, manifest


def load_weights(model: GPT, state: dict[str, torch.Tensor], source: str) -> None:
    """Copy weights into the model. Raises UserError naming the parameters that are missing, unknown or misshapen."""
    own = model.state_dict()
    problems = [f"{name} is missing" for name in own if name not in state]
    problems += [f"{name} is unknown to the model" for name in state if name not in own]
    problems += [
        f"{name} has shape {tuple(state[name].shape)}, the model's is {tuple(own[name].shape)}"
        for name in own
        if name in state and state[name].shape != own[name].shape
    ]
    if problems:
        raise UserError(f"{source} does not fit the model: {'; '.join(problems[:5])}")
    model.load_state_dict(state)


def load_optimizer(path: Path | str, optimizer: MuonAdamW) -> None:
    """Restore the optimizer state that was saved with a checkpoint. Raises UserError if there is none or it misfits."""
    manifest_path = find_checkpoint(path)
    name = read_json(manifest_path).get("optimizer")
    if name is None:
        raise UserError(f"{manifest_path} was saved without optimizer state")
    file = manifest_path.parent / name
    try:
        optimizer.load_state_dicts([_load_tensors(file)])
    except (KeyError, ValueError) as error:
        raise UserError(f"{file}: {error}") from error


def _load_tensors(path: Path) -> dict[str, Any]:
    try:
        tensors: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (RuntimeError, EOFError, pickle.UnpicklingError, OSError) as error:
        raise UserError(f"{path} is damaged or not a checkpoint: {str(error).splitlines()[0]}") from error
    return tensors
