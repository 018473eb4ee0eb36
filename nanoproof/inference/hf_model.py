"""Models of the transformers library, in this process: decoders, encoder-decoders, and encoders that only embed.

Texts come from `model.generate`, so that caches and kinds of networks are the library's business. It is asked for
greedy decoding, and what it takes for the likeliest token is the one that was drawn here: noise comes from the seed of
a prompt and the number of a sample, and so what is drawn does not depend on the rows that share a batch. All threads'
prompts go through one thread, which takes as many together as wait and fit.

Shapes: R rows (samples of prompts), L tokens of the longest prompt, T tokens to generate, K tokens of a continuation,
V tokens of the vocabulary, C channels.
"""

import hashlib
import logging
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.hf_loading import HFOptions, first_line, load_network, load_tokenizer, transformers_library
from nanoproof.inference.hf_tokens import PromptCodec, render_chat, special_tokens
from nanoproof.inference.language_model import GenerationOptions, TextSample, chat_messages, cut_at, unit_vectors
from nanoproof.inference.sampling import next_tokens, shaped_logits
from nanoproof.inference.worker import compute_here
from nanoproof.search.policy import BadState, PolicyClosed, PolicyServerError

log = logging.getLogger(__name__)

CONTEXT_TOKENS = 16
"""A continuation is decoded with so many tokens before it: some vocabularies drop the space that begins a text."""


