"""The policy that a command line asks for: a model, a server, or a baseline without a model."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from nanoproof.common.config import check, group, opt, validate
from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.option_groups import CheckpointOption, DeviceOption, PolicyServerOptions
from nanoproof.common.run_dir import resolve_model_path
from nanoproof.inference.engine import Engine
from nanoproof.inference.language_model import LanguageModel
from nanoproof.inference.sampling import EngineLimits
from nanoproof.lean.types import Theorem
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.baselines import SolverOnlyPolicy, UniformPolicy
from nanoproof.policy.client import RemotePolicy
from nanoproof.policy.prompt import CheckpointText, proof_prompt, repair_prompt
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.search.policy import Policy

PolicyName = Literal["model", "uniform", "solver-only"]
SOLVERS = ("rfl", "assumption", "contradiction", "decide", "simp", "simp at *", "omega", "grind")
"""Tactics that need no argument and may close a goal: what a search can do without a network."""


@dataclass(frozen=True)
class PolicyOptions:
    """Policy."""

    checkpoint: CheckpointOption = group(CheckpointOption)
    policy: PolicyName | None = opt(None, "Who suggests tactics; without it the model of --model-path, else uniform.")
    server: PolicyServerOptions = group(PolicyServerOptions, "policy-")
    device: DeviceOption = group(DeviceOption)

    def __post_init__(self) -> None:
        validate(self, "policy")
        check(self.policy != "model" or self.checkpoint.model_path is not None, "--policy model needs --model-path")
        check(
            self.server.server is None or (self.policy or self.checkpoint.model_path) is None,
            "--policy-server suggests tactics in place of --policy and --model-path",
        )

    @property
    def name(self) -> PolicyName:
        """The chosen policy, or the default: the model where there is one, else uniform."""
        return self.policy or ("uniform" if self.checkpoint.model_path is None else "model")


def model_policy(
    model: GPT,
    tokenizer: Tokenizer,
    sampling: SamplingConfig,
    limits: EngineLimits | None = None,
    threads: int | None = None,
) -> TacticPolicy:
    """Make the policy of a loaded model; for `threads` see `TacticPolicy`.

    Raises UserError if `sampling` asks for more tokens than the model can take.
    """
    try:
        return TacticPolicy(Engine(model, tokenizer, limits), sampling, threads=threads)
    except ValueError as error:
        raise UserError(str(error)) from error


def load_network(name: PolicyName, model_path: str | None, dist: DistInfo) -> tuple[GPT, Tokenizer] | None:
    """Load the network that the policy called `name` needs, if any. Raises UserError if it cannot be loaded."""
    if name != "model":
        return None
    model, tokenizer, _ = load_model(resolve_model_path(model_path or ""), dist.device, dist.dtype)
    return model, tokenizer


@contextmanager
def open_policy(
    name: PolicyName,
    network: tuple[GPT, Tokenizer] | None,
    sampling: SamplingConfig,
    solvers: Sequence[str] = SOLVERS,
    server: str | None = None,
    token: str | None = None,
    limits: EngineLimits | None = None,
) -> Iterator[Policy]:
    """Open the policy called `name` over what `load_network` gave, or with `server` that of a policy server.

    Raises PolicyUnreachable if there is no such server, and UserError if `sampling` is beyond its limits.
    """
    if server is not None:
        with RemotePolicy(server, token, sampling) as remote:
            _check_limits(remote, sampling)
            yield remote
    elif network is not None:
        with model_policy(*network, sampling, limits) as policy:
            yield policy
    else:
        yield UniformPolicy() if name == "uniform" else SolverOnlyPolicy(solvers)


@contextmanager
def open_language_model(spec: str, dist: DistInfo) -> Iterator[LanguageModel]:
    """Open the model that a SPEC names, which continues text: a checkpoint of ours.

    Raises UserError if there is none.
    """
    model, tokenizer, _ = load_model(resolve_model_path(spec), dist.device, dist.dtype)
    opened = CheckpointText(spec, model, tokenizer)
    try:
        yield opened
    finally:
        opened.close()


def whole_proof_prompts() -> tuple[Callable[[Theorem], str], Callable[[Theorem, str, Sequence[str]], str]]:
    """Return what writes prompts for whole proofs, and for their repair: those of networks of ours."""
    return proof_prompt, repair_prompt


def _check_limits(remote: RemotePolicy, sampling: SamplingConfig) -> None:
    for name, most in (remote.status().get("limits") or {}).items():
        value = getattr(sampling, name, None)
        if value is not None and value > most:
            flag = f"--{name.replace('_', '-')}"
            raise UserError(f"{flag} {value}: the policy server {remote.address} allows at most {most}")
