"""Prove a theorem, the sorries of a Lean file, or what is typed: show the search, write checked Lean text.

    python -m scripts.prove "theorem foo (p q : Prop) (h : p ∧ q) : q ∧ p" --model-path sft/<run>
    python -m scripts.prove FILE.lean --policy solver-only --out PROVED.lean --html tree.html
    python -m scripts.prove --dataset nanolean --id NAME --model-path sft/<run>
    python -m scripts.prove FILE.lean --model-path hf:FOLDER --prompt-format bfs-prover
    python -m scripts.prove --model-path sft/<run>
    python -m scripts.prove FILE.lean --model-path sft/<run> --whole-proof --samples 128

Exit code 0 if all is proved (or disproved), 1 if not, also where a proof rests on something open, 2 if something is
wrong with the theorem, the options or a server, and 130 after Ctrl-C, which ends the search and keeps what there is.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from difflib import get_close_matches
from pathlib import Path

from nanoproof.actors.fleet import follow_lean
from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.distributed import init_distributed
from nanoproof.common.errors import UserError, run_main
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import home, is_foreign
from nanoproof.common.terminal import print_lines
from nanoproof.data.theorems.theorem_sets import DATASETS, list_theorems, parse_set_names, splits_of
from nanoproof.evaluation.sample_files import WholeProofOptions
from nanoproof.lean.client import LeanFleet, LeanServerClient
from nanoproof.lean.embedded import start_embedded
from nanoproof.lean.lean_file import LeanFile
from nanoproof.lean.probe import require_working
from nanoproof.lean.solvers import AUTO
from nanoproof.lean.types import LeanSession, SourceError, Theorem
from nanoproof.model.checkpoint_files import newest_network
from nanoproof.policy.factory import follow_network, open_suggesting, whole_proof_prompts
from nanoproof.policy.policy_options import PolicyOptions
from nanoproof.policy.protocol import SamplingConfig
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.cli_input import (
    SorryFiller,
    first_error,
    line_input,
    parse_theorem,
    read_lean_file,
    read_theorems,
    with_what_lacks,
)
from nanoproof.prover.interactive import InteractiveProver, Proves, report, write
from nanoproof.prover.prover import Prover, ProverOptions
from nanoproof.prover.whole_proof import Verifier, WholeProofProver
from nanoproof.repos.project import Project, imported_into
from nanoproof.repos.proving import server_imports
from nanoproof.search.config import ALGORITHM, NOT_FLAGS, SearchConfig


@validated("prove")
class ProveOptions:
    """Proving."""

    dataset: str | None = opt(None, "Data set with the theorem --id.", choices=tuple(DATASETS))
    id: str | None = opt(None, "Id of a theorem of --dataset.")
    suggesting: PolicyOptions = group(PolicyOptions)
    disprove: bool = opt(False, "Prove the negation of the theorem instead.")
    num_simulations: int = opt(64, "Simulations of each search.", min=1)
    whole_proof: bool = opt(False, "Sample whole proofs in place of a search.")
    writing: WholeProofOptions = group(
        WholeProofOptions,
        without=("whole_proofs", "theorems_at_once"),
        whole_proofs=change(default=True),
        samples=change(help="Whole proofs that are sampled of a theorem, until one holds."),
        samples_at_once=change(default=8),
    )
    max_seconds: float | None = opt(None, "A search ends after so many seconds.", above=0)
    seed: int = opt(0, "Seed of all random choices.")
    servers: LeanOptions = group(
        LeanOptions,
        "lean-",
        without=("project",),
        servers=change(help="Addresses host:port; one with a free process is used."),
    )
    out: str | None = opt(None, "File for what is proved; of FILE.lean, FILE.proved.lean without it.", metavar="FILE")
    html: str | None = opt(None, "File for the search trees, as a page for a browser.", metavar="FILE")

    def __post_init__(self) -> None:
        check(
            not self.whole_proof
            or (self.suggesting.checkpoint.model_path is not None and self.suggesting.name == "model"),
            "--whole-proof needs a model that writes text: --model-path",
        )
        check(not (self.whole_proof and self.disprove), "--whole-proof does not go with --disprove")
        retrieving = self.suggesting.retrieving
        check(
            not (self.whole_proof and (retrieving.count or retrieving.adds_tactics)),
            "--retrieve, --premise-tactics, --step-tactics are for states; --whole-proof has none",
        )
        check((self.dataset is None) == (self.id is None), "--dataset and --id go together")


TREE_NODES = 100
"""Nodes of a tree that are printed."""
_BEGINS = re.compile(r"\s*(?:@\[|--|/-|(?:theorem|lemma|example|def|import|open|universe|variable|namespace)\b)")
"""How a text begins that means to be a whole statement."""
OPTION_GROUPS = (("", ProveOptions), ("", SamplingConfig), ("search-", SearchConfig), ("", ProverOptions))
"""What is asked for, with the prefix of its flags."""
NOT_ASKED = (
    *("keep_tree", "disprove_fraction", "simplification_tactics"),
    *NOT_FLAGS,
)
"""Options that --html and --disprove decide here, that say what is stored for training, and limits."""


def parse_args(argv: list[str] | None) -> argparse.Namespace:
    parser = Parser(prog="python -m scripts.prove", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("theorem", nargs="?", help="a theorem (`:= by sorry` may be left out) or a file with sorries")
    for prefix, group_of_options in OPTION_GROUPS:
        add_flags(parser, group_of_options, prefix, skip=NOT_ASKED)
    parser.add_argument("--theorem", dest="named", metavar="THEOREM", help="The theorem or file, as without the flag.")
    parser.add_earlier({"--lean-server": "--lean-servers", "--num-samples": "--num-sampled-tactics"})
    parser.set_defaults(search_finishers=(AUTO,), search_algorithm=ALGORITHM)
    args = parser.parse_args(argv)
    if args.named is not None:
        if args.theorem is not None:
            parser.error("give one theorem, with --theorem or without")
        args.theorem = args.named
    if args.theorem is not None and args.id is not None:
        parser.error("give a theorem or --id, not both")
    if args.theorem is None and args.id is None and not sys.stdin.isatty():
        parser.error("give a theorem to prove")  # checked here, so that an unknown flag is complained about first
    return args


def theorem_of(dataset: str, theorem_id: str) -> Theorem:
    """Return a theorem of a data set by its id. Raises UserError, with the nearest ids, if there is none."""
    (name,) = parse_set_names([dataset])
    ids: list[str] = []
    # Those for training last: they may have to be made first, which takes minutes.
    for split in sorted(splits_of(name), key=lambda split: split == "train"):
        for theorem in list_theorems(name, split):
            if theorem.id == theorem_id:
                return theorem
            ids.append(theorem.id)
    # By likeness, not by the first letters: ids of generated theorems differ in their last digits.
    near = ", ".join(get_close_matches(theorem_id, ids, 3))
    hint = "inspect_problems lists them"
    if near:
        hint = f"did you mean {near}?"
    raise UserError(f"--id: no theorem {theorem_id} in {name} ({hint})")


def parse_target(text: str | None, options: ProveOptions) -> Theorem | LeanFile | None:
    """Return the theorem or file of the command line; None for interactive input. Raises UserError if there is none."""
    if options.dataset is not None:
        return theorem_of(options.dataset, options.id or "")
    if text is None:
        return None
    if os.path.isdir(text):
        raise UserError(f"{text} is a folder: python -m nanoproof.repos prove proves the sorries of all its files")
    if text.endswith(".lean") or os.path.isfile(text):  # which is false for what is too long to be a name
        return read_lean_file(Path(text))
    if re.fullmatch(r"\S*[/.]\S*", text.strip()):
        raise UserError(f"{text} is no theorem, and there is no such file")
    try:
        return parse_theorem(text, embedded=not options.servers.servers)
    except UserError as error:
        if _BEGINS.match(text):
            raise
        raise UserError(f"{error}. A statement has a keyword and a name: 'theorem t : {text.strip()}'") from error


@contextmanager
def open_session(options: ProveOptions) -> Iterator[LeanSession]:
    """Lease a Lean process: of the user's servers, else of an embedded one."""
    if options.servers.servers:
        fleet = LeanFleet(options.servers.servers, options.servers.token)
        fleet.check()  # in seconds: a server that says nothing would be waited for by a lease for many minutes
        require_working(options.servers.servers, options.servers.token)  # what a server says is believed from here on
        with fleet.lease() as session:
            print(f"Lean: {session.address}")
            yield session
    else:
        with start_embedded(1) as servers:
            print(f"Lean: embedded NanoLean at {servers.addresses[0]} (no --lean-servers given)")
            with LeanServerClient(servers.addresses[0], servers.token).lease() as session:
                yield session


