"""The engine of the evaluation commands: flags, ranks, Lean servers, and jobs with one model after the other."""

import argparse
import hashlib
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from nanoproof.actors.actor import ActorPool
from nanoproof.actors.fleet import Fleet, FleetOptions, open_fleet
from nanoproof.actors.pool import AttemptPool
from nanoproof.actors.remote import ProverSpec
from nanoproof.actors.tasks import Interrupted
from nanoproof.common.config import from_args
from nanoproof.common.distributed import DistInfo, StopSignal, cleanup, gather_json, on_main
from nanoproof.common.errors import UserError
from nanoproof.common.files import read_json
from nanoproof.common.rank_watch import RankWatch
from nanoproof.common.run_dir import baseline_dir, setup_logging, team_of, versions
from nanoproof.data.theorems.theorem_sets import list_theorems, set_name, skipped_notes, skipped_of
from nanoproof.data.theorems.whitelists import choose_lean
from nanoproof.evaluation.evaluate import evaluate
from nanoproof.evaluation.plan import DEFAULT_SPLIT, EvalOptions, Job, Target
from nanoproof.evaluation.results import SUMMARY, EvalSettings, EvaluationFiles, locked, refuse_earlier
from nanoproof.evaluation.sample_files import SampleFiles, WholeProofOptions
from nanoproof.evaluation.whole_proofs import WholeWork, evaluate_whole
from nanoproof.inference.batch_invariance import check_rows
from nanoproof.inference.language_model import LanguageModel
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.native_backend import DTYPES, missing_for_native
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint_files import read_manifest, weights_sha256
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.baselines import UniformPolicy
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.factory import open_policy, whole_proof_prompts
from nanoproof.policy.models import load_network, open_language_model
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.prover import ProverOptions
from nanoproof.prover.whole_proof import Verifier
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Policy
from nanoproof.training.options import RunOptions
from nanoproof.training.setup import start_ranks

log = logging.getLogger(__name__)

Network = tuple[GPT, Tokenizer] | None


def warn_of_options(search: SearchConfig) -> None:
    """Say which options were given for nothing."""
    if names := search.without_effect:
        flags = ", ".join(f"--search-{name.replace('_', '-')}" for name in names)
        log.warning("%s: only --search-algorithm mcts knows that, this is %s", flags, search.algorithm)


BASELINE_FIELDS = ("solved", "total", "low", "high", "simulations", "tactic_samples", "solved_at", "seed")


