"""`python -m nanoproof.inference`: serve models over HTTP: their tactics and values, their texts, their vectors."""

import argparse
import logging
import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.distributed import DistInfo, init_distributed
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import CheckpointOption, DeviceOption
from nanoproof.common.run_dir import quiet_libraries, resolve_model_path
from nanoproof.common.web import http_server
from nanoproof.inference.model_options import EngineLimits
from nanoproof.model.checkpoint_files import find_checkpoint, weights_sha256
from nanoproof.policy.policy_options import TextModelOptions, short_name
from nanoproof.policy.protocol import TOKEN_VARIABLE, SamplingConfig, ServiceOptions

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.policy.served_models import ServedModels
    from nanoproof.policy.server import ServedPolicy

log = logging.getLogger(__name__)

NAMED = re.compile(r"([\w.-]+)=(.+)")
"""A model with a name for it. A file with such a name is written with its folder, ./a=b."""


class _ModelAction(argparse.Action):
    """`--model SPEC` is `--model-path SPEC`; `--model NAME=SPEC` adds a model that is served under this name."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        if NAMED.fullmatch(values):
            setattr(namespace, self.dest, (*(getattr(namespace, self.dest) or ()), values))
        else:
            namespace.model_path = values


@validated("model")
class ModelOptions:
    """Model."""

    checkpoint: CheckpointOption = group(
        CheckpointOption,
        model_path=change(help="Checkpoint, run (its latest one), or hf:... or openai:... to serve.", also=()),
    )
    model: tuple[str, ...] = opt(
        (),
        "Another model, served under a name; may be repeated. The first of all is the one that states go to.",
        metavar="NAME=SPEC",
        action=_ModelAction,
    )
    texts: TextModelOptions = group(TextModelOptions)
    device: DeviceOption = group(DeviceOption)
    threads: int | None = opt(
        None, "CPU threads that compute (none: half of the cores, the others are for Lean).", min=1
    )

    def __post_init__(self) -> None:
        check(bool(self.specs), "give --model-path: the model that is to be served")

    @property
    def specs(self) -> list[tuple[str, str]]:
        """Names and SPECs of all models; the name of `--model-path` is that of its SPEC."""
        specs: list[tuple[str, str]] = []
        path = self.checkpoint.model_path
        if path is not None:
            specs.append((short_name(path), path))
        for text in self.model:
            match = NAMED.fullmatch(text)
            if match is not None:
                specs.append((match[1], match[2]))
        return specs


def open_served(
    stack: ExitStack, chosen: ModelOptions, sampling: SamplingConfig, limits: EngineLimits, dist: DistInfo
) -> "tuple[ServedPolicy, dict[str, Any]]":
    """Open the policy to serve, until the stack is closed, and describe its model. Raises UserError."""
    from nanoproof.model.checkpoint import load_model
    from nanoproof.policy.models import model_policy, open_text_policy

    _, spec = chosen.specs[0]
    settings = chosen.texts.settings(spec)
    if settings is not None:
        policy = stack.enter_context(open_text_policy(spec, sampling, chosen.texts, dist, threads=chosen.threads))
        return policy, {"path": policy.model.name, "step": None, "sha256": None, "parameters": None, **settings}
    path = find_checkpoint(resolve_model_path(spec))
    model, tokenizer, manifest = load_model(path, dist.device, dist.dtype)
    weights = path.parent / manifest["weights"]
    about: dict[str, Any] = {"path": str(weights), "step": manifest.get("step"), "sha256": weights_sha256(path)}
    about["parameters"] = model.num_parameters()
    return stack.enter_context(model_policy(model, tokenizer, sampling, limits, chosen.threads)), about


def open_models(
    stack: ExitStack,
    policy: "ServedPolicy",
    chosen: ModelOptions,
    options: ServiceOptions,
    sampling: SamplingConfig,
    dist: DistInfo,
) -> "ServedModels":
    """Open the other models, until the stack is closed; the policy's is the first. Raises UserError."""
    from nanoproof.policy.served_models import ServedModels, open_served_model, served_policy
    from nanoproof.policy.steps_remaining import open_scorer

    (name, spec), *others = chosen.specs
    scorer = open_scorer(chosen.texts.progress)
    models = [served_policy(name, spec, policy, scorer)]
    for name, spec in others:
        opened = open_served_model(name, spec, sampling, chosen.texts, dist, chosen.threads, scorer)
        models.append(stack.enter_context(opened))
    served = ServedModels(models, options.max_requests)
    stack.callback(served.close)
    return served


def main(argv: Sequence[str] | None = None) -> int:
    """Parse, bind, load the model, serve until a signal comes."""
    parser = Parser(prog="python -m nanoproof.inference", description="Serve models over HTTP.")
    groups = {"": (ModelOptions, ServiceOptions, SamplingConfig), "engine-": (EngineLimits,)}
    for prefix, classes in groups.items():
        for options_class in classes:
            add_flags(parser, options_class, prefix)
    args = parser.parse_args(argv)
    options, chosen = from_args(ServiceOptions, args), from_args(ModelOptions, args)
    sampling, limits = from_args(SamplingConfig, args), from_args(EngineLimits, args, "engine_")
    logging.basicConfig(level=options.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    quiet_libraries(options.log_level)
    http_server.allow_many_connections()

    # A port in use is said before the model is loaded, which may take minutes.
    listener = http_server.bind(options)
    http_server.on_signals(http_server.interrupt)
    from nanoproof.policy.server import PolicyService, create_app

    dist = init_distributed(chosen.device.device_type)
    with ExitStack() as stack:
        policy, about = open_served(stack, chosen, sampling, limits, dist)
        for name, decision in {**dist.decisions(), **policy.report()["decisions"]}.items():
            log.info("%s: %s", name, decision)
        models = open_models(stack, policy, chosen, options, sampling, dist)
        service = PolicyService(policy, options, {**about, "device": str(dist.device)}, models)
        token = os.environ.get(TOKEN_VARIABLE)
        if not token and not options.on_loopback:
            log.warning("anyone who reaches %s can use the model; set %s", options.address, TOKEN_VARIABLE)
        app = create_app(service, token)
        server = http_server.HttpServer(app, options, listener)
        http_server.on_signals(
            http_server.Shutdown(
                service.drain, service.close, options.drain_seconds, app.extensions["requests"], server
            )
        )
        http_server.print_address(listener)
        server.run()
    return 0


if __name__ == "__main__":
    run_main(main)