@contextmanager
def open_whole(options: ProveOptions) -> Iterator[Proves]:
    """Open the model that writes whole proofs."""
    spec, texts = options.suggesting.checkpoint.model_path or "", options.suggesting.texts
    writing = options.writing.ended_by(texts.format_for(spec, "proof").stop)
    render, repair = whole_proof_prompts(spec, texts)
    dist = init_distributed(options.suggesting.device.device_type)
    from nanoproof.policy.models import open_language_model  # imports torch: seconds, for who only reads --help

    with open_language_model(spec, dist, texts) as model:
        verifier = Verifier(model.name, writing.proof_seconds, writing.known_names())
        yield WholeProofProver(
            model, render, verifier, writing.generation, writing.samples_at_once, writing.repair, repair
        )


def prove_one(prover: InteractiveProver, session: LeanSession, theorem: Theorem, options: ProveOptions) -> Attempt:
    """Prove one theorem and print what came of it; UserError if the statement is refused or a server fails."""
    attempt = prover.prove(session, theorem)
    if attempt.outcome == "error":
        message = ""
        if attempt.refused:
            # The attempt has all that Lean said; a check of the statement alone has the place of the first error.
            message = first_error(session.check(theorem.source), theorem.source)
        if not message:
            message = " ".join(attempt.message.split())
        if not options.servers.servers:
            # NanoLean has a part of Lean: what it does not know may be right, and the message says so.
            message = with_what_lacks(message, theorem.source)
        raise UserError(message)
    report(attempt, TREE_NODES)
    return attempt