class EvalCommand:
    """One rank of an evaluation command. Use `opened` and call `run` with as many targets as there are."""

    def __init__(
        self,
        args: argparse.Namespace,
        dist: DistInfo,
        fleet: Fleet,
        loaded: dict[Path | str | None, Network],
        watch: RankWatch,
        limits: EngineLimits,
    ) -> None:
        """`loaded` are networks that are there already, by the manifests of their checkpoints."""
        self._watch, self._limits = watch, limits
        self.options, self.sampling = from_args(EvalOptions, args), from_args(SamplingConfig, args)
        # At every node, not at new leaves only as in training, which keeps what solvers close out of its data.
        self.search = replace(from_args(SearchConfig, args, "search_"), finisher_use="candidate")
        warn_of_options(self.search)
        if self.options.solving.disable_solvers:
            self.search = self.search.without_solvers()
        self.fleet_options = from_args(FleetOptions, args)
        self.dist, self.fleet, self._loaded = dist, fleet, loaded
        self.lean = choose_lean(self.fleet_options.lean.project, embedded=not self.fleet_options.lean.servers)
        self.lean_version = fleet.lean
        if not fleet.lean and self.lean.required:
            self.lean_version = self.lean.version
        self._served = None
        if self.options.server.server is not None:
            self._served = on_main(self._ask_server)
        self._versions = versions()
        self._count = 0
        self._models: dict[Path, dict[str, Any]] = {}
        self._theorems: dict[str, list[Theorem]] = {}
        self.whole = from_args(WholeProofOptions, args)
        self._writer: LanguageModel | None = None
        retrieving = self.options.retrieving
        if self.whole.whole_proofs and (retrieving.count or retrieving.adds_tactics):
            raise UserError("--retrieve and tactics beside the policy's are for states, and --whole-proofs has none")
        self._premises = on_main(retrieving.settings)
        self.pool_maker: Callable[..., AttemptPool] = self._local_pool
        """Makes what works on the attempts: of a policy, and what an `AttemptPool` takes."""
        self.spread_writer: Callable[[LanguageModel], AbstractContextManager[LanguageModel]] = nullcontext
        """Has whoever there is write the texts of a model that writes whole proofs."""

    def run(
        self, targets: Sequence[Target], seeds: Sequence[int], done: Callable[[Job, dict[str, Any]], None]
    ) -> list[dict[str, Any]]:
        """Do the evaluations one after the other, each with its seed; `done` is called on rank 0 after each.

        All that can be wrong with them is found before the first begins. Raises UserError, with what is done so far
        and how to continue, if Lean or the policy fails for good, and Interrupted after a signal.
        """
        jobs = [self._job(target, seed) for target, seed in zip(targets, seeds, strict=True)]

        def check() -> None:
            for job in jobs:
                job.files.check(self.options.mode)

        on_main(check)
        about = on_main(self._about)
        with self._locked(jobs):
            return self._run(jobs, about, done)

    @contextmanager
    def _locked(self, jobs: Sequence["Job"]) -> Iterator[None]:
        """Lock the directories of the results, by rank 0 for all ranks."""
        with ExitStack() as stack:

            def lock() -> None:
                stack.enter_context(locked(list(dict.fromkeys(job.files.path for job in jobs))))

            on_main(lock)
            yield

    def _run(
        self, jobs: Sequence["Job"], about: dict[str, Any], done: Callable[["Job", dict[str, Any]], None]
    ) -> list[dict[str, Any]]:
        over = [self.options.continue_ and on_main(job.files.complete) for job in jobs]
        summaries = []
        for model in dict.fromkeys(job.target.model for job in jobs):
            mine = [(job, is_over) for job, is_over in zip(jobs, over, strict=True) if job.target.model == model]
            actors: AbstractContextManager[AttemptPool | None] = self._actors(model)
            if all(is_over for _, is_over in mine):
                actors = nullcontext()  # nothing is loaded to read what is there
            with actors as pool:
                for job, is_over in mine:
                    if is_over or pool is None:
                        summary: dict[str, Any] = on_main(job.files.read_summary)
                    else:
                        summary = self._evaluate(pool, job, about)
                    summaries.append(summary)
                    if self.dist.is_main:
                        done(job, summary)
        return summaries

    def _job(self, target: Target, seed: int) -> Job:
        options = self.options
        theorems = self._theorems.get(target.dataset)
        if theorems is None:
            listed = list_theorems(target.dataset, options.split, self.lean.version_for(target.dataset))
            theorems = self._theorems[target.dataset] = listed[: options.max_theorems]
        if not theorems:
            raise UserError(f"--datasets {target.dataset}: {options.split} holds no theorems")
        model = self._identity(target.model)
        settings = EvalSettings(
            dataset=set_name(target.dataset),
            split=options.split,
            num_simulations=options.num_simulations,
            seed=seed,
            search=self.search,
            policy=options.policy,
            lean=self.lean_version,
            retry_timeouts=options.retry_timeouts,
            text_model=self._how_asked(target.model),
            premises=self._premises,
        )
        # What does not apply stays None: a setting that decides nothing must not keep `--continue` from going on.
        if options.policy == "solver-only":
            settings = replace(settings, solvers=options.solvers)
        if options.server.server is not None:
            settings = replace(settings, served_model=model)
        elif model is not None:
            settings = replace(settings, model_sha256=model["sha256"])
            if model["sha256"]:  # a model of others computes in a type of its own, which is part of how it is asked
                settings = replace(settings, dtype=self._dtype(target.model))
        files: EvaluationFiles
        if self.whole.whole_proofs:
            whole = self.whole.settings()
            settings = replace(settings, whole=whole, num_simulations=self.whole.samples, retry_timeouts=None)
            files = SampleFiles(target.path, theorems, settings)
        else:
            if options.policy == "model":
                settings = replace(settings, sampling=self.sampling)
            files = EvaluationFiles(target.path, theorems, settings)
        extra: dict[str, Any] = {"policy": options.policy, "model": model, "versions": self._versions}
        extra["baseline"] = find_baseline(options, files)
        if skipped := skipped_of(target.dataset):
            extra["skipped"] = {"count": len(skipped), "notes": skipped_notes(skipped)}
        return Job(target, files, extra)

    def _how_asked(self, model: Path | str | None) -> dict[str, Any] | None:
        """Describe how the model is asked where that is not the usual way; baselines are never asked."""
        if model is None and self.options.server.server is None:
            return None
        spec = str(model) if model is not None else None
        return self.options.texts.record(spec, self.whole.whole_proofs)

    def _identity(self, manifest: Path | str | None) -> dict[str, Any] | None:
        """Identify the model by file, step and a hash of its weights; that of a policy server as the server does.

        Of models of others the SPEC is known.
        """
        if self._served is not None:
            return self._served
        if manifest is None:
            return None
        if isinstance(manifest, str):
            team = team_of(manifest)
            if len(team) == 1:
                return {"path": manifest, "step": None, "sha256": None}
            # Not sorted: the same networks in another order share the simulations in another way.
            digests = [(self._identity(Path(member)) or {})["sha256"] for member in team]
            return {"path": manifest, "step": None, "sha256": hashlib.sha256(" ".join(digests).encode()).hexdigest()}
        if manifest not in self._models:
            contents = read_manifest(manifest)
            digest = on_main(lambda: weights_sha256(manifest))  # of gigabytes, on a disk that the ranks share
            weights = manifest.parent / contents["weights"]
            self._models[manifest] = {"path": str(weights), "step": contents.get("step"), "sha256": digest}
        return self._models[manifest]

    def _ask_server(self) -> dict[str, Any]:
        """Return what a policy server reports of its model, without the device that it computes on."""
        with RemotePolicy(self.options.server.server or "", self.options.server.token) as remote:
            return {name: value for name, value in remote.status()["model"].items() if name != "device"}

    def _about(self) -> dict[str, Any]:
        return {"versions": self._versions, **self.dist.decisions(), "lean": self.fleet.description}

    @contextmanager
    def _actors(self, model: Path | str | None) -> Iterator[AttemptPool]:
        """Yield this rank's actors, at work with a model; SIGINT and SIGTERM end the waits for them on all ranks."""
        options = self.options
        with self._opened(model) as policy, StopSignal() as stop:
            pool = self.pool_maker(
                policy,
                check=self._check,
                patience_seconds=options.lean_patience,
                asked_to_end=stop.asked,
                lost_proofs=self.fleet_options.lean_lost_proofs,
            )
            try:
                yield pool
            finally:
                pool.stop()

    def _local_pool(self, policy: Policy, **waits: Any) -> AttemptPool:
        return ActorPool(self.fleet.slots, policy, lambda purpose, asked: self.spec().make(asked), **waits)

    def verifier(self) -> Callable[[], Verifier]:
        """Return what makes the verifier of the whole proofs of the model that is open, here or in another process."""
        assert self._writer is not None, "a model that writes whole proofs is open"
        return partial(Verifier, self._writer.name, self.whole.proof_seconds, self.whole.known_names())

    def spec(self) -> ProverSpec:
        """Return how theorems are proved."""
        return ProverSpec(self.search, ProverOptions(keep_tree=True))

    def _check(self) -> None:
        """Raise UserError if the embedded server or another rank is gone."""
        self.fleet.check()
        self._watch.check()

    def _dtype(self, model: Path | str | None) -> str:
        """Return the type that the network computes in, and whose last bits its numbers have, for the record."""
        name = str(self.dist.dtype).removeprefix("torch.")
        # Each sums up in an order of its own, so that samples may differ: no evaluation goes on with another.
        if self._is_compiled(model):
            return f"{name}, compiled code"
        return f"{name}, padded batches" if self._limits.batch_invariant else name

    def _is_compiled(self, model: Path | str | None) -> bool:
        """Tell whether compiled code computes all networks that a text or path names."""
        dist, limits = self.dist, self._limits
        if dist.device.type != "cpu" or dist.dtype not in DTYPES or limits.backend == "torch":
            return False
        for member in team_of(str(model)):
            network = self._loaded.get(model) or load_network("model", member, dist)
            if network is None or missing_for_native(network[0], limits) is not None:
                return False
        return True

    @contextmanager
    def _opened(self, model: Path | str | None) -> Iterator[Policy]:
        """Open the policy of a model; for whole proofs the model that writes them, and a policy that nobody asks."""
        if self.whole.whole_proofs:
            opened_model = open_language_model(str(model), self.dist, self.options.texts, self._limits)
            with opened_model as writer, self.spread_writer(writer) as self._writer:
                yield UniformPolicy()
            return
        network = self._loaded.pop(model, None) or load_for(self.options, model, self.dist)
        with self._policy(network, model) as policy:
            yield policy

    def _policy(self, network: Network, model: Path | str | None) -> AbstractContextManager[Policy]:
        options = self.options
        spec = str(model) if model is not None else None
        return open_policy(
            options.policy,
            network,
            self.sampling,
            options.solvers,
            options.server.server,
            options.server.token,
            self._limits,
            spec=spec,
            texts=options.texts,
            dist=self.dist,
            retrieving=options.retrieving,
        )

    def _evaluate(self, pool: AttemptPool, job: Job, about: dict[str, Any]) -> dict[str, Any]:
        self._count += 1
        name = f"{self._count}_{job.target.dataset}"
        try:
            if isinstance(job.files, SampleFiles) and self._writer is not None:
                settings, spec, texts = job.files.settings, str(job.target.model), self.options.texts
                whole = self.whole.ended_by(texts.format_for(spec, "proof").stop)
                work = WholeWork(job.files.theorems, (), whole, settings.seed, *whole_proof_prompts(spec, texts))
                writer, mode = self._writer, self.options.mode
                return evaluate_whole(pool, name, job.files, writer, work, self.dist, mode, about, job.extra)
            return evaluate(pool, name, job.files, self.dist, self.options.mode, about, job.extra)
        except UserError as error:
            raise UserError(f"{error}; {describe_progress(job)}") from error
        except Interrupted as error:
            raise Interrupted(f"interrupted; {describe_progress(job)}") from error


