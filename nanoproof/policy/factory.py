"""The policy that a command line asks for: a model of ours or of others, a server, or a baseline without a model."""

import argparse
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from nanoproof.common.config import check, group, opt, validate
from nanoproof.common.distributed import DistInfo, init_distributed
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import CheckpointOption, DeviceOption, PolicyServerOptions
from nanoproof.common.run_dir import resolve_model_path, team_of
from nanoproof.inference.engine import Engine
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import WHOLE_PROOF_TOKENS, LanguageModel, has_values
from nanoproof.inference.open_model import CachedModel, LanguageModelOptions, is_foreign, open_model
from nanoproof.inference.own_model import OwnModel
from nanoproof.inference.sampling import EngineLimits
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint import config_at, find_checkpoint, load_model, small_network, weights_sha256
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.added_tactics import with_added_tactics
from nanoproof.policy.baselines import SolverOnlyPolicy, UniformPolicy
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.prompt import proof_prompt, refusal, repair_prompt
from nanoproof.policy.prompt_formats import (
    FORMATS,
    Kind,
    PromptFormat,
    find_format,
    formats_of,
    known_format,
    question,
)
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.steps_remaining import ProgressOptions, ProgressPolicy, open_scorer
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.text_policy import (
    HeadValue,
    PolicyValue,
    RetrievingPolicy,
    TextPolicy,
    ValuedPolicy,
    ValueSource,
)
from nanoproof.retrieval.corpus import DeclaringFile
from nanoproof.retrieval.premises import RetrieveOptions, Retriever
from nanoproof.retrieval.proved_states import ProvedStates
from nanoproof.search.policy import Policy, PolicyTeam

log = logging.getLogger(__name__)

PolicyName = Literal["model", "uniform", "solver-only"]
Network = tuple[GPT, Tokenizer]
SOLVERS = ("rfl", "assumption", "contradiction", "decide", "simp", "simp at *", "omega", "grind")
"""Tactics that need no argument and may close a goal: what a search can do without a network."""
OWN_FORMAT, OWN_PROOF_FORMAT = "nanoproof", "nanoproof-proof"


@dataclass(frozen=True)
class TextModelOptions:
    """Models of others."""

    prompt_format: str | None = opt(
        None,
        f"How states are written for a model of others: {', '.join(formats_of('tactic'))}; and statements, for whole "
        f"proofs: {', '.join(formats_of('proof'))} (none: known by its name).",
        metavar="NAME",
    )
    value_model: str | None = opt(
        None,
        "Checkpoint, or hf:FOLDER, whose value head tells how far states are from a proof (none: its own).",
        advanced=True,
    )
    model_tactic_tokens: int = opt(
        128,
        "Tokens that a tactic of such a model may have; --max-gen-tokens is for checkpoints.",
        min=1,
        advanced=True,
    )
    backend: LanguageModelOptions = group(LanguageModelOptions, "model-")
    progress: ProgressOptions = group(ProgressOptions)

    def __post_init__(self) -> None:
        validate(self, "model")
        if self.prompt_format is not None and self.prompt_format not in formats_of("proof"):
            find_format(self.prompt_format, "tactic")

    def format_for(self, spec: str, kind: Kind = "tactic") -> PromptFormat:
        """Return the format to ask a model for tactics or proofs with, by `--prompt-format` or its SPEC.

        Raises UserError without one.
        """
        if self.prompt_format is not None:
            return find_format(self.prompt_format, kind)
        own, wanted = OWN_FORMAT, "a tactic"
        if kind == "proof":
            own, wanted = OWN_PROOF_FORMAT, "a proof"
        if not is_foreign(spec):
            return FORMATS[own]
        # No default for models of others: in a language that it was not trained on, a model answers nonsense, which
        # would be a score like any other.
        prompt_format = known_format(spec, kind)
        if prompt_format is None:
            names = ", ".join(name for name in formats_of(kind) if name != own)
            scheme = spec.partition(":")[0]
            raise UserError(
                f"--model-path {scheme}:...: say how this model is asked for {wanted}, by --prompt-format: {names}"
            )
        return prompt_format

    def settings(self, spec: str | None, whole: bool = False) -> dict[str, Any] | None:
        """Return what these options change of what a model suggests (or with `whole`, of the proofs that it writes),
        for the record of an evaluation; None if nothing.

        Raises UserError for a model that cannot be asked this way.
        """
        if spec is None:
            return None
        how = self.format_for(spec, "proof" if whole else "tactic")
        # A network of ours in its own format: none of these options has a say.
        own_way = not is_foreign(spec) and how.name in (OWN_FORMAT, OWN_PROOF_FORMAT)
        if own_way and (self.value_model is None or whole):
            return None
        settings: dict[str, Any] = {"prompt_format": how.name}
        if is_foreign(spec):
            settings["spec"] = spec
            if not whole:
                settings["tactic_tokens"] = self.model_tactic_tokens
            settings |= {"dtype": self.backend.hf.dtype, "load_4bit": self.backend.hf.load_4bit}
        if self.value_model is not None and not whole:
            if is_foreign(self.value_model):
                settings["value_model"] = self.value_model
            else:
                settings["value_sha256"] = weights_sha256(find_checkpoint(resolve_model_path(self.value_model)))
        return settings

    def record(self, spec: str | None, whole: bool = False) -> dict[str, Any] | None:
        """Return `settings` with those of the model of steps remaining, for the record of an evaluation."""
        settings = self.settings(spec, whole) or {}
        if not whole:  # whole proofs have no candidates to weigh
            settings |= self.progress.settings()
        return settings or None


