"""Whole proofs with a Lean that crashes and stalls, and an evaluation that is killed: is every verdict right, and once?

    python -m benchmarks.whole_proofs [--samples 10000] [--faults 0.01] [--kills 5] [--json PATH]

The evaluation is `python -m scripts.prover_eval --whole-proofs` as it is, but forked from a process that has imported
it. Its server of NanoLean has processes that die at some texts and never answer others (`faulty_lean.py`), and a server
of OpenAI's API writes proofs. Whether a text is a proof is known before: the generator's own proofs are replayed tactic
by tactic, single tactics are tried on the goal, and the other texts are wrong by what they are. At random moments the
evaluation gets SIGKILL and is resumed.

In the end every sample must have the verdict of its text. A text whose verdict was on record must never be read again,
and any other one only as often as Lean failed at it or the evaluation died with it under way. "ours" is how many
samples have the right verdict, "baseline" how many there are.
"""

import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import faulty_lean
from benchmarks.faulty_lean import CRASH, CRASHES, MARK, PROOF, READ, RENAMED, STALL
from benchmarks.lean_server import serving
from benchmarks.measurement import plain_parser, result, write_results
from nanolean.data.families import FAMILIES, family_problems
from nanolean.data.problem import Step, render
from nanolean.data.replay import ReplayError, replay, start
from nanolean.kernel.budget import allow_deep_recursion
from nanolean.tactic_state import TacticState
from nanoproof.common.files import json_line, read_json, read_jsonl
from nanoproof.evaluation.results import result_files
from nanoproof.lean.server.backend import Backend, ServerSettings
from nanoproof.lean.server.forks import ForkServer, can_fork
from tests.fakes.openai_server import openai_server
from tests.helpers import as_command, start_forked

TACTICS = ("rfl", "simp", "omega", "trivial", "assumption", "constructor", "intro h", "simp_all")
FAMILY_LEVELS = (1, 2)
AT_ONCE = 20
"""Samples of a theorem that are asked for in one request."""
MOST_RESUMES = 5
"""How often samples that have no verdict after all are tried again."""


@dataclass(frozen=True)
class Known:
    """A theorem, a proof of it that Lean was seen to accept step by step, and which single tactics prove it."""

    name: str
    source: str
    proof: str
    proving: frozenset[str]