def repeatable(
    dist: DistInfo, options: EvalOptions, limits: EngineLimits | None = None, model: Path | str | None = None
) -> tuple[DistInfo, EngineLimits]:
    """On a CPU, compute in float64, or in float32 without batch mates, unless the user chose a type by the environment.

    What is computed for a state differs in the last bits with the states that share its batch, which in float32 without
    padding can change a sampled tactic now and then. What `--cpu-dtype auto` comes to, the network of `model` decides.
    """
    limits = limits or EngineLimits()
    if dist.device.type != "cpu" or os.environ.get("NANOPROOF_DTYPE"):
        return dist, limits
    padded = options.cpu_dtype == "float32"
    if options.cpu_dtype == "auto":
        padded = float32_repeats(options, model, dist, limits)
    dtype = torch.float32 if padded else torch.float64
    reason = "evaluations on a CPU that repeat to the last bit"
    return replace(dist, dtype=dtype, dtype_reason=reason), replace(limits, batch_invariant=padded)


def float32_repeats(options: EvalOptions, model: Path | str | None, dist: DistInfo, limits: EngineLimits) -> bool:
    """Return whether float32 repeats to the last bit whatever shares a batch, on all ranks, with this network.

    It does by compiled code, and by torch in padded batches on some processors. False where the policy needs none of
    ours.
    """
    float32 = replace(dist, dtype=torch.float32)
    loaded = load_for(options, model, float32)
    problem: str | None = "no network"
    if loaded is not None:
        network, tokenizer = loaded
        problem = None
        if limits.backend == "torch" or missing_for_native(network, limits) is not None:
            problem = check_rows(network, tokenizer.eos + 1)
    return not any(gather_json(problem))


