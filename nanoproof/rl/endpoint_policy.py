"""The policy of a model in training whose samples come from endpoints: what each step sends them, and who answers when.

The learner writes the adapters of a step to the run directory and has every endpoint load them under a name of the
step; answers are asked for by that name. Values come from the learner's own network, which has the head. For whole
models, which no server loads while it runs, a command of the user restarts each server with the folder of the step.
"""

import hashlib
import logging
import secrets
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import torch

from nanoproof.common.distributed import DistInfo, SharedCounter, broadcast_json, gather_json, on_all_ranks
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.lora_endpoints import Adapters, LoraEndpoints, restart_by
from nanoproof.policy.prompt_formats import PromptFormat
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import PolicyLoad
from nanoproof.policy.text_policy import HeadValue, TextPolicy, Value, ValueSource
from nanoproof.rl.options import RLConfig
from nanoproof.search.policy import PolicyClosed, Suggestion
from nanoproof.training.hub_network import HubNetwork

log = logging.getLogger(__name__)

FOLDER = "served"
"""Folder of a run with the weights that endpoints were sent, by name."""
CLOSE_SECONDS, CLOSE_POLL_SECONDS = 5.0, 0.05
"""How long requests under way may take at the end: adapters that are unloaded below one would make it fail."""
PROBES = ("⊢ 1 + 1 = 2", "p : Prop\nh : p\n⊢ p")
"""States by whose prompts a server's weights are checked: any do, as all weights have a part in what is likeliest."""


class ServedWeights:
    """Sends the weights of each step to the endpoints of a run. All ranks make one together, and publish together."""

    def __init__(self, config: RLConfig, network: HubNetwork, dist: DistInfo, run_path: Path, step: int) -> None:
        """Reach the endpoints, from the weights of `step` on (a collective). Raises UserError and PolicyUnreachable."""
        self._hub, self._network, self._dist = config.hub, network, dist
        self._next_step = step
        self._folder = run_path / FOLDER
        run = hashlib.sha256(str(run_path.absolute()).encode()).hexdigest()[:8]
        # A run that is resumed makes steps again that it had made before: their names must be others.
        self._prefix = f"nanoproof-{run}-"
        self._part = f"{self._prefix}{broadcast_json(secrets.token_hex(3))}"
        how = network.format
        self._prompts = [how.prompt(state, ()) for state in PROBES]
        restart = None
        if self._hub.policy_restart is not None:
            restart = restart_by(self._hub.policy_restart)
        self.endpoints = LoraEndpoints(
            self._hub.policy_endpoint,
            chat=how.chat,
            system=how.system,
            probes=self._prompts,
            prefix=self._prefix,
            restart=restart,
            owner=dist.is_main,
        )
        self._ended = SharedCounter(f"served/{self._part}")

    def publish(self) -> None:
        """Send the present weights to all endpoints, and ask for these from now on (a collective)."""
        name = f"{self._part}-{self._next_step}"
        self._next_step += 1
        adapters = Adapters(name, self._folder / name, tuple(self._expected()))

        def send() -> None:
            if not self._dist.is_main:
                return
            self._network.reader.save_pretrained(adapters.folder)
            if self._hub.policy_restart is not None:
                self._network.tokenizer.save_pretrained(adapters.folder)
            self.endpoints.load(adapters)

        on_all_ranks(send)
        self.endpoints.adopt(adapters)
        # Asked when all ranks have the new ones: what a rank asks for of old ones gets fewer from here on. Unloaded
        # below a request of another rank, they would make it fail.
        asked_for: set[str] = set()
        for names in gather_json(sorted(self.endpoints.names())):
            asked_for.update(names)
        self.endpoints.retire(asked_for)
        if self._dist.is_main:
            # Kept are those that requests under way may still name, should their server be restarted.
            for old in sorted(self._folder.iterdir()):
                if old.name not in asked_for:
                    shutil.rmtree(old, ignore_errors=True)

    @torch.no_grad()
    def _expected(self) -> Iterator[float]:
        """Yield the log-probability of the likeliest token behind each prompt of the probe, by the network here."""
        network = self._network
        reader = network.reader
        reader.eval()
        for prompt in self._prompts:
            tokens = network.codec.prompt(prompt, system=network.format.system)
            logits_V = reader(input_ids=torch.tensor([tokens], device=reader.device)).logits[0, -1]
            yield float(logits_V.float().log_softmax(dim=-1).max())

    def close(self) -> None:
        """Unload what was loaded, and delete the folders, when the other ranks ask for nothing any more."""
        ended = self._ended.add(1)
        deadline = time.monotonic() + CLOSE_SECONDS
        # By a counter, and not for long: one of them may have died.
        while self._dist.is_main and ended < self._dist.world_size and time.monotonic() < deadline:
            time.sleep(CLOSE_POLL_SECONDS)
            ended = self._ended.add(0)
        self.endpoints.close()
        if self._dist.is_main:
            shutil.rmtree(self._folder, ignore_errors=True)


