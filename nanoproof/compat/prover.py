"""Provers by the names that LeanDojo's users know, over our search and our checks.

from nanoproof.compat.prover import HFProver, ExternalProver
result, tactics = HFProver("FOLDER").search(None, goal="∀ p q : Prop, p ∧ q → q ∧ p")

A server is None for the embedded NanoLean, an address `host:port`, or a session. What is reported as proved was checked
as a whole text in a fresh environment: no `sorry`, no other axioms than Lean's own.
"""

import logging
import math
import os
import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from nanoproof.common.distributed import choose_device, init_distributed
from nanoproof.common.errors import UserError
from nanoproof.common.process import Closing
from nanoproof.common.run_dir import is_foreign
from nanoproof.compat.configs import ProverConfig
from nanoproof.inference.hf_loading import adapter_base, load_tokenizer, loading, transformers_library
from nanoproof.inference.language_model import GenerationOptions, LanguageModel
from nanoproof.inference.model_options import TOKEN_VARIABLE, HFOptions, LanguageModelOptions
from nanoproof.inference.open_model import open_model, with_system
from nanoproof.lean.answers import written_proof
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.forbidden import banned_reason
from nanoproof.lean.types import LeanSession, Theorem
from nanoproof.policy.factory import whole_proof_prompts
from nanoproof.policy.policy_options import TextModelOptions
from nanoproof.policy.prompt_formats import FORMATS, PromptFormat, known_format
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.steps_remaining import open_weighing
from nanoproof.policy.text_policy import RetrievingPolicy, TextPolicy
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import parse_theorem
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.retrieval.corpus import Corpus
from nanoproof.retrieval.encoders import open_encoder
from nanoproof.retrieval.folders import retriever_folder
from nanoproof.retrieval.index import INDEX_FOLDER, Index
from nanoproof.retrieval.premises import Retriever
from nanoproof.search.config import ALGORITHM, SearchConfig
from nanoproof.search.policy import Policy, Suggestion, policy_for

__path__: list[str] = []  # so that `compat.MODULES` may have modules below this one

log = logging.getLogger(__name__)

MAX_STEPS = 100
"""Expansions of a search whose config sets no limit."""
MAX_TRIALS = 6
"""How often a prover is asked for a tactic of its own in one expansion."""
HF_TOKEN_VARIABLE = "HF_TOKEN"
PREMISE_TOKENS = 512
"""Tokens that a state and its premises may have together."""


class Status(Enum):
    """How a search ended: with a checked proof, with nothing left to try, or at its limits."""

    PROVED = "Proved"
    FAILED = "Failed"
    OPEN = "Open"


@dataclass(frozen=True)
class SearchResult:
    """What came of a search; times in seconds. `source` is the whole text that was checked, if there is a proof."""

    theorem: Any
    status: Status
    proof: list[str] | None
    actor_time: float
    environment_time: float
    total_time: float
    num_total_nodes: int
    num_searched_nodes: int
    source: str = ""
    n_goals_root: int = 1

    @property
    def success(self) -> bool:
        """Whether there is a checked proof."""
        return self.status is Status.PROVED

    @property
    def duration(self) -> float:
        """Seconds of the whole search."""
        return self.total_time

    @property
    def steps(self) -> int:
        """How many states were expanded."""
        return self.num_searched_nodes


def theorem_of(goal: str | None, theorem: Any) -> Theorem:
    """Return what is to be proved: of a theorem (ours, a record with `theorem_statement`, or text), else of a goal.

    Raises ValueError without either, and UserError for a text that is no theorem.
    """
    if theorem is None:
        if goal is None or not goal.strip():
            raise ValueError("search needs a goal or a theorem")
        return parse_theorem(f"theorem goal : {goal.strip()}", embedded=False)
    if isinstance(theorem, Theorem):
        return theorem
    text = theorem
    if not isinstance(theorem, str):
        text = getattr(theorem, "theorem_statement", None)
    if not isinstance(text, str) or not text.strip():
        raise UserError(f"{getattr(theorem, 'full_name', theorem)} has no statement: give its text")
    # A statement that was cut out of a file may end with the `:=` of its proof.
    return parse_theorem(text.strip().removesuffix(":= by").removesuffix(":=").rstrip(), embedded=False)