def load_for(options: EvalOptions, model: Path | str | None, dist: DistInfo) -> Network:
    """Load the network of a checkpoint, where the policy needs one of ours."""
    return None if model is None else load_network(options.policy, str(model), dist)


def describe_progress(job: Job) -> str:
    """Describe what is there of an evaluation that ended early."""
    return f"{job.files.progress()}, in {job.files.path}; --continue resumes it"


def find_baseline(options: EvalOptions, files: EvaluationFiles) -> dict[str, Any] | None:
    """Find the evaluation to show beside another: `--baseline`, else the solver-only one in its usual directory.

    It must be of the same theorems under the same Lean; raises UserError where `--baseline` names one that is not.
    """
    ours = files.settings
    suffix = ours.dataset
    if ours.split != DEFAULT_SPLIT:
        suffix += f"_{ours.split}"
    path = baseline_dir("solver-only") / f"eval_{suffix}"
    if options.baseline:
        path = Path(options.baseline).expanduser()
    if options.baseline is None and (options.policy == "solver-only" or not (path / SUMMARY).exists()):
        return None
    summary = read_json(path / SUMMARY)
    theirs = summary.get("settings") or {}
    # Solvers prove more or less from one version of Lean to the next, so their score is none to compare with.
    if (theirs.get("theorem_set"), theirs.get("lean")) != (files.plain["theorem_set"], files.plain["lean"]):
        if options.baseline is not None:
            raise UserError(f"--baseline {options.baseline} is of other theorems, or of another Lean version")
        return None
    return {"path": str(path), "policy": theirs["policy"], **{name: summary[name] for name in BASELINE_FIELDS}}


