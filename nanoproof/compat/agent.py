"""Agents by the names that LeanDojo's users know: repositories go in, a model is trained, their `sorry`s are proved.

from nanoproof.compat.agent import HFAgent
from nanoproof.compat.trainers import SFTTrainer

agent = HFAgent(trainer=SFTTrainer("FOLDER_OR_ID", output_dir="outputs"))
agent.setup_local_repository("my-project")
agent.train()
agent.prove()

Every `sorry` is searched in its file's own context, and what is reported as proved was checked in its whole file
(`repos.proving`). Proofs go to a patch, the store, and the database's JSON file; no file of a project is changed.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from nanoproof.actors.fleet import Fleet, FleetOptions
from nanoproof.common.errors import UserError
from nanoproof.common.files import file_sha256
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.compat.configs import ProverConfig, TrainingConfig
from nanoproof.compat.database import DynamicDatabase, Repository, Theorem
from nanoproof.compat.prover import (
    MAX_STEPS,
    MAX_TRIALS,
    BaseProver,
    ExternalProver,
    HFProver,
    RetrievalProver,
    result_of,
)
from nanoproof.compat.trainers import RetrievalTrainer
from nanoproof.lean import types as lean
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.prover.whole_proof import UNREADABLE, Candidate, Verifier
from nanoproof.repos.leandojo import CORPUS
from nanoproof.repos.manage import AddOptions
from nanoproof.repos.project import Project
from nanoproof.repos.prove import Proved, ProveProjectOptions, prove_project
from nanoproof.repos.proving import method_of, said_of
from nanoproof.repos.store import Store
from nanoproof.repos.tries import Rung, Task
from nanoproof.retrieval.folders import retriever_folder
from nanoproof.search.config import ALGORITHM, SearchConfig

__path__: list[str] = []  # so that `compat.MODULES` may have modules below this one

DATA_PATH = Path("raid/data/merged")
"""Where the data of the repositories are exported to, for training."""
PROOF_LOG = "proof_log.txt"
"""The log of theorems proved, beside the database."""
GENERATOR = "kaiyuy/leandojo-lean4-retriever-tacgen-byt5-small"
NOT_WHOLE = "it stands within a proof, where no whole proof can be written"
NO_REPOSITORY = "No repository loaded. Call setup_github_repository() or setup_local_repository() first."


class BaseAgent(ABC):
    """An agent over repositories; subclasses say which trainer and which prover."""

    trainer: Any = None
    prover: BaseProver | None = None
    """The prover that was opened last; `prove` closes it."""
    _prover_is_open = False

    def __init__(
        self,
        database_path: str = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
        lean_servers: Sequence[str] = (),
    ) -> None:
        """`lean_servers` are addresses host:port; without any, the embedded NanoLean traces and proves. Raises
        UserError for a damaged database."""
        self.database = DynamicDatabase(json_path=database_path)
        self.data_path = DATA_PATH
        self.prover_config = prover_config
        self.lean = LeanOptions(tuple(lean_servers))
        self.repos: list[Repository] = []
        self.encountered: list[Theorem] = []
        """Theorems that were tried since the last training."""
        self.metrics: dict[str, float] = {}

    # -- repositories ------------------------------------------------------------------------------------------------

    def setup_github_repository(self, url: str, commit: str) -> None:
        """Clone and trace the repository at an address, and add it to the database.

        Raises ValueError where it holds fewer than three theorems, and UserError where it cannot be cloned or traced.
        """
        self._set_up(url, commit, f"github repository {url}")

    def setup_local_repository(self, path: str | Path) -> None:
        """Trace the repository in a folder, at the commit that it is at, and add it; raises as for an address."""
        self._set_up(str(path), "", f"local repository {path}")

    def _set_up(self, url: str, commit: str, what: str) -> None:
        traced = self.trace_repository(url, commit, self._get_build_deps())
        if traced is None:
            raise ValueError(f"Failed to setup {what}: it has fewer than three theorems")
        self.add_repository(traced)

    def trace_repository(self, url: str, commit: str, build_deps: bool) -> Repository | None:
        """Trace a repository; None if it holds fewer than three theorems."""
        return self.database.trace_repository(url, commit, build_deps, AddOptions(lean=self.lean))

    def add_repository(self, repo: Repository) -> None:
        """Add a repository, or bring what the database knows of it up to date; proofs that were found stay."""
        if repo not in self.database.repositories:
            self.database.add_repository(repo)
        else:
            known = self.database.repositories[self.database.repositories.index(repo)]
            # A trace sees the files alone, in which a theorem stays open whose proof went to a patch.
            for theorem in known.sorry_theorems_proved:
                if theorem in repo.sorry_theorems_unproved:
                    repo.sorry_theorems_unproved.remove(theorem)
                    repo.sorry_theorems_proved.append(theorem)
            repo.metadata, repo.pr_url = {**known.metadata, **repo.metadata}, repo.pr_url or known.pr_url
            self.database.update_repository(repo)
        self.database.to_json()
        if repo in self.repos:
            self.repos.remove(repo)
        self.repos.append(repo)

    # -- training ----------------------------------------------------------------------------------------------------

    def train(self) -> None:
        """Train on the repositories of the database, the easiest first, one more in each pass.

        Raises ValueError without repositories or a trainer, and UserError as the trainer does.
        """
        if self.trainer is None:
            raise ValueError(f"{type(self).__name__} has no trainer: its model is trained elsewhere")
        if not self.database.repositories:
            raise ValueError(NO_REPOSITORY)
        repos = self.database.sort_repositories_by_difficulty()
        self.metrics = self.trainer.train(repos=repos, database=self.database, data_path=self.data_path)
        # Another model may prove what this one could not.
        self.encountered.clear()

    def evaluate(self) -> dict[str, float]:
        """Return the trainer's own evaluation; of one without, the held-out metrics of the last training.

        Raises ValueError before any training.
        """
        if hasattr(self.trainer, "evaluate"):
            return self.trainer.evaluate()
        if not self.metrics:
            raise ValueError("There is nothing to evaluate: call train() first.")
        held_out = {name: value for name, value in self.metrics.items() if name.startswith("valid")}
        for name, value in held_out.items():
            print(f"{name}: {value:.4g}")
        return held_out

    # -- proving -----------------------------------------------------------------------------------------------------

    def prove(self, whole_proof: bool = False) -> list[bool]:
        """Prove the theorems of this session's repositories that have a `sorry`; returns which are proved.

        With `whole_proof` the model writes each proof in one go, which is printed and checked. A proof that holds moves
        its theorem in the database, whose file is saved, and adds a line to `proof_log.txt` beside it. A theorem that
        was tried is not tried again before the next training, nor in a later run with the same model and config.
        Raises UserError where Lean or the model fails for good; what was proved by then is kept.
        """
        todo = {}
        for repo in self.repos:
            todo[repo] = [theorem for theorem in repo.sorry_theorems_unproved if theorem not in self.encountered]
        # LeanDojo-v2 says so in these cases too.
        count = sum(map(len, todo.values()))
        if not count:
            print("No sorry theorems found to prove.")
            return []
        print(f"Found {count} sorry theorems to prove")
        proved: list[bool] = []
        with ExitStack() as stack:
            prover = self._open_prover()
            # A prover of the user's own may hold nothing, and have no `close`.
            if hasattr(prover, "close"):
                stack.callback(prover.close)
            for repo, theorems in todo.items():
                if theorems:
                    proved += self._prove(prover, repo, theorems, whole_proof)
        self._prover_is_open = False
        return proved

    def _open_prover(self) -> BaseProver:
        """Open the prover by `_setup_prover`, which returns it or, as in LeanDojo-v2, sets `self.prover`."""
        prover = self._setup_prover() or self.prover
        if prover is None:
            raise ValueError(f"{type(self).__name__}._setup_prover neither returns a prover nor sets self.prover")
        self.prover, self._prover_is_open = prover, True
        return prover

    def initialize_prover(self) -> list[tuple[Theorem, Repository]]:
        """Open the prover, as `self.prover`; returns the theorems to prove, each with its repository."""
        self._open_prover()
        todo = []
        for repo in self.repos:
            todo += [(theorem, repo) for theorem in repo.sorry_theorems_unproved]
        return todo

    def prove_theorem(self, theorem: Theorem, repo: Repository, whole_proof: bool = False) -> bool:
        """Prove one theorem of a repository, as `prove` does; returns whether it is proved."""
        prover = self.prover
        if prover is None or not self._prover_is_open:
            prover = self._open_prover()
        return self._prove(prover, repo, [theorem], whole_proof)[0]

    def _prove(
        self, prover: BaseProver, repo: Repository, theorems: Sequence[Theorem], whole_proof: bool
    ) -> list[bool]:
        """Prove theorems of a repository, and keep what was proved."""
        with Store() as store:
            stored = store.find_repository(repo.url, repo.commit)
        if stored is None or stored.source is None or not Path(stored.source).is_dir():
            raise UserError(f"the files of {repo.url} are not here: set the repository up again")
        config = self.prover_config or prover.config or ProverConfig(num_sampled_tactics=MAX_TRIALS)
        records = [theorem.to_record() for theorem in theorems]
        names: dict[str, str] = {}

        def is_wanted(task: Task) -> bool:
            for record in records:
                if task.is_in(record):
                    names[task.theorem_id] = record.full_name
                    return True
            return False

        def open_rungs(fleet: Fleet, stack: ExitStack) -> list[Rung]:
            searching: _Searching = _Searching(prover, config, names)
            budget = config.max_expansions or MAX_STEPS
            if whole_proof:  # one text is written for each theorem, and checked
                searching, budget = _WholeProofs(prover, config, names), 1
            return [Rung(type(prover).__name__, _method(prover, config, whole_proof), budget, searching)]

        options = ProveProjectOptions(lean=FleetOptions(self.lean, max(1, config.num_workers)))
        done = prove_project(Project.read(Path(stored.source)), stored, options, open_rungs, wanted=is_wanted)
        # What the store has recorded, and no less: every `sorry` of the theorem has a proof that rests on nothing open.
        proved = {theorem.id for theorem in done.recorded}
        results = []
        for theorem, record in zip(theorems, records, strict=True):
            holds = record.id in proved
            results.append(holds)
            self.encountered.append(theorem)
            if holds:
                repo.change_sorry_to_proven(theorem, str(Path(self.database.json_path).parent / PROOF_LOG))
            else:
                print(f"No proof found for {theorem.full_name}{_reason(done, record)}")
        self.database.update_repository(repo)
        self.database.to_json()
        print("\n".join(done.summary))
        # Not before here: what was proved by then is in the database.
        if done.failure is not None:
            raise done.failure
        if done.interrupted:
            raise KeyboardInterrupt
        return results

    @abstractmethod
    def _get_build_deps(self) -> bool:
        """Return what LeanDojo is told about dependencies; here it changes nothing."""

    @abstractmethod
    def _setup_prover(self) -> BaseProver | None:
        """Open the prover, which is closed after use: return it, or set `self.prover`."""


def _reason(done: Proved, record: Any) -> str:
    """Return why a theorem is open, of the first `sorry` in it that is; empty if nothing says it."""
    reason = done.prover.left_alone.get(record.path, "")
    for task in done.prover.tasks:
        if task.outcome != "proved" and task.is_in(record):
            reason = task.message or said_of(task.outcome, task.rest, task.path)
            break
    return f": {reason}" if reason else ""


class _Searching(Prover):
    """The search of an agent's prover: ends after the config's `timeout`, and prints what comes of it."""

    def __init__(self, prover: BaseProver, config: ProverConfig, names: dict[str, str]) -> None:
        """`names` are the full names of the theorems, by the ids that searches know."""
        super().__init__(prover.policy(), SearchConfig(algorithm=ALGORITHM), ProverOptions())
        self._own, self._config, self._names = prover, config, names
        self._printing = threading.Lock()  # several theorems are searched at once, and lines stay whole

    def prove(
        self, session: Any, theorem: lean.Theorem, num_simulations: int, rng: Any, should_stop: Any = None, *rest: Any
    ) -> Attempt:
        """Search as `Prover.prove` does."""
        # `timeout` is for one theorem; `should_stop` is about the whole run.
        began, stopped = time.monotonic(), should_stop or (lambda: False)
        name = self._names.get(theorem.id, theorem.id)
        self._print(f"Proving {name}")

        def should_end() -> bool:
            return stopped() or time.monotonic() - began > self._config.timeout

        attempt = self._try(session, theorem, num_simulations, rng, should_end, *rest)
        if attempt.stop_reason == "stopped" and not stopped():
            attempt = replace(attempt, stop_reason="timeout")  # it had its time, and was not cut short
        result = result_of(attempt, theorem, time.monotonic() - began)
        how = f"{result.status.value} after {self._spent(attempt)} and {result.total_time:.1f} s"
        self._print("\n".join([f"{name}: {how}", *(f"  {tactic}" for tactic in result.proof or ())]))
        return attempt

    def _try(self, session: Any, theorem: lean.Theorem, num_simulations: int, rng: Any, *rest: Any) -> Attempt:
        return super().prove(session, theorem, num_simulations, rng, *rest)

    def _spent(self, attempt: Attempt) -> str:
        return f"{attempt.counts.get('expansions', 0)} expansions"

    def _print(self, text: str) -> None:
        with self._printing:
            print(text, flush=True)


class _WholeProofs(_Searching):
    """Proofs that an agent's prover writes in one go: each is printed, and checked."""

    def __init__(self, prover: BaseProver, config: ProverConfig, names: dict[str, str]) -> None:
        super().__init__(prover, config, names)
        self._verifier, self._writing = Verifier(type(prover).__name__), threading.Lock()

    def _try(self, session: Any, theorem: lean.Theorem, num_simulations: int, rng: Any, *rest: Any) -> Attempt:
        try:
            # One at a time: provers of users need not know of threads.
            with self._writing:
                text = self._own.generate_whole_proof(theorem)
        except lean.TheoremRejected:
            return Attempt(theorem, "unproven", budget=1, message=NOT_WHOLE, stop_reason=UNREADABLE)
        self._print(text)
        return self._verifier.verify(session, Candidate(theorem, text))[0]

    def _spent(self, attempt: Attempt) -> str:
        return "one text"


