"""Test Lean servers: a table of what works, what is worked around, and what is broken.

    python -m nanoproof.lean.probe --lean-servers HOST:PORT ...

On one process of each server it proves small theorems, tries wrong ones, declares a name twice, lets a tactic run out
of time and ends the process, and writes every request and answer to a file. Exit code 1 if something is broken.
"""

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from nanoproof.common.config import Parser, add_flags, change, check, from_args, group, opt, validated
from nanoproof.common.errors import run_main
from nanoproof.common.files import JsonlWriter
from nanoproof.common.option_groups import LeanOptions
from nanoproof.common.run_dir import home
from nanoproof.common.terminal import Paint, print_lines, shorten, table
from nanoproof.lean import transport
from nanoproof.lean.client import Address, parse_address
from nanoproof.lean.project.layout import EMBEDDED_LEAN
from nanoproof.lean.session import HttpLeanSession, Origin, ServerFeatures
from nanoproof.lean.solvers import measure_solvers
from nanoproof.lean.types import (
    Branch,
    LeanError,
    ServerBusy,
    ServerUnavailable,
    TacticApplied,
    TacticFailed,
    Theorem,
    TheoremRejected,
)

State = Literal["works", "worked around", "broken", "not tested"]
COMMAND = "python -m nanoproof.lean.probe --lean-servers"
_COLORS = {"works": "green", "worked around": "yellow", "broken": "red", "not tested": "dim"}
_PATIENCE = 3.0
"""How many times its time limit a tactic may take before the server counts as ignoring the limit."""

# What each of these small texts is for is told by the check that uses it.
_AND = Theorem("theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  sorry", "probe", "and")
_AND_STATE = "p q : Prop\nhp : p\nhq : q\n⊢ p ∧ q"
_AND_PROVED = "theorem t (p q : Prop) (hp : p) (hq : q) : p ∧ q := by\n  exact ⟨hp, hq⟩"
_EXISTS = Theorem("theorem t : ∃ x : Nat, x = 2 := by\n  sorry", "probe", "exists")
_OPENS = Theorem("open Nat\ntheorem t : succ 0 = 1 := by\n  sorry", "probe", "opens")
_NEEDS_OPEN = Theorem("theorem t : succ 0 = 1 := by\n  sorry", "probe", "needs_open")
# A wrong statement under a foreign axiom: a server that does not say what it rests on would give any proof as good.
_AXIOM = "theorem t (p q : Prop) (h : p ↔ q) : p = q := propext h"
_FOREIGN = "axiom lie : (1 : Nat) = 2\ntheorem t : (1 : Nat) = 2 := lie"
_MATHLIB = Theorem("theorem t (x : ℝ) (h : 0 < x) : x ≠ 0 := by\n  sorry", "probe", "mathlib")
# 4^16 calls, to which `rfl` comes to no end: a tactic that computes, as those of a policy that run out of time do.
# Where it is refused at once, `sleep` has to do.
_SLOW = Theorem(
    "def nanoproof_slow : Nat → Nat → Bool\n"
    "  | 0, _ => true\n"
    "  | n + 1, k => nanoproof_slow n (4 * k) && nanoproof_slow n (4 * k + 1) &&\n"
    "      nanoproof_slow n (4 * k + 2) && nanoproof_slow n (4 * k + 3)\n\n"
    "theorem t : nanoproof_slow 16 1 = true := by\n  sorry",
    "probe",
    "slow",
)
_SLOW_TACTICS = ("rfl", "sleep 4000")
_EXIT = "#eval (IO.Process.exit 1 : IO Unit)"
_VERSION = "#eval Lean.versionString"


@validated("probe")
class ProbeOptions:
    """Probe"""

    lean: LeanOptions = group(
        LeanOptions, "lean-", without=("project",), servers=change(help="Addresses host:port to test.")
    )
    lean_version: str | None = opt(None, "Lean version that they should run, such as v4.27.0.")
    imports: tuple[str, ...] = opt(
        ("Mathlib",), "Modules that your theorems need; `none` for Lean's own library (NanoLean needs none)."
    )
    lease_seconds: float = opt(300.0, "How long to wait for a process, which may have to import first.", above=0)
    tactic_seconds: float = opt(1.0, "Time limit of the tactic that never ends.", above=0)
    transcript: str | None = opt(
        "", "File for all requests and answers, to send with a report; none writes none.", metavar="FILE"
    )
    brief: bool = opt(False, "Leave out what costs a process its imports: limits of time, and the end of a process.")
    json: bool = opt(False, "Print one JSON object a line instead of tables.")

    def __post_init__(self) -> None:
        check(bool(self.lean.servers), "--lean-servers is needed: the addresses host:port of servers to test")


