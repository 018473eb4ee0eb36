"""A prompt for a policy, or for a plain language model: states in, tactics out; apply them, undo, export.

    python -m scripts.interact --model-path sft/<run>
    python -m scripts.interact --model-path pretrain/<run> --raw
    printf 'theorem t (p : Prop) (h : p) : p\\n1\\n:proof\\n' | python -m scripts.interact --policy solver-only

`:help` at the prompt says what can be typed.
"""

import argparse
import sys
from contextlib import ExitStack
from dataclasses import dataclass

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validate
from nanoproof.common.dist import init_distributed
from nanoproof.common.errors import run_main
from nanoproof.common.typing_lines import typed_lines
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.fleet import LeanFleet
from nanoproof.lean.wire import LeanSession
from nanoproof.policy.continuation import continuation
from nanoproof.policy.opening import PolicyName, load_network, open_policy
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.prover.console import Console


@dataclass(frozen=True)
class InteractOptions:
    """Prompt."""

    model_path: str | None = opt(None, "Checkpoint whose network suggests tactics.")
    policy: PolicyName | None = opt(None, "Who suggests tactics; without it the model of --model-path, else uniform.")
    policy_server: str | None = opt(None, "Address host:port of a policy server, which suggests tactics instead.")
    policy_token: str | None = opt(None, "Token that the policy server asks for.")
    lean: bool = opt(True, "Have a Lean process at hand; without, there are states and no theorems.")
    lean_servers: tuple[str, ...] = opt((), "Addresses host:port; without them the embedded prover is used.")
    lean_token: str | None = opt(None, "Token that the Lean servers ask for.")
    device_type: str = opt("", "Where the network runs: cuda, cpu or mps; empty for the best there is.")
    raw: bool = opt(False, "Begin with text in, continuation out; needs --model-path.")
    raw_tokens: int = opt(64, "Tokens of a continuation.", min=1)
    raw_temperature: float = opt(0.0, "Temperature of a continuation; 0 takes the likeliest token.", min=0)
    seed: int = opt(0, "Seed of continuations.")

    def __post_init__(self) -> None:
        validate(self, "interact")
        check(self.policy != "model" or self.model_path is not None, "--policy model needs --model-path")
        check(not self.raw or self.model_path is not None, "--raw needs --model-path")
        check(
            self.policy_server is None or (self.policy or self.model_path) is None,
            "--policy-server suggests tactics in place of --policy and --model-path",
        )

    @property
    def policy_name(self) -> PolicyName:
        return self.policy or ("uniform" if self.model_path is None else "model")


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m scripts.interact", description=(__doc__ or "").splitlines()[0])
    add_flags(parser, InteractOptions)
    add_flags(parser, SamplingConfig)
    return parser.parse_args(argv)


def open_session(stack: ExitStack, options: InteractOptions) -> LeanSession | None:
    """A leased Lean process, which is given back when the stack is left; None if none is wanted."""
    if not options.lean or options.raw:
        return None
    if options.lean_servers:
        return stack.enter_context(LeanFleet(options.lean_servers, options.lean_token).lease())
    servers = stack.enter_context(start_embedded(1))
    return stack.enter_context(LeanServerClient(servers.addresses[0], servers.token).lease())


def run(console: Console) -> None:
    """Read lines until `:quit` or the end of the input; Ctrl-C forgets what is not complete yet."""
    interactive = sys.stdin.isatty()
    with typed_lines("interact_history") as ask:
        while not console.over:
            try:
                line = ask(console.prompt)
                answer = console.enter("" if line is None else line)
            except KeyboardInterrupt:
                console.forget()
                print("^C (line forgotten)")
                continue
            if answer:
                print(answer, end="\n\n" if interactive else "\n", flush=True)
            if line is None:
                return


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_args(argv)
    options, sampling = from_args(InteractOptions, args), from_args(SamplingConfig, args)
    network = load_network(options.policy_name, options.model_path, init_distributed(options.device_type))
    with ExitStack() as stack:
        opened = open_policy(
            options.policy_name, network, sampling, server=options.policy_server, token=options.policy_token
        )
        policy = stack.enter_context(opened)
        session = open_session(stack, options)
        console = Console(policy, session, embedded=not options.lean_servers, raw=options.raw)
        if network is not None:

            def continue_text(text: str) -> str:
                return continuation(*network, text, options.raw_tokens, options.raw_temperature, options.seed)

            console.continue_text = continue_text
        if sys.stdin.isatty():
            print(f"policy: {options.policy_server or options.policy_name}; :help says what can be typed")
        run(console)
    return 0


if __name__ == "__main__":
    run_main(main)
