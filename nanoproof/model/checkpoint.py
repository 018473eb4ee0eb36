"""Checkpoints: `model_<step>.pt` with `model_<step>.json` beside it, optimizer state, and the tokenizer.

Several ranks write their shares of the optimizer state side by side, as `optim_<step>_r<rank>of<ranks>.pt`; any number
of ranks can take them up again. The JSON is written last, when all files are on disk, and says which belong together,
with the SHA-256 of each: without it there is no checkpoint, and the one before is the latest.
Of a network with adapters (`lora.py`) the adapters alone are written; the manifest names their base.

An exported network (`scripts.export_model`) is a checkpoint too, without optimizer state: its manifest is
`config.json`, its weights are `model.safetensors`.
"""

import hashlib
import io
import pickle
import re
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, cast

import safetensors.torch
import torch
from safetensors import SafetensorError

from nanoproof.common.config import to_dict
from nanoproof.common.distributed import DistInfo, gather_json, on_all_ranks
from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write, atomic_write_json, file_sha256, sync_directory
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.model.checkpoint_files import (
    find_checkpoint,
    finished_steps,
    read_manifest,
    recorded_digest,
    weights_sha256,
)
from nanoproof.model.gpt import GPT, GPTConfig
from nanoproof.model.lora import LoraSettings, adapter_state, add_adapters, merge_adapters, settings_of
from nanoproof.model.optim import MuonAdamW
from nanoproof.model.tokenizer import TOKENIZER_FILE, Tokenizer