@dataclass(frozen=True)
class Finding:
    """The result of one check of a server; `advice` is what to do about it."""

    what: str
    state: State
    text: str
    advice: str = ""


class _Broken(Exception):
    """Something does not work; the message is what was seen, `advice` what to do."""

    def __init__(self, text: str, advice: str = "") -> None:
        super().__init__(text)
        self.advice = advice


class _NotTested(Exception):
    """A check has no result; the message is the reason."""


class Seen(NamedTuple):
    """What a check saw, if nothing is broken; `advice` is what to do about what is worked around."""

    text: str
    state: State = "works"
    advice: str = ""


class _Check(NamedTuple):
    """One check: its name, advice where it fails, and the method that does it."""

    what: str
    advice: str
    look: Callable[[], Seen]


class Recorder(transport.Transport):
    """A transport that records requests and answers, without headers, which contain tokens."""

    def __init__(self, address: Address, token: str | None, connect_seconds: float) -> None:
        super().__init__(address, token, connect_seconds)
        self.exchanges: list[dict[str, Any]] = []

    def _send(self, method: str, path: str, data: bytes | None, *rest: Any, **more: Any) -> tuple[int, Any]:
        began, status, answer = time.monotonic(), None, None
        try:
            status, answer = super()._send(method, path, data, *rest, **more)
            return status, answer
        except LeanError as error:
            answer = f"{type(error).__name__}: {error}"
            raise
        finally:
            request = None if data is None else json.loads(data)
            seconds = round(time.monotonic() - began, 3)
            record = {"method": method, "path": path, "request": request, "status": status, "answer": answer}
            self.exchanges.append({"server": str(self.address), **record, "seconds": seconds})


