"""Speed and memory of the embedded prover on the reference proofs of its benchmark.

    python -m benchmarks.nanolean [--theorems 400] [--json PATH]

Every proof is run tactic by tactic through the REPL's own request handler, as the Lean server drives it: parse, run,
have finished proofs checked by the kernel, print the goals. Below it: the start of a theorem, the library from its
cache against from text, certificates (of a proof against elaborating it, of the library against building it, and
reading that again with every proof checked), the memory of a REPL process after all proofs.
"""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import psutil

from benchmarks.measurement import HARDWARE, plain_parser, write_results
from nanolean.commands.runner import run_text
from nanolean.data.problem import Step
from nanolean.data.statement_key import tactic_proofs
from nanolean.env_state import EnvState
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.library.loader import load_library
from nanolean.ndjson.import_ndjson import check_export
from nanolean.repl import Repl
from nanolean.tools.certificates import certificate
from nanoproof.common.files import read_jsonl
from nanoproof.common.run_dir import REPO_ROOT
from nanoproof.data.nanolean import list_theorems
from nanoproof.lean.server.repl_process import ReplProcess
from nanoproof.lean.source import splice

PROOFS = REPO_ROOT / "tests" / "data" / "benchmark_proofs.jsonl"
BASELINE_THEOREMS = 40
"""The baseline is slow; it runs on this many of the theorems, spread over all, and is compared on the same ones."""


@dataclass(frozen=True)
class Proof:
    """A theorem with the tactics of its proof, each for the first open goal."""

    source: str
    text: str
    tactics: tuple[str, ...]


@dataclass(frozen=True)
class Timing:
    """Seconds that the start of a theorem and each of its tactics took."""

    start: float
    tactics: tuple[float, ...]


