"""Prove one theorem: print the search tree and the checked Lean text.

    python -m scripts.prove "theorem foo (p q : Prop) (h : p ∧ q) : q ∧ p" --model-path sft/<run>
    python -m scripts.prove "theorem bar : 2 + 2 = 4 := by sorry" --policy solver-only --out bar.lean

Exit code 0 if it is proved, 1 if not, 2 if something is wrong with the theorem, the options or a server.
"""

import argparse
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from nanoproof.common.config import Parser, add_flags, check, from_args, opt, validate
from nanoproof.common.dist import init_distributed
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.files import atomic_write_text
from nanoproof.lean.client import LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.fleet import LeanFleet
from nanoproof.lean.lexical import mask
from nanoproof.lean.nanolean.lexer import ParseError
from nanoproof.lean.nanolean.parser import parse_commands
from nanoproof.lean.source import parts
from nanoproof.lean.theorem import Theorem
from nanoproof.lean.wire import LeanSession
from nanoproof.policy.opening import PolicyName, load_network, open_policy
from nanoproof.policy.sampling import SamplingConfig
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.search.config import SearchConfig
from nanoproof.search.render import render_tree
from nanoproof.search.tree_json import tree_from_json


@dataclass(frozen=True)
class ProveOptions:
    """Proving."""

    model_path: str | None = opt(None, "Checkpoint whose network suggests tactics.")
    policy: PolicyName | None = opt(None, "Who suggests tactics; without it the model of --model-path, else uniform.")
    num_simulations: int = opt(64, "Simulations of the search.", min=1)
    max_seconds: float | None = opt(None, "The search ends after so many seconds.", above=0)
    seed: int = opt(0, "Seed of all random choices.")
    lean_servers: tuple[str, ...] = opt((), "Addresses host:port; the first that has a free process is used.")
    lean_token: str | None = opt(None, "Token that the Lean servers ask for.")
    device_type: str = opt("", "Where the network runs: cuda, cpu or mps; empty for the best there is.")
    max_tree_nodes: int = opt(100, "Nodes of the tree that are printed.", min=1)
    out: str | None = opt(None, "File for the proved theorem.", metavar="FILE.lean")

    def __post_init__(self) -> None:
        validate(self, "prove")
        check(self.policy != "model" or self.model_path is not None, "--policy model needs --model-path")

    @property
    def policy_name(self) -> PolicyName:
        return self.policy or ("uniform" if self.model_path is None else "model")


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m scripts.prove", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("theorem", nargs="?", help="Lean text of one theorem; `:= by sorry` may be left out")
    for prefix, group in (("", ProveOptions), ("", SamplingConfig), ("search-", SearchConfig), ("", ProverOptions)):
        add_flags(parser, group, prefix, skip=("keep_tree", "disprove_fraction"))
    args = parser.parse_args(argv)
    if args.theorem is None:  # checked here, so that an unknown flag is what is complained about first
        parser.error("give a theorem to prove")
    return args


def theorem_of(text: str, embedded: bool) -> Theorem:
    """The theorem that a user typed, with its `sorry` added if it is missing; UserError if it is not one theorem.

    If the embedded prover is to read it, a mistake in its syntax is found here already, with its place.
    """
    source = text.strip()
    if re.search(r"(?<![\w.'])sorry(?![\w.'])", mask(source)) is None:
        source = re.sub(r"\s*:=\s*(?:by\s*)?\Z", "", source) + " := by sorry"
    if embedded:
        try:
            parse_commands(source)
        except ParseError as error:
            place = f"line {error.line}, column {error.column}"
            raise UserError(f"the theorem has a syntax error at {place}: {error.message}") from error
    parts(source)
    return Theorem(source, dataset="user", id="user")


@contextmanager
def open_session(options: ProveOptions) -> Iterator[LeanSession]:
    """A leased Lean process: of the user's servers, else of an embedded one."""
    if options.lean_servers:
        with LeanFleet(options.lean_servers, options.lean_token).lease() as session:
            print(f"Lean: {session.address}")
            yield session
    else:
        with start_embedded(1) as servers:
            print(f"Lean: embedded NanoLean at {servers.addresses[0]} (no --lean-servers given)")
            with LeanServerClient(servers.addresses[0]).lease() as session:
                yield session


def report(attempt: Attempt, max_tree_nodes: int) -> None:
    """Print the tree, what became of the attempt, and the proof."""
    if attempt.tree is not None:
        print("\n" + render_tree(tree_from_json(attempt.tree), max_tree_nodes) + "\n")
    effort = (
        f"{attempt.simulations} simulations, {attempt.counts.get('tactic_samples', 0)} tactic samples, "
        f"{attempt.counts.get('tactics_run', 0)} tactics run, {attempt.seconds.get('search', 0.0):.1f} s of search"
    )
    if attempt.outcome == "proven" and attempt.check is not None:
        axioms = ", ".join(attempt.check["axioms"]) or "none"
        print(f"proven in {attempt.num_tactics} tactics, checked in a fresh environment (axioms: {axioms}); {effort}\n")
        print(attempt.source)
    else:
        print(f"not proven: {attempt.message}; {effort}")


def main(argv: list[str] | None = None) -> int:
    """Entry point."""
    args = parse_args(argv)
    options, sampling = from_args(ProveOptions, args), from_args(SamplingConfig, args)
    search_config = from_args(SearchConfig, args, "search_")
    theorem = theorem_of(args.theorem, embedded=not options.lean_servers)
    dist = init_distributed(options.device_type)
    network = load_network(options.policy_name, options.model_path, dist)
    opened = open_policy(options.policy_name, network, sampling)
    with opened as policy, open_session(options) as session:
        print(f"policy: {options.policy_name}")
        prover = Prover(policy, search_config, replace(from_args(ProverOptions, args), keep_tree=True))
        deadline = float("inf") if options.max_seconds is None else time.monotonic() + options.max_seconds
        attempt = prover.prove(
            session,
            theorem,
            options.num_simulations,
            random.Random(options.seed),
            lambda: time.monotonic() > deadline,
        )
    if attempt.outcome == "error":
        raise UserError(" ".join(attempt.message.split()))
    report(attempt, options.max_tree_nodes)
    if attempt.outcome == "proven" and options.out is not None:
        try:
            atomic_write_text(Path(options.out), attempt.source + "\n")
        except OSError as error:
            raise UserError(f"cannot write --out {options.out}: {error.strerror}") from error
        print(f"\nwritten to {options.out}")
    return 0 if attempt.outcome == "proven" else 1


if __name__ == "__main__":
    run_main(main)