@dataclass
class _Job:
    """A prompt that waits, and the future of its samples."""

    tokens: list[int]
    options: GenerationOptions
    seed: int
    done: "Future[list[TextSample]]" = field(default_factory=Future)


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
    ) -> None:
        """Load a model and its tokenizer from a folder or, by its id, from the hub; code that comes with it never runs.

        With `chat` prompts are messages of a user, which the tokenizer's chat template wraps, behind a message `system`
        if that is given. On a CPU, `threads` of
        it compute (default: half of the cores). Raises UserError for what cannot be loaded.
        """
        self.name = f"hf:{source}"
        self._options, self._chat, self.system = options or HFOptions(), chat, system
        self.special = True
        """Whether control tokens in prompts are read as such."""
        library, folder = transformers_library(), Path(source).expanduser()
        if folder.is_dir():
            source = str(folder)
        self._model, self._writes = load_network(library, source, self._options, torch.device(device))
        self._tokenizer = load_tokenizer(library, source)
        if chat and not getattr(self._tokenizer, "chat_template", None):
            raise UserError(f"{self.name} has no chat template: choose another --prompt-format")
        if chat:  # one that fails does so here, not at every state
            render_chat(self._tokenizer, chat_messages("?", system))
        config = self._model.config
        self.identity = f"{_identity(source, config)} {self._model.dtype} {self._options.load_4bit}"
        self.encoder_decoder = bool(config.is_encoder_decoder)
        # Encoder-decoders of T5's kind know distances alone, and have no longest text.
        self._room: int | None = None
        if not self.encoder_decoder:
            self._room = getattr(config, "max_position_embeddings", None)
        self._device = self._model.device
        self._eos: list[int] = []
        self._pad = self._start = 0
        if self._writes:
            self._eos, self._pad, self._start = self._clean_generation(library)
        embeddings = self._model.get_input_embeddings().weight.shape[0]
        self._codec = PromptCodec(self._tokenizer, self.encoder_decoder, chat, self._eos, embeddings)
        self._library = library
        self._has_cut = False
        self._lock, self._waiting = threading.Lock(), deque[_Job]()
        self._thread = ThreadPoolExecutor(1, "hf-model", lambda: compute_here(self._device, threads))

    def _clean_generation(self, library: Any) -> tuple[list[int], int, int]:
        """Keep of the model's settings for generation the tokens that begin and end; others would bend what is drawn.

        Returns the tokens that end a text, the one that pads, and the one that begins the text of a decoder.
        """
        ends, pad, start = special_tokens(self._model, self._tokenizer)
        stated, bos = self._model.generation_config.eos_token_id, self._model.generation_config.bos_token_id
        if ends not in ([stated], stated):  # texts of a cache may have been written when those alone ended one
            self.identity += f" ends {ends}"
        self._model.generation_config = library.GenerationConfig(
            eos_token_id=ends or None, pad_token_id=pad, decoder_start_token_id=start, bos_token_id=bos
        )
        return ends, pad, start

    # -- texts -----------------------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order. Of a prompt that does not fit beside `max_new_tokens` the end is kept.

        Raises BadState for prompts that cannot be continued, and PolicyServerError where the model fails.
        """
        if not self._writes:
            raise UserError(f"{self.name} is an encoder: it embeds texts and writes none")
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

    def _encode(self, prompt: str, new_tokens: int) -> list[int]:
        """Return the tokens of a prompt, cut on the left where the model's positions ask for it."""
        try:
            tokens = self._codec.prompt(prompt, self.special, self.system)
        except UserError as error:
            raise BadState(f"{self.name}: {error}") from error
        if not tokens:
            raise BadState("the prompt is empty")
        if self._room is None:
            return tokens
        if new_tokens >= self._room:
            raise BadState(f"{self.name} has {self._room} positions, too few for {new_tokens} new tokens")
        room = self._room - new_tokens
        if len(tokens) > room and not self._has_cut:
            self._has_cut = True  # said once: a run asks thousands of times
            log.warning(
                "%s has %d positions: of a prompt of %d tokens the last %d are read, beside %d new ones",
                self.name,
                self._room,
                len(tokens),
                room,
                new_tokens,
            )
        return tokens[-room:]

    def _work(self) -> None:
        """Write the samples of all that wait; on the model's own thread."""
        while jobs := self._take():
            rows = [(job, number) for job in jobs for number in range(job.options.num_samples)]
            try:
                texts = self._write(rows)
            except Exception as error:
                failed = PolicyServerError(f"{self.name} failed: {type(error).__name__}: {first_line(error)}")
                failed.__cause__ = error
                for job in jobs:
                    job.done.set_exception(failed)
                continue
            for job in jobs:
                own, texts = texts[: job.options.num_samples], texts[job.options.num_samples :]
                job.done.set_result(own)

    def _take(self) -> list[_Job]:
        """Take the first prompt that waits, and those like it, as many as make a batch."""
        with self._lock:
            taken: list[_Job] = []
            rows = 0
            for job in list(self._waiting):
                alike = not taken or job.options == taken[0].options
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

    @torch.inference_mode()
    def _batch(self, rows: list[tuple[_Job, int]]) -> list[TextSample]:
        options, prompts = rows[0][0].options, [job.tokens for job, _ in rows]
        context: list[list[int]] | None = None
        if not self.encoder_decoder:
            context = prompts
        draw = _Draw(self._tokenizer, options, self._eos, context)
        draw.begin([(job.seed, number) for job, number in rows], self._device)
        # A decoder goes on from the last column, so that padding has to be before the prompt.
        tokens_RL, mask_RL = self._padded(prompts, left=not self.encoder_decoder)
        self._model.generate(
            input_ids=tokens_RL,
            attention_mask=mask_RL,
            generation_config=self._library.GenerationConfig(
                do_sample=False, num_beams=1, max_new_tokens=options.max_new_tokens
            ),
            logits_processor=self._library.LogitsProcessorList([draw.choose]),
            stopping_criteria=self._library.StoppingCriteriaList([draw.stopped]),
        )
        return draw.samples()

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

    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation, by one forward pass, in nats."""
        if not self._writes:
            raise UserError(f"{self.name} is an encoder: it scores no texts")
        wanted = self._codec.continuation(prompt, continuation)
        if not wanted:
            return 0.0
        tokens = self._encode(prompt, len(wanted))
        return self._on_thread(lambda: self._score(tokens, wanted))

    @torch.inference_mode()
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
        size = self._options.batch_rows
        vectors = [np.zeros((0, 1))]
        if rows:
            vectors = []
        for first in range(0, len(rows), size):
            vectors.append(self._on_thread(partial(self._embed, rows[first : first + size])))
        return unit_vectors(np.concatenate(vectors))

    @torch.inference_mode()
    def _embed(self, rows: list[list[int]]) -> np.ndarray:
        tokens_RL, mask_RL = self._padded(rows, left=False)
        network = self._model
        if self.encoder_decoder and self._writes:
            network = network.get_encoder()
        elif self._writes:
            network = network.base_model
        hidden_RLC = network(input_ids=tokens_RL, attention_mask=mask_RL).last_hidden_state.float()
        weights_RL1 = mask_RL[..., None].to(hidden_RLC.device, torch.float32)
        means: np.ndarray = ((hidden_RLC * weights_RL1).sum(1) / weights_RL1.sum(1)).cpu().numpy()
        return means

    @property
    def positions(self) -> int | None:
        """How many tokens fit, those of a prompt and those of what is written; None where the model sets no limit."""
        return self._room

    def num_tokens(self, text: str) -> int:
        """Return how many tokens a text has."""
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    def _on_thread(self, work: Any) -> Any:
        try:
            return self._thread.submit(work).result()
        except (RuntimeError, ValueError) as error:
            raise PolicyServerError(f"{self.name} failed: {first_line(error)}") from error

    def close(self) -> None:
        """End the model's thread when it has written what waits."""
        self._thread.shutdown()