@dataclass(frozen=True)
class PolicyOptions:
    """Policy."""

    checkpoint: CheckpointOption = group(CheckpointOption)
    policy: PolicyName | None = opt(None, "Who suggests tactics; without it the model of --model-path, else uniform.")
    server: PolicyServerOptions = group(PolicyServerOptions, "policy-")
    device: DeviceOption = group(DeviceOption)
    texts: TextModelOptions = group(TextModelOptions)
    retrieving: RetrieveOptions = group(RetrieveOptions, without=("step_decay",))

    def __post_init__(self) -> None:
        validate(self, "policy")
        if self.retrieving.retrieve:
            check(self.server.server is None, "--retrieve works on a model in this process, not on a --policy-server")
            check(self.name == "model", f"--retrieve has no use for --policy {self.name}")
        check(self.policy != "model" or self.checkpoint.model_path is not None, "--policy model needs --model-path")
        check(
            self.policy in (None, "model") or self.checkpoint.model_path is None,
            f"--policy {self.policy} has no use for a model: leave out --model-path, or --policy",
        )
        check(
            self.server.server is None or (self.policy or self.checkpoint.model_path) is None,
            "--policy-server suggests tactics in place of --policy and --model-path",
        )

    @property
    def name(self) -> PolicyName:
        """The chosen policy, or the default: the model where there is one, else uniform."""
        if self.policy is not None:
            return self.policy
        if self.checkpoint.model_path is None:
            return "uniform"
        return "model"


def model_policy(
    model: GPT,
    tokenizer: Tokenizer,
    sampling: SamplingConfig,
    limits: EngineLimits | None = None,
    threads: int | None = None,
    own_weights: bool = False,
) -> TacticPolicy:
    """Make the policy of a loaded model; for `threads` see `TacticPolicy`, for `own_weights` `Engine`.

    Raises UserError if `sampling` asks for more tokens than the model can take.
    """
    try:
        return TacticPolicy(Engine(model, tokenizer, limits, own_weights=own_weights), sampling, threads=threads)
    except ValueError as error:
        raise UserError(str(error)) from error


def load_network(name: PolicyName, model_path: str | None, dist: DistInfo) -> Network | None:
    """Load the network of ours that the policy called `name` needs, if any; those of a team, `A,B`, are none.

    Raises UserError if it cannot be loaded.
    """
    if name != "model" or is_foreign(model_path) or len(team_of(model_path)) > 1:
        return None
    model, tokenizer, _ = load_model(resolve_model_path(model_path or ""), dist.device, dist.dtype)
    return model, tokenizer


@contextmanager
def open_language_model(
    spec: str, dist: DistInfo, texts: TextModelOptions | None = None, limits: EngineLimits | None = None
) -> Iterator[LanguageModel]:
    """Open a model that writes whole proofs, ours or another one, on the device of this rank; see `open_model`."""
    texts = texts or TextModelOptions()
    how = texts.format_for(spec, "proof")
    with open_model(
        spec,
        texts.backend,
        chat=how.chat,
        system=how.system,
        special=how.special,
        device=dist.device,
        dtype=dist.dtype,
        limits=limits,
    ) as model:
        yield model


