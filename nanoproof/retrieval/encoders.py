"""Encoders: what makes vectors of proof states and premises, for retrieval and for training it.

FOLDER, sft/<run>, model_<step>.pt     a network of ours: the mean of its last activations over BOS and the text
hf:PATH_OR_ID                          a network of transformers: the mean of its last hidden states over the tokens
                                       (of an encoder-decoder its encoder's), as ReProver's retriever does
words                                  no network: how often a text has each word, rare words weighing more (TF-IDF)

All have length 1, so that a product of two is their cosine. A folder of `python -m nanoproof.retrieval` has its
encoder in `encoder/`.

Shapes: N texts, L tokens of the longest, C channels.
"""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F

from nanoproof.common.errors import UserError
from nanoproof.common.files import atomic_write_json, read_object
from nanoproof.common.run_dir import exported_folder, resolve_model_path
from nanoproof.inference.hf_loading import (
    encoder_class,
    load_tokenizer,
    load_weights,
    load_whole_settings,
    loading,
    transformers_library,
)
from nanoproof.model.checkpoint import load_model, save_checkpoint
from nanoproof.model.checkpoint_files import find_checkpoint
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.retrieval.folders import ENCODER_FOLDER, PREFIX, RETRIEVER_FILE, WORDS, retriever_folder
from nanoproof.retrieval.vectors import Encoder, WordEncoder

MAX_TOKENS = 512
"""How many tokens of a text are read where nothing else is said."""


def _mean(hidden_NLC: torch.Tensor, mask_NL: torch.Tensor) -> torch.Tensor:
    """Return the mean over the tokens that count, of length 1, float32 (N, C)."""
    # In float32 whatever the network computes in: bfloat16 has eight bits, which a sum over hundreds of tokens loses.
    weights_NL1 = mask_NL[..., None].float()
    means_NC = (hidden_NLC.float() * weights_NL1).sum(1) / weights_NL1.sum(1)
    return F.normalize(means_NC, dim=-1)