@contextmanager
def opened_session(server: Any) -> Iterator[LeanSession]:
    """Lease a Lean process of a server: an address, a client, a session that is open already, or None: embedded."""
    if hasattr(server, "start") and hasattr(server, "apply"):  # a session, which whoever opened it closes
        yield server
    elif server is None or _means_embedded(server):
        with start_embedded(1) as embedded, LeanServerClient(embedded.addresses[0], embedded.token).lease() as session:
            yield session
    else:
        if not isinstance(server, LeanServerClient):
            server = LeanServerClient(str(server))
        with server.lease() as session:
            yield session


def _means_embedded(server: Any) -> bool:
    """Tell whether a server is Pantograph's over core Lean alone, where the embedded NanoLean does its work.

    Raises UserError for one that has a project or imports more: those are not here.
    """
    # By name: pantograph is no dependency, and need not be there.
    if type(server).__module__.partition(".")[0] != "pantograph":
        return False
    project, imports = getattr(server, "project_path", None), list(getattr(server, "imports", ()))
    if project or any(name != "Init" for name in imports):
        raise UserError(
            f"a Pantograph server over {project or ', '.join(imports)} is not driven here: give the address host:port "
            "of a Lean server (python -m nanoproof.lean.server)"
        )
    log.warning("a Pantograph server is not driven here: the embedded NanoLean takes its place")
    return True


class BaseProver(ABC):
    """A prover whose subclasses say the next tactic of a state; `search` does the rest."""

    config: ProverConfig | None = None
    seed = 0

    @abstractmethod
    def next_tactic(self, state: Any, goal_id: int = 0) -> str | None:
        """Return a tactic for a state, None if there is none.

        The state is a text, or anything whose `str` shows its goals, such as Pantograph's GoalState.
        """

    @abstractmethod
    def generate_whole_proof(self, theorem: Any) -> str:
        """Write a whole proof, unchecked."""

    def policy(self) -> Policy:
        """Return what the search asks for tactics; of a subclass that says no more, its `next_tactic`."""
        return _NextTactics(self)

    def search(
        self, server: Any = None, goal: str | None = None, theorem: Any = None, verbose: bool = False
    ) -> tuple[SearchResult, list[str] | None]:
        """Search for a proof of a theorem, else of a goal (a proposition, as Lean writes it).

        Returns the result, and the tactics of the proof in their order. Raises ValueError without goal or theorem,
        UserError for a statement that Lean refuses, and RuntimeError where a server fails.
        """
        wanted = theorem_of(goal, theorem)
        config = self.config or ProverConfig(num_sampled_tactics=MAX_TRIALS)
        prover = Prover(self.policy(), SearchConfig(algorithm=ALGORITHM), ProverOptions(keep_tree=False))
        with opened_session(server) as session:
            began = time.monotonic()
            attempt = prover.prove(
                session,
                wanted,
                config.max_expansions or MAX_STEPS,
                random.Random(self.seed),
                lambda: time.monotonic() - began > config.timeout,
            )
        if attempt.refused:
            raise UserError(f"Lean refuses the statement: {' '.join(attempt.message.split())}")
        if attempt.outcome == "error":
            raise RuntimeError(f"the search ended in an error: {' '.join(attempt.message.split())}")
        if theorem is None:
            theorem = wanted
        result = result_of(attempt, theorem, time.monotonic() - began)
        if verbose:
            print(f"{result.status.value} after {result.steps} expansions and {result.total_time:.1f} s")
            for tactic in result.proof or ():
                print(f"  {tactic}")
        return result, result.proof