@contextmanager
def open_text_policy(
    spec: str,
    sampling: SamplingConfig,
    options: TextModelOptions,
    dist: DistInfo,
    network: Network | None = None,
    threads: int | None = None,
    limits: EngineLimits | None = None,
) -> Iterator[TextPolicy]:
    """Open a model as one that writes texts in a format, with the values of `--value-model`.

    `network` is that of `spec` where it is loaded. Raises UserError for a model that cannot be opened or asked.
    """
    how = options.format_for(spec)
    # The 56 tokens of `--max-gen-tokens` are those of our tokenizer and our training; others write longer tactics.
    if is_foreign(spec):
        sampling = replace(sampling, max_gen_tokens=options.model_tactic_tokens)
    with ExitStack() as stack:
        model: LanguageModel
        if network is None:
            opened = open_model(
                spec,
                options.backend,
                chat=how.chat,
                system=how.system,
                special=how.special,
                device=dist.device,
                dtype=dist.dtype,
                threads=threads,
                limits=limits,
            )
            model = stack.enter_context(opened)
        else:
            if how.chat:
                raise UserError(f"--prompt-format {how.name} is for chat models, which checkpoints of ours are not")
            model = OwnModel(spec, *network, limits, threads=threads, special=how.special)
            stack.callback(model.close)
        values = stack.enter_context(open_values(options, dist, threads))
        if values is None and not has_values(model) and spec.startswith("hf:"):
            log.warning("%s has no value head: every state counts as one tactic from a proof", spec)
        yield stack.enter_context(TextPolicy(model, how, sampling, values))


@contextmanager
def open_values(options: TextModelOptions, dist: DistInfo, threads: int | None = None) -> Iterator[ValueSource | None]:
    """Open the checkpoint of `--value-model`; None without one. Raises UserError if it cannot be loaded."""
    if options.value_model is None:
        yield None
        return
    if is_foreign(options.value_model):
        with _open_head(options.value_model, options, dist, threads) as values:
            yield values
        return
    model, tokenizer, _ = load_model(resolve_model_path(options.value_model), dist.device, dist.dtype)
    # Only its values count, and an engine samples at least one token.
    shortest = SamplingConfig(num_sampled_tactics=1, max_gen_tokens=1)
    with model_policy(model, tokenizer, shortest, threads=threads) as policy:
        yield PolicyValue(policy)


@contextmanager
def _open_head(spec: str, options: TextModelOptions, dist: DistInfo, threads: int | None) -> Iterator[ValueSource]:
    """Open a model of others for its value head alone. Raises UserError if it has none."""
    # Its own format: `--prompt-format` is that of the model that suggests tactics.
    how = known_format(spec, "tactic") or options.format_for(spec)
    opened = open_model(
        spec,
        options.backend,
        chat=how.chat,
        system=how.system,
        special=how.special,
        device=dist.device,
        threads=threads,
    )
    with opened as model:
        inner = model
        if isinstance(model, CachedModel):
            inner = model.model
        if not isinstance(inner, HFModel) or not inner.has_values:
            command = f"python -m nanoproof.sft --model-path {spec} --value-weight 0.1"
            raise UserError(f"--value-model {spec} has no value head; {command} trains one")
        yield HeadValue(inner, how)


