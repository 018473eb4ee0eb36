"""Our own checkpoints as a language model, over the engine.

A prompt with a marker of the tokenizer, such as `<|tactic|>`, is continued as the network was trained to after the last
one; what follows that marker is a continuation that has begun. Any other prompt is plain text, which goes on. In both
cases BOS comes first.

Shapes: T tokens of a prompt with its continuation, K tokens of the continuation, V tokens that a text may consist of
(and EOS), C channels.
"""

import codecs
import logging
from collections.abc import Callable, Sequence

import numpy as np
import torch

from nanoproof.common.errors import UserError
from nanoproof.inference.engine import MIN_TEMPERATURE, Engine
from nanoproof.inference.language_model import GenerationOptions, TextSample, cut_at, unit_vectors
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.sampling import Sample, SamplingOptions
from nanoproof.inference.worker import EngineWorker, PendingCompletion, compute_here
from nanoproof.model.attention import RowLayout
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import RESERVED, Tokenizer
from nanoproof.search.policy import BadState, ModelFailed, PolicyServerError

log = logging.getLogger(__name__)

EMBEDDED_TOKENS = 512
"""Of a longer text `embed` reads the end."""


class OwnModel:
    """A network of ours that continues text. Any number of threads may share it: they share the engine's batches."""

    def __init__(
        self,
        name: str,
        model: GPT,
        tokenizer: Tokenizer,
        limits: EngineLimits | None = None,
        *,
        threads: int | None = None,
        special: bool = True,
        worker: EngineWorker | None = None,
    ) -> None:
        """`name` is the SPEC; compute on `threads` CPU threads (default: half of the cores).

        Without `special` markers in prompts are text. With a `worker` over an engine of this network, which then stays
        open, its batches are shared. Raises UserError for limits that cannot be kept here.
        """
        self.name = self.identity = name
        self.special = special
        self._model, self._tokenizer = model, tokenizer
        self._owns_worker = worker is None
        if worker is None:
            try:
                engine = Engine(model, tokenizer, limits)
            except ValueError as error:
                raise UserError(str(error)) from error
            worker = EngineWorker(engine, lambda: compute_here(model.device, threads))
        self._worker, self.engine = worker, worker.engine
        # The reserved markers have an embedding that means something only where whole proofs were learned.
        num_known = tokenizer.vocab_size
        if model.config.whole_proofs:
            num_known += len(RESERVED)
        self._markers = {tokenizer.describe(token): token for token in range(tokenizer.num_text_tokens, num_known)}
        self._warned = False

    def generate(
        self,
        prompts: Sequence[str],
        options: GenerationOptions,
        seeds: Sequence[int],
        *,
        cancelled: Callable[[], bool] | None = None,
    ) -> list[list[TextSample]]:
        """Continue prompts, in order; the engine draws the samples of a prompt from its seed alone.

        Of a prompt that does not fit beside `max_new_tokens` the end is kept. Raises BadState for a prompt that cannot
        be continued, PolicyError where the engine fails, and PolicyCancelled when `cancelled()`, which is polled.
        """
        room = self._model.config.sequence_len - options.max_new_tokens
        if room < 2:
            most = self._model.config.sequence_len - 2
            raise BadState(
                f"this model writes at most {most} tokens, asked for {options.max_new_tokens} (--proof-max-new-tokens, "
                "in self-play --max-tokens)"
            )
        pending: list[PendingCompletion] = []
        for prompt, seed in zip(prompts, seeds, strict=True):
            tokens, start = self._encode(prompt, room)
            sampling = SamplingOptions(
                options.num_samples,
                options.max_new_tokens,
                temperature=max(options.temperature, MIN_TEMPERATURE),
                top_p=options.top_p,
                start=start,
                stop=options.stop,
            )
            pending.append(PendingCompletion(tokens, sampling, seed))
        try:
            self._worker.submit_all(pending)
            return [self._samples(completion, options, cancelled) for completion in pending]
        except ModelFailed as error:
            raise PolicyServerError(f"{self.name}: {error}") from error
        finally:
            # Of the others, should one prompt have failed: nobody waits for them. Nothing happens to what has ended.
            for completion in pending:
                self._worker.cancel(completion)

    def _encode(self, prompt: str, room: int) -> tuple[list[int], int]:
        """Return the prompt's tokens, the last `room` - 1 at most, and the token that the samples follow."""
        encode = self._tokenizer.encode
        try:
            before, marker, begun = self._at_marker(prompt)
            if marker:
                # Cut before the marker alone: without it, or what has begun behind it, another question is asked.
                following = [self._markers[marker], *encode(begun)]
                text = encode(before)
                text = text[len(text) - max(0, min(len(text), room - 1 - len(following))) :] + following
            else:
                if self.special:
                    prompt = self._without_unknown_marker(prompt)
                text = encode(prompt)
                text = text[max(0, len(text) - room + 1) :]
        except UserError as error:
            raise BadState(str(error)) from error
        if not text:
            raise BadState("the prompt is empty")
        if begun and self._model.config.prefix_lm:
            raise BadState("this network reads a prompt in both directions, so it goes on with nothing that has begun")
        if len(text) >= room:
            raise BadState(f"what follows {marker} is longer than the model's {room} positions for it")
        return [self._tokenizer.bos, *text[:-1]], text[-1]

    def _at_marker(self, prompt: str) -> tuple[str, str, str]:
        """Split a prompt at the last marker in it: what is before, the marker, what follows; ("", "", "") without."""
        if not self.special:
            return "", "", ""
        last = max(self._markers, key=prompt.rfind)
        if last not in prompt:
            return "", "", ""
        return prompt.rpartition(last)

    def _without_unknown_marker(self, prompt: str) -> str:
        """Take a reserved marker that this network was not trained with from the end of a prompt, with a warning."""
        for marker in RESERVED:
            if prompt.endswith(marker):
                if not self._warned:
                    self._warned = True
                    message = "%s was not finetuned on %s (sft --continuations): it goes on with the text"
                    log.warning(message, self.name, marker)
                return prompt.removesuffix(marker)
        return prompt

    def _samples(
        self, pending: PendingCompletion, options: GenerationOptions, cancelled: Callable[[], bool] | None
    ) -> list[TextSample]:
        completion = self._worker.result(pending, cancelled=cancelled)
        ended = [self._text(sample, options.stop, True) for sample in completion.samples]
        return ended + [self._text(sample, options.stop, False) for sample in completion.unfinished]

    def _text(self, sample: Sample, stop: Sequence[str], finished: bool) -> TextSample:
        text, stopped = cut_at(self._tokenizer.decode(sample.tokens), stop)
        num_tokens = len(sample.tokens)
        if finished and not stopped:
            num_tokens += 1  # EOS, which was drawn and is not in the sample
        return TextSample(text, sample.logprob, num_tokens, finished)

    @torch.inference_mode()
    def score(self, prompt: str, continuation: str) -> float:
        """Return the log-probability of a continuation among text tokens and EOS, by one forward pass, in nats.

        Raises BadState if both together are longer than the model's positions.
        """
        wanted = self._tokenizer.encode(continuation)
        if not wanted:
            return 0.0
        room = self._model.config.sequence_len - len(wanted)
        if room < 2:
            raise BadState(f"the continuation has {len(wanted)} tokens, and the model {room + len(wanted)} positions")
        tokens, start = self._encode(prompt, room)
        return float(self._logprobs(tokens, start, wanted).sum())

    def _logprobs(self, tokens: list[int], start: int, wanted: list[int]) -> torch.Tensor:
        """Return the log-probability of each of the tokens that follow `start`, float64 (K,)."""
        model, first = self._model, len(tokens)
        tokens_1T = torch.tensor([[*tokens, start, *wanted]], device=model.device)
        # Causal by default. A network of prefix-LM kind has its prompt as segment 0, read both ways, as in training.
        layout = None
        if model.config.prefix_lm:
            positions_1T = torch.arange(tokens_1T.shape[1], device=model.device)[None]
            layout = RowLayout(positions_1T, torch.ones_like(tokens_1T), (positions_1T >= first).long(), True)
        at_K = torch.arange(first, first + len(wanted), device=model.device)
        logits_KV = model(tokens_1T, layout, at_K)[:, : self._tokenizer.eos + 1]
        logprobs_KV = logits_KV.double().log_softmax(dim=-1)
        return logprobs_KV.gather(1, tokens_1T[0, first + 1 :, None])[:, 0]

    @torch.inference_mode()
    def token_logprobs(self, text: str) -> list[tuple[str, float | None]]:
        """Return the pieces that a text consists of, each with its log-probability after those before it, in nats.

        A marker, and what is before it, has none: markers cannot be sampled, and a network of prefix-LM kind reads what
        is before one in both directions. Raises BadState for a text that is longer than the model's positions.
        """
        before, marker, after = self._at_marker(text)
        room = self._model.config.sequence_len
        tokens = [self._tokenizer.bos]
        pieces: list[tuple[str, float | None]] = []
        if marker:
            tokens += [*self._encode_text(before), self._markers[marker]]
            pieces += [(before, None), (marker, None)]
            text = after
        wanted = self._encode_text(text)
        if len(tokens) + len(wanted) > room:
            raise BadState(f"the text has {len(tokens) + len(wanted)} tokens, and the model {room} positions")
        values: list[float] = []
        if wanted:
            values = self._logprobs(tokens[:-1], tokens[-1], wanted).tolist()
        spelled = self._tokenizer.bpe.tokens
        pieces += zip(_characters([spelled[token] for token in wanted]), values, strict=True)
        return pieces

    def _encode_text(self, text: str) -> list[int]:
        try:
            return self._tokenizer.encode(text)
        except UserError as error:
            raise BadState(str(error)) from error

    def values(self, texts: Sequence[str]) -> list[float]:
        """Return the number of tactics that the value head expects after each text: a state and a line break.

        Of a long text the end counts. Raises BadState and PolicyError as `generate` does.
        """
        room = self._model.config.sequence_len - 1
        pending = []
        for text in texts:
            tokens = [self._tokenizer.bos, *self._encode_text(text)[-(room - 1) :]]
            pending.append(self._worker.submit(tokens, SamplingOptions(1, 1), 0))
        try:
            # The bins' mean of 1 may round to a little less.
            return [max(1.0, self._worker.result(completion).value) for completion in pending]
        except ModelFailed as error:
            raise PolicyServerError(f"{self.name}: {error}") from error

    @torch.inference_mode()
    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return the mean of the last layer's activations over BOS and the text, float32 (N, C), of length 1."""
        vectors = []
        for text in texts:
            tokens = [self._tokenizer.bos, *self._tokenizer.encode(text)]
            tokens_1T = torch.tensor([tokens[-min(EMBEDDED_TOKENS, self._model.config.sequence_len) :]])
            hidden_1TC = self._model.hidden(tokens_1T.to(self._model.device))
            vectors.append(hidden_1TC[0].float().mean(dim=0).cpu().numpy())
        if not vectors:
            return unit_vectors(np.zeros((0, self._model.config.width)))
        return unit_vectors(np.stack(vectors))

    @property
    def positions(self) -> int:
        """How many tokens fit: BOS, those of a prompt, and those of what is written."""
        return self._model.config.sequence_len

    def num_tokens(self, text: str) -> int:
        """Return how many tokens a text has, as a prompt."""
        before, marker, after = self._at_marker(text)
        if not marker:
            return len(self._encode_text(text))
        return len(self._encode_text(before)) + 1 + len(self._encode_text(after))

    def close(self) -> None:
        """End the worker's thread, if it is this model's own; calls that still wait get PolicyClosed."""
        if self._owns_worker:
            self._worker.close()


def _characters(pieces: Sequence[bytes]) -> list[str]:
    """Decode the bytes of tokens: a character goes with the token that ends it, so that together they are the text."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return [decoder.decode(piece) for piece in pieces]