def result_of(attempt: Attempt, theorem: Any, seconds: float) -> SearchResult:
    """Read the result of an attempt; a search without a proof leaves the theorem open, as there is more to try."""
    status, proof, source = Status.OPEN, None, ""
    if attempt.outcome == "proven":
        status, source = Status.PROVED, attempt.source
        proof = [step.tactic for step in attempt.transitions]
    return SearchResult(
        theorem,
        status,
        proof,
        attempt.seconds.get("policy", 0.0),
        attempt.seconds.get("lean", 0.0),
        seconds,
        attempt.counts.get("nodes", 0),
        attempt.counts.get("expansions", 0),
        source,
    )


class _NextTactics:
    """A prover's `next_tactic` as a policy: asked several times for each state, what is repeated counts once."""

    def __init__(self, prover: BaseProver) -> None:
        self._prover = prover
        self._lock = threading.Lock()  # provers of users need not know of threads

    def suggest(self, state_text: str, seed: int = 0) -> Suggestion:
        with self._lock:
            return self._ask(state_text)

    def _ask(self, state_text: str) -> Suggestion:
        counts: dict[str, int] = {}
        for _ in range(MAX_TRIALS):
            tactic = self._prover.next_tactic(state_text, 0)
            if tactic is None:
                break
            if tactic.strip() and banned_reason(tactic) is None:
                counts[tactic] = counts.get(tactic, 0) + 1
        # Such a prover tells no probabilities: these fall with the order in which it named them. One tactic to go, the
        # value, is the same for all states, so that it decides nothing.
        logprobs = [-0.1 * rank for rank in range(len(counts))]
        return Suggestion(tuple(counts), tuple(logprobs), tuple(counts.values()), 1.0)


class _ModelProver(Closing, BaseProver):
    """A prover over a language model, open until `close`; a whole proof has `proof_tokens` at most."""

    proof_tokens = 512

    def __init__(
        self, spec: str, sampling: SamplingConfig, texts: TextModelOptions, device: str, config: ProverConfig | None
    ) -> None:
        self.spec, self.config, self.sampling = spec, config, sampling
        if config is not None:
            self.sampling = SamplingConfig(
                num_sampled_tactics=config.num_sampled_tactics,
                max_gen_tokens=sampling.max_gen_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                first_token_occurrences_cap=None,
            )
        self.theorem: Any = None
        self._rng = random.Random(self.seed)
        self._asked = 0
        self._stack = ExitStack()
        self.texts = texts
        if device == "auto":  # LeanDojo-v2's word for the best that there is
            device = ""
        dist = init_distributed(device)
        self.format = default_format(spec) if texts.prompt_format is None else texts.format_for(spec)
        self.model: LanguageModel = self._stack.enter_context(
            open_model(
                spec,
                texts.backend,
                chat=self.format.chat,
                system=self.format.system,
                special=self.format.special,
                device=dist.device,
                dtype=dist.dtype,
            )
        )
        policy = self._stack.enter_context(TextPolicy(self.model, self.format, self.sampling))
        self._policy: Policy = open_weighing(self._helped(policy), texts.progress)

    def _helped(self, policy: TextPolicy) -> Policy:
        """Return what asks the model; subclasses may put something before its states."""
        return policy

    def policy(self) -> Policy:
        """Return the model as a policy, all of whose candidates a search tries."""
        return self._policy

    def candidates(self, state: Any) -> Sequence[str]:
        """Sample tactics for a state, other ones each time; none that no proof may use."""
        self._asked += 1
        return self._policy.suggest(str(state).strip(), self.seed + self._asked).tactics

    def generate_whole_proof(self, theorem: Any) -> str:
        """Write a whole proof, unchecked: `scripts.prove --whole-proof` samples and checks."""
        name = None
        if is_foreign(self.spec):  # ours are asked in the one way that they were trained with
            known = known_format(self.spec, "proof")
            # One by chat and one by plain text cannot be asked through the same open model.
            if known is not None and known.chat == self.format.chat:
                name = known.name
            else:
                name = "chat-proof" if self.format.chat else "deepseek-v1.5"
        render, _ = whole_proof_prompts(self.spec, TextModelOptions(prompt_format=name))
        self._asked += 1
        options = GenerationOptions(
            max_new_tokens=self.proof_tokens, temperature=self.sampling.temperature, top_p=self.sampling.top_p
        )
        wanted = theorem_of(None, theorem)
        writer = with_system(self.model, "")  # that of the format asks for single tactics
        ((sample,),) = writer.generate([render(wanted)], options, [self.seed + self._asked])
        return written_proof(wanted, sample.text)

    def close(self) -> None:
        """Free the model."""
        self._stack.close()