@contextmanager
def opened(
    args: argparse.Namespace,
    targets: Sequence[Target],
    open_lean: Callable[[FleetOptions, DistInfo], AbstractContextManager[Fleet]] | None = None,
) -> Iterator[EvalCommand]:
    """Join the other ranks, and start or reach the Lean servers (by `open_lean` in place of `open_fleet`).

    Raises UserError before that if results are in the way, or if the first checkpoint cannot be loaded.
    """
    setup_logging(args.log_level)
    options, fleet_options = from_args(EvalOptions, args), from_args(FleetOptions, args)
    if options.mode == "new":
        for target in targets:
            refuse_earlier(target.path)
    dist = start_ranks(from_args(RunOptions, args))
    try:
        first = targets[0].model
        dist, limits = repeatable(dist, options, from_args(EngineLimits, args, "engine_"), first)
        whole = from_args(WholeProofOptions, args).whole_proofs
        loaded: dict[Path | str | None, Network] = {}
        # Before Lean is started, which takes longer than to find that a checkpoint is damaged. A continued evaluation
        # may be over already and need no network; whole proofs open theirs in another way.
        if not (options.continue_ or whole):
            loaded[first] = load_for(options, first, dist)
        with RankWatch.connect(dist) as watch, (open_lean or open_fleet)(fleet_options, dist) as fleet:
            log.info("Lean: %s", fleet.description)
            yield EvalCommand(args, dist, fleet, loaded, watch, limits)
    finally:
        cleanup()
