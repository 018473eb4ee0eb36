"""What is tried at the `sorry`s of a project: solver tactics alone, then a policy with rising budgets."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Any

from nanoproof.common.config import from_args
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign, resolve_model_path, team_of
from nanoproof.lean.solvers import expand_solver_sets
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256
from nanoproof.policy.baselines import SolverOnlyPolicy
from nanoproof.policy.factory import open_suggesting
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.repos.proving import method_of, rising
from nanoproof.repos.tries import Rung
from nanoproof.retrieval.corpus import DeclaringFile
from nanoproof.search.config import SearchConfig
from nanoproof.search.policy import Policy

FIRST_BUDGET = 4
"""Simulations of the search with solver tactics alone."""


@dataclass(frozen=True)
class Way:
    """A prover and what decides, besides the budget, how its searches go."""

    name: str
    method: str
    prover: Prover


@dataclass(frozen=True)
class Ways:
    """What is tried in turn: solver tactics alone where there are some, then the policy."""

    solvers: Way | None
    policy: Way

    def around(self, wrapped: Callable[[Policy], Policy]) -> "Ways":
        """Return the same with another policy around the policy."""
        own = self.policy.prover
        prover = Prover(wrapped(own.policy), own.search_config, own.options, own.policy_revision)
        return replace(self, policy=replace(self.policy, prover=prover))

    def rungs(self, num_simulations: int, watched: Callable[[Prover], Prover] = lambda prover: prover) -> list[Rung]:
        """List what is tried in turn, up to a budget; `watched` puts an observer around each prover."""
        rungs = []
        if self.solvers is not None:
            budget = min(FIRST_BUDGET, num_simulations)
            rungs.append(Rung(self.solvers.name, self.solvers.method, budget, watched(self.solvers.prover)))
        prover = watched(self.policy.prover)
        for budget in rising(num_simulations):
            rungs.append(Rung(self.policy.name, self.policy.method, budget, prover))
        return rungs


def open_ways(
    args: argparse.Namespace,
    suggesting: PolicyOptions,
    seed: int,
    stack: ExitStack,
    files: Callable[[], Sequence[DeclaringFile]],
    premise_settings: Mapping[str, Any] | None = None,
) -> Ways:
    """Open the policy that options name, until the stack is closed.

    `files` reads those of the project: their declarations are premises too, besides those of the retriever's index, if
    it has one. `premise_settings` describe what is put around the policy later. Raises UserError for what cannot be
    opened.
    """
    solvers = expand_solver_sets(args.search_finishers)
    prover_options = from_args(ProverOptions, args, keep_tree=True, disprove_fraction=0.0)
    alone = from_args(SearchConfig, args, "search_", finishers=())
    sampling = from_args(SamplingConfig, args)
    by_solvers = None
    if solvers and suggesting.name != "solver-only":
        method = method_of({"solvers": solvers})
        by_solvers = Way("solvers", method, Prover(SolverOnlyPolicy(solvers), alone, prover_options))
    elif not solvers and suggesting.name == "solver-only":
        raise UserError("--policy solver-only needs solver tactics: --search-finishers")
    config = alone
    if suggesting.name != "solver-only":  # its solvers are what it suggests, and no finishers besides
        config = from_args(SearchConfig, args, "search_")
    helped = suggesting.retrieving.settings()
    premise_files: Sequence[DeclaringFile] = ()
    if helped is not None:
        premise_files = files()
    opened = open_suggesting(suggesting, sampling, solvers or ("rfl",), premise_files)
    policy = stack.enter_context(opened)
    spec = suggesting.checkpoint.model_path
    name: str = suggesting.name
    weights = None
    if suggesting.server.server is not None:
        name = suggesting.server.server
    elif is_foreign(spec):
        name = str(spec)
    if suggesting.name == "model":
        weights = _weights(spec)
    texts = None
    if suggesting.name == "model" or suggesting.server.server is not None:
        texts = suggesting.texts.record(spec)
    # All by which a search goes otherwise: what was tried under another description is tried again.
    description: dict[str, Any] = {
        "policy": suggesting.name,
        "server": suggesting.server.server,
        "model": weights,
        "texts": texts,
        "sampling": asdict(sampling),
        "search": asdict(config),
        "seed": seed,
        **(helped or {}),
        **(premise_settings or {}),
    }
    return Ways(by_solvers, Way(name, method_of(description), Prover(policy, config, prover_options)))


def _weights(spec: str | None) -> str | None:
    """Return what tells a model from others: the digest of its weights, or its SPEC where it is none of ours."""
    if spec is None or is_foreign(spec):
        return spec
    digests = [weights_sha256(find_checkpoint(resolve_model_path(member))) for member in team_of(spec)]
    return " ".join(digests)