class _Draw:
    """Draws the tokens of a batch inside `generate`, and keeps them with their log-probabilities."""

    def __init__(self, tokenizer: Any, options: GenerationOptions, eos: list[int], prompts: list[list[int]] | None):
        self._tokenizer, self._options, self._eos, self._prompts = tokenizer, options, eos, prompts
        self._longest_stop = max((len(text.encode()) for text in options.stop), default=0)

    def begin(self, rows: Sequence[tuple[int, int]], device: torch.device) -> None:
        """Begin with the noise of rows, each given by the seed of its prompt and its number among the samples."""
        noise = []
        for seed, number in rows:
            noise.append(np.random.default_rng([seed % 2**64, number]).random(self._options.max_new_tokens))
        self._uniforms_RT = torch.tensor(np.array(noise), dtype=torch.float32, device=device)
        self._tokens: list[list[int]] = [[] for _ in rows]
        self._logprobs_R = torch.zeros(len(rows), dtype=torch.float64, device=device)
        self._open_R = torch.ones(len(rows), dtype=torch.bool, device=device)
        self._finished = [False] * len(rows)
        self._step = 0

    def choose(self, input_ids: torch.Tensor, logits_RV: torch.Tensor) -> torch.Tensor:
        """Draw a token for each row; return scores by which it is the likeliest."""
        logits_RV = logits_RV.float()
        if self._options.temperature == 0:
            tokens_R = logits_RV.argmax(dim=-1)
        else:
            top_p = self._options.top_p
            shaped_RV = shaped_logits(logits_RV, (self._options.temperature, top_p), top_p < 1)
            tokens_R = next_tokens(shaped_RV.softmax(dim=-1), self._uniforms_RT[:, self._step].to(logits_RV.device))
        chosen_R1 = tokens_R[:, None]
        logprobs_R = logits_RV.double().log_softmax(dim=-1).gather(1, chosen_R1).squeeze(1)
        if not bool(logprobs_R.isfinite().all()):
            raise FloatingPointError("the model's output is not finite")
        self._logprobs_R += torch.where(self._open_R, logprobs_R.to(self._open_R.device), 0.0)
        for row, (token, is_open) in enumerate(zip(tokens_R.tolist(), self._open_R.tolist())):
            if is_open:
                self._tokens[row].append(token)
                if token in self._eos:
                    self._finished[row], self._open_R[row] = True, False
        self._step += 1
        return torch.full_like(logits_RV, -torch.inf).scatter(1, chosen_R1, 0.0)

    def stopped(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        """Tell which rows have ended: with a token for that, or with a `stop` text; bool (R,)."""
        if not self._longest_stop:
            return ~self._open_R
        for row, is_open in enumerate(self._open_R.tolist()):
            if is_open:
                # A token may spell less than a byte's worth of text only if it is special; the others before it count.
                tail = self._tokens[row][-self._longest_stop - 1 :]
                text = self._tokenizer.decode(tail, skip_special_tokens=True, clean_up_tokenization_spaces=False)
                if any(stop in text for stop in self._options.stop):
                    self._finished[row], self._open_R[row] = True, False
        return ~self._open_R

    def samples(self) -> list[TextSample]:
        """Return the texts that were written, one for each row."""
        samples = []
        rows = zip(self._tokens, self._logprobs_R.tolist(), self._finished)
        for row, (tokens, logprob, finished) in enumerate(rows):
            samples.append(TextSample(self._text(row, tokens), logprob, len(tokens), finished))
        return samples

    def _text(self, row: int, tokens: list[int]) -> str:
        how = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        written = tokens
        if tokens and tokens[-1] in self._eos:
            written = tokens[:-1]
        text: str = self._tokenizer.decode(written, **how)
        if self._prompts is not None:
            context = self._prompts[row][-CONTEXT_TOKENS:]
            before, both = self._tokenizer.decode(context, **how), self._tokenizer.decode([*context, *written], **how)
            # Half a character at the end of the context is another text with what follows it.
            if both.startswith(before):
                text = both[len(before) :]
        return cut_at(text, self._options.stop)[0]


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