def known_theorems(count: int, seed: int) -> list[Known]:
    """Generate theorems with what is known of them, in turn from all families."""
    allow_deep_recursion()
    known: list[Known] = []
    # More than are needed: some of a family's proofs are not replayed.
    levels = dict.fromkeys(FAMILY_LEVELS, -(-2 * count // len(FAMILIES)))
    families = [iter(family_problems(name, seed, levels, frozenset())) for name in FAMILIES]
    while len(known) < count and families:
        for family in list(families):
            named = next(family, None)
            if named is None:
                families.remove(family)
                continue
            goal = start(named.source())
            try:
                proof = render(replay(goal, named.problem.proof).proof())
            except ReplayError:
                continue
            proving = frozenset(tactic for tactic in TACTICS if proves(goal, tactic))
            known.append(Known(named.id, named.source(), proof, proving))
    return known[:count]


def proves(goal: TacticState, tactic: str) -> bool:
    """Tell whether one tactic proves a goal."""
    try:
        replay(goal, Step(tactic))
    except ReplayError:
        return False
    return True


# -- What the model writes -------------------------------------------------------------------------------------------


@dataclass
class Writer:
    """Writes texts for prompts, of which it knows what they are: `truth` by the mark that each text carries."""

    theorems: Mapping[str, Known]
    truth: dict[str, bool] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    samples: int = 0

    def __call__(self, body: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Answer a request: the same texts for the same prompt and seed."""
        # The last, as a prompt may show others before it.
        named = re.findall(r"^theorem (\S+)", body["prompt"], re.MULTILINE)
        theorem = self.theorems[named[-1]]
        choices = []
        for index in range(body.get("n", 1)):
            text = self.write(theorem, random.Random(f"{body['seed']}/{index}"))
            choices.append({"index": index, "text": text, "logprobs": [-0.5], "reason": "stop"})
        self.samples += len(choices)
        return choices

    def write(self, theorem: Known, rng: random.Random) -> str:
        """Write one text, and note whether it is a proof. One in five is one that others are equal to."""
        weights = [weight for weight, _ in KINDS.values()]
        (kind,) = rng.choices(list(KINDS), weights)
        text, is_proof = KINDS[kind][1](theorem, rng)
        # Equal texts of a theorem share a verdict, which the evaluation looks up and does not ask Lean for again.
        number = rng.randrange(3) if rng.random() < 0.2 else 3 + rng.randrange(10**9)
        mark = f"{random.Random(f'{theorem.name}/{text}/{number}').getrandbits(48):012x}"
        self.truth[mark], self.kinds[mark] = is_proof, kind
        return f"{text}\n  -- #{mark}\n"


def statement(theorem: Known) -> str:
    """Return a theorem up to the `:= by` of its proof."""
    return theorem.source.removesuffix("sorry").rstrip()


def one_tactic(theorem: Known, rng: random.Random) -> tuple[str, bool]:
    """Write one tactic, which proves some theorems."""
    tactic = rng.choice(TACTICS)
    return f"  {tactic}", tactic in theorem.proving


def cut_short(theorem: Known, rng: random.Random) -> tuple[str, bool]:
    """Write a proof whose last tactic does nothing, so that a goal is left."""
    head, _, last = theorem.proof.rpartition("\n")
    blanks = len(last) - len(last.lstrip(" ·"))
    return "\n".join(filter(None, [head, f"{last[:blanks]}skip"])), False


KINDS: dict[str, tuple[int, Callable[[Known, random.Random], tuple[str, bool]]]] = {
    "proof": (20, lambda theorem, rng: (theorem.proof, True)),
    "whole file": (5, lambda theorem, rng: (f"import Mathlib\n\n{statement(theorem)}\n{theorem.proof}", True)),
    "one tactic": (35, one_tactic),
    "cut short": (12, cut_short),
    "no such name": (8, lambda theorem, rng: (f"  exact no_such_{rng.randrange(99)}", False)),
    "syntax": (6, lambda theorem, rng: ("  exact (", False)),
    "sorry": (4, lambda theorem, rng: (rng.choice(("  sorry", "  exact (by sorry)")), False)),
    "other statement": (5, lambda theorem, rng: (f"theorem {theorem.name} : True := by\n  trivial", False)),
    "axiom": (5, lambda theorem, rng: (f"axiom a : False\n\n{statement(theorem)}\n  exact a.elim", False)),
}
"""Kinds of texts: how often each is written among a hundred, and how."""


# -- The evaluation --------------------------------------------------------------------------------------------------


@contextmanager
def faulty_server(folder: Path, faults: float, seed: int, processes: int, seconds: float) -> Iterator[str]:
    """Run a Lean server over processes that fail; yields its address."""
    command = (sys.executable, "-m", "benchmarks.faulty_lean", str(folder), str(faults), str(seed))
    settings = ServerSettings(
        port=0, max_processes=processes, spares=1, warmup=True, command_seconds=seconds, lease_seconds=5
    )
    forks = None
    if can_fork():
        forks = ForkServer((*command, "--forks"))  # as NanoLean's own backend does
    with serving(settings, Backend(command, can_prune=True, forks=forks)) as (address, _):
        yield address


class Reading(NamedTuple):
    """A text that a process was given: what became of it, its kind, and the mark of the sample that it is for.

    The mark is "-" for a statement that is started, before any proof of it is looked at.
    """

    what: str
    kind: str
    mark: str


def evaluate(flags: list[str]) -> int:
    """Run the command, in a process that has torch; this one has no use for it."""
    from scripts import prover_eval

    return prover_eval.main(flags)


@dataclass
class Evaluation:
    """The command that is killed and resumed, and what it has left behind so far."""

    flags: list[str]
    out: Path
    folder: Path
    log: Path

    def run(self, until: Callable[[], bool] = lambda: False) -> bool:
        """Run it, from where it is, to its end or until it is killed; returns whether it came to its end.

        Raises RuntimeError, with its last words, if it fails.
        """
        process = start_forked(as_command, evaluate, self.log, self.flags)
        try:
            while process.exitcode is None:
                if until():
                    return False
                time.sleep(0.02)
        finally:
            process.kill()
            process.join()
        if process.exitcode:
            said = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            raise RuntimeError(f"the evaluation ended with exit code {process.exitcode}: {' / '.join(said[-3:])}")
        return True

    def lines(self) -> int:
        """Count the lines of its results."""
        return sum(file.read_bytes().count(b"\n") for file in result_files(self.out))

    def records(self) -> list[dict[str, Any]]:
        """Read its results."""
        return [record for file in result_files(self.out) for record in read_jsonl(file)]

    def readings(self) -> list[Reading]:
        """Read what Lean's processes read so far, and what became of it."""
        file = self.folder / faulty_lean.READINGS
        readings: list[Reading] = []
        if not file.exists():
            return readings
        marks: dict[str, str] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            what, kind, mark, name = line.split()
            # Of the two texts of a proof one has no mark: the name that the check gave the theorem tells whose it is.
            if kind == RENAMED:
                marks[name] = mark
            if mark == "-":
                mark = marks.get(name, "-")
            readings.append(Reading(what, kind, mark))
        return readings


def mark_of(record: Mapping[str, Any]) -> str:
    """Return the mark of a sample's text; "" where there is no text (a sample that the model could not write)."""
    match = MARK.search(record.get("text", ""))
    return "" if match is None else match[1]


def second_stage(readings: Sequence[Reading]) -> set[str]:
    """Return the marks of texts that were put off, in one run of the evaluation, and that Lean then has read after all.

    A text is put off when it gets no answer, or when its process is lost three times.
    """
    failed, put_off = Counter[str](), set()
    for what, kind, mark in readings:
        if what == READ and kind == PROOF and failed[mark] >= CRASHES:
            put_off.add(mark)
        if mark != "-":
            failed[mark] += {STALL: CRASHES, CRASH: 1, READ: 0}[what]
    return put_off


@dataclass
class Report:
    """What came of it; `problems` are what must not be."""

    right: int = 0
    details: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Measurement:
    """Runs the evaluation with its deaths, and holds what it leaves against what is known."""

    def __init__(self, evaluation: Evaluation, writer: Writer, total: int, processes: int) -> None:
        self.evaluation, self.writer, self.total, self.processes = evaluation, writer, total, processes
        self.report = Report()
        self.second: set[str] = set()
        """Texts that got their verdict in the second stage."""
        self._excused = Counter[str]()  # texts that may be read once more: without a verdict when a run ended
        self._on_record: set[str] = set()
        self._begun = 0  # how much was read before the present run

    def run(self, kills: int, seed: int) -> Report:
        """Kill it at random counts of results, and the last time in the second stage; then let it end, and judge."""
        rng, started = random.Random(seed), time.monotonic()
        deaths, resumes = [], 0
        moments = sorted(rng.randrange(self.total // 20, self.total) for _ in range(kills - 1))
        for moment in moments:
            # Each run gets a line further at the least, so that it is killed at its work and not at its start.
            least = max(moment, self.evaluation.lines() + 1)
            if not self.evaluation.run(partial(self._has_lines, least)):
                deaths.append(self._after_run())
        # The last time where texts that were put off are read again: what was known of them lay in memory.
        if kills and not self.evaluation.run(lambda: len(second_stage(self._readings())) > 1):
            deaths.append(self._after_run())
        self.evaluation.run()
        while resumes < MOST_RESUMES and any(record["outcome"] == "error" for record in self.evaluation.records()):
            self._after_run()
            self.evaluation.run()
            resumes += 1
        self._after_run()
        seconds = round(time.monotonic() - started, 1)
        self.report.details |= {"seconds": seconds, "deaths": deaths, "resumed_for_lost_verdicts": resumes}
        self._judge()
        return self.report

    def _has_lines(self, least: int) -> bool:
        return self.evaluation.lines() >= least

    def _readings(self) -> list[Reading]:
        """Return what was read in the present run."""
        return self.evaluation.readings()[self._begun :]

    def _after_run(self) -> dict[str, int]:
        """Hold what the run that ended had read against what was on record before it, and take down what is now."""
        readings = self._readings()
        texts, failed = set(), set()
        for reading in readings:
            texts.add(reading.mark)
            if reading.what != READ:
                failed.add(reading.mark)
        again = texts & self._on_record
        if again:
            self.report.problems.append(f"{len(again)} texts were read again whose verdict was on record: {min(again)}")
        self._begun += len(readings)
        self._on_record = {mark_of(record) for record in self.evaluation.records() if record["outcome"] != "error"}
        self.second |= second_stage(readings) & self._on_record
        without = texts - self._on_record - {"-"}
        # A process has one text at a time: no more than so many verdicts can be lost with a run.
        if len(without - failed) > self.processes:
            self.report.problems.append(f"{len(without - failed)} verdicts were not on record at the end of a run")
        self._excused.update(without)
        lost, put_off = len(without - failed), len(without & failed)
        return {"results": self.evaluation.lines(), "under_way": lost, "put_off": put_off}

    def _judge(self) -> None:
        report, records, readings = self.report, self.evaluation.records(), self.evaluation.readings()
        samples, marks = set(), Counter[str]()
        outcomes, reasons = Counter[str](), Counter[str]()
        wrong: dict[str, list[str]] = {}
        for record in records:
            mark = mark_of(record)
            samples.add((record["theorem"]["id"], record.get("sample", 0)))
            marks[mark] += 1
            outcomes[record["outcome"]] += 1
            reasons[record["stop_reason"]] += 1
            expected = "proven" if self.writer.truth.get(mark) else "unproven"
            if record["outcome"] == expected and mark in self.writer.truth:
                report.right += 1
            else:
                shown = f"{record['theorem']['id']}: {record['outcome']}, not {expected}: {record.get('message', '')}"
                wrong.setdefault(self.writer.kinds.get(mark, "no text"), []).append(shown)
        if len(samples) != self.total or len(records) != self.total:
            report.problems.append(f"{len(records)} results of {len(samples)} samples, not {self.total}")
        for kind, cases in wrong.items():
            report.problems.append(f"{len(cases)} wrong verdicts on '{kind}': {cases[0]}")
        whats, proofs, faults = Counter[str](), Counter[str](), Counter[str]()
        for what, kind, mark in readings:
            whats[what] += 1
            if what == READ and kind == PROOF:
                proofs[mark] += 1
            elif what != READ and mark != "-":
                faults[mark] += 1
        # Once, once more for each fault, and once more for each run that ended before its verdict was on record.
        often: set[str] = set()
        for mark, count in proofs.items():
            if count > 1 + faults[mark] + self._excused[mark]:
                often.add(mark)
        if often:
            report.problems.append(
                f"{len(often)} texts were read more often than faults and deaths explain: {min(often)}"
            )
        report.details |= {
            "samples": self.total,
            "texts": len(marks),
            "texts_that_lean_read": len(proofs),
            "readings": whats.total(),
            "crashes": whats[CRASH],
            "stalls": whats[STALL],
            "share_of_faults": round((whats[CRASH] + whats[STALL]) / max(1, whats.total()), 4),
            "texts_that_met_faults": len(faults),
            "proven": outcomes["proven"],
            "without_verdict": outcomes["error"],
            "stop_reasons": dict(reasons.most_common()),
            "written_by_the_model": self.writer.samples,
            "texts_read_more_often_than_explained": len(often),
            "texts_verified_in_the_second_stage": len(self.second),
        }


def measure(
    folder: Path, samples: int, theorems: int, faults: float, kills: int, processes: int, seconds: float, seed: int
) -> Report:
    """Run the whole measurement below a folder."""
    known = known_theorems(theorems, seed)
    file, lines, statements = folder / "known.jsonl", "", []
    for theorem in known:
        lines += json_line({"id": theorem.name, "source": theorem.source})
        statements.append(theorem.source.partition(theorem.name)[2].partition(":=")[0].rstrip())
    file.write_text(lines, encoding="utf-8")
    of_each = -(-samples // len(known))
    readings = folder / "lean"
    readings.mkdir()
    (readings / faulty_lean.STATEMENTS).write_text(json.dumps(statements), encoding="utf-8")
    writer = Writer({theorem.name: theorem for theorem in known})
    with openai_server() as model, faulty_server(readings, faults, seed, processes, seconds) as lean:
        model.writer = writer
        flags = ["--whole-proofs", "--datasets", str(file)]
        flags += ["--model-path", f"openai:{model.base}#tiny", "--prompt-format", "deepseek-v1.5"]
        flags += ["--samples", str(of_each), "--samples-at-once", str(AT_ONCE), "--proof-seconds", f"{seconds:g}"]
        flags += ["--lean-servers", lean, "--seed", str(seed), "--device-type", "cpu", "--log-level", "warning"]
        flags += ["--output-dir", str(folder / "out"), "--continue"]
        evaluation = Evaluation(flags, folder / "out", readings, folder / "log")
        report = Measurement(evaluation, writer, of_each * len(known), processes).run(kills, seed)
    summary = read_json(folder / "out" / "summary.json")
    report.details |= {"copies": summary["whole_proofs"]["copies"], "pass_at": summary["whole_proofs"]["pass_at"]}
    if summary["whole_proofs"]["proven"] != report.details["proven"]:
        report.problems.append("summary.json counts other proofs than results.jsonl has")
    return report


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark and write its results; the exit code is 1 if anything is not as it must be."""
    parser = plain_parser(__doc__)
    parser.add_argument("--samples", type=int, default=10_000, help="in all, at least")
    parser.add_argument("--theorems", type=int, default=100)
    parser.add_argument("--faults", type=float, default=0.01, help="share of the texts at which Lean crashes or stalls")
    parser.add_argument("--kills", type=int, default=5, help="how often the evaluation gets SIGKILL")
    parser.add_argument("--processes", type=int, default=2, help="Lean processes")
    parser.add_argument("--seconds", type=float, default=10.0, help="what Lean may take over a proof")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    options = {name: value for name, value in vars(args).items() if name != "json"}
    with tempfile.TemporaryDirectory() as folder:
        report = measure(Path(folder), **options)
    for name, value in report.details.items():
        print(f"{name}: {value}")
    for problem in report.problems:
        print(f"not as it must be: {problem}")
    total = report.details["samples"]
    print(f"{report.right:,} of {total:,} samples have the verdict that their text deserves")
    details = {**report.details, "problems": report.problems, **options, "json": str(args.json)}
    name = "whole proofs with crashes, timeouts and kills: right verdicts"
    write_results(args.json, result(name, "samples", report.right, total, report.right / total, details))
    return int(bool(report.problems))


if __name__ == "__main__":
    sys.exit(main())