@contextmanager
def open_policy(
    name: PolicyName,
    network: Network | None,
    sampling: SamplingConfig,
    solvers: Sequence[str] = SOLVERS,
    server: str | None = None,
    token: str | None = None,
    limits: EngineLimits | None = None,
    *,
    spec: str | None = None,
    texts: TextModelOptions | None = None,
    dist: DistInfo | None = None,
    retrieving: RetrieveOptions | None = None,
    files: Sequence[DeclaringFile] = (),
    proved: ProvedStates | None = None,
) -> Iterator[Policy]:
    """Open the policy called `name` over what `load_network` gave, or with `server` that of a policy server.

    Where a model of the steps remaining is named (`ProgressOptions`), it weighs the candidates of models and servers.
    `spec` names the model, or several (`A,B`), which share the simulations of a theorem; `texts` says how models of
    others are asked, and `dist` where they compute. With `retrieving` a model is given premises, those of `files` too,
    and any policy tactics beside its own, those of `proved` states among them. Raises PolicyUnreachable if there is no
    such server, and UserError for a model that cannot be opened or asked, for a retriever that is not there, or if
    `sampling` is beyond its limits.
    """
    team = team_of(spec)
    if name == "model" and server is None and len(team) > 1:
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
                    proved=proved,
                )
                policies.append(stack.enter_context(opened))
            yield PolicyTeam(policies)
        return
    texts = texts or TextModelOptions()
    scorer = None
    if server is not None or name == "model":  # baselines keep their order, whatever the environment names
        scorer = open_scorer(texts.progress)
    retrieving = retrieving or RetrieveOptions()
    retriever = premises = None
    if retrieving.count:
        retriever = Retriever.open(retrieving, "cpu" if dist is None else dist.device, files)
        if retrieving.retrieve:
            premises = _Premises(retriever, retrieving)
    with _open_policy(name, network, sampling, solvers, server, token, limits, spec, texts, dist, premises) as policy:
        # In this order: added tactics come last, with log-probabilities of their own, which nothing weighs.
        if scorer is not None:
            policy = ProgressPolicy(policy, scorer, texts.progress.progress_weight)
        yield with_added_tactics(policy, retrieving, retriever, proved)


class _Premises(NamedTuple):
    """What finds premises to put before the states of a model."""

    retriever: Retriever
    options: RetrieveOptions


@contextmanager
def _open_policy(
    name: PolicyName,
    network: Network | None,
    sampling: SamplingConfig,
    solvers: Sequence[str],
    server: str | None,
    token: str | None,
    limits: EngineLimits | None,
    spec: str | None,
    texts: TextModelOptions,
    dist: DistInfo | None,
    premises: _Premises | None,
) -> Iterator[Policy]:
    """Open a policy as `open_policy` does, without steps remaining and added tactics."""
    if server is not None:
        with RemotePolicy(server, token, sampling) as remote:
            _check_limits(remote, sampling)
            yield remote
    elif name != "model":
        yield UniformPolicy() if name == "uniform" else SolverOnlyPolicy(solvers)
    elif network is not None and (spec is None or texts.format_for(spec).name == OWN_FORMAT):
        with model_policy(*network, sampling, limits) as policy:
            helped = _with_premises(policy, premises)
            if texts.value_model is None:
                yield helped
            else:
                assert dist is not None, "a value model needs a device"
                with open_values(texts, dist) as values:
                    assert values is not None
                    yield ValuedPolicy(helped, values)
    else:
        assert spec is not None and dist is not None, "a model needs a SPEC and a device"
        if premises is not None:
            how = texts.format_for(spec)
            if not how.takes_premises:
                raise UserError(f"--retrieve: prompts of the format {how.name} have no place for premises")
        with open_text_policy(spec, sampling, texts, dist, network, limits=limits) as text_policy:
            yield _with_premises(text_policy, premises)


def _with_premises(policy: TacticPolicy | TextPolicy, premises: _Premises | None) -> Policy:
    """Give a policy premises, where that was asked for."""
    if premises is None:
        return policy
    options = premises.options
    return RetrievingPolicy(policy, premises.retriever, options.retrieve_tokens, count=options.retrieve)


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
    if getattr(args, "whole_proofs", False) or getattr(args, "whole_proof", False):
        _fit_whole_proofs(args, first[0])  # a proof that is written as a whole has no states at which to try steps
    elif args.step_tactics is None and not args.lean_servers and small_network(first[0]) is not None:
        args.step_tactics = STEPS_OF_SMALL


def _fit_whole_proofs(args: argparse.Namespace, spec: str) -> None:
    """Lower `--proof-max-new-tokens` to half of what the network reads, unless it was given."""
    config = config_at(spec)
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
    proved: ProvedStates | None = None,
) -> Iterator[Policy]:
    """Open the policy that the options of a command name; it may be given the premises of `files`.

    `proved` are the proofs that `--similar-tactics` asks for.

    Raises what `load_network` and `open_policy` raise.
    """
    dist = init_distributed(options.device.device_type)
    spec, server, token = options.checkpoint.model_path, options.server.server, options.server.token
    network = None
    if server is None:
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
        proved=proved,
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
