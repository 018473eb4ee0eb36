"""Opening a language model by its SPEC, and the cache of what models wrote.

sft/<run>, FOLDER, model_<step>.pt     a checkpoint of ours
hf:PATH_OR_ID                          a model of transformers, from a folder or the hub; or a network of ours that was
                                       exported to such a folder, which is a checkpoint like any other
openai:http://host:port/v1#MODEL       a model behind an OpenAI-compatible endpoint
"""

import copy
import dataclasses
import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write
from nanoproof.common.run_dir import FOREIGN_SPECS, is_foreign, resolve_model_path
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import (
    GenerationOptions,
    LanguageModel,
    TextSample,
    Written,
    batches_at_once,
    has_values,
    write_valued,
)
from nanoproof.inference.model_options import EngineLimits, LanguageModelOptions
from nanoproof.inference.openai_model import OpenAIModel
from nanoproof.inference.own_model import OwnModel
from nanoproof.model.checkpoint import load_model
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256

log = logging.getLogger(__name__)


class IdentifiedModel(LanguageModel, Protocol):
    """A language model that says which weights it has; what it wrote may be kept under this identity."""

    identity: str


@contextmanager
def open_model(
    spec: str,
    options: LanguageModelOptions | None = None,
    *,
    chat: bool = False,
    system: str = "",
    special: bool | None = None,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    threads: int | None = None,
    limits: EngineLimits | None = None,
) -> Iterator[IdentifiedModel]:
    """Open a model; see above for `spec`. With `chat` prompts are messages of a user, behind one of the `system` if it
    is given. `special` says whether markers in prompts are control tokens: by default they are for checkpoints of ours,
    and not for endpoints, of which only our own server knows them.

    `dtype` and `limits` are for checkpoints of ours; `threads` of a CPU compute (default: half of the cores). Raises
    UserError for what cannot be opened.
    """
    options = options or LanguageModelOptions()
    kind, _, rest = spec.partition(":")
    model: IdentifiedModel
    if spec.startswith(FOREIGN_SPECS) and not rest:
        raise UserError(f"--model-path {spec}: expected hf:PATH_OR_ID or openai:http://host:port/v1#MODEL")
    if kind == "hf" and is_foreign(spec):
        model = HFModel(rest, options.hf, chat=chat, system=system, device=device, threads=threads)
    elif kind == "openai":
        base, _, name = rest.partition("#")
        model = OpenAIModel(base, name or None, options.endpoint, chat=chat, system=system, special=bool(special))
    else:
        if chat:
            raise UserError(f"--model-path {spec}: our checkpoints are no chat models; choose another --prompt-format")
        path = find_checkpoint(resolve_model_path(spec))
        network, tokenizer, _ = load_model(path, device, dtype)
        own = OwnModel(spec, network, tokenizer, limits, threads=threads, special=special is not False)
        own.identity = weights_sha256(path)
        model = own
    try:
        yield model if options.cache is None else CachedModel(model, Path(options.cache).expanduser(), chat, system)
    finally:
        model.close()


def as_text(model: LanguageModel) -> LanguageModel:
    """Return a model that reads control tokens in prompts as the text that they are; it is closed with the first."""
    if isinstance(model, CachedModel):
        cache = copy.copy(model)
        inner = as_text(model.model)
        assert isinstance(inner, OwnModel | HFModel | OpenAIModel)
        # Another identity: the same prompt is other tokens, and what is kept for one must not answer the other.
        cache.model, cache.identity = inner, f"{model.identity} text"
        return cache
    if isinstance(model, OwnModel | HFModel) and model.special:
        view = copy.copy(model)
        view.special = False
        return view
    return model


def with_system(model: LanguageModel, system: str) -> LanguageModel:
    """Return a chat model whose prompts follow another message of the system; it is closed with the first."""
    if not isinstance(model, CachedModel | HFModel | OpenAIModel):
        return model
    view = copy.copy(model)
    view.system = system
    if isinstance(view, CachedModel):
        inner = with_system(view.model, system)
        assert isinstance(inner, OwnModel | HFModel | OpenAIModel)
        view.model = inner
    return view