def _method(prover: BaseProver, config: ProverConfig, whole_proof: bool) -> str:
    """Return what tells a way to prove from others, for the log of tries: kind, model and options."""
    # A prover of the user's own has none of these; then its class and seed are all that is known of it.
    spec, sampling = getattr(prover, "spec", None), getattr(prover, "sampling", None)
    retriever = getattr(prover, "retriever", None)
    return method_of(
        {
            "prover": f"{type(prover).__module__}.{type(prover).__qualname__}",
            "model": None if spec is None else _weights(spec),
            "sampling": None if sampling is None else asdict(sampling),
            "timeout": config.timeout,
            "seed": prover.seed,
            "search": ALGORITHM,
            "whole_proof": whole_proof,
            "premises": None if retriever is None else [retriever.index.identity, retriever.count],
        }
    )


def _weights(spec: str) -> Any:
    """Return what tells a model from others: digests of its weights where these are here, else its SPEC."""
    folder = Path(spec.removeprefix("hf:")).expanduser()
    if spec.startswith("hf:") and folder.is_dir():
        # Training again writes into the same folder: by its path alone, the new model would count as tried.
        digests = {}
        for file in sorted(folder.iterdir()):
            if file.suffix in (".safetensors", ".bin"):
                digests[file.name] = file_sha256(file)
        return digests
    if spec.startswith(("hf:", "openai:")):
        return spec
    return weights_sha256(find_checkpoint(resolve_model_path(spec)))