def prove_all(
    prover: InteractiveProver, session: LeanSession, path: Path, file: LeanFile, options: ProveOptions
) -> bool:
    """Prove the sorries of a file and write it with what was proved."""
    file = imported_into(path, file, server_imports(options.servers))
    try:
        filler = SorryFiller(file, session)
    except SourceError as error:
        message = f"{path}: {error}"
        if not options.servers.servers:
            project = Project.read(path)
            message = with_what_lacks(message, file.text, project.missing_library(project.file(project.only)))
        raise UserError(message) from error
    noun = "sorries"
    if len(file.gaps) == 1:
        noun = "sorry"
    print(f"{path}: {len(file.gaps)} {noun}")
    try:
        return prover.fill(filler, session)
    finally:
        # After an error or Ctrl-C too: each proof that is there may have taken minutes.
        out, text = options.out or str(path.with_suffix(".proved.lean")), filler.settled.written()
        try:
            write(out, text, "--out")
        except UserError:
            # What a search has found must not be lost to a full disk, or a folder that belongs to somebody else.
            if filler.settled.filled:
                print_lines(["what was to be written:", "", text])
            raise
        print(f"written to {out}")
        if not filler.is_read:  # an error or Ctrl-C came before that
            print("Lean has read the file up to each proof, and not yet as a whole")


