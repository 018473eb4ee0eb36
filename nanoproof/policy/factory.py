"""The policy that a command line asks for: a model of ours or of others, a server, or a baseline without a model.

What needs torch is imported where a command turns out to need it: that takes a second or two, and baselines, policy
servers and `--help` work without.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from nanoproof.common.distributed import init_distributed
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign, team_of
from nanoproof.common.torch_there import require_torch
from nanoproof.inference.language_model import WHOLE_PROOF_TOKENS
from nanoproof.inference.model_options import EngineLimits
from nanoproof.lean.types import Theorem
from nanoproof.policy.added_tactics import with_added_tactics
from nanoproof.policy.baselines import SolverOnlyPolicy, UniformPolicy
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.policy_options import OWN_PROOF_FORMAT, PolicyName, PolicyOptions, TextModelOptions
from nanoproof.policy.prompt import proof_prompt, refusal, repair_prompt
from nanoproof.policy.prompt_formats import question
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.retrieval.corpus import DeclaringFile
from nanoproof.retrieval.folders import WORDS
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.policy import Policy, PolicyTeam

if TYPE_CHECKING:
    from nanoproof.common.distributed import DistInfo
    from nanoproof.model.gpt import GPTConfig
    from nanoproof.policy.models import Network


SOLVERS = ("rfl", "assumption", "contradiction", "decide", "simp", "simp at *", "omega", "grind")
"""Tactics that need no argument and may close a goal: what a search can do without a network."""


@contextmanager
def open_policy(
    name: PolicyName,
    network: "Network | None",
    sampling: SamplingConfig,
    solvers: Sequence[str] = SOLVERS,
    server: str | None = None,
    token: str | None = None,
    limits: EngineLimits | None = None,
    *,
    spec: str | None = None,
    texts: TextModelOptions | None = None,
    dist: "DistInfo | None" = None,
    retrieving: RetrieveOptions | None = None,
    files: Sequence[DeclaringFile] = (),
) -> Iterator[Policy]:
    """Open the policy called `name` over what `load_network` gave, or with `server` that of a policy server.

    Where a model of the steps remaining is named (`ProgressOptions`), it weighs the candidates of models and servers.
    `spec` names the model, or several (`A,B`), which share the simulations of a theorem; `texts` says how models of
    others are asked, and `dist` where they compute. With `retrieving` a model is given premises, those of `files` too,
    and any policy tactics beside its own. Raises PolicyUnreachable if there is no
    such server, and UserError for a model that cannot be opened or asked, for a retriever that is not there, or if
    `sampling` is beyond its limits.
    """
    team = team_of(spec)
    if name == "model" and server is None and len(team) > 1:
        from nanoproof.policy.models import load_network

        assert dist is not None, "networks need a device"
        with ExitStack() as stack:
            policies = []
            for member in team:
                opened = open_policy(
                    name,
                    load_network(name, member, dist),
                    sampling,
                    solvers,
                    limits=limits,
                    spec=member,
                    texts=texts,
                    dist=dist,
                    retrieving=retrieving,
                    files=files,
                )
                policies.append(stack.enter_context(opened))
            yield PolicyTeam(policies)
        return
    texts = texts or TextModelOptions()
    retrieving = retrieving or RetrieveOptions()
    retriever = premises = None
    if retrieving.count:
        retriever = Retriever.open(retrieving, "cpu" if dist is None else dist.device, files)
        if retrieving.retrieve:
            from nanoproof.policy.models import Premises

            premises = Premises(retriever, retrieving)
    policy: Policy
    with ExitStack() as stack:
        if server is not None:
            remote = stack.enter_context(RemotePolicy(server, token, sampling))
            _check_limits(remote, sampling)
            policy = remote
        elif name == "uniform":
            policy = UniformPolicy()
        elif name == "solver-only":
            policy = SolverOnlyPolicy(solvers)
        else:
            from nanoproof.policy.models import open_model_policy

            policy = stack.enter_context(open_model_policy(network, sampling, limits, spec, texts, dist, premises))
        # In this order: added tactics come last, with log-probabilities of their own, which nothing weighs.
        # Baselines keep their order, whatever the environment names.
        if texts.progress.source is not None and (server is not None or name == "model"):
            require_torch()
            from nanoproof.policy.steps_remaining import open_weighing

            policy = open_weighing(policy, texts.progress)
        yield with_added_tactics(policy, retrieving, retriever)


STEPS_OF_SMALL = 12
"""`--step-tactics` of a small network: of 48 exercises 43 are proved with 12 or 24, 20 without, 35 by them alone."""


def follow_network(args: argparse.Namespace) -> None:
    """Set what is not given by the network that the parsed flags name, where that is one of ours on NanoLean.

    `--step-tactics` is `STEPS_OF_SMALL` for a small one, which writes too little of what a state itself says, else it
    stays none. Whole proofs have as many tokens as fit beside a statement of the same length, which is printed.
    """
    named = args.model_path
    if isinstance(named, list | tuple):
        named = next(iter(named), None)
    named = named or getattr(args, "run_dir", None)
    if named is None or is_foreign(str(named)):
        return
    first = team_of(str(named))[:1]
    if not first:
        return
    require_torch()
    from nanoproof.model.checkpoint import config_at, small_network

    if getattr(args, "whole_proofs", False) or getattr(args, "whole_proof", False):
        _fit_whole_proofs(
            args, config_at(first[0])
        )  # a proof that is written as a whole has no states at which to try steps
    elif args.step_tactics is None and not args.lean_servers and small_network(first[0]) is not None:
        args.step_tactics = STEPS_OF_SMALL


def _fit_whole_proofs(args: argparse.Namespace, config: "GPTConfig | None") -> None:
    """Lower `--proof-max-new-tokens` to half of what the network reads, unless it was given."""
    if config is None or args.proof_max_new_tokens != WHOLE_PROOF_TOKENS:
        return
    half = config.sequence_len // 2
    if half < WHOLE_PROOF_TOKENS:
        args.proof_max_new_tokens = half
        # Before the ranks know each other: torchrun tells each its number.
        if os.environ.get("RANK", "0") == "0":
            text = f"whole proofs have at most {half} tokens, half of what the network reads (--proof-max-new-tokens)"
            print(text, file=sys.stderr, flush=True)


@contextmanager
def open_suggesting(
    options: PolicyOptions,
    sampling: SamplingConfig,
    solvers: Sequence[str] = SOLVERS,
    files: Sequence[DeclaringFile] = (),
) -> Iterator[Policy]:
    """Open the policy that the options of a command name; it may be given the premises of `files`.

    Raises what `load_network` and `open_policy` raise.
    """
    spec, server, token = options.checkpoint.model_path, options.server.server, options.server.token
    dist = network = None
    # An index is searched by the network that made it; words need none.
    by_network = options.retrieving.count > 0 and options.retrieving.retriever not in (None, WORDS)
    if by_network or (server is None and options.name == "model"):
        dist = init_distributed(options.device.device_type)
    if server is None and options.name == "model":
        from nanoproof.policy.models import load_network

        assert dist is not None
        network = load_network(options.name, spec, dist)
    with open_policy(
        options.name,
        network,
        sampling,
        solvers,
        server=server,
        token=token,
        spec=spec,
        texts=options.texts,
        dist=dist,
        retrieving=options.retrieving,
        files=files,
    ) as policy:
        yield policy


def whole_proof_prompts(
    spec: str, texts: TextModelOptions | None = None
) -> tuple[Callable[[Theorem], str], Callable[[Theorem, str, Sequence[str]], str]]:
    """Return what writes prompts for whole proofs by a model, and for their repair.

    Raises UserError for a model of others whose format is not known.
    """
    how = (texts or TextModelOptions()).format_for(spec, "proof")
    if how.name == OWN_PROOF_FORMAT:
        return proof_prompt, repair_prompt

    def prompt(theorem: Theorem) -> str:
        return question(theorem, how)

    def repair(theorem: Theorem, text: str, errors: Sequence[str]) -> str:
        return question(theorem, how, refusal(text, errors))

    return prompt, repair


def _check_limits(remote: RemotePolicy, sampling: SamplingConfig) -> None:
    # At once, and not as an error of every state.
    for name, most in (remote.status().get("limits") or {}).items():
        value = getattr(sampling, name, None)
        if value is not None and value > most:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag} {value}: the policy server {remote.address} allows at most {most}")
