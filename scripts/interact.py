"""A prompt for a policy, or for a plain language model: states in, tactics out; apply them, undo, export.

    python -m scripts.interact --model-path sft/<run>
    python -m scripts.interact --model-path pretrain/<run> --raw
    printf 'theorem t (p : Prop) (h : p) : p\\n1\\n:proof\\n' | python -m scripts.interact --policy solver-only

`:help` at the prompt says what can be typed.
"""

import argparse
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.distributed import init_distributed
from nanoproof.common.errors import run_main
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import is_foreign
from nanoproof.inference.language_model import GenerationOptions, LanguageModel
from nanoproof.lean.client import LeanFleet, LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.types import LeanSession
from nanoproof.model.tokenizer import Tokenizer
from nanoproof.policy.added_tactics import AddedTactics
from nanoproof.policy.factory import open_policy
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.cli_input import line_input
from nanoproof.prover.console import Console
from nanoproof.search.policy import Policy

# What imports torch comes after the options, which may be mistyped.
if TYPE_CHECKING:
    from nanoproof.model.gpt import GPT


@validated("interact")
class InteractOptions:
    """Prompt."""

    suggesting: PolicyOptions = group(PolicyOptions)
    lean: bool = opt(True, "Have a Lean process at hand; without, there are states and no theorems.")
    servers: LeanOptions = group(
        LeanOptions,
        "lean-",
        without=("project",),
        servers=change(help="Addresses host:port; without them the embedded prover is used."),
    )
    raw: bool = opt(False, "Begin with text in, continuation out; needs --model-path.")
    raw_tokens: int = opt(64, "Tokens of a continuation.", min=1)
    raw_temperature: float = opt(0.0, "Temperature of a continuation; 0 takes the likeliest token.", min=0)
    seed: int = opt(0, "Seed of continuations.")

    def __post_init__(self) -> None:
        check(not self.raw or self.suggesting.checkpoint.model_path is not None, "--raw needs --model-path")


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m scripts.interact", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, InteractOptions)
    add_flags(parser, SamplingConfig)
    return parser.parse_args(argv)


def open_session(stack: ExitStack, options: InteractOptions) -> LeanSession | None:
    """Lease a Lean process until the stack is closed; None if none is wanted."""
    if not options.lean or options.raw:
        return None
    if options.servers.servers:
        fleet = LeanFleet(options.servers.servers, options.servers.token)
        fleet.check()  # in seconds: a server that says nothing would be waited for by a lease for many minutes
        return stack.enter_context(fleet.lease())
    servers = stack.enter_context(start_embedded(1))
    return stack.enter_context(LeanServerClient(servers.addresses[0], servers.token).lease())


def run(console: Console) -> None:
    """Read lines until `:quit` or the end of the input; Ctrl-C forgets what is not complete yet."""
    interactive = sys.stdin.isatty()
    with line_input("interact_history") as ask:
        while not console.over:
            try:
                line = ask(console.prompt)
                answer = console.enter(line or "")  # at the end of the input: what was begun is ended
            except KeyboardInterrupt:
                console.forget()
                print("^C (line forgotten)")
                continue
            if answer:
                print(answer, flush=True)
            if answer and interactive:  # room before the next prompt, which a pipe does not have
                print(flush=True)
            if line is None:
                return


def continue_with(model: LanguageModel, options: InteractOptions, text: str) -> str:
    """Continue a text with a model of others."""
    limits = GenerationOptions(max_new_tokens=options.raw_tokens, temperature=options.raw_temperature)
    return model.generate([text], limits, [options.seed])[0][0].text


def _innermost(policy: Policy) -> Policy:
    """Return the policy below those that weigh its tactics or add some."""
    from nanoproof.policy.steps_remaining import ProgressPolicy

    while isinstance(policy, ProgressPolicy | AddedTactics):
        policy = policy.policy
    return policy


def main(argv: list[str] | None = None) -> int:
    """Run the prompt."""
    args = parse_args(argv)
    options, sampling = from_args(InteractOptions, args), from_args(SamplingConfig, args)
    from nanoproof.policy.models import load_network
    from nanoproof.policy.text_policy import TextPolicy

    suggesting = options.suggesting
    name, spec, server = suggesting.name, suggesting.checkpoint.model_path, suggesting.server
    dist = init_distributed(suggesting.device.device_type)
    network = load_network(name, spec, dist)
    with ExitStack() as stack:
        opened = open_policy(
            name,
            network,
            sampling,
            server=server.server,
            token=server.token,
            spec=spec,
            texts=suggesting.texts,
            dist=dist,
            retrieving=suggesting.retrieving,
        )
        policy = stack.enter_context(opened)
        session = open_session(stack, options)
        console = Console(policy, session, embedded=not options.servers.servers, raw=options.raw)
        if network is not None:

            def continue_text(text: str) -> str:
                return continuation(*network, text, options.raw_tokens, options.raw_temperature, options.seed)

            console.continue_text = continue_text
        elif isinstance(inner := _innermost(policy), TextPolicy):
            console.continue_text = partial(continue_with, inner.model, options)
        if sys.stdin.isatty():
            shown = server.server or name
            if spec is not None and is_foreign(spec) and not server.server:
                shown = spec
            print(f"policy: {shown}; :help says what can be typed")
        run(console)
    return 0


def continuation(model: "GPT", tokenizer: Tokenizer, text: str, new_tokens: int, temperature: float, seed: int) -> str:
    """Continue plain text, up to EOS or `new_tokens` tokens; temperature 0 is greedy.

    Every token is one forward pass over all of the text, at one fixed shape: for a few texts by hand. A text too
    long for the model is cut from the left.
    """
    import torch

    model.eval()
    # At least half of the context is for the text: else a large `new_tokens` would cut all of it away.
    new_tokens = min(new_tokens, model.config.sequence_len // 2)
    start = [tokenizer.bos, *tokenizer.encode(text)][-(model.config.sequence_len - new_tokens) :]
    length = len(start) + new_tokens
    tokens_1T = torch.full((1, length), tokenizer.pad, device=model.device)
    tokens_1T[0, : len(start)] = torch.tensor(start)
    generator = torch.Generator().manual_seed(seed)
    written: list[int] = []
    with torch.no_grad():
        for end in range(len(start), length):
            last = torch.tensor([end - 1], device=model.device)
            # Up to EOS: the tokens behind it are markers and padding, which no text consists of.
            logits_V = model(tokens_1T, select_N=last)[0, : tokenizer.eos + 1].float().cpu()
            if temperature > 0:
                token = int(torch.multinomial((logits_V / temperature).softmax(-1), 1, generator=generator))
            else:
                token = int(logits_V.argmax())
            if token == tokenizer.eos:
                break
            written.append(token)
            tokens_1T[0, end] = token
    return tokenizer.decode(written)


if __name__ == "__main__":
    run_main(main)