def reference_proofs(limit: int) -> list[Proof]:
    """Return the benchmark's proofs as sequences of single tactics, valid and test in turn."""
    written = {row["name"]: row["proof"] for row in read_jsonl(PROOFS)}
    proofs = []
    for theorem in [*list_theorems("valid"), *list_theorems("test")]:
        text = splice(theorem, written[theorem.id])
        for entry in tactic_proofs(text):
            proofs.append(Proof(theorem.source, text, tuple(in_order(entry.proof))))
    step = max(1, len(proofs) // limit)
    return proofs[::step][:limit]


def in_order(step: Step) -> Iterator[str]:
    """Return the tactics in the order in which they run, each on the goal that is first then."""
    yield step.tactic
    for child in step.children:
        yield from in_order(child)


def timed(work: Callable[..., Any], *args: Any) -> tuple[float, Any]:
    """Return the seconds and the result of a call."""
    started = time.perf_counter()
    result = work(*args)
    return time.perf_counter() - started, result


def play(ask: Callable[[dict[str, Any]], dict[str, Any]], proof: Proof) -> Timing:
    """Run a proof step by step through a REPL; the last step must complete it."""
    begin, answer = timed(ask, {"cmd": proof.source})
    number = answer["sorries"][0]["proofState"]
    seconds = []
    for tactic in proof.tactics:
        spent, answer = timed(ask, {"tactic": tactic, "proofState": number})
        if "proofState" not in answer:
            raise RuntimeError(f"{tactic!r} is refused in\n{proof.source}\n{answer}")
        number = answer["proofState"]
        seconds.append(spent)
    if answer["proofStatus"] != "Completed":
        raise RuntimeError(f"{answer['proofStatus']} at the end of\n{proof.source}")
    ask({"prune_all": True})
    return Timing(begin, tuple(seconds))


def elaborate_prefixes(state: EnvState, proof: Proof) -> float:
    """Measure the seconds per tactic when every step elaborates the theorem with the proof so far."""
    # The plain way: it answers the same question, what is left to prove, as one must who knows no proof states.
    head = proof.source.rsplit("sorry", 1)[0]
    spent = 0.0
    for count in range(1, len(proof.tactics) + 1):
        text = head + "\n  ".join(proof.tactics[:count])
        spent += timed(run_text, state, text)[0]
    return spent / len(proof.tactics)


def tactic_rates(state: EnvState, proofs: list[Proof]) -> list[dict[str, Any]]:
    """Measure tactics per second of one core, and milliseconds of a theorem's start, against the baseline."""
    repl = Repl(state)
    for proof in proofs:  # once to fill the caches that a running process has
        play(repl.answer, proof)
    timings = [play(repl.answer, proof) for proof in proofs]
    tactics = [seconds for timing in timings for seconds in timing.tactics]
    starts = sorted(timing.start for timing in timings)
    few = proofs[:: max(1, len(proofs) // BASELINE_THEOREMS)]
    ours, plain, whole = [], [], []
    for proof in few:
        # Both on the same proof one after the other. A proof counts once whatever its length: a long one has many
        # steps, of which the plain way elaborates the early ones again and again.
        ours.append(statistics.mean(play(repl.answer, proof).tactics))
        plain.append(elaborate_prefixes(state, proof))
        whole.append(timed(run_text, state, proof.text)[0])
    ratio = statistics.mean(plain) / statistics.mean(ours)
    start = statistics.median(starts)
    p95 = round(1000 * starts[int(0.95 * len(starts))], 2)
    # The rate is of all proofs, the ratio of those that the plain way was tried on.
    return [
        row("tactic", len(tactics) / sum(tactics), ratio, "tactics/s/core", tactics=len(tactics)),
        row("start of a theorem", 1000 * start, statistics.median(whole) / start, "ms (median)", p95_ms=p95),
    ]


def library_times() -> dict[str, Any]:
    """Measure the seconds until the library is there, from its cache against from text with every proof checked."""
    # The first call writes the cache where there is none. The least of three: other load only adds.
    load_library()
    cached = min(timed(load_library)[0] for _ in range(3))
    built = timed(load_library, False)[0]
    return row("library from cache", cached, built / cached, "s", from_text_s=round(built, 2))


def export_times(state: EnvState, proofs: list[Proof], build_seconds: float) -> list[dict[str, Any]]:
    """Measure the seconds to write a proof's certificate and the library's, and to check that in a fresh kernel."""
    # Against elaborating the proof: what a certificate adds to having proved the theorem.
    exporting, elaborating, sizes = [], [], []
    for proof in proofs:
        seconds, checked = timed(run_text, state, proof.text)
        elaborating.append(seconds)
        names = [name for name in checked.state.env.names() if name not in state.env]
        seconds, exported = timed(certificate, checked.state.env, names, "a proof")
        exporting.append(seconds)
        sizes.append(len(exported.data))
    # `sorry` is an axiom of the library that no certificate may name.
    names = [name for name in state.env.names() if name != "sorryAx"]
    whole, library = timed(certificate, state.env, names, "the library")
    read, verdict = timed(check_export, library.data.decode().splitlines())
    if verdict.outcome != "accepted":
        raise RuntimeError(verdict.reason)
    median = statistics.median(exporting)
    size, megabytes = statistics.median(sizes) / 1000, len(library.data) / 1e6
    worst = round(1000 * max(exporting), 1)
    return [
        row("certificate", 1000 * median, statistics.median(elaborating) / median, "ms", kb=round(size), max_ms=worst),
        row("library's certificate", whole, build_seconds / whole, "s", mb=round(megabytes, 2)),
        row("reading that again", read, build_seconds / read, "s"),
    ]


def process_memory(proofs: list[Proof]) -> dict[str, Any]:
    """Measure the resident megabytes of a REPL process after all proofs, against after the first one."""
    process = ReplProcess((sys.executable, "-m", "nanolean", "repl", "--json"))

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        return process.request(request, 60)

    try:
        seconds, _ = timed(play, ask, proofs[0])
        info = psutil.Process(process.pid)
        first = info.memory_info().rss
        for proof in proofs:
            play(ask, proof)
        last = info.memory_info().rss
        return row("memory of a process", last / 2**20, last / first, "MB", to_first_proof_s=round(seconds, 2))
    finally:
        process.close()


def row(name: str, ours: float, ratio: float, unit: str, **details: Any) -> dict[str, Any]:
    """Return one result; `ratio` is against the plain baseline named in the module's text."""
    # Without a baseline of its own: that was measured on some of the proofs, and `ours` is of all.
    ours, ratio = float(f"{ours:.4g}"), round(ratio, 2)
    return {"name": name, "ours": ours, "ratio": ratio, "unit": unit, "hardware": HARDWARE, "details": details}


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results."""
    parser = plain_parser(__doc__)
    parser.add_argument("--theorems", type=int, default=400, help="how many of the benchmark's theorems to run")
    args = parser.parse_args(argv)
    if args.theorems < 1:
        parser.error("--theorems must be at least 1")
    allow_deep_recursion()
    proofs = reference_proofs(args.theorems)
    results = tactic_rates(load_library(), proofs)
    library = library_times()
    exports = export_times(load_library(), proofs, library["details"]["from_text_s"])
    results += [library, *exports, process_memory(proofs)]
    for row in results:
        print(f"{row['name']}: {row['ours']} {row['unit']}, {row['ratio']}x; {row['details']}")
    write_results(args.json, results)
    return 0


if __name__ == "__main__":
    main()
