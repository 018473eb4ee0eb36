"""Models of the transformers library, in this process: decoders, encoder-decoders, and encoders that only embed.

All threads' prompts go through one thread, which takes as many together as wait and fit; `hf_decoding.py` writes.

Shapes: R rows (samples of prompts), L tokens of the longest prompt, K tokens of a continuation, V tokens of the
vocabulary, C channels.
"""

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_decoding import Draw, Prefix, write_by_generate
from nanoproof.inference.hf_loading import (
    first_line,
    load_network,
    load_tokenizer,
    transformers_library,
    writes_nothing,
)
from nanoproof.inference.hf_tokens import PromptCodec, require_chat, special_tokens
from nanoproof.inference.language_model import GenerationOptions, TextSample, Written, unit_vectors
from nanoproof.inference.model_options import HFOptions
from nanoproof.inference.value_head import VALUE_FILE, ValueHead, channels_of
from nanoproof.inference.worker import compute_here
from nanoproof.search.policy import BadState, PolicyClosed, PolicyServerError

log = logging.getLogger(__name__)


@dataclass(eq=False)
class _Job:
    """A prompt that waits, and the future of its samples."""

    tokens: list[int]
    options: GenerationOptions
    seed: int
    value: tuple[float, ...] = ()
    done: "Future[Written]" = field(default_factory=Future)


@dataclass(frozen=True)
class Loaded:
    """A network that is in memory already, such as one that is trained here, with its tokenizer.

    `network` may be one of peft. `identity` tells its weights from others, `writes` whether it writes texts.
    """

    network: Any
    tokenizer: Any
    identity: str
    head: ValueHead | None = None
    writes: bool = True