FILE_NAME = re.compile(r"(?:model_(\d+)\.(?:pt|json)|optim_(\d+)(?:_r\d+of\d+)?\.pt)")
TEMPORARY_NAME = re.compile(rf"\.{FILE_NAME.pattern}\.[0-9a-f]+\.tmp")
FRESH_HINT = "--resume-fresh-optimizer continues with fresh optimizer state"


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
    call it together, with the same arguments; an error on one (a full disk) is raised on all.
    """
    directory = Path(directory)
    rank, world_size = (dist.rank, dist.world_size) if dist is not None else (0, 1)
    weights, shares = (
        directory / f"model_{step}.pt",
        _optimizer_names(step, world_size) if optimizer is not None else [],
    )
    manifest = weights.with_suffix(".json")
    digests: dict[str, str] = {}
    adapters = settings_of(model)
    contents = {
        "step": step,
        "config": to_dict(model.config),
        **({} if adapters is None else {"lora": adapters.to_json()}),
        "weights": weights.name,
        "optimizer": shares,
        "tokenizer": TOKENIZER_FILE,
        "extra": extra or {},
    }

    def begin() -> None:
        if rank == 0:  # files that are replaced belong to no checkpoint
            manifest.unlink(missing_ok=True)

    def write() -> None:
        if rank == 0:
            tokenizer.save(directory / TOKENIZER_FILE)
            digests[TOKENIZER_FILE] = file_sha256(directory / TOKENIZER_FILE)
            state = model.state_dict() if adapters is None else adapter_state(model)
            digests[weights.name] = _write_tensors(weights, state)
        if optimizer is not None:
            digests[shares[rank]] = _write_tensors(directory / shares[rank], optimizer.state_dict())
        sync_directory(directory)

    def finish() -> None:
        if rank == 0:
            atomic_write_json(manifest, {**contents, "sha256": digests})
            sync_directory(directory)
            _remove(directory, lambda found: found == step, keep={weights.name, manifest.name, *shares})

    on_all_ranks(begin)
    on_all_ranks(write)
    for theirs in gather_json(digests):
        digests.update(theirs)
    on_all_ranks(finish)
    return weights


def _optimizer_names(step: int, world_size: int) -> list[str]:
    if world_size == 1:
        return [f"optim_{step}.pt"]
    return [f"optim_{step}_r{rank}of{world_size}.pt" for rank in range(world_size)]


def _write_tensors(path: Path, state: dict[str, Any]) -> str:
    """Write what `torch.load` reads; returns the SHA-256 of the file."""
    digest = hashlib.sha256()
    atomic_write(path, lambda file: _save_tensors(state, _WatchedFile(file, digest)))
    return digest.hexdigest()


def _save_tensors(state: dict[str, Any], file: "_WatchedFile") -> None:
    """Call `torch.save`, which hides why a file cannot be written (a full disk) behind an error of its own."""
    try:
        torch.save(state, cast(IO[bytes], file))
    except RuntimeError as error:
        raise file.problem or error from None


class _WatchedFile(io.RawIOBase):
    """A file that remembers what went wrong, and adds what is written to a digest: nothing is written out of order."""

    def __init__(self, file: IO[bytes], digest: "hashlib._Hash") -> None:
        self._file, self._digest = file, digest
        self.problem: OSError | None = None

    def write(self, data: Any) -> int:
        self._digest.update(data)
        try:
            return self._file.write(data)
        except OSError as error:
            self.problem = error
            raise


def prune_checkpoints(directory: Path, keep: int | None, protect: Collection[int] = ()) -> list[int]:
    """Delete all checkpoints but the newest `keep` (None: all stay) and those of the steps in `protect`.

    With them goes what a killed run left of older ones. Returns the steps that were deleted. One rank calls it.
    """
    finished = finished_steps(directory)
    if keep is None or not finished:
        return []
    assert keep > 0
    doomed = [step for step in finished[:-keep] if step not in protect]
    for step in doomed:
        (directory / f"model_{step}.json").unlink()
    sync_directory(directory)
    staying = {*finished, *protect} - {*doomed}
    _remove(directory, lambda step: step < finished[-1] and step not in staying)
    return doomed


def delete_checkpoints(directory: Path) -> None:
    """Delete all checkpoints of a directory, but for its tokenizer. One rank calls it."""
    for step in finished_steps(directory):
        (directory / f"model_{step}.json").unlink()
    sync_directory(directory)
    _remove(directory, lambda step: True)


def _remove(directory: Path, of_step: Callable[[int], bool], keep: Collection[str] = ()) -> None:
    """Delete the files of a checkpoint, finished or not, of these steps."""
    for file in directory.iterdir():
        match = FILE_NAME.fullmatch(file.name) or TEMPORARY_NAME.fullmatch(file.name)
        if match is not None and file.name not in keep and of_step(int(match[1] or match[2])):
            file.unlink()


def load_model(
    path: Path | str, device: torch.device | str = "cpu", compute_dtype: torch.dtype = torch.float32
) -> tuple[GPT, Tokenizer, dict[str, Any]]:
    """Load model, tokenizer and manifest (`step`, `config`, `extra` ...) of a checkpoint file or a directory's latest.

    Adapters are merged into their base: the model is a plain one. Raises UserError naming what is missing, damaged or
    does not fit. What the manifest has no digest of (as those of older checkpoints) is taken as it is.
    """
    model, tokenizer, manifest = load_trained(path, device, compute_dtype)
    if settings_of(model) is not None:
        merge_adapters(model)
    return model, tokenizer, manifest


def load_trained(
    path: Path | str, device: torch.device | str = "cpu", compute_dtype: torch.dtype = torch.float32
) -> tuple[GPT, Tokenizer, dict[str, Any]]:
    """Load as `load_model` does, with adapters as they were trained, beside their base."""
    manifest_path = find_checkpoint(path)
    manifest = read_manifest(manifest_path)
    try:
        config = GPTConfig(**{"num_kv_heads": None, **manifest["config"]})
        weights, tokenizer_file = manifest_path.parent / manifest["weights"], manifest["tokenizer"]
        for name in (tokenizer_file, weights.name):
            _check_digest(manifest_path, manifest, name)
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{manifest_path} does not describe a checkpoint: {error}") from error
    tokenizer = Tokenizer.load(manifest_path.parent / tokenizer_file)
    if tokenizer.vocab_size != config.vocab_size:
        raise UserError(
            f"{manifest_path.parent / tokenizer_file} has {tokenizer.vocab_size} tokens, the model {config.vocab_size}"
        )
    if "lora" in manifest:
        model = _load_base(manifest_path, manifest, config, device, compute_dtype)
        load_adapters(model, _load_tensors(weights), str(weights))
        return model, tokenizer, manifest
    tensors = _load_tensors(weights)
    if sum(tensor.numel() for tensor in tensors.values()) < config.fewest_parameters:  # nor has memory room for it
        raise UserError(f"{weights} is of another network: {manifest_path.name} describes a larger one")
    model = GPT.allocate(config, device, compute_dtype)
    load_weights(model, tensors, str(weights))
    return model, tokenizer, manifest


def _load_base(
    manifest_path: Path, manifest: dict[str, Any], config: GPTConfig, device: torch.device | str, dtype: torch.dtype
) -> GPT:
    """Load the base of adapters, which may be a base with adapters itself, and put fresh ones into it."""
    try:
        settings = LoraSettings.from_json(manifest["lora"])
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{manifest_path} does not describe adapters: {error}") from error
    about = f"{manifest_path.with_suffix('.pt')} holds adapters of {settings.base}"
    try:
        base = find_checkpoint(resolve_model_path(settings.base))
    except UserError as error:
        raise UserError(
            f"{about}, which is not there; put it back, or use a merged copy (export_model --merge)"
        ) from error
    found = weights_sha256(base)
    if found != settings.base_sha256:
        raise UserError(
            f"{about}, whose weights are others now: their SHA-256 is {found[:12]}..., "
            f"and was {settings.base_sha256[:12]}..."
        )
    model, _, _ = load_model(base, device, dtype)
    if replace(model.config, prefix_lm=config.prefix_lm) != config:
        raise UserError(f"{about}, but its network is of another shape")
    model.config = config
    add_adapters(model, settings)
    return model


def load_adapters(model: GPT, state: dict[str, torch.Tensor], source: str) -> None:
    """Copy adapters into a model that has such. Raises UserError naming those that are missing or do not fit."""
    frozen = {name: tensor for name, tensor in model.state_dict().items() if ".lora_" not in name}
    load_weights(model, {**frozen, **state}, source)


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


def _check_digest(manifest_path: Path, manifest: dict[str, Any], name: str) -> None:
    """Raise UserError if a file of a checkpoint is not the one that was written, to the last bit."""
    recorded = recorded_digest(manifest, name)
    file = manifest_path.parent / name
    if recorded is not None and file.is_file() and file_sha256(file) != recorded:
        raise UserError(f"{file} is damaged: its SHA-256 is not the one that {manifest_path.name} records")


def load_optimizer(path: Path | str, optimizer: MuonAdamW, dist: DistInfo | None = None) -> None:
    """Restore the optimizer state that was saved with a checkpoint, by however many ranks.

    With several ranks all call it together; each looks whether some of the files are undamaged. Raises UserError naming
    what is missing, damaged or does not fit.
    """
    manifest_path = find_checkpoint(path)
    manifest = read_manifest(manifest_path)
    names = manifest.get("optimizer")
    if not names:
        raise UserError(f"{manifest_path} was saved without optimizer state; {FRESH_HINT}")
    rank, world_size = (dist.rank, dist.world_size) if dist is not None else (0, 1)

    def check() -> None:
        for name in names[rank::world_size]:
            _check_digest(manifest_path, manifest, name)

    try:
        on_all_ranks(check)
        optimizer.load_state_dicts([_load_tensors(manifest_path.parent / name) for name in names])
    except (TypeError, ValueError) as error:
        raise UserError(f"{manifest_path}: {error}; {FRESH_HINT}") from error
    except UserError as error:
        raise UserError(f"{error}; {FRESH_HINT}") from error


def _load_tensors(path: Path) -> dict[str, Any]:
    """Read what `torch.save` wrote; tensors stay on disk until they are used: ranks read only what they need."""
    tensors: dict[str, Any]
    try:
        if path.suffix == ".safetensors":
            tensors = safetensors.torch.load_file(path)
        else:
            tensors = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
    except FileNotFoundError as error:
        raise UserError(f"no such file: {path}") from error
    except (RuntimeError, EOFError, ValueError, pickle.UnpicklingError, OSError, SafetensorError) as error:
        raise UserError(f"{path} is damaged or not a checkpoint: {str(error).splitlines()[0]}") from error
    return tensors


SMALL_PARAMETERS = 10_000_000
"""A network with fewer parameters is small: its recipes were measured at one million."""


def config_at(spec: str) -> GPTConfig | None:
    """Return the shape of the network at a path; None for what is none of ours.

    Raises nothing: whoever loads a network says what is wrong with it.
    """
    try:
        config = read_manifest(resolve_model_path(spec)).get("config")
        return GPTConfig(**{"num_kv_heads": None, **(config or {})})
    except (UserError, TypeError, ValueError):
        return None


def small_network(spec: str) -> int | None:
    """Return how many parameters the small network at a path has; None for a large one, or what is none of ours."""
    config = config_at(spec)
    if config is None or config.fewest_parameters >= SMALL_PARAMETERS:
        return None
    with torch.device("meta"):  # counted without memory for them
        parameters = GPT(config).num_parameters()
    if parameters >= SMALL_PARAMETERS:
        return None
    return parameters