class EndpointPolicy(TextPolicy):
    """Samples of the endpoints, with the values of the network that trains.

    In a pause nothing is asked of either: what begins waits, and `pause` returns when what was begun has ended. So no
    answer is of other weights than its label says.
    """

    def __init__(self, served: ServedWeights, reader: HFModel, how: PromptFormat, sampling: SamplingConfig) -> None:
        super().__init__(served.endpoints, how, sampling, _Values(reader, how))
        self._served, self._reader = served, reader
        self._gate = threading.Condition()
        self._asking = 0
        self._paused = self._closed = False
        served.publish()

    def suggest_all(self, states: Sequence[str], seeds: Sequence[int], **how: object) -> list[Suggestion]:
        """Suggest tactics and values for several states, all or none."""
        with self._asks():
            return super().suggest_all(states, seeds, **how)  # type: ignore[arg-type]

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        """Suggest distinct tactics for a state, and its value; blocks. Raises PolicyError."""
        with self._asks():
            return super().suggest(state_text, seed)

    @contextmanager
    def _asks(self) -> Iterator[None]:
        with self._gate:
            self._gate.wait_for(lambda: not self._paused or self._closed)
            if self._closed:
                raise PolicyClosed("the policy is closed")
            self._asking += 1
        try:
            yield
        finally:
            with self._gate:
                self._asking -= 1
                self._gate.notify_all()

    def pause(self, release: bool = False) -> None:
        """Let nothing begin; returns when nothing is asked any more."""
        with self._gate:
            self._paused = True
            self._gate.wait_for(lambda: not self._asking)
        self._reader.pause()

    def resume(self) -> None:
        """Send the present weights to the endpoints, and go on (a collective)."""
        self._reader.resume()
        self._served.publish()
        with self._gate:
            self._paused = False
            self._gate.notify_all()

    def renew(self) -> None:
        """Send the present weights to the endpoints while others are asked for (a collective)."""
        self._served.publish()

    def load(self) -> PolicyLoad:
        """Report the requests so far, and the states that wait."""
        stats = self.stats
        return PolicyLoad(stats.steps, stats.busy_seconds, 0, 0, self.num_open)

    def close(self, drain_seconds: float = 0.0) -> None:
        """End; who waits gets PolicyClosed."""
        with self._gate:
            self._closed = True
            self._gate.notify_all()
        super().close(drain_seconds)
        deadline = time.monotonic() + CLOSE_SECONDS
        with self._gate:
            self._gate.wait_for(lambda: not self._asking, max(0.0, deadline - time.monotonic()))
        self._served.close()
        self._reader.close()


class _Values(ValueSource):
    """The values of a network in training; as without a head until that has learned something."""

    def __init__(self, reader: HFModel, how: PromptFormat) -> None:
        self._reader, self._head = reader, HeadValue(reader, how)

    def value(self, state_text: str) -> Value:
        """Return what the head says of a state."""
        if not self._reader.has_values:
            return Value(1.0)
        return self._head.value(state_text)