def prove_typed(prover: InteractiveProver, session: LeanSession, options: ProveOptions) -> list[Attempt]:
    """Prove what is typed, one theorem after the other; what is refused costs a line, not the session."""
    print("A theorem, on one line or several; `:quit` or Ctrl-D ends, Ctrl-C ends a search.")
    attempts = []
    with line_input("prove_history") as ask:
        for theorem in read_theorems(ask, embedded=not options.servers.servers):
            prover.interrupted = False
            try:
                attempts.append(prove_one(prover, session, theorem, options))
            except UserError as error:
                print(f"error: {error}")
    prover.interrupted = False
    return attempts


def where_networks_are() -> str:
    """Say which network `--model-path` could name: the newest that was trained here, or how to come by one."""
    newest = newest_network(home())
    if newest is None:
        return (
            "general tactics alike, as there is no --model-path; `bash runs/quickstart.sh` trains a network, "
            "--model-path hf:OWNER/NAME downloads one"
        )
    return f"general tactics alike; the newest network here is --model-path {newest.relative_to(home())}"


def main(argv: list[str] | None = None) -> int:
    """Prove what the command line names, or what is typed; return 1 if a proof is missing."""
    args = parse_args(argv)
    if args.policy == "solver-only" and args.search_finishers == (AUTO,):
        args.search_finishers = ()  # it suggests them: Lean would run each a second time at every node
    follow_lean(args)
    follow_network(args)
    options, sampling = from_args(ProveOptions, args), from_args(SamplingConfig, args)
    search_config = from_args(SearchConfig, args, "search_")
    prover_options = from_args(ProverOptions, args, keep_tree=True, disprove_fraction=float(options.disprove))
    work = parse_target(args.theorem, options)
    if options.disprove and isinstance(work, LeanFile):
        raise UserError("--disprove takes a theorem, not a file")
    with ExitStack() as stack:
        if options.whole_proof:
            prover, budget = stack.enter_context(open_whole(options)), options.writing.samples
        else:
            policy = stack.enter_context(open_suggesting(options.suggesting, sampling))
            prover, budget = Prover(policy, search_config, prover_options), options.num_simulations
        session = stack.enter_context(open_session(options))
        print_lines([who_proves(options)])
        interactive = InteractiveProver(prover, budget, options.max_seconds, options.seed)
        if options.html is not None:
            # However this ends: the tree of a search that was interrupted is what one wants to look at.
            stack.callback(interactive.write_page, options.html)
        if isinstance(work, LeanFile):
            all_proved = prove_all(interactive, session, Path(args.theorem), work, options)
            return exit_code(all_proved, interactive)
        if work is None:
            attempts = prove_typed(interactive, session, options)
        else:
            attempts = [prove_one(interactive, session, work, options)]
    proved = [attempt.source for attempt in attempts if attempt.outcome in ("proven", "disproven")]
    if proved and options.out is not None:
        write(options.out, "\n\n".join(proved) + "\n", "--out")
        print(f"\nwritten to {options.out}")
    return exit_code(len(proved) == len(attempts), interactive)


def who_proves(options: ProveOptions) -> str:
    """Say who suggests tactics, or that whole proofs are written."""
    if options.whole_proof:
        return "whole proofs of a model"
    suggesting = options.suggesting
    spec = suggesting.checkpoint.model_path
    if suggesting.server.server:
        return f"policy: {suggesting.server.server}"
    if spec is not None and is_foreign(spec):
        return f"policy: {spec}"
    # Asked for by name, it is no surprise: a newcomer gets it for want of a network.
    if suggesting.name == "uniform" and suggesting.policy is None:
        return f"policy: uniform ({where_networks_are()})"
    return f"policy: {suggesting.name}"


def exit_code(all_proved: bool, interactive: InteractiveProver) -> int:
    """Return 0 if all is proved; else 130, as shells say for Ctrl-C, or 1."""
    if all_proved:
        return 0
    if interactive.interrupted:
        return 130
    return 1


if __name__ == "__main__":
    run_main(main)
