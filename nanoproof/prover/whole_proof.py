"""Whole proofs: a text that a model wrote in one go becomes an attempt whose one edge is that text.

A model may write the tactics after `:= by`, the theorem once more with its proof, a whole file, or any of these in a
fenced block (`lean/answers.py` reads them). Only the proof is taken from them, and put into the theorem as it was
given: so no text can prove another statement, and whatever else a text declares is no part of what is checked. It has
to state the given theorem, though, and nothing that its source does not hold: a text that proves something else is
refused, and its attempt says why.

The check is the one that every proof has to pass (`prover/check.py`). A verdict, accepted or refused, is an attempt
with outcome `proven` or `unproven`; where Lean gave none (its server was lost, it ran out of time) that is `error`.
"""

import hashlib
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from nanoproof.inference.language_model import GenerationOptions, LanguageModel, TextSample
from nanoproof.lean.answers import LONGEST_TEXT, Unreadable, read_proofs, written_proof
from nanoproof.lean.lexical import WORD, mask
from nanoproof.lean.types import CheckReport, LeanCalls, LeanError, ProtocolError, Theorem, TheoremRejected, Transition
from nanoproof.prover.attempt import Attempt
from nanoproof.prover.check import Verdict, check_proof
from nanoproof.prover.prover import NULL_ATTEMPT_OBSERVER, AttemptObserver, InstrumentedLean, Timer

PromptRenderer = Callable[[Theorem], str]
"""Writes the prompt for a whole proof of a theorem."""
RepairRenderer = Callable[[Theorem, str, Sequence[str]], str]
"""Writes the prompt for another proof, from the theorem, the text that was refused, and Lean's errors about it."""

PATIENCE = 4.0
"""How many times as long as before a text may take that is verified once more, as it got no verdict."""
KEPT_TEXT = 2_000
"""Characters that are kept of a longer one."""
UNREADABLE = "unreadable"
"""Why an attempt ended of whose text no proof could be taken; else it is the rung of the check that did not hold."""

# -- Premises --------------------------------------------------------------------------------------------------------