def _parameters_digest(parameters: Sequence[torch.Tensor], how: str) -> str:
    digest = hashlib.sha256(how.encode())
    for parameter in parameters:
        # As float32, since numpy has no bfloat16.
        digest.update(parameter.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


# -- Ours ------------------------------------------------------------------------------------------------------------


class OwnEncoder:
    """A network of ours; of a longer text it reads the end."""

    def __init__(self, model: GPT, tokenizer: Tokenizer, max_tokens: int = MAX_TOKENS) -> None:
        self.model, self.tokenizer = model, tokenizer
        self.max_tokens = min(max_tokens, model.config.sequence_len)

    @property
    def identity(self) -> str:
        return _parameters_digest(list(self.model.state_dict().values()), f"own {self.max_tokens}")

    @property
    def device(self) -> torch.device:
        return self.model.device

    def parameters(self) -> list[torch.nn.Parameter]:
        """Return all parameters but those of the head, which vectors do not depend on."""
        return [parameter for name, parameter in self.model.named_parameters() if not name.startswith("head.")]

    def training(self, on: bool) -> None:
        self.model.train(on)

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        # The end, since the goal of a state stands there, behind its hypotheses.
        rows = [[self.tokenizer.bos, *tokens][-self.max_tokens :] for tokens in self.tokenizer.encode_batch(texts)]
        tokens_NL = torch.full((len(rows), max(map(len, rows))), self.tokenizer.pad)
        mask_NL = torch.zeros_like(tokens_NL)
        for number, row in enumerate(rows):
            tokens_NL[number, : len(row)], mask_NL[number, : len(row)] = torch.tensor(row), 1
        hidden_NLC = self.model.hidden(tokens_NL.to(self.device))  # causal: padding on the right changes nothing
        return _mean(hidden_NLC, mask_NL.to(self.device))

    def save(self, folder: Path) -> None:
        save_checkpoint(folder, 0, self.model, self.tokenizer, extra={"stage": "retrieval"})


# -- Transformers ----------------------------------------------------------------------------------------------------


class HFEncoder:
    """A network of transformers; texts are cut as its tokenizer does."""

    def __init__(self, source: str, max_tokens: int = MAX_TOKENS, device: torch.device | str = "cpu") -> None:
        """Load from a folder, or by id from the hub; code that comes with it never runs. Raises UserError."""
        library, folder = transformers_library(), str(Path(source).expanduser())
        source = folder if Path(folder).is_dir() else source
        with loading(f"{PREFIX}{source}", folder=source):
            config = load_whole_settings(library, source)
            kind = encoder_class(library, config)
            is_encoder = kind is library.AutoModelForTextEncoding
            network = load_weights(kind, source, "none", dtype=torch.float32)
            self.tokenizer = load_tokenizer(library, source)
        self.network = network.to(device).eval()
        # Decoders often have none. Any token will do: the mask leaves it out of attention and of the mean.
        if self.tokenizer.pad_token_id is None:
            self.tokenizer.pad_token = self.tokenizer.eos_token
        if self.tokenizer.pad_token_id is None:
            raise UserError(f"{PREFIX}{source}: its tokenizer has neither a padding token nor one that ends a text")
        # Learned positions end there; networks with relative ones, as T5, name no such number.
        positions = getattr(config, "max_position_embeddings", None)
        self.max_tokens = min(max_tokens, positions or max_tokens)
        self._encoder_decoder = bool(config.is_encoder_decoder) and not is_encoder

    @property
    def identity(self) -> str:
        return _parameters_digest(list(self.network.state_dict().values()), f"hf {self.max_tokens}")

    @property
    def device(self) -> torch.device:
        return self.network.device

    def parameters(self) -> list[torch.nn.Parameter]:
        return list(self._body.parameters())

    @property
    def _body(self) -> Any:
        if self._encoder_decoder:
            return self.network.get_encoder()
        return self.network

    def training(self, on: bool) -> None:
        self.network.train(on)

    def encode(self, texts: Sequence[str]) -> torch.Tensor:
        read = self.tokenizer(
            [text or " " for text in texts],  # some tokenizers make no token at all of no text
            padding=True,
            truncation=True,
            max_length=self.max_tokens,
            padding_side="right",  # on the left, as decoders' tokenizers pad, all positions would shift
            return_tensors="pt",
        )
        tokens_NL, mask_NL = read["input_ids"].to(self.device), read["attention_mask"].to(self.device)
        return _mean(self._body(input_ids=tokens_NL, attention_mask=mask_NL).last_hidden_state, mask_NL)

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.network.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def open_encoder(
    spec: str, max_tokens: int | None = None, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> Encoder:
    """Open an encoder by its SPEC, or that of a retriever's folder; `dtype` is for networks of ours.

    Without `max_tokens` a retriever reads as many as it did, others `MAX_TOKENS`. Raises UserError.
    """
    folder = retriever_folder(spec)
    if folder is not None:
        about = read_object(folder / RETRIEVER_FILE) or {}
        inside = folder / ENCODER_FOLDER
        # As in its training: the index has vectors of texts that were cut there.
        most = max_tokens or about.get("max_tokens")
        if not isinstance(most, int):
            most = MAX_TOKENS
        if about.get("kind") == "hf":
            return HFEncoder(str(inside), most, device)
        if about.get("kind") == WORDS:
            return WordEncoder.load(inside)
        model, tokenizer, _ = load_model(find_checkpoint(inside), device, dtype)
        return OwnEncoder(model, tokenizer, most)
    # An export of a network of ours is opened as what it is, below, with its own tokenizer.
    if spec.startswith(PREFIX) and exported_folder(spec) is None:
        if spec == PREFIX:
            raise UserError("--encoder hf:: expected hf:PATH_OR_ID")
        return HFEncoder(spec.removeprefix(PREFIX), max_tokens or MAX_TOKENS, device)
    if spec.startswith("openai:"):
        raise UserError(f"--encoder {spec}: an endpoint gives no vectors here; expected a checkpoint or hf:PATH_OR_ID")
    try:
        model, tokenizer, _ = load_model(find_checkpoint(resolve_model_path(spec)), device, dtype)
    except UserError as error:
        # Other commands name a network by that flag.
        raise UserError(str(error).replace("--model-path", "--encoder", 1)) from error
    return OwnEncoder(model, tokenizer, max_tokens or MAX_TOKENS)


def save_encoder(encoder: Encoder, folder: Path, about: dict[str, Any]) -> None:
    """Write an encoder to the folder of a retriever; `retriever.json`, with `about`, comes last."""
    kind = "own"
    if isinstance(encoder, HFEncoder):
        kind = "hf"
    elif isinstance(encoder, WordEncoder):
        kind = WORDS
    encoder.save(folder / ENCODER_FOLDER)
    atomic_write_json(folder / RETRIEVER_FILE, {"kind": kind, "max_tokens": encoder.max_tokens, **about})


def parameter_groups(encoder: Encoder, lr: float, decay: float) -> Iterator[dict[str, Any]]:
    """Yield AdamW's groups: matrices decay, vectors and scalars do not."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for parameter in encoder.parameters():
        (matrices if parameter.ndim > 1 else others).append(parameter)
    yield {"params": matrices, "lr": lr, "weight_decay": decay}
    yield {"params": others, "lr": lr, "weight_decay": 0.0}
