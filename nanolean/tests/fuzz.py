"""Random and mutated inputs to the parser and to the tactic runner: each must end with an answer or a typed error.

`python -m nanolean.tests.fuzz --count 100000 --seed 0` prints what crashed, the slowest inputs, and the memory before
and after. Input `i` depends on the seed and on `i` alone, so `--start i --count 1` runs one of them again.
"""

import argparse
import heapq
import os
import re
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from nanolean import tactics
from nanolean.__main__ import with_deep_stack
from nanolean.kernel.expr import sweep
from nanolean.library.loader import library_files, load_library
from nanolean.parser import ParseError, parse_commands, parse_tactic, parse_term
from nanolean.parser.lexer import RESERVED, Tokens
from nanolean.repl import Repl
from nanolean.tests.random_claims import claim, tactic

KINDS = ("command", "parse", "term", "step", "step", "step")
SLOW_SECONDS = 1.0
HANG_SECONDS = 60.0
PRUNE_EVERY = 50
SYMBOL_TEXT = "( ) [ ] { } ⟨ ⟩ ∀ ∃ ¬ ∧ ∨ → ↔ ← = ≠ ≤ < ∣ + * ^ - / % . , ; : := => | · <;> @ _ ?_ ▸ ⊢"
NAME_TEXT = "p q r a b c n h h0 h1 x this Nat True False Prop Type rfl id And.intro Nat.succ"
SYMBOLS = SYMBOL_TEXT.split()
JUNK = [
    "\0",
    "\t",
    "\r\n",
    "\n",
    "«",
    "»",
    "✝",
    "x✝",
    '"',
    "'",
    "\\",
    "-- ",
    "/-",
    "-/",
    "\u200b",
    "\ud7ff",
    "😀",
    "#",
    "@[",
]
NUMBERS = ["0", "1", "7", "99", "12345678901234567890", "9" * 50, "1" + "0" * 5000, "0x10", "1.5", "-1"]
WORDS = [*sorted(RESERVED), *NAME_TEXT.split()]
PREFIXES = (
    "¬ ",
    "(",
    "fun x => ",
    "∀ x : Nat, ",
    "Nat.succ (",
    "⟨",
    "@",
    "(p → ",
    "by exact ",
    "have h := ",
    "1 + ",
    "2 ^ ",
)
TACTIC_PREFIXES = ("try ", "repeat ", "all_goals ", "· ", "(", "first | ", "have h : p := by ", "intro x; ", "focus ")


_DECLARED_NAME = re.compile(
    r"^((?:@\[[^\]]*\]\s*|protected\s+|private\s+)*(?:theorem|def|abbrev|inductive|structure)\s+[^\s.{(\[:]+(?:\.[^\s.{(\[:]+)*)"
)
"""The beginning of a declaration up to the end of its name, which gets a new name, so that it is more than a clash."""


@dataclass
class Report:
    """What came of a run."""

    count: int = 0
    crashes: list[tuple[int, str, str]] = field(default_factory=list)
    """Number, input and traceback of every input that ended with an untyped exception."""
    slowest: list[tuple[float, int, str]] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    over: int = 0
    """Inputs that took longer than `SLOW_SECONDS`."""