class HFAgent(BaseAgent):
    """An agent whose model of transformers suggests tactics, finetuned by `SFTTrainer` or `GRPOTrainer`."""

    def __init__(
        self,
        trainer: Any,
        database_path: str = "dynamic_database.json",
        training_config: TrainingConfig | None = None,
        prover_config: ProverConfig | None = None,
        lean_servers: Sequence[str] = (),
    ) -> None:
        """The prover is the trainer's `output_dir`, or its `model_name` as long as nothing is trained."""
        super().__init__(database_path, prover_config, lean_servers)
        self.config, self.trainer = training_config or TrainingConfig(), trainer
        self.output_dir, self.use_lora = trainer.output_dir, trainer.lora_config is not None

    def _get_build_deps(self) -> bool:
        return False

    def _setup_prover(self) -> BaseProver:
        # What transformers and peft call the file that makes a folder a model, or adapters of one.
        folder = Path(self.output_dir)
        source = str(folder)
        if not (folder / "config.json").is_file() and not (folder / "adapter_config.json").is_file():
            source = self.trainer.model_name
            print(f"nothing is trained in {self.output_dir} yet: {source} proves as it is")
        prompt_format = getattr(self.trainer, "prompt_format", None)
        return HFProver(source, self.use_lora, prompt_format=prompt_format, config=self.prover_config)


