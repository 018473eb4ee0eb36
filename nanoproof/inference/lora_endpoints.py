"""Endpoints that serve the adapters of a model in training: vLLM's servers, which load and unload them while they run.

Each step's adapters have a name of their own, so that an answer says whose it is: a request names the adapters, and the
server refuses a name that it does not hold (one that was restarted holds none), which are then loaded again there.
Whether a server means by a name what was sent to it is asked by a probe: the probability of the likeliest token behind
some prompts, which is to be that of the network here.

A server is started with `--enable-lora` and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, and reads adapters from a folder: it
has to see the run directory.
"""

import logging
import shlex
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

from nanoproof.common.errors import UserError
from nanoproof.inference.language_model import GenerationOptions, TextSample
from nanoproof.inference.model_options import EndpointOptions
from nanoproof.inference.openai_model import NoSuchModel, OpenAIModel
from nanoproof.search.policy import PolicyError, PolicyTimeout, PolicyUnavailable, PolicyUnreachable

log = logging.getLogger(__name__)

DOWN_SECONDS = 5.0
"""For so long an endpoint that failed is asked nothing, if there are others."""
PATIENCE_SECONDS = 300.0
"""A prompt for which no endpoint answers in this time fails."""
LOAD_SECONDS, START_SECONDS = 120.0, 900.0
"""How long a server may take to load adapters, and to begin with another model."""
RESTART_SECONDS = 600.0
"""How long the command of `--policy-restart` may take; the server may then take as long to load."""
PROBE_TOLERANCE = 0.1
"""Servers compute in bf16 or with other kernels: so much may the log-probability of a likeliest token differ (nats)."""


@dataclass(frozen=True)
class Adapters:
    """Adapters of a step: the name that requests have for them, the folder that servers read, and what a probe says.

    `folder` is None for the base without any, which servers hold from the start. With `restart` it is that of a whole
    model, or its id. `expected` are the log-probabilities of the likeliest tokens behind the prompts of the probe.
    """

    name: str
    folder: Path | None
    expected: tuple[float, ...] = ()


@dataclass
class _Server:
    """An endpoint, and what is known of it."""

    model: OpenAIModel
    address: str
    names: set[str] = field(default_factory=set)
    """Adapters that it is taken to hold."""
    to_unload: set[str] = field(default_factory=set)
    """Adapters that it may hold, and nobody asks for."""
    under_way: int = 0
    down_until: float = 0.0
    loading: threading.Lock = field(default_factory=threading.Lock)


