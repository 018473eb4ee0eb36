"""Rounds whose texts vLLM's servers write (`--policy-endpoint`): each round they get the weights that it begins with.

The model is opened here as well: it embeds, and its log-probabilities tell whether a server has its very weights.
"""

import argparse
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.evaluation.command import EvalCommand, opened
from nanoproof.evaluation.plan import Target
from nanoproof.inference.hf_loading import ADAPTER_FILE
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import GenerationOptions, LanguageModel, TextSample
from nanoproof.inference.lora_endpoints import Adapters, LoraEndpoints, restart_by
from nanoproof.selfplay.rounds import Spread
from nanoproof.selfplay.selfplay_options import RoundEndpointOptions

PROBES = ("theorem t : 1 + 1 = 2 := by", "theorem t (p : Prop) (h : p) : p := by")
"""Prompts by which a server's weights are checked: any do, as all weights have a part in what is likeliest."""
BATCHES = 4
"""Batches that are asked of a server at a time: it computes many prompts at once, and ours have 32 or less."""


class RoundEndpoints:
    """The servers of an experiment, which are given the weights of whatever model is to write."""

    def __init__(self, options: RoundEndpointOptions, exp_dir: Path) -> None:
        self._addresses = options.policy_endpoint
        self._restart: Callable[[str, Adapters], None] | None = None
        if options.policy_restart is not None:
            self._restart = restart_by(options.policy_restart)
        # Servers may be shared by experiments: each unloads only what has its own prefix.
        experiment = hashlib.sha256(str(exp_dir.absolute()).encode()).hexdigest()[:8]
        self._prefix = f"nanoproof-{experiment}-"

    @contextmanager
    def writing(self, model: LanguageModel) -> Iterator[LanguageModel]:
        """Have the servers write the texts of a model inside of the block.

        Raises UserError for a model that they cannot be given, or a server with other weights, and PolicyUnreachable.
        """
        if not isinstance(model, HFModel):
            raise UserError(f"--policy-endpoint is for models of transformers (hf:), and this is {model.name}")
        endpoints = LoraEndpoints(
            self._addresses,
            chat=model.chat,
            system=model.system,
            probes=PROBES,
            prefix=self._prefix,
            restart=self._restart,
        )
        try:
            endpoints.publish(self._weights_of(model))
            yield ServedModel(model, endpoints, BATCHES * len(self._addresses))
        finally:
            endpoints.close()

    def _weights_of(self, model: HFModel) -> Adapters:
        source = model.name.removeprefix("hf:")
        # By the files' content: a server that still holds those of the same name holds the same weights.
        name = self._prefix + hashlib.sha256(model.identity.encode()).hexdigest()[:12]
        greedy = GenerationOptions(max_new_tokens=1, temperature=0)
        expected = []
        for (sample,) in model.generate(PROBES, greedy, [0] * len(PROBES)):
            assert sample.logprob is not None
            expected.append(sample.logprob)
        folder: Path | None = Path(source).expanduser()
        is_adapters = (Path(source).expanduser() / ADAPTER_FILE).is_file()
        if self._restart is None and not is_adapters:
            folder = None  # the first round's: the base that the servers were started with
        return Adapters(name, folder, tuple(expected))


class ServedModel:
    """A model whose texts servers write; it does the rest itself. Any number of threads may share it."""

    def __init__(self, own: HFModel, endpoints: LoraEndpoints, batches: int) -> None:
        """`batches` says how many batches it should be asked for at a time."""
        self._own, self._endpoints, self.batches = own, endpoints, batches
        self.name, self.identity, self.special = own.name, own.identity, own.special

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order. Raises what `LoraEndpoints.generate` does."""
        return self._endpoints.generate(prompts, options, seeds)

    def score(self, prompt: str, continuation: str) -> float:
        """Score a continuation here."""
        return self._own.score(prompt, continuation)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Embed texts here."""
        return self._own.embed(texts)

    def num_tokens(self, text: str) -> int:
        """Count as the model does."""
        return self._own.num_tokens(text)

    def close(self) -> None:
        """Do nothing: who opened model and servers closes them."""


@contextmanager
def opened_over_endpoints(spread: Spread, args: argparse.Namespace, targets: Sequence[Target]) -> Iterator[EvalCommand]:
    """Open an evaluation as `opened` does, in which servers write the texts."""
    with opened(args, targets) as command:
        command.spread_writer = spread
        yield command