# -- The cache -------------------------------------------------------------------------------------------------------

CHUNK = 128
"""Prompts that a model is asked for at a time, so that a killed run keeps what came before."""


class CachedModel:
    """A model whose samples are kept in a folder, a file for each prompt, under a hash of all that decides them.

    The hash is over the model's identity, the prompt, the options and the seed. Any number of processes may share the
    folder. A file that is damaged counts as missing.
    """

    def __init__(self, model: IdentifiedModel, folder: Path, chat: bool = False, system: str = "") -> None:
        """Raises UserError if the folder cannot be made or written to."""
        self.model, self._folder, self._chat, self.system = model, folder, chat, system
        self.name, self.identity = model.name, model.identity
        self.hits = self.misses = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"--model-cache {folder}: {error.strerror}") from error
        if not os.access(folder, os.W_OK):
            raise UserError(f"--model-cache {folder}: no permission to write")

    def over(self, model: IdentifiedModel) -> "CachedModel":
        """Return the same cache over another model that writes the same."""
        cache = copy.copy(self)
        cache.model = model
        return cache

    @property
    def batches(self) -> int:
        """How many batches the model should be asked for at a time."""
        return batches_at_once(self.model)

    @property
    def has_values(self) -> bool:
        """Whether the model has a value head."""
        return has_values(self.model)

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Return what is kept, and ask the model for the rest; in order."""
        return [written.samples for written in self.generate_valued(prompts, options, seeds)]

    def generate_valued(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[Written]:
        """Return what is kept, with the values of a model that has a value head, and ask the model for the rest."""
        files = [self._file(prompt, options, seed) for prompt, seed in zip(prompts, seeds, strict=True)]
        answers = [_read(file, options.num_samples) for file in files]
        missing = [number for number, written in enumerate(answers) if written is None]
        self.hits += len(answers) - len(missing)
        self.misses += len(missing)
        for first in range(0, len(missing), CHUNK):
            numbers = missing[first : first + CHUNK]
            fresh = write_valued(
                self.model, [prompts[number] for number in numbers], options, [seeds[number] for number in numbers]
            )
            for number, written in zip(numbers, fresh, strict=True):
                _write(files[number], written)
                answers[number] = written
        return [written for written in answers if written is not None]

    def _file(self, prompt: str, options: GenerationOptions, seed: int) -> Path:
        what = [self.identity, self._chat, prompt, dataclasses.asdict(options), seed]
        if self.system:  # without one, the files of earlier versions go on to count
            what.append(self.system)
        name = hashlib.sha256(json.dumps(what, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()
        # 256 folders: file systems, and people, are slow with one of a million files.
        return self._folder / name[:2] / f"{name}.json"

    def score(self, prompt: str, continuation: str) -> float:
        """Ask the model; nothing is kept."""
        return self.model.score(prompt, continuation)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Ask the model; nothing is kept."""
        return self.model.embed(texts)

    def num_tokens(self, text: str) -> int:
        """Count as the model does."""
        return self.model.num_tokens(text)

    def close(self) -> None:
        """Close the model."""
        self.model.close()


def _read(file: Path, num_samples: int) -> Written | None:
    try:
        content: Any = json.loads(file.read_text(encoding="utf-8"))
        rows, value = content, ()
        if isinstance(content, dict):  # of a model with a value head
            rows, value = content["samples"], tuple(content["value"])
        samples = [TextSample(**row) for row in rows]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("%s is damaged and is written anew: %s", file, error)
        return None
    if len(samples) != num_samples:
        return None
    return Written(samples, value)


def _write(file: Path, written: Written) -> None:
    content: Any = [dataclasses.asdict(sample) for sample in written.samples]
    if written.value:
        content = {"samples": content, "value": written.value}
    data = json.dumps(content).encode()
    # Not synced to the disk: should the power fail, what is lost is drawn again.
    atomic_write(file, lambda opened: opened.write(data), sync=False)