def named_premises(theorem: Theorem, proof: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the known names that a proof mentions, sorted: an approximation of the premises that it uses.

    A name counts also without the namespaces that the source opens, and with a projection or method after it.
    """
    opened = re.findall(r"^[ \t]*open[ \t]+([^\n]*)", mask(theorem.source), re.MULTILINE)
    prefixes = [""]
    for line in opened:
        prefixes += [f"{word}." for word in line.split() if word not in ("in", "scoped")]
    mentioned = set()
    for word in set(WORD.findall(mask(proof))):
        # The longest beginning that is a name: `h.symm` mentions nothing, `Nat.succ_le.mp` mentions `Nat.succ_le`.
        parts = word.strip(".").split(".")
        for length in range(len(parts), 0, -1):
            name = ".".join(parts[:length])
            full_name = _first_known(name, prefixes, names)
            if full_name is not None:
                mentioned.add(full_name)
                break
    return tuple(sorted(mentioned))


def _first_known(name: str, prefixes: Sequence[str], names: Collection[str]) -> str | None:
    for prefix in prefixes:
        if prefix + name in names:
            return prefix + name
    return None


# -- Verification ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidate:
    """A text that a model wrote as the whole proof of a theorem: its number among the theorem's samples, from 0.

    `seed` is what it was drawn from; `num_tokens` counts those of all its rounds, of which `repairs` came after the
    first; `finished` is false where the limit of tokens cut it off.
    """

    theorem: Theorem
    text: str
    sample: int = 0
    seed: int = 0
    num_tokens: int = 0
    repairs: int = 0
    finished: bool = True

    @property
    def digest(self) -> bytes:
        """A hash of theorem and text: equal ones need one verification."""
        key = f"{self.theorem.source}\0{self.text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(key, digest_size=12).digest()

    def attempt(self, verdict: Attempt) -> Attempt:
        """Return the attempt that this text is, given that of an equal text."""
        counts = {"simulations": 1, "tactic_samples": 1 + self.repairs, "tokens": self.num_tokens}
        if self.repairs:
            counts["repairs"] = self.repairs
        if not self.finished:
            counts["cut_off"] = 1
        text = self.text
        if len(text) > LONGEST_TEXT:  # nothing is read of it, so that its beginning is enough to see what it is
            text = text[:KEPT_TEXT]
        seconds = verdict.seconds
        # Lean has read a copy once: its time would count double in the sums of an evaluation.
        if verdict.sample != self.sample and verdict.text:
            counts["copies"], seconds = 1, {}
        return replace(
            verdict, theorem=self.theorem, text=text, sample=self.sample, seed=self.seed, counts=counts, seconds=seconds
        )


class Verifier:
    """Verifies whole proofs, for any number of threads, each with a session of its own.

    `seconds` limit each text that Lean reads. `names` are known theorems, for servers that do not say which constants a
    proof uses. `policy` is noted in the attempts.
    """

    def __init__(self, policy: str = "", seconds: float | None = None, names: Collection[str] = ()) -> None:
        self._policy, self._seconds, self._names = policy, seconds, frozenset(names)
        self._lock = threading.Lock()
        self._states: dict[str, str] = {}

    def verify(
        self,
        session: LeanCalls,
        candidate: Candidate,
        patience: float = 1.0,
        observer: AttemptObserver = NULL_ATTEMPT_OBSERVER,
    ) -> tuple[Attempt, tuple[str, ...]]:
        """Check a text; return its attempt, and Lean's errors where it refused the text.

        It may take `patience` times as long as others. Never raises for what Lean or its servers do.
        """
        lean, checking = InstrumentedLean(session, observer), Timer()
        seconds = None
        if self._seconds is not None:
            seconds = self._seconds * patience
        attempt = Attempt(candidate.theorem, "unproven", budget=1, policy=self._policy)
        errors: tuple[str, ...] = ()
        try:
            with checking:
                state = self._state(lean, candidate.theorem)
                verdict, proof = self._verdict(lean, candidate, seconds)
                if verdict.accepted:
                    attempt = self._proven(attempt, verdict, proof, state, self._premises(session, verdict, seconds))
                else:
                    rung = next((name for name, holds in verdict.rungs.items() if not holds), UNREADABLE)
                    attempt = replace(attempt, message=verdict.reason, stop_reason=rung)
                    errors = verdict.errors or (verdict.reason,)
        except Unreadable as problem:
            attempt, errors = replace(attempt, message=str(problem), stop_reason=UNREADABLE), (str(problem),)
        except LeanError as error:
            attempt = replace(attempt, outcome="error", message=str(error), stop_reason=type(error).__name__)
        times = {"check": round(checking.seconds, 4), "lean": round(lean.timer.seconds, 4)}
        return candidate.attempt(replace(attempt, seconds=times)), errors

    def work(self, theorem: Theorem, data: Mapping[str, Any]) -> "Verification":
        """Make the verification that another process has put into JSON (`Verification.to_json`)."""
        values = {name: value for name, value in data.items() if name != "patience"}
        return Verification(self, Candidate(theorem, **values), data["patience"])

    def _state(self, lean: InstrumentedLean, theorem: Theorem) -> str:
        """Return the state at the theorem's `sorry`. Raises TheoremRejected if Lean refuses the statement."""
        # Once for all samples of a theorem; two threads may both ask, which costs a request.
        state = self._states.get(theorem.source)
        if state is None:
            state = lean.start(theorem).state.text
            with self._lock:
                self._states[theorem.source] = state
        return state

    def _verdict(self, lean: InstrumentedLean, candidate: Candidate, seconds: float | None) -> tuple[Verdict, str]:
        """Check the readings of a text until one is accepted; return the verdict that counts, and the proof."""
        checker = _TimedChecker(lean, seconds)
        first: tuple[Verdict, str] | None = None
        for proof in read_proofs(candidate.theorem, candidate.text):
            try:
                verdict = check_proof(checker, candidate.theorem, proof)
            except TheoremRejected as error:  # a text that cannot be put into the theorem
                raise Unreadable(str(error)) from error
            if verdict.accepted:
                return verdict, proof
            if verdict.fault:
                raise ProtocolError(f"a proof is refused for what it cannot be blamed for: {verdict.reason}")
            # Of several readings the first is the likeliest, so that its refusal is what a user should see.
            first = first or (verdict, proof)
        assert first is not None, "a text that can be read has a reading"
        return first

    def _premises(self, session: LeanCalls, verdict: Verdict, seconds: float | None) -> tuple[str, ...] | None:
        """Ask Lean which constants an accepted proof uses; None if its server does not say."""
        ask = getattr(session, "used_constants", None)
        if ask is None:
            return None
        try:
            constants: tuple[str, ...] | None = ask(verdict.source, seconds)
        except LeanError:  # the proof is accepted all the same
            return None
        return constants

    def _proven(
        self, attempt: Attempt, verdict: Verdict, proof: str, state: str, premises: tuple[str, ...] | None
    ) -> Attempt:
        premises_from: Literal["", "lean", "names"] = "lean"
        if premises is None:
            premises = named_premises(attempt.theorem, proof, self._names)
            premises_from = "names" if premises else ""
        return replace(
            attempt,
            outcome="proven",
            proof=proof,
            source=verdict.source,
            num_tactics=1,
            transitions=(Transition(state, proof, 1),),
            stop_reason="solved",
            check=verdict.to_json(),
            premises=premises,
            premises_from=premises_from,
        )


class Verification:
    """The verification of one text as the work of an actor, here or in another process.

    `errors` are those of Lean, once it is done.
    """

    def __init__(self, verifier: Verifier, candidate: Candidate, patience: float = 1.0) -> None:
        self._verifier, self._candidate, self._patience = verifier, candidate, patience
        self.errors: tuple[str, ...] = ()

    def run(self, session: LeanCalls, observer: AttemptObserver) -> Attempt:
        """Verify the text."""
        attempt, self.errors = self._verifier.verify(session, self._candidate, self._patience, observer)
        return attempt

    def to_json(self) -> dict[str, Any]:
        """Tell the text, and how long it may take."""
        values = {name: value for name, value in vars(self._candidate).items() if name != "theorem"}
        return {**values, "patience": self._patience}

    def found(self) -> list[str]:
        """Return Lean's errors."""
        return [*self.errors]

    def take(self, errors: Sequence[str]) -> None:
        """Take Lean's errors."""
        self.errors = tuple(errors)


class _TimedChecker:
    """A session whose checks may take so many seconds."""

    def __init__(self, lean: InstrumentedLean, seconds: float | None) -> None:
        self._lean, self._seconds = lean, seconds

    def check(self, source: str, *, since: int = 0) -> CheckReport:
        return self._lean.check(source, self._seconds, since)


# -- One theorem -----------------------------------------------------------------------------------------------------


class WholeProofProver:
    """Proves theorems by sampling whole proofs until one holds; called as a `Prover` is, one theorem at a time.

    `at_once` samples are generated together. A proof that is refused goes back to the model up to `repair` times.
    """

    def __init__(
        self,
        model: LanguageModel,
        render: PromptRenderer,
        verifier: Verifier,
        generation: GenerationOptions,
        at_once: int = 8,
        repair: int = 0,
        render_repair: RepairRenderer | None = None,
    ) -> None:
        self._model, self._render, self._verifier = model, render, verifier
        self._generation, self._at_once = generation, at_once
        self._repair, self._render_repair = repair, render_repair
        if render_repair is None:
            self._repair = 0

    def prove(
        self,
        session: LeanCalls,
        theorem: Theorem,
        num_simulations: int,
        rng: random.Random,
        should_stop: Callable[[], bool] | None = None,
        observer: AttemptObserver = NULL_ATTEMPT_OBSERVER,
    ) -> Attempt:
        """Sample up to `num_simulations` whole proofs; return the attempt at the first that holds, else the last.

        Its counts are those of all samples together. Raises PolicyError if the model fails.
        """
        seed, spent, sampling = rng.getrandbits(48), Counter[str](), Timer()
        checks, last = Counter[str](), Attempt(theorem, "unproven", "no proof was sampled", stop_reason="stopped")
        verdicts: dict[bytes, tuple[Attempt, tuple[str, ...]]] = {}
        while spent["simulations"] < num_simulations and not (should_stop is not None and should_stop()):
            count = min(self._at_once, num_simulations - spent["simulations"])
            with sampling:
                # Another seed for each batch; within one the model draws its samples from the same one in turn.
                texts = self._ask(self._render(theorem), count, seed + spent["simulations"])
            for text in texts:
                candidate = Candidate(
                    theorem,
                    written_proof(theorem, text.text),
                    spent["simulations"],
                    seed,
                    text.num_tokens,
                    0,
                    text.finished,
                )
                last = self._try(session, candidate, observer, verdicts, sampling)
                spent.update({name: last.counts.get(name, 0) for name in ("tactic_samples", "tokens", "repairs")})
                spent["simulations"] += 1
                checks.update(last.seconds)
                if last.outcome == "proven" or last.refused or (should_stop is not None and should_stop()):
                    break
            if last.outcome == "proven" or last.refused:
                break
        seconds = {**checks, "policy": sampling.seconds, "search": sampling.seconds}
        rounded = {name: round(value, 4) for name, value in seconds.items()}
        attempt = replace(last, budget=num_simulations, counts=dict(spent), seed=seed, seconds=rounded)
        if attempt.outcome == "proven" or attempt.refused:
            return attempt
        message = last.message
        if spent["simulations"]:
            result_of_last = "the last was refused"
            if attempt.outcome == "error":
                result_of_last = "Lean gave no verdict on the last"
            message = f"no proof among {spent['simulations']} texts; {result_of_last}: {last.message}"
        return replace(attempt, outcome="unproven", message=message)

    def _try(
        self,
        session: LeanCalls,
        candidate: Candidate,
        observer: AttemptObserver,
        verdicts: dict[bytes, tuple[Attempt, tuple[str, ...]]],
        sampling: Timer,
    ) -> Attempt:
        """Verify a text, once more with more time where there is no verdict, and repair it."""
        while True:
            # Models repeat themselves: of 3,200 samples 1,241 were copies (experiments.md, whole proofs).
            if candidate.digest not in verdicts:
                attempt, errors = self._verifier.verify(session, candidate, 1.0, observer)
                # A busy machine or a lost process says nothing of the text.
                if attempt.outcome == "error" and not attempt.refused:
                    attempt, errors = self._verifier.verify(session, candidate, PATIENCE, observer)
                verdicts[candidate.digest] = attempt, errors
            verdict, errors = verdicts[candidate.digest]
            attempt = candidate.attempt(verdict)
            if attempt.outcome != "unproven" or candidate.repairs >= self._repair or self._render_repair is None:
                return attempt
            prompt = self._render_repair(candidate.theorem, candidate.text, errors)
            with sampling:
                (text,) = self._ask(prompt, 1, candidate.seed + candidate.sample + candidate.repairs + 1)
            tokens = candidate.num_tokens + text.num_tokens
            candidate = replace(
                candidate,
                text=written_proof(candidate.theorem, text.text),
                num_tokens=tokens,
                repairs=candidate.repairs + 1,
                finished=text.finished,
            )

    def _ask(self, prompt: str, count: int, seed: int) -> list[TextSample]:
        (samples,) = self._model.generate([prompt], replace(self._generation, num_samples=count), [seed])
        return samples