class Probe:
    """The checks of one server, which `findings` does one after the other."""

    def __init__(self, address: str | Address, options: ProbeOptions) -> None:
        if isinstance(address, str):
            address = parse_address(address)
        self.options = options
        # Only the tactic that never ends gets a limit of one second: others may meet a process that is cold.
        self.config = transport.ClientConfig(tactic_seconds=max(5.0, options.tactic_seconds))
        self.transport = Recorder(address, options.lean.token or os.environ.get(transport.TOKEN_VARIABLE), 10.0)
        self._keeper = transport.LeaseKeeper(self.transport)
        self._features = ServerFeatures()
        self._status: dict[str, Any] = {}
        self._lean: str | None = None

    @property
    def address(self) -> str:
        """`host:port`."""
        return str(self.transport.address)

    def findings(self) -> Iterator[Finding]:
        """Yield the result of each check as soon as it is done; end early if there is no server or no process."""
        for item in self._checks():
            finding = self._run(item)
            yield finding
            # Every further check would fail for the same reason, after minutes of waiting.
            if finding.state == "broken" and item.look in (self._answers, self._leases, self._starts):
                return
            if finding.state == "not tested" and item.look == self._leases:
                return

    def _checks(self) -> list[_Check]:
        """List the checks, each after those that it relies on."""
        server = "use `python -m nanoproof.lean.server`, or update the server"
        quick = [
            _Check("answers", "is it running, on this address and port, with this token?", self._answers),
            _Check(
                "gives a process",
                "look at the server's own messages: Lean, the project or an import fails",
                self._leases,
            ),
            _Check("starts a theorem", server, self._starts),
            _Check("splits goals", server, self._splits),
            _Check("refuses wrong tactics", f"no result of this server can be trusted; {server}", self._refuses),
            _Check("checks a proof", f"every proof that is found would be lost; {server}", self._proves),
            _Check("refuses a wrong proof", f"no score of this server can be trusted; {server}", self._refuses_proof),
            _Check("checks a name twice", f"proofs would be lost from the second check on; {server}", self._twice),
            _Check("forgets what was opened", f"verdicts would depend on the theorems before; {server}", self._forgets),
            _Check("reads axioms", f"no proof passes the final check without its axioms; {server}", self._axioms),
            _Check("reports a sorry", f"no score of this server can be trusted; {server}", self._sorry),
        ]
        further = [
            _Check(
                "Lean version", "start the server over a project of that version (its lean-toolchain)", self._version
            ),
            _Check("imports", "start the server with the --imports that your theorems need", self._imports),
            _Check("coupled goals stay together", f"wrong proofs would be found; {server}", self._coupled),
            _Check("tactics in one request", server, self._batch),
            _Check("solver tactics", server, self._solvers),
            _Check("takes back lost leases", server, self._expires),
            _Check("limits of time", "processes would be blocked; " + server, self._times_out),
            _Check("replaces a lost process", f"a process that died would be handed out again; {server}", self._loses),
        ]
        if self.options.brief:
            return quick
        return [*quick, *further]

    def _run(self, item: _Check) -> Finding:
        try:
            seen = item.look()
        except _Broken as error:
            return Finding(item.what, "broken", str(error), error.advice or item.advice)
        except (_NotTested, ServerBusy) as error:
            return Finding(item.what, "not tested", str(error))
        except LeanError as error:
            text = f"{type(error).__name__}: {shorten(' '.join(str(error).split()), 300)}"
            return Finding(item.what, "broken", text, item.advice)
        return Finding(item.what, seen.state, seen.text, seen.advice)

    # -- The checks --------------------------------------------------------------------------------------------------

    def _session(self) -> HttpLeanSession:
        return HttpLeanSession(self._keeper, self.config, self._features, self.options.lease_seconds)

    def _answers(self) -> Seen:
        code, body = self.transport.get("/status", 10.0, attempts=1)
        if code != 200 or not isinstance(body, dict) or "max_processes" not in body:
            raise _Broken(f"no Lean server: GET /status answered {code}")
        self._status = body
        versions = body.get("versions")
        if isinstance(versions, dict):
            self._lean = versions.get("lean")
        if body["max_processes"] == 0:
            raise _Broken("it has no processes", "start the server with --max-processes above 0")
        kind = "a server with LeanTree's API"
        if isinstance(versions, dict):
            kind = "nanoproof's server"
        text = f"{kind}, {body['max_processes']} processes"
        if self._lean:
            text += f", Lean {self._lean}"
        return Seen(text)

    def _leases(self) -> Seen:
        began = time.monotonic()
        with self._session():
            return Seen(f"after {time.monotonic() - began:.1f} s")

    def _starts(self) -> Seen:
        with self._session() as session:
            state = str(session.start(_AND).state)
        if state != _AND_STATE:
            raise _Broken(f"the goal of `p ∧ q` reads {state!r}")
        return Seen("its goal reads as Lean prints it")

    def _splits(self) -> Seen:
        with self._session() as session:
            branches = _applied(session, session.start(_AND), "constructor")
            if [goal.type for branch in branches for goal in branch.state.goals] != ["p", "q"]:
                raise _Broken(f"`constructor` leaves {[str(branch.state) for branch in branches]} of `p ∧ q`")
            if len(branches) != 2:
                raise _Broken(f"independent goals are {len(branches)} branch: {str(branches[0].state)!r}")
            for branch, tactic in zip(branches, ("exact hp", "exact hq"), strict=True):
                if rest := _applied(session, branch, tactic):
                    raise _Broken(f"`{tactic}` on one branch changes or returns its sibling: {str(rest[0].state)!r}")
            # Where goals stay together on the server: `exact hp` closes `p`, and would fail on `q`.
            if rest := _applied(session, branches[0], "all_goals exact hp"):
                raise _Broken(f"`all_goals exact hp` on one branch reaches its sibling: {str(rest[0].state)!r}")
        if self._features.splits_goals:
            return Seen("into independent branches")
        return Seen("goals come in one proof state: each is rotated to the front and focused", "worked around")

    def _refuses(self) -> Seen:
        # A wrong type, a wrong order, no tactic, an error inside of a term (from which Lean recovers), no equality.
        wrong = ("exact hq", "exact ⟨hq, hp⟩", "nonsense", "exact (by nonsense : p ∧ q)", "rfl")
        with self._session() as session:
            results = session.apply(session.start(_AND), wrong)
        for tactic, result in zip(wrong, results, strict=True):
            if isinstance(result, TacticApplied):
                left = "no goals"
                if result.branches:
                    left = repr(str(result.branches[0].state))
                raise _Broken(f"`{tactic}` on `p ∧ q` is answered as applied, with {left}: a failure reads as success")
            if result.kind != "rejected":
                raise _Broken(f"`{tactic}` on `p ∧ q` is answered as {result.kind}: {shorten(result.message, 200)}")
        return Seen("five of five, with Lean's words")

    def _proves(self) -> Seen:
        with self._session() as session:
            report = session.check(_AND_PROVED)
        if not report.accepted:
            raise _Broken(f"a right proof is refused: {(*report.errors, 'a sorry is counted')[0]}")
        return Seen("with its axioms and its statement")

    def _refuses_proof(self) -> Seen:
        with self._session() as session:
            report = session.check(_AND_PROVED.replace("hp, hq", "hq, hp"))
        if report.accepted:
            raise _Broken("a wrong proof is accepted")
        if not report.errors:
            raise _Broken("a wrong proof is refused without a reason")
        if not report.error_positions:
            return Seen("for an error without a position")
        return Seen(f"for an error in line {report.error_positions[0][0]}")

    def _twice(self) -> Seen:
        with self._session() as session:
            reports = [session.check(_AND_PROVED) for _ in range(2)]
            _applied(session, session.start(_AND), "exact ⟨hp, hq⟩")
            reports.append(session.check(_AND_PROVED))
        for report in reports:
            if not report.accepted:
                raise _Broken(f"the same text is refused later: {(*report.errors, 'a sorry is counted')[0]}")
        if self._features.keeps_environment:
            return Seen("a lease keeps one environment: each theorem and each check takes a new lease", "worked around")
        return Seen("each text starts from the imports")

    def _forgets(self) -> Seen:
        with self._session() as session:
            self._needs_open(session, "alone")
            session.start(_OPENS)
            self._needs_open(session, "after a theorem with `open Nat`")
        with self._session() as session:
            self._needs_open(session, "on a lease after one with `open Nat`")
        if self._features.keeps_environment:
            return Seen("by a new lease for each theorem", "worked around")
        return Seen("`open` ends with its theorem")

    def _needs_open(self, session: HttpLeanSession, when: str) -> None:
        try:
            session.start(_NEEDS_OPEN)
        except TheoremRejected:
            return
        raise _Broken(f"`succ 0 = 1` is accepted {when}, without an `open Nat` of its own")

    def _axioms(self) -> Seen:
        with self._session() as session:
            report, foreign = session.check(_AXIOM), session.check(_FOREIGN)
        for seen, expected in ((report, "propext"), (foreign, "lie")):
            if seen.errors:
                raise _Broken(f"a proof by `{expected}` is refused: {seen.errors[0]}")
            if seen.axioms != (expected,):
                raise _Broken(f"a proof by `{expected}` is said to rest on {', '.join(seen.axioms) or 'no axiom'}")
        return Seen("propext, and one that no proof may use")

    def _sorry(self) -> Seen:
        with self._session() as session:
            if session.check(_AND_PROVED.replace("exact ⟨hp, hq⟩", "exact ⟨hp, sorry⟩")).accepted:
                raise _Broken("a text with a sorry passes the check")
            answer, _ = self._raw(session, session.start(_AND), "sorry", 5.0)
        if transport.error_text(answer) is None:
            text = "it takes `sorry` for a proof in tactics: the client never sends that, nor its like"
            return Seen(text, "worked around")
        return Seen("in texts, and in tactics")

    def _version(self) -> Seen:
        wanted = self.options.lean_version
        if self._lean is None:
            with self._session() as session:
                code, answer = self.transport.post(f"/process/{session.process}/command", {"command": _VERSION}, 60.0)
            messages = None
            if code == 200 and isinstance(answer, dict):
                messages = answer.get("messages")
            infos = [message for message in messages or () if message.get("severity") == "info"]
            if not infos:
                raise _NotTested("the server does not say it, and Lean does not answer")
            self._lean = "v" + str(infos[0].get("data")).strip().strip('"')
        if wanted is not None and self._lean.removeprefix("v") != wanted.removeprefix("v"):
            raise _Broken(f"{self._lean}, not {wanted}: whitelists and proofs of one version do not fit another")
        return Seen(self._lean)

    def _imports(self) -> Seen:
        wanted = [name for name in self.options.imports if name != "none"]
        if not wanted or self._lean == EMBEDDED_LEAN:
            raise _NotTested("none are needed")
        imported = self._status.get("imports")  # LeanTree's server does not say it
        missing = [name for name in wanted if isinstance(imported, list) and name not in imported]
        if missing:
            raise _Broken(f"{', '.join(missing)}: not imported, the server says")
        if "Mathlib" not in wanted:
            raise _NotTested("only Mathlib can be told from its theorems")
        try:
            with self._session() as session:
                session.start(_MATHLIB)
        except TheoremRejected as error:
            raise _Broken(f"Mathlib: a statement about ℝ is refused ({shorten(str(error), 120)})") from error
        return Seen("a statement about ℝ is accepted")

    def _coupled(self) -> Seen:
        with self._session() as session:
            branches = _applied(session, session.start(_EXISTS), "apply Exists.intro")
        if len(branches) != 1:
            raise _Broken(f"two goals that share a metavariable are {len(branches)} branches")
        if sum("?" in goal.type for goal in branches[0].state.goals) == 0:
            raise _Broken(f"the goals are {str(branches[0].state)!r}")
        return Seen("goals that share a metavariable are one branch")

    def _batch(self) -> Seen:
        with self._session() as session:
            session.apply(session.start(_AND), ["exact hp", "exact hq"])
        if self._features.has_batch_call:
            return Seen("yes")
        return Seen("one request for each tactic", "worked around")

    def _expires(self) -> Seen:
        if self._features.expires_leases:
            return Seen("leases that nobody uses expire")
        return Seen("leases do not expire: those of a client that is killed are lost until a restart", "worked around")

    def _times_out(self) -> Seen:
        limit = self.options.tactic_seconds
        for tactic in _SLOW_TACTICS:
            with self._session() as session:
                branch = session.start(_SLOW)
                answer, seconds = self._raw(session, branch, tactic, limit)
                text = transport.error_text(answer) or ""
                kind: str = "applied"
                if text:
                    kind = transport.classify(text)
                ends = f"a tactic over its limit of {limit:g} s ends after {seconds:.1f} s"
                # A server that kills the process may answer either; it is the next request that shows the loss.
                if kind == "gone" or (kind == "timeout" and not self._alive(session, branch)):
                    began = time.monotonic()
                    _applied(session, session.start(_AND), "exact ⟨hp, hq⟩")
                    again = f"another process was ready after {time.monotonic() - began:.1f} s"
                    advice = "a REPL that keeps limits by itself costs no import (docs/lean-servers.md)"
                    return Seen(f"{ends}, killed with its process; {again}", "worked around", advice)
            if seconds > _PATIENCE * limit:
                raise _Broken(f"`{tactic}` ran for {seconds:.1f} s with a limit of {limit:g} s: no limit is kept")
            if kind == "timeout":
                return Seen(f"{ends}, and its process lives")
        raise _NotTested("no tactic of ours runs that long there")

    def _alive(self, session: HttpLeanSession, branch: Branch) -> bool:
        answer, _ = self._raw(session, branch, "skip", 5.0)
        return transport.classify(transport.error_text(answer) or "") != "gone"

    def _loses(self) -> Seen:
        with self._session() as session:
            session.start(_AND)
            began, path = time.monotonic(), f"/process/{session.process}/command"
            _, answer = self.transport.post(path, {"command": _EXIT}, 60.0)
            if transport.classify(transport.error_text(answer) or "") != "gone":
                raise _NotTested("Lean did not end its process when it was told to")
            _applied(session, session.start(_AND), "exact ⟨hp, hq⟩")
            return Seen(f"{time.monotonic() - began:.1f} s after it ended")

    def _solvers(self) -> Seen:
        with self._session() as session:
            solvers = measure_solvers(session)
        if not solvers:
            raise _NotTested("no solver tactic closes any small goal")
        times = []
        for solver in solvers:
            median, longest = 1000 * solver.median_seconds, 1000 * solver.longest_seconds
            times.append(f"{solver.tactic} {solver.closed}/{solver.tried} {median:.0f} ms (up to {longest:.0f})")
        names = " ".join(solver.tactic for solver in solvers)
        return Seen(f"--search-finishers {names}: {', '.join(times)}")

    def _raw(self, session: HttpLeanSession, branch: Branch, tactic: str, seconds: float) -> tuple[Any, float]:
        """Send a tactic, even one that the client refuses; return the server's answer and the seconds it took."""
        origin = branch.handle
        assert isinstance(origin, Origin)
        path = f"/process/{session.process}/proof/{origin.number}/try_apply_tactic"
        began = time.monotonic()
        _, answer = self.transport.post(path, {"tactic": tactic, "timeout": round(1000 * seconds)}, seconds + 60.0)
        seconds_taken = time.monotonic() - began
        if isinstance(answer, dict) and "value" in answer:
            transport.read_branches(answer["value"])
        return answer, seconds_taken