class LoraEndpoints:
    """Any number of endpoints that serve one base with the adapters that are current. Any number of threads may ask."""

    special = False

    def __init__(
        self,
        addresses: Sequence[str],
        options: EndpointOptions | None = None,
        *,
        chat: bool = False,
        system: str = "",
        probes: Sequence[str] = (),
        prefix: str = "nanoproof-",
        restart: Callable[[str, Adapters], None] | None = None,
        owner: bool = True,
    ) -> None:
        """`addresses` are as `http://host:8000/v1`. `probes` are prompts by which a server's weights are checked.

        With `restart` what is published are whole models: it has the server at an address serve the folder under its
        name.

        Of several processes that ask the same servers one is the `owner`: it loads, and alone unloads, as only all
        together know what is still asked for. What a server holds under names that begin with `prefix`, of an earlier
        part of the run, is unloaded. Raises UserError for an address that is none, PolicyUnreachable if nobody answers
        at one, and PolicyAccessDenied.
        """
        self._probes, self._prefix, self._restart = tuple(probes), prefix, restart
        self._owner = owner
        # One request is tried once: another endpoint may answer what this one does not.
        self._options = options or EndpointOptions(requests=256, patience=0.0)
        self._servers: list[_Server] = []
        self._lock = threading.Lock()
        self._current: Adapters | None = None
        self._known: dict[str, Adapters] = {}
        self._in_use: Counter[str] = Counter()
        # Requests to all endpoints at a time: a server batches what it is asked meanwhile.
        self._threads = ThreadPoolExecutor(self._options.requests, "endpoints")
        self.answered: Callable[[str, str, Sequence[TextSample]], None] = lambda name, prompt, samples: None
        """Hears of each answer: the name of the adapters that gave it, the prompt, and the samples."""
        try:
            for address in addresses:
                model = self._reach(address, chat, system)
                self._servers.append(_Server(model, address))
                if owner:  # another process would take away what the owner has loaded by now
                    server = self._servers[-1]
                    server.to_unload.update(name for name in model.listed() if name.startswith(self._prefix))
                    self._unload(server)
        except BaseException:
            self.close()
            raise
        self.name = f"endpoints {', '.join(addresses)}"
        self.identity = self.name

    def _reach(self, address: str, chat: bool, system: str) -> OpenAIModel:
        try:
            return OpenAIModel(address, None, self._options, chat=chat, system=system, any_model=True)
        except PolicyUnreachable as error:
            raise PolicyUnreachable(f"--policy-endpoint {error}; start it, or leave it out") from error
        except PolicyError:
            raise
        except UserError as error:
            raise UserError(f"--policy-endpoint {str(error).removeprefix('openai:')}") from error

    # -- adapters ------------------------------------------------------------------------------------------------------

    def publish(self, adapters: Adapters) -> None:
        """Load adapters at all endpoints, and answer with them from now on; those before are unloaded where nothing
        asks for them any more. For one process alone. Raises what `load` does."""
        self.load(adapters)
        self.adopt(adapters)
        self.retire(self.names())

    def load(self, adapters: Adapters) -> None:
        """Load adapters at all endpoints.

        An endpoint that is away gets them when it is back. Raises UserError if one cannot load them, and
        PolicyUnreachable if all are away.
        """
        with self._lock:
            self._known[adapters.name] = adapters
        away = []
        for server in self._servers:
            try:
                self._load(server, adapters)
            except PolicyUnavailable as error:
                self._note_down(server, error)
                away.append(str(error))
        if len(away) == len(self._servers):
            raise PolicyUnreachable(f"no endpoint took the adapters of {adapters.folder}: {away[0]}")

    def adopt(self, adapters: Adapters) -> None:
        """Answer with adapters that the owner has loaded at the endpoints, from now on."""
        with self._lock:
            self._known[adapters.name] = self._current = adapters
            if not self._owner:  # which has checked them; a server that was away then says that it has none
                for server in self._servers:
                    server.names.add(adapters.name)

    def names(self) -> set[str]:
        """Return the names of adapters that are current or still asked for, in this process."""
        with self._lock:
            assert self._current is not None
            return {self._current.name, *(name for name in self._known if self._in_use[name])}

    def retire(self, asked_for: Collection[str]) -> None:
        """Forget all adapters but those that some process still has asked for; the owner unloads them."""
        with self._lock:
            # Of any process: a server may have been restarted, and hold what another one had loaded there again.
            old = [name for name in self._known if name not in asked_for]
            for name in old:
                del self._known[name]
                for server in self._servers:
                    server.names.discard(name)
                    server.to_unload.add(name)
        for server in self._servers:
            self._unload(server)

    def _load(self, server: _Server, adapters: Adapters) -> None:
        """Load adapters at an endpoint, and check that it has them. Raises UserError and PolicyUnavailable."""
        # One thread at a time: of hundreds that hear that a server holds nothing, the first one loads.
        with server.loading:
            if adapters.name in server.names:
                return
            if self._restart is not None:
                self._wait_for(server, adapters)
            elif adapters.folder is not None:
                self._load_adapters(server, adapters)
            self._check(server, adapters)
            server.names.add(adapters.name)

    def _wait_for(self, server: _Server, adapters: Adapters) -> None:
        """Have a server serve a whole model, unless it does, and wait until it does. Raises UserError."""
        assert self._restart is not None
        deadline = time.monotonic() + START_SECONDS
        if self._serves(server, adapters):
            return
        self._restart(server.address, adapters)
        while not self._serves(server, adapters):
            if time.monotonic() > deadline:
                raise UserError(
                    f"--policy-endpoint {server.address} does not serve {adapters.name} {START_SECONDS:g} s after "
                    "--policy-restart: start vLLM with --served-model-name NAME"
                )
            time.sleep(1.0)

    def _serves(self, server: _Server, adapters: Adapters) -> bool:
        try:
            return adapters.name in server.model.listed()
        except PolicyUnavailable:
            return False

    def _load_adapters(self, server: _Server, adapters: Adapters) -> None:
        """Have a server load adapters. Raises UserError if it cannot, and PolicyUnavailable if it is away."""
        assert adapters.folder is not None
        body = {"lora_name": adapters.name, "lora_path": str(adapters.folder.absolute())}
        status, text = self._post(server, "/load_lora_adapter", body)
        if status == 404 and "adapter" not in text:
            raise UserError(
                f"--policy-endpoint {server.address} has no /load_lora_adapter: start vLLM with --enable-lora and "
                "VLLM_ALLOW_RUNTIME_LORA_UPDATING=True"
            )
        if status != 200 and "already" not in text:
            raise UserError(
                f"--policy-endpoint {server.address} does not load the adapters in {adapters.folder}: {text}; it has "
                "to see that folder, with --max-lora-rank at least that of --lora, and serve their base"
            )

    def _check(self, server: _Server, adapters: Adapters) -> None:
        """Raise UserError if an endpoint's adapters are not those that were sent."""
        model = self._model(server, adapters)
        for prompt, expected in zip(self._probes, adapters.expected):
            try:
                logprob = model.greedy_logprob(prompt)
            except PolicyUnavailable:
                raise
            except PolicyError as error:
                raise UserError(f"--policy-endpoint {server.address} cannot be checked: {error}") from error
            # NaN, as of weights that are none, is read as no log-probability.
            if logprob is None:
                raise UserError(
                    f"--policy-endpoint {server.address} answers as {adapters.name} without a log-probability that is "
                    "a number, so that it cannot be told whose weights answer; vLLM tells them, unless weights are none"
                )
            if abs(logprob - expected) > PROBE_TOLERANCE:
                source = adapters.folder or "the base"
                raise UserError(
                    f"--policy-endpoint {server.address} answers as {adapters.name} with other weights than those of "
                    f"{source}: the likeliest token of a probe has log-probability {logprob:.3f} there, and "
                    f"{expected:.3f} here; does it serve the same base?"
                )

    def _model(self, server: _Server, adapters: Adapters) -> OpenAIModel:
        """Return an endpoint as the model of adapters; its first model is the base."""
        if adapters.folder is None and self._restart is None:
            return server.model
        return server.model.as_model(adapters.name)

    def _unload(self, server: _Server) -> None:
        """Unload what an endpoint may hold and nobody asks for; of one that is away that is tried again."""
        if self._restart is not None or not self._owner:  # a whole model goes when the next one comes
            server.to_unload.clear()
        for name in sorted(server.to_unload):
            try:
                status, text = self._post(server, "/unload_lora_adapter", {"lora_name": name})
            except PolicyUnavailable as error:
                self._note_down(server, error)
                return
            server.to_unload.discard(name)
            if status != 200:  # restarted, it holds nothing of before
                log.debug("%s did not unload %s: %s", server.address, name, text)

    def _post(self, server: _Server, path: str, body: dict[str, Any]) -> tuple[int, str]:
        """Return status and text of an answer. Raises PolicyUnavailable if there is none."""
        try:
            return server.model.post_plain(path, body, LOAD_SECONDS)
        except httpx2.TransportError as error:
            message = f"{server.address}{path} cannot be reached: {type(error).__name__}: {error}"
            raise PolicyUnreachable(message) from None

    # -- texts ---------------------------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[str], options: GenerationOptions, seeds: Sequence[int]
    ) -> list[list[TextSample]]:
        """Continue prompts, in order, all of one prompt's samples by the same adapters.

        Raises BadState for what an endpoint refuses, UserError for one that answers with other weights, and
        PolicyUnavailable if none answers.
        """
        if len(prompts) == 1:
            return [self._answer(prompts[0], options, seeds[0])]
        work = [
            self._threads.submit(self._answer, prompt, options, seed)
            for prompt, seed in zip(prompts, seeds, strict=True)
        ]
        try:
            return [answer.result() for answer in work]
        finally:
            for answer in work:
                answer.cancel()

    def _answer(self, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        with self._adapters() as adapters:
            samples = self._ask(adapters, prompt, options, seed)
            self.answered(adapters.name, prompt, samples)
        return samples

    @contextmanager
    def _adapters(self) -> Iterator[Adapters]:
        """Hold the adapters that are current: they are not unloaded while something asks for them."""
        with self._lock:
            assert self._current is not None, "nothing was published yet"
            adapters = self._current
            self._in_use[adapters.name] += 1
        try:
            yield adapters
        finally:
            with self._lock:
                self._in_use[adapters.name] -= 1

    def _ask(self, adapters: Adapters, prompt: str, options: GenerationOptions, seed: int) -> list[TextSample]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            server = self._choose()
            try:
                self._load(server, adapters)
                return self._model(server, adapters).generate([prompt], options, [seed])[0]
            except NoSuchModel as error:
                # It was restarted: what it held is gone, all of it.
                log.warning("%s holds no %s (%s): it is loaded again", server.address, adapters.name, error)
                server.names.clear()
            except (PolicyUnavailable, PolicyTimeout) as error:
                self._note_down(server, error)
                if time.monotonic() > deadline:
                    raise
                # As long as one is up, another one is asked at once.
                if all(other.down_until > time.monotonic() for other in self._servers):
                    time.sleep(min(DOWN_SECONDS, 1.0))
            finally:
                with self._lock:
                    server.under_way -= 1

    def _choose(self) -> _Server:
        """Take the endpoint with the fewest requests under way, of those that are up if one is."""
        with self._lock:
            now = time.monotonic()
            up = [server for server in self._servers if server.down_until <= now]
            chosen = min(up or self._servers, key=lambda server: server.under_way)
            chosen.under_way += 1
            return chosen

    def _note_down(self, server: _Server, error: Exception) -> None:
        with self._lock:
            was_up = server.down_until <= time.monotonic()
            server.down_until = time.monotonic() + DOWN_SECONDS
            # Whatever it held may be gone when it is back: a name that it does not know is loaded again then.
        if was_up:
            log.warning("%s is away: %s", server.address, error)

    # -- the rest of a language model ----------------------------------------------------------------------------------

    def score(self, prompt: str, continuation: str) -> float:
        """Score a continuation by the current adapters."""
        with self._adapters() as adapters:
            server = self._servers[0]
            self._load(server, adapters)
            return self._model(server, adapters).score(prompt, continuation)

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Refuse: a model in training embeds nothing."""
        raise UserError(f"{self.name}: a model in training embeds no texts")

    def num_tokens(self, text: str) -> int:
        """Guess as endpoints do."""
        return self._servers[0].model.num_tokens(text)

    def close(self) -> None:
        """Unload what this run loaded, as far as servers are there, and end."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for server in self._servers:
            server.to_unload.update(name for name, adapters in self._known.items() if adapters.folder is not None)
            self._unload(server)
            server.model.close()


def restart_by(command: str) -> Callable[[str, Adapters], None]:
    """Return what restarts the server at an address by a user's command, which gets FOLDER, URL and NAME.

    It raises UserError if the command fails.
    """

    def restart(address: str, adapters: Adapters) -> None:
        source = str(adapters.folder)
        if Path(source).exists():  # not the id of a hub
            source = str(Path(source).absolute())
        words = [*shlex.split(command), source, address, adapters.name]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=RESTART_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise UserError(f"--policy-restart {shlex.join(words)}: {error}") from error
        if done.returncode != 0:
            problem = " ".join(done.stderr.split())[-300:]
            raise UserError(f"--policy-restart {shlex.join(words)} ended with {done.returncode}: {problem}")

    return restart
