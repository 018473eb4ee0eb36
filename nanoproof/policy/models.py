"""The policies of networks: a checkpoint of ours, a model of transformers, or one behind an endpoint.

`factory.py` imports this where a command names a model, and not before: all of it needs torch.
"""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

from nanoproof.common.distributed import DistInfo
from nanoproof.common.errors import UserError
from nanoproof.common.run_dir import is_foreign, resolve_model_path, team_of
from nanoproof.inference.engine import Engine
from nanoproof.inference.hf_model import HFModel
from nanoproof.inference.language_model import LanguageModel, has_values
from nanoproof.inference.model_options import EngineLimits
from nanoproof.inference.open_model import CachedModel, open_model
from nanoproof.inference.own_model import OwnModel
from nanoproof.model.checkpoint import load_model
from nanoproof.model.gpt import GPT
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.policy_options import OWN_FORMAT, PolicyName, TextModelOptions
from nanoproof.policy.prompt_formats import FORMATS, PromptFormat, known_format
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.policy.tactic_policy import TacticPolicy
from nanoproof.policy.text_policy import HeadValue, PolicyValue, RetrievingPolicy, TextPolicy, ValuedPolicy, ValueSource
from nanoproof.retrieval.premises import Retriever
from nanoproof.retrieval.retrieve_options import RetrieveOptions
from nanoproof.search.policy import Policy

log = logging.getLogger(__name__)

Network = tuple[GPT, Tokenizer]


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
    with _opened(spec, texts, texts.format_for(spec, "proof"), dist, limits=limits) as model:
        yield model


def _opened(
    spec: str,
    texts: TextModelOptions,
    how: PromptFormat,
    dist: DistInfo,
    threads: int | None = None,
    limits: EngineLimits | None = None,
) -> AbstractContextManager[LanguageModel]:
    """Open a model that is asked in the format `how`, on the device of this rank."""
    return open_model(
        spec,
        texts.backend,
        chat=how.chat,
        system=how.system,
        special=how.special,
        device=dist.device,
        dtype=dist.dtype,
        threads=threads,
        limits=limits,
    )


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
            model = stack.enter_context(_opened(spec, options, how, dist, threads, limits))
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
    with _opened(spec, options, how, dist, threads) as model:
        inner = model
        if isinstance(model, CachedModel):
            inner = model.model
        if not isinstance(inner, HFModel) or not inner.has_values:
            command = f"python -m nanoproof.sft --model-path {spec} --value-weight 0.1"
            raise UserError(f"--value-model {spec} has no value head; {command} trains one")
        yield HeadValue(inner, how)


class Premises(NamedTuple):
    """What finds premises to put before the states of a model."""

    retriever: Retriever
    options: RetrieveOptions


@contextmanager
def open_model_policy(
    network: Network | None,
    sampling: SamplingConfig,
    limits: EngineLimits | None,
    spec: str | None,
    texts: TextModelOptions,
    dist: DistInfo | None,
    premises: Premises | None,
) -> Iterator[Policy]:
    """Open the policy of a loaded network of ours, or else of the model that `spec` names.

    Raises UserError for a model that cannot be opened or asked, or if `sampling` is beyond its limits.
    """
    how = FORMATS[OWN_FORMAT]
    if spec is not None:
        how = texts.format_for(spec)
    if premises is not None and not how.takes_premises:
        raise UserError(f"--retrieve: prompts of the format {how.name} have no place for premises")
    if network is not None and how.name == OWN_FORMAT:
        with model_policy(*network, sampling, limits) as policy:
            if texts.value_model is None:
                yield policy
            else:
                assert dist is not None, "a value model needs a device"
                with open_values(texts, dist) as values:
                    assert values is not None
                    yield ValuedPolicy(policy, values)
    else:
        assert spec is not None and dist is not None, "a model needs a SPEC and a device"
        with open_text_policy(spec, sampling, texts, dist, network, limits=limits) as text_policy:
            if premises is None:
                yield text_policy
            else:
                options = premises.options
                yield RetrievingPolicy(text_policy, premises.retriever, options.retrieve_tokens, count=options.retrieve)