class HFModel:
    """A model of transformers. Any number of threads may share it."""

    def __init__(
        self,
        source: str,
        options: HFOptions | None = None,
        *,
        chat: bool = False,
        system: str = "",
        device: torch.device | str = "cpu",
        threads: int | None = None,
        loaded: Loaded | None = None,
    ) -> None:
        """Load a model and its tokenizer from a folder or, by its id, from the hub; code that comes with it never runs.

        With `chat` prompts are messages of a user, which the tokenizer's chat template wraps, behind a message `system`
        if that is given. On a CPU, `threads` of it compute (default: half of the cores). What is `loaded` is taken as
        it is, and computes in bf16 on a GPU, whatever its weights are. Raises UserError for what cannot be loaded.
        """
        self.name = f"hf:{source}"
        self._options, self.chat, self.system = options or HFOptions(), chat, system
        self.special = True
        """Whether control tokens in prompts are read as such."""
        library, folder = transformers_library(), Path(source).expanduser()
        if folder.is_dir():
            source = str(folder)
        self._shared = loaded is not None
        loaded = loaded or _load(library, source, self._options, torch.device(device))
        self._model, self._writes, self._tokenizer = loaded.network, loaded.writes, loaded.tokenizer
        if hasattr(self._model, "get_base_model"):
            self._model = self._model.get_base_model()  # adapters are in its layers; peft's wrapper hides its arguments
        self._head, self.identity = loaded.head, loaded.identity
        if chat and not getattr(self._tokenizer, "chat_template", None):
            raise UserError(f"{self.name} has no chat template: choose another --prompt-format")
        if chat:  # one that fails does so here, not at every state
            require_chat(self._tokenizer, system)
        config = self._model.config
        self.encoder_decoder = bool(config.is_encoder_decoder)
        # Encoder-decoders of T5's kind know distances alone, and have no longest text.
        self.positions: int | None = None
        """How many tokens fit, those of a prompt and those of what is written; None where the model sets no limit."""
        if not self.encoder_decoder:
            self.positions = getattr(config, "max_position_embeddings", None)
        self._alone = _minds_its_batch(config)
        self._device = self._model.device
        self._eos: list[int] = []
        self._pad = self._start = 0
        if self._writes:
            self._eos, self._pad, self._start = special_tokens(self._model, self._tokenizer)
            stated = self._model.generation_config.eos_token_id
            if self._eos not in ([stated], stated):  # texts of a cache may be of when those alone ended one
                self.identity += f" ends {self._eos}"
        embeddings = self._model.get_input_embeddings().weight.shape[0]
        if self._writes and not any(end < embeddings for end in self._eos):
            log.warning(
                "%s: no token of the network ends a text (eos_token in its tokenizer_config.json): each goes on up to "
                "the limit, and counts as cut off where no other mark ends it",
                self.name,
            )
        self._codec = PromptCodec(self._tokenizer, self.encoder_decoder, chat, self._eos, embeddings)
        self._library = library
        self._has_cut = False
        self._lock, self._waiting = threading.Lock(), deque[_Job]()
        # Held while something is computed, and through a pause.
        self._busy = threading.Lock()
        self._paused = False
        self._thread = ThreadPoolExecutor(1, "hf-model", lambda: compute_here(self._device, threads))

    @property
    def has_values(self) -> bool:
        """Whether there is a value head, and one that has learned: a fresh one says the same of every state."""
        return self._head is not None and self._head.has_learned

    # -- texts -----------------------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order. Of a prompt that does not fit beside `max_new_tokens` the end is kept.

        Raises BadState for prompts that cannot be continued, and PolicyServerError where the model fails.
        """
        return [written.samples for written in self.generate_valued(prompts, options, seeds)]

    def generate_valued(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[Written]:
        """Continue prompts as `generate` does; the value head, if there is one, reads them in the same pass."""
        if not self._writes:
            raise UserError(f"{self.name} {writes_nothing(self._model)}")
        jobs = []
        for prompt, seed in zip(prompts, seeds, strict=True):
            jobs.append(_Job(self._encode(prompt, options.max_new_tokens), options, seed))
        # First all wait, then work is handed in: the thread's next batch may take those of several callers.
        with self._lock:
            self._waiting.extend(jobs)
        try:
            self._thread.submit(self._work)
        except RuntimeError as error:
            raise PolicyClosed(f"{self.name} is closed") from error
        return [job.done.result() for job in jobs]

    def pause(self) -> None:
        """Begin nothing more; returns when nothing is computed."""
        self._busy.acquire()
        self._paused = True

    def resume(self) -> None:
        """Go on, with the network's present weights."""
        if self._paused:
            self._paused = False
            self._busy.release()

    def _encode(self, prompt: str, new_tokens: int) -> list[int]:
        """Return the tokens of a prompt, cut on the left where the model's positions ask for it."""
        try:
            tokens = self._codec.prompt(prompt, self.special, self.system)
        except UserError as error:
            raise BadState(f"{self.name}: {error}") from error
        if not tokens:
            raise BadState("the prompt is empty")
        if self.positions is None:
            return tokens
        if new_tokens >= self.positions:
            raise BadState(f"{self.name} has {self.positions} positions, too few for {new_tokens} new tokens")
        room = self.positions - new_tokens
        if len(tokens) > room and not self._has_cut:
            self._has_cut = True  # said once: a run asks thousands of times
            log.warning(
                "%s has %d positions: of a prompt of %d tokens the last %d are read, beside %d new ones",
                self.name,
                self.positions,
                len(tokens),
                room,
                new_tokens,
            )
        return tokens[-room:]

    def _work(self) -> None:
        """Write the samples of all that wait; on the model's own thread."""
        while True:
            with self._busy:
                jobs = self._take()
                if not jobs:
                    return
                self._answer(jobs)

    def _answer(self, jobs: Sequence[_Job]) -> None:
        rows = []
        for job in jobs:
            rows += [(job, number) for number in range(job.options.num_samples)]
        try:
            texts = self._write(rows)
        except Exception as error:
            failed = PolicyServerError(f"{self.name} failed: {type(error).__name__}: {first_line(error)}")
            failed.__cause__ = error
            for job in jobs:
                job.done.set_exception(failed)
            return
        for job in jobs:
            own, texts = texts[: job.options.num_samples], texts[job.options.num_samples :]
            job.done.set_result(Written(own, job.value))

    def _take(self) -> list[_Job]:
        """Take the first prompt that waits, and those like it, as many as make a batch."""
        with self._lock:
            taken: list[_Job] = []
            rows = 0
            for job in list(self._waiting):
                alike = not taken or job.options == taken[0].options
                if taken and self._alone:
                    alike &= len(job.tokens) == len(taken[0].tokens)
                if alike and (not taken or rows + job.options.num_samples <= self._options.batch_rows):
                    taken.append(job)
                    rows += job.options.num_samples
                    self._waiting.remove(job)
            return taken

    def _write(self, rows: list[tuple[_Job, int]]) -> list[TextSample]:
        """Write a sample for each (prompt, number of its sample), in batches that memory allows."""
        if len(rows) > self._options.batch_rows:
            first = rows[: self._options.batch_rows]
            return self._write(first) + self._write(rows[len(first) :])
        try:
            return self._batch(rows)
        except torch.OutOfMemoryError:
            if len(rows) == 1:
                raise
        # Outside of the handler: the exception's traceback holds the memory of what failed. Halves draw the same, as
        # the noise of a row is its own.
        half = len(rows) // 2
        return self._write(rows[:half]) + self._write(rows[half:])

    def _batch(self, rows: list[tuple[_Job, int]]) -> list[TextSample]:
        draw = Draw(self._tokenizer, rows[0][0].options, self._eos, self._device)
        draw.begin([(job.seed, number) for job, number in rows])
        with self._computing():
            if not self.encoder_decoder:
                # Rows of a prompt are side by side, and often all samples of it.
                jobs = list(dict.fromkeys(job for job, _ in rows))
                prefix = self._read(jobs)
                if prefix.cache is not None and not self._alone:
                    places = {job: place for place, job in enumerate(jobs)}
                    prefix.write([places[job] for job, _ in rows], draw)
                    return draw.samples([job.tokens for job, _ in rows])
            self._batch_by_generate(rows, draw)
        if self.encoder_decoder:
            return draw.samples(None)
        return draw.samples([job.tokens for job, _ in rows])

    def _read(self, jobs: Sequence[_Job]) -> Prefix:
        """Read the prompts of a decoder, each once, with their values."""
        # A decoder goes on from the last column, so that padding has to be before the prompt.
        prefix = Prefix(self._model, *self._padded([job.tokens for job in jobs], left=True), self.has_values)
        if self._head is not None and prefix.hidden_PC is not None:
            for job, value in zip(jobs, self._head.distributions(prefix.hidden_PC)):
                job.value = value
        return prefix

    def _batch_by_generate(self, rows: list[tuple[_Job, int]], draw: Draw) -> None:
        tokens_RL, mask_RL = self._padded([job.tokens for job, _ in rows], left=not self.encoder_decoder)
        special = {
            "eos_token_id": self._eos or None,
            "pad_token_id": self._pad,
            "decoder_start_token_id": self._start,
            "bos_token_id": self._model.generation_config.bos_token_id,
        }
        write_by_generate(self._model, self._library, tokens_RL, mask_RL, special, draw)

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Compute without gradients; in bf16 where a network in training has fp32 weights on a GPU."""
        if not self._shared:
            with torch.inference_mode():
                yield
            return
        # Not in inference mode: what a network keeps from one pass to the next (tables of positions) could then be of
        # no use to a pass with gradients.
        with torch.no_grad(), torch.autocast("cuda", torch.bfloat16, enabled=self._device.type == "cuda"):
            yield

    def _padded(self, rows: Sequence[Sequence[int]], left: bool) -> tuple[torch.Tensor, torch.Tensor]:
        """Return tokens (R, L), padded, and which of them count."""
        longest = max(map(len, rows))
        tokens_RL = torch.full((len(rows), longest), self._pad, dtype=torch.long)
        mask_RL = torch.zeros_like(tokens_RL)
        for number, row in enumerate(rows):
            first = 0
            if left:
                first = longest - len(row)
            tokens_RL[number, first : first + len(row)] = torch.tensor(row)
            mask_RL[number, first : first + len(row)] = 1
        return tokens_RL.to(self._device), mask_RL.to(self._device)

    # -- numbers ---------------------------------------------------------------------------------------------------

    def values(self, prompts: Sequence[str]) -> list[tuple[float, ...]]:
        """Return what the value head says of prompts, without writing anything.

        Raises UserError without a head, BadState and PolicyServerError as `generate` does.
        """
        if not self.has_values:
            raise UserError(f"{self.name} has no value head")
        jobs = [_Job(self._encode(prompt, 1), GenerationOptions(), 0) for prompt in prompts]
        size = 1 if self._alone else self._options.batch_rows
        for first in range(0, len(jobs), size):
            self._on_thread(partial(self._read, jobs[first : first + size]))
        return [job.value for job in jobs]

    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation, by one forward pass, in nats."""
        if not self._writes:
            raise UserError(f"{self.name} is an encoder: it scores no texts")
        wanted = self._codec.continuation(prompt, continuation)
        if not wanted:
            return 0.0
        tokens = self._encode(prompt, len(wanted))
        return self._on_thread(lambda: self._score(tokens, wanted))

    def _score(self, tokens: list[int], wanted: list[int]) -> float:
        if self.encoder_decoder:
            decoder_1K = torch.tensor([[self._start, *wanted[:-1]]], device=self._device)
            encoder_1L = torch.tensor([tokens], device=self._device)
            logits_KV = self._model(input_ids=encoder_1L, decoder_input_ids=decoder_1K).logits[0]
        else:
            tokens_1L = torch.tensor([[*tokens, *wanted]], device=self._device)
            logits_KV = self._model(input_ids=tokens_1L).logits[0, len(tokens) - 1 : -1]
        wanted_K1 = torch.tensor(wanted, device=logits_KV.device)[:, None]
        return float(logits_KV.double().log_softmax(dim=-1).gather(1, wanted_K1).sum())

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean of the last hidden states of each text, float32 (N, C), of length 1.

        That of an encoder-decoder is its encoder's; this is how ReProver's retriever embeds.
        """
        rows = [self._encode(text, 0) for text in texts]
        size = 1 if self._alone else self._options.batch_rows
        vectors = [np.zeros((0, 1))]
        if rows:
            vectors = []
        for first in range(0, len(rows), size):
            vectors.append(self._on_thread(partial(self._embed, rows[first : first + size])))
        return unit_vectors(np.concatenate(vectors))

    def _embed(self, rows: list[list[int]]) -> np.ndarray:
        tokens_RL, mask_RL = self._padded(rows, left=False)
        network = self._model
        if self.encoder_decoder and self._writes:
            network = network.get_encoder()
        elif self._writes:
            network = network.base_model
        hidden_RLC = network(input_ids=tokens_RL, attention_mask=mask_RL).last_hidden_state.float()
        weights_RL1 = mask_RL[..., None].to(hidden_RLC.device, torch.float32)
        return ((hidden_RLC * weights_RL1).sum(1) / weights_RL1.sum(1)).cpu().numpy()

    def num_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _on_thread(self, work: Callable[[], Any]) -> Any:
        def compute() -> Any:
            with self._busy, self._computing():
                return work()

        try:
            return self._thread.submit(compute).result()
        except (RuntimeError, ValueError) as error:
            raise PolicyServerError(f"{self.name} failed: {first_line(error)}") from error

    def close(self) -> None:
        """End the model's thread when it has written what waits."""
        self.resume()
        self._thread.shutdown()