class Corpus:
    """Real texts to start from: commands and tactics of the library, and a goal for every theorem."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.tactics: list[str] = []
        self.goals: list[str] = []
        for path in library_files():
            for command in _commands(path):
                self.commands.append(_DECLARED_NAME.sub(r"\1_fuzzed", command))
                head, by, block = command.partition(":= by")
                if by and head.startswith("theorem"):
                    self.goals.append(f"example{_without_name(head)} := by sorry")
                    self.tactics += [line.strip() for line in block.split("\n") if line.strip()]

    def text(self, kind: str, rng: Random) -> str:
        """An input of a kind: real, mutated, or random."""
        if rng.random() < 0.15:
            return self._random(rng)
        if kind in ("command", "parse"):
            text = rng.choice(self.commands)
        else:
            text = rng.choice(self.tactics) if rng.random() < 0.6 else tactic(rng)
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            text = self._mutate(text, rng)
        return text

    def goal(self, rng: Random) -> str:
        """A command with one `sorry`, whose goal the steps work on."""
        if rng.random() < 0.5:
            return rng.choice(self.goals)
        return f"example {claim(rng, rng.choice(['linear', 'products', 'logic'])).text} := by sorry"

    def _random(self, rng: Random) -> str:
        pool = rng.choice([SYMBOLS, WORDS, [*SYMBOLS, *WORDS, *NUMBERS], JUNK])
        return rng.choice([" ", "", "\n  "]).join(rng.choice(pool) for _ in range(rng.randrange(1, 60)))

    def _mutate(self, text: str, rng: Random) -> str:
        tokens = Tokens(text)
        spans = list(zip(tokens.starts, tokens.ends))[:-1]
        if not spans:
            return self._random(rng)
        start, end = rng.choice(spans)
        other_start, other_end = rng.choice(spans)
        piece = text[start:end]
        match rng.randrange(12):
            case 0:
                return text[:start] + text[end:]
            case 1:
                return text[:end] + f" {piece} " * rng.choice([1, 2, 200]) + text[end:]
            case 2:
                return text[:start] + rng.choice(WORDS) + text[end:]
            case 3:
                return text[:start] + rng.choice(SYMBOLS) + text[end:]
            case 4:
                return text[:start] + rng.choice(NUMBERS) + text[end:]
            case 5:
                return text[:start] + rng.choice(JUNK) + text[start:]
            case 6:
                return text[:start] + text[other_start:other_end] + text[end:]
            case 7:
                return text[:end]
            case 8:
                return text[:start] + rng.choice(PREFIXES) * rng.choice([1, 3, 60, 500]) + text[start:]
            case 9:
                return rng.choice(TACTIC_PREFIXES) * rng.choice([1, 3, 60, 500]) + text
            case 10:
                return text[:start] + rng.choice(self.tactics) + text[end:]
            case _:
                at = rng.randrange(len(text) + 1)
                return text[:at] + chr(rng.choice([rng.randrange(32, 127), rng.randrange(0x2190, 0x22FF)])) + text[at:]


def _commands(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for command in parse_commands(text):
        yield text[command.pos : command.end]


def _without_name(head: str) -> str:
    """` (binders) : type` of `theorem name (binders) : type`."""
    rest = head.removeprefix("theorem").lstrip()
    at = min((i for i, char in enumerate(rest) if char in " \n({[:"), default=len(rest))
    return " " + rest[at:].removeprefix(".{u}").strip()


class Fuzzer:
    """One REPL that all inputs go to, as a server process gets them from its users."""

    def __init__(self, seed: int, corpus: Corpus | None = None) -> None:
        tactics.load()
        self.seed = seed
        self.corpus = corpus or Corpus()
        self.repl = Repl(load_library())
        self.report = Report()
        self.current: tuple[int, str, float] | None = None

    def run(self, first: int, count: int) -> None:
        """Feed the inputs `first .. first + count - 1`."""
        for number in range(first, first + count):
            rng = Random(f"{self.seed}:{number}")
            kind = rng.choice(KINDS)
            if kind == "step":
                self._steps(number, rng)
            else:
                self._feed(number, kind, self.corpus.text(kind, rng))
            if number % PRUNE_EVERY == 0:
                self.repl.answer({"prune_all": True})

    def forget(self) -> None:
        """Drop everything that the inputs have left behind."""
        self.repl.answer({"prune_all": True})
        self.repl.base.caches.clear()
        sweep()

    def _steps(self, number: int, rng: Random) -> None:
        """Some tactics one after another on one goal; the whole is one input."""
        answer = self.repl.answer({"cmd": self.corpus.goal(rng)})
        if not answer.get("sorries"):
            return self._feed(number, "parse", self.corpus.text("parse", rng))
        state = answer["sorries"][0]["proofState"]
        for _ in range(rng.choice([0, 0, 1, 2])):
            answer = self.repl.answer({"proofState": state, "tactic": tactic(rng)})
            state = answer.get("proofState", state)
        self._feed(number, "step", self.corpus.text("step", rng), state)

    def _feed(self, number: int, kind: str, text: str, state: int = 0) -> None:
        start = time.thread_time()  # of this process alone, whatever else the machine does
        self.current = (number, text, time.perf_counter())
        try:
            self.report.answers[f"{kind}: {self._answer(kind, text, state)}"] += 1
        except Exception:  # that is what is looked for
            self.report.crashes.append((number, text, traceback.format_exc(limit=-4)))
        seconds = time.thread_time() - start
        self.current = None
        self.report.count += 1
        self.report.over += seconds > SLOW_SECONDS
        heapq.heappush(self.report.slowest, (seconds, number, f"{kind}: {text}"))
        if len(self.report.slowest) > 10:
            heapq.heappop(self.report.slowest)

    def _answer(self, kind: str, text: str, state: int) -> str:
        if kind == "command":
            answer = self.repl.answer({"cmd": text})
            return "refused" if any(m["severity"] == "error" for m in answer.get("messages", [])) else "accepted"
        if kind == "step":
            answer = self.repl.answer({"proofState": state, "tactic": text})
            return "refused" if "message" in answer else answer["proofStatus"].partition(":")[0]
        if kind == "term":
            answer = self.repl.answer({"cmd": f"#check {text}"})
            return "refused" if any(m["severity"] == "error" for m in answer.get("messages", [])) else "accepted"
        return _parses(text)

    def watch(self) -> None:
        """End the process if one input takes forever (run in a thread of its own)."""
        while True:
            time.sleep(5)
            current = self.current
            if current is not None and time.perf_counter() - current[2] > HANG_SECONDS:
                print(f"input {current[0]} hangs: {current[1][:2000]!r}", flush=True)
                os._exit(3)


def _parses(text: str) -> str:
    """Whether any of the three entries to the parser takes the text."""
    for parse in (parse_commands, parse_tactic, parse_term):
        try:
            parse(text)
        except ParseError:
            continue
        except RecursionError:
            raise AssertionError(f"{parse.__name__} has no bound for nesting") from None
        return "accepted"
    return "refused"


def resident_mebibytes() -> float:
    """The memory of this process that is in use."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def main(argv: Sequence[str] | None = None) -> int:
    """Run the inputs and print what was found; 1 when something crashed."""
    parser = argparse.ArgumentParser(prog="python -m nanolean.tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=10_000, help="How many inputs.")
    parser.add_argument("--seed", type=int, default=0, help="What the inputs are drawn from.")
    parser.add_argument("--start", type=int, default=0, help="The number of the first input.")
    args = parser.parse_args(argv)
    return with_deep_stack(lambda: _run(args.seed, args.start, args.count))


def _run(seed: int, first: int, count: int) -> int:
    fuzzer = Fuzzer(seed)
    threading.Thread(target=fuzzer.watch, daemon=True).start()
    warm_up = min(count // 10, 2_000)
    start = time.perf_counter()
    fuzzer.run(first, warm_up)
    before = resident_mebibytes()
    fuzzer.run(first + warm_up, count - warm_up)
    report = fuzzer.report
    seconds = time.perf_counter() - start
    print(f"{report.count} inputs from {first} on, seed {seed}: {seconds:.0f} s, {1000 * seconds / count:.1f} ms each")
    print(f"memory: {before:.0f} MiB after {warm_up} inputs, {resident_mebibytes():.0f} MiB at the end")
    for answer, number in sorted(report.answers.items()):
        print(f"  {answer}: {number}")
    print(f"{report.over} took longer than {SLOW_SECONDS:g} s of computing; the slowest:")
    for taken, number, text in sorted(report.slowest, reverse=True):
        print(f"  {taken:.2f} s, input {number}: {text[:300]!r}")
    for number, text, trace in report.crashes[:20]:
        print(f"input {number} crashed: {text[:1000]!r}\n{trace}")
    print(f"{len(report.crashes)} crashes")
    return 1 if report.crashes else 0


if __name__ == "__main__":
    sys.exit(main())