def default_format(spec: str) -> PromptFormat:
    """Return the format in which a model is asked for tactics, and trained, unless a script names one.

    It is what the model is known for; else `chat` for endpoints, and for models of transformers what LeanDojo-v2 trains
    them on: `leandojo`, or `leandojo-text` without a chat template. Raises UserError for what cannot be loaded.
    """
    known = known_format(spec, "tactic")
    if known is not None or not is_foreign(spec):
        return known or TextModelOptions().format_for(spec)
    if spec.startswith("openai:"):
        return FORMATS["chat"]
    library, source = transformers_library(), str(Path(spec.removeprefix("hf:")).expanduser())
    tokenizer = load_tokenizer(library, source)
    if getattr(tokenizer, "chat_template", None):
        return FORMATS["leandojo"]
    with loading(spec, folder=source):
        base = adapter_base(source) or source
        config = library.AutoConfig.from_pretrained(base, trust_remote_code=False)
    # ReProver's generator is the encoder-decoder among LeanDojo's models.
    return FORMATS["reprover" if config.is_encoder_decoder else "leandojo-text"]


class HFProver(_ModelProver):
    """A model of transformers, or a checkpoint of ours, that suggests tactics."""

    def __init__(
        self,
        ckpt_path: str,
        use_lora: bool = False,
        device: str = "auto",
        prompt_format: str | None = None,
        config: ProverConfig | None = None,
    ) -> None:
        """`ckpt_path` is a folder (of a model, or of adapters, whatever `use_lora` says), an id of the hub, or a
        checkpoint of ours as `--model-path` takes it. Raises UserError for what cannot be loaded."""
        spec = _spec_of(ckpt_path)
        texts = TextModelOptions(prompt_format=prompt_format, backend=LanguageModelOptions(hf=HFOptions()))
        sampling = SamplingConfig(
            num_sampled_tactics=5, max_gen_tokens=64, temperature=0.7, top_p=0.9, first_token_occurrences_cap=None
        )
        self.use_lora = use_lora
        super().__init__(spec, sampling, texts, device, config)

    def next_tactic(self, state: Any, goal_id: int = 0) -> str | None:
        """Sample tactics and return one of them, each as likely; None where none is left of use."""
        tactics = self.candidates(state)
        return self._rng.choice(tactics) if tactics else None