def _applied(session: HttpLeanSession, branch: Branch, tactic: str) -> list[Branch]:
    """Apply a correct tactic and return the branches that it leaves; raises `_Broken` if it is refused."""
    result = session.apply(branch, [tactic])[0]
    if isinstance(result, TacticFailed):
        raise _Broken(f"`{tactic}` is {result.kind}: {shorten(' '.join(result.message.split()), 200)}")
    return list(result.branches)


def find_problem(address: str | Address, token: str | None, lease_seconds: float = 10.0) -> str | None:
    """Do the brief checks; return the first problem in one line, with the command that tells more, or None.

    It takes about twenty requests. There is no problem with a server whose processes are all leased, or that cannot be
    reached at the moment.
    """
    options = ProbeOptions(
        LeanOptions((str(address),), token), transcript=None, brief=True, lease_seconds=lease_seconds
    )
    for finding in Probe(address, options).findings():
        if finding.state == "broken" and finding.what not in ("answers", "gives a process"):
            return f"Lean server {address}: {finding.what}: {finding.text}; `{COMMAND} {address}` tells more"
    return None


def require_working(addresses: Sequence[str | Address], token: str | None) -> None:
    """Raise `ServerUnavailable` with the problem of each server that has one; all are checked at the same time."""
    with ThreadPoolExecutor(max_workers=max(1, min(32, len(addresses)))) as threads:
        answers = list(threads.map(lambda address: find_problem(address, token), addresses))
    problems = [answer for answer in answers if answer is not None]
    if problems:
        raise ServerUnavailable("; ".join(problems))