class LeanAgent(BaseAgent):
    """An agent that trains a retriever of premises, and proves with a generator that is given premises."""

    def __init__(
        self,
        database_path: str = "dynamic_database.json",
        training_config: TrainingConfig | None = None,
        prover_config: ProverConfig | None = None,
        lean_servers: Sequence[str] = (),
        generator: str = GENERATOR,
    ) -> None:
        """`generator` is a folder or id of transformers, as ReProver's; a Lightning checkpoint is none."""
        super().__init__(database_path, prover_config, lean_servers)
        self.config, self.generator = training_config or TrainingConfig(), generator
        self.trainer: RetrievalTrainer = RetrievalTrainer(config=self.config)

    def _get_build_deps(self) -> bool:
        return True

    def _setup_prover(self) -> BaseProver:
        if not (self.data_path / CORPUS).is_file():
            self.database.export_merged_data(self.repos, self.data_path)
        trained = retriever_folder(str(self.trainer.output_dir))
        if trained is None:
            print(f"no retriever is trained in {self.trainer.output_dir} yet: {self.config.model_name} as it is")
        source = trained or self.config.model_name
        return RetrievalProver(source, self.generator, self.data_path / CORPUS, config=self.prover_config)


class ExternalAgent(BaseAgent):
    """An agent whose model is behind an endpoint; there is nothing to train."""

    def __init__(
        self,
        model_name: str = "deepseek-ai/DeepSeek-Prover-V2-671B:novita",
        database_path: str = "dynamic_database.json",
        prover_config: ProverConfig | None = None,
        lean_servers: Sequence[str] = (),
        base_url: str = "https://router.huggingface.co/v1",
    ) -> None:
        """`base_url` is that of an OpenAI-compatible endpoint; for its token see `ExternalProver`."""
        super().__init__(database_path, prover_config, lean_servers)
        self.model_name, self.base_url = model_name, base_url

    def _get_build_deps(self) -> bool:
        return False

    def _setup_prover(self) -> BaseProver:
        return ExternalProver(self.model_name, self.base_url, config=self.prover_config)