class RetrievalProver(_ModelProver):
    """A model of transformers that is given premises with each state (ReProver), which a retriever finds."""

    def __init__(
        self,
        ret_ckpt_path: str | Path,
        gen_ckpt_path: str | Path,
        indexed_corpus_path: str | Path,
        num_premises: int = 10,
        device: str = "auto",
        prompt_format: str | None = None,
        config: ProverConfig | None = None,
    ) -> None:
        """`ret_ckpt_path` is a retriever's folder (`RetrievalTrainer`), else a folder or id of transformers;
        `gen_ckpt_path` is a model as of `HFProver`; `indexed_corpus_path` is the `corpus.jsonl` of an export, whose
        vectors are taken from the retriever's index so far as that has them. The best premises that fit beside a state
        into 512 tokens are used. Raises UserError for what cannot be loaded, or has no place for premises.
        """
        self._retriever_path, self.num_premises = str(ret_ckpt_path), num_premises
        self._corpus = Corpus.load(Path(indexed_corpus_path).expanduser())
        spec = _spec_of(str(gen_ckpt_path))
        if prompt_format is None and known_format(spec, "tactic") is None:
            prompt_format = "reprover"
        sampling = SamplingConfig(
            num_sampled_tactics=10, max_gen_tokens=128, temperature=1.0, top_p=1.0, first_token_occurrences_cap=None
        )
        super().__init__(spec, sampling, TextModelOptions(prompt_format=prompt_format), device, config)

    def _helped(self, policy: TextPolicy) -> Policy:
        if not self.format.takes_premises:
            self.close()
            raise UserError(f"{self.spec}: prompts of the format {self.format.name} have no place for premises")
        folder = retriever_folder(self._retriever_path)
        spec = self._retriever_path if folder else f"hf:{self._retriever_path}"
        encoder = open_encoder(spec, device=choose_device()[0])
        earlier = None
        if folder is not None:
            with suppress(UserError):  # it only saves encoding texts anew
                earlier = Index.load(folder / INDEX_FOLDER, encoder.identity)
        index, _ = Index.build(self._corpus, encoder, earlier)
        self.retriever = Retriever(encoder, index, self.num_premises)
        return RetrievingPolicy(policy, self.retriever, PREMISE_TOKENS)

    def next_tactic(self, state: Any, goal_id: int = 0) -> str | None:
        """Sample tactics and return one of them, as likely as its probability among them; None without any."""
        self._asked += 1
        policy = self._policy
        if self.theorem is not None:  # premises are then those that its file can use
            policy = policy_for(policy, theorem_of(None, self.theorem))
        suggestion = policy.suggest(str(state).strip(), self.seed + self._asked)
        if not suggestion.tactics:
            return None
        # Relative to the highest one: of long tactics all probabilities could be zero to a float.
        highest = max(suggestion.logprobs)
        weights = [math.exp(logprob - highest) for logprob in suggestion.logprobs]
        return self._rng.choices(suggestion.tactics, weights)[0]

    def generate_whole_proof(self, theorem: Any) -> str:
        """Raise NotImplementedError: it writes single tactics."""
        raise NotImplementedError("RetrievalProver suggests tactics for states, and writes no whole proofs")


def _spec_of(path: str) -> str:
    """Return the SPEC of a model: a checkpoint of ours as it is, else one of transformers."""
    ours = path.endswith((".pt", ".json")) or any(Path(path).expanduser().glob("model_*.json"))
    return path if ours or is_foreign(path) else f"hf:{path}"


@contextmanager
def _hub_token(base_url: str) -> Iterator[None]:
    """Let HF_TOKEN be the token of an endpoint that is opened meanwhile, if it is the hub's and has no other."""
    host = urlsplit(base_url).hostname or ""
    token = os.environ.get(HF_TOKEN_VARIABLE)
    # The dot before both: `nothuggingface.co` is somebody else, who must not get it.
    if not token or TOKEN_VARIABLE in os.environ or not f".{host}".endswith(".huggingface.co"):
        yield
        return
    os.environ[TOKEN_VARIABLE] = token
    try:
        yield
    finally:
        del os.environ[TOKEN_VARIABLE]


class ExternalProver(_ModelProver):
    """A model behind an OpenAI-compatible endpoint; the token is NANOPROOF_MODEL_TOKEN, or for the hub HF_TOKEN."""

    def __init__(
        self,
        model_name: str = "deepseek-ai/DeepSeek-Prover-V2-671B:novita",
        base_url: str = "https://router.huggingface.co/v1",
        prompt_format: str | None = None,
        config: ProverConfig | None = None,
    ) -> None:
        """Raises UserError for an address that is none."""
        sampling = SamplingConfig(
            num_sampled_tactics=4, max_gen_tokens=256, temperature=0.6, top_p=0.9, first_token_occurrences_cap=None
        )
        texts = TextModelOptions(prompt_format=prompt_format)
        self._used: dict[str, set[str]] = {}
        with _hub_token(base_url):
            super().__init__(f"openai:{base_url.rstrip('/')}#{model_name}", sampling, texts, "cpu", config)

    def next_tactic(self, state: Any, goal_id: int = 0) -> str | None:
        """Return the first candidate that was not returned before for this state; None if there is none."""
        used = self._used.setdefault(str(state), set())
        for tactic in self.candidates(state):
            if tactic not in used:
                used.add(tactic)
                return tactic
        return None