def main(argv: Sequence[str] | None = None) -> int:
    """Test each server in turn; return 1 if something is broken."""
    parser = Parser(prog="python -m nanoproof.lean.probe", description="Find out what Lean servers do.")
    add_flags(parser, ProbeOptions)
    options = from_args(ProbeOptions, parser.parse_args(argv))
    probes = [Probe(address, options) for address in options.lean.servers]
    file = None
    if options.transcript is not None:
        stamp = time.strftime("%Y-%m-%d_%H-%M-%S")
        file = Path(options.transcript or home() / f"lean_probe_{stamp}_{secrets.token_hex(2)}.jsonl").expanduser()
    broken = 0
    for probe in probes:
        findings = []
        try:
            for finding in probe.findings():
                findings.append(finding)
                broken += finding.state == "broken"
                if options.json:
                    print_lines([json.dumps({"server": probe.address, **asdict(finding)}, ensure_ascii=False)])
        finally:
            # Also after Ctrl-C in a check that hangs: that one is what the report is about.
            if file is not None:
                _write(file, probe.transport.exchanges, findings)
        if not options.json:
            print_lines([*_page(probe.address, findings, Paint()), ""])
    if not options.json:
        print_lines([f"{broken} broken" if broken else "nothing broken"])
        if file is not None:
            print_lines([f"every request and answer: {file}"])
    return 1 if broken else 0


def _page(address: str, findings: Sequence[Finding], paint: Paint) -> list[str]:
    heading, *lines = table(("what", "", "seen"), [(finding.what, finding.state, finding.text) for finding in findings])
    page = [paint(f"Lean server {address}", "bold"), paint(heading, "bold")]
    for line, finding in zip(lines, findings, strict=True):
        page.append(paint(line, _COLORS[finding.state]))
        if finding.advice and finding.state in ("broken", "worked around"):
            page.append(f"  → {finding.advice}")
    return page


def _write(file: Path, exchanges: Sequence[dict[str, Any]], findings: Sequence[Finding]) -> None:
    writer = JsonlWriter(file)
    for exchange in exchanges:
        writer.write(exchange)
    for finding in findings:
        writer.write({"finding": asdict(finding)})
    writer.close()


if __name__ == "__main__":
    run_main(main)