def _minds_its_batch(config: Any) -> bool:
    """Tell whether what a network makes of a text depends on texts of other lengths beside it.

    Rotary positions of these kinds turn by the longest of a batch, and their keys are computed anew where that passes
    the original length, which `generate` does. The recurrent kinds named here read padding as text.
    """
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = {rope.get("rope_type"), *(part.get("rope_type") for part in rope.values() if isinstance(part, dict))}
    return bool(kinds & {"dynamic", "longrope"}) or config.model_type in ("rwkv", "recurrent_gemma", "minimax")


def _load(library: Any, source: str, options: HFOptions, device: torch.device) -> Loaded:
    """Load a model with its tokenizer, and the value head that was trained with it. Raises UserError."""
    network, writes = load_network(library, source, options, device)
    tokenizer = load_tokenizer(library, source)
    head = None
    if writes and not network.config.is_encoder_decoder and (Path(source) / VALUE_FILE).is_file():
        head = ValueHead.load(Path(source), channels_of(network))
    if head is not None:
        head = head.to(network.device).eval()
    identity = f"{_identity(source, network.config)} {network.dtype} {options.load_4bit}"
    return Loaded(network, tokenizer, identity, head, writes)


def _identity(source: str, config: Any) -> str:
    """Return what tells these weights from others: the hub's revision, else a digest of the folder's files.

    Of large files sizes and times of change stand for the content. Adapters have also the revision of their base.
    """
    revision = str(getattr(config, "_commit_hash", None) or "")
    if not Path(source).is_dir():
        return revision or source
    digest = hashlib.sha256(revision.encode())
    for file in sorted(path for path in Path(source).iterdir() if path.is_file()):
        facts = file.stat()
        content = f"{facts.st_size} {facts.st_mtime_ns}".encode()
        if facts.st_size < 1 << 20:
            content = file.read_bytes()
        digest.update(f"{file.name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
