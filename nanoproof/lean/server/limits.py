"""How a tactic that runs out of time is stopped without its process: Lean's own means first, then the REPL's.

The official REPL has no time limit. Lean has two means that could stand in for one:

- **Heartbeats** count allocations (200 million by default, for each tactic in a REPL). A proof cannot change that
  number: `set_option maxHeartbeats N in tac` sets the option, but the elaborator looks at a number that it copied from
  it before (`Core.Context.maxHeartbeats`, see issue 69 of the REPL). Nor do they measure time: how many come in a
  second depends on the tactic and the machine.
- **Cancellation** is how the language server stops what nobody waits for any more: the elaborator looks at a token
  wherever it looks at heartbeats, and no tactic can catch it, as some do with heartbeats.

So processes are taught a tactic that runs another one and sets its token after some milliseconds. It is defined in an
environment beside the base environment, in which proofs start; commands, and with them final checks, do not see it. The
tactic to run begins on a line of its own: its columns, which mean something to Lean, are what they would be without us.

Forks of the REPL that take a `timeout` answer in time, but leave the computation running: the second line of defence.
What a process can do is tried out once it has its imports, and what it cannot do is not relied on.
"""

import re
from typing import Any

from nanoproof.lean.repl_goals import OutOfTime, Step, error_messages, judge, judge_statement
from nanoproof.lean.server.repl_process import Limits, ReplProcess

TACTIC = "nanoproof_within"
STOPPED = "the tactic timed out and was stopped"
"""What our tactic fails with; for `verdicts.judge` this is time that ran out."""
DEFINITION = f"""open Lean Elab Tactic in
elab "{TACTIC} " limit:num tac:tactic : tactic => do
  let token ← IO.CancelToken.new
  let isOver ← IO.mkRef false
  let isOpen ← IO.mkRef true
  let stop := (← IO.monoMsNow) + limit.getNat
  let _ ← IO.asTask (prio := .dedicated) do
    for _ in [0:limit.getNat] do
      unless (← isOver.get) do
        if (← IO.monoMsNow) < stop then IO.sleep 10
    token.set
  try
    withTheReader Core.Context (fun c => {{ c with cancelTk? := some token }}) (evalTactic tac)
    isOpen.set false
  finally
    let isLate ← token.isSet
    isOver.set true
    if isLate && (← isOpen.get) then throwError "{STOPPED}"
"""
"""The tactic. The thread that waits has a stack of its own and ends within 10 ms of the tactic, so that none pile up.

A failing `finally` replaces the interruption, which the REPL could only show as the number of an internal exception.
"""

_SHARE = 0.9
"""The part of its time after which a tactic is stopped, so that the answer comes within that time."""
_TRIAL_SECONDS = 60.0
_TRIAL_MS, _TRIAL_SLEEP_MS = 20, 200
_TRIAL_STATEMENT = "example : True := by sorry"
_LINE = re.compile(r"(?<=<input>:)\d+(?=:\d+)")


def find_out(process: ReplProcess, base_env: int) -> Limits:
    """Teach a process our tactic, and try what stops a tactic in it; takes half a second.

    Raises `ReplError` if the process ends, and ValueError if its answers are none of a REPL.
    """
    answer = process.request({"cmd": DEFINITION, "env": base_env}, _TRIAL_SECONDS)
    refusal = " ".join(error_messages(answer)) or str(answer.get("message", ""))
    env = answer["env"] if isinstance(answer.get("env"), int) and not refusal else None
    statement = {"cmd": _TRIAL_STATEMENT, "env": base_env if env is None else env}
    start = judge_statement(process.request(statement, _TRIAL_SECONDS))
    if not isinstance(start, Step):
        raise ValueError(f"it starts no proof: {start}")
    slow = f"sleep {_TRIAL_SLEEP_MS}"
    if env is not None and not _is_stopped(process, start, f"{TACTIC} {_TRIAL_MS}\n({slow}; skip)"):
        env, refusal = None, "the trial was not stopped"
    return Limits(env, _is_stopped(process, start, slow, timeout=_TRIAL_MS), " ".join(refusal.split())[:300])


def _is_stopped(process: ReplProcess, start: Step, tactic: str, **more: int) -> bool:
    message = {"tactic": tactic, "proofState": start.proof_state, **more}
    return isinstance(judge(process.request(message, _TRIAL_SECONDS)), OutOfTime)


def limited(message: dict[str, Any], limits: Limits, seconds: float) -> dict[str, Any]:
    """The request for a tactic, with the limits that the process has, so that its answer comes within `seconds`.

    Where Lean stops the tactic, the REPL's own limit comes later, at the end of the time.
    """
    whole = max(10, int(seconds * 1000))
    share = max(10, int(whole * _SHARE))
    if limits.lean_env is None:
        return {**message, "timeout": share}
    return {**message, "tactic": f"{TACTIC} {share}\n{message['tactic']}", "timeout": whole}


def as_written(message: str, limits: Limits) -> str:
    """What Lean says about a tactic that was `limited`, with the line numbers of the tactic that was given."""
    return message if limits.lean_env is None else _LINE.sub(lambda line: str(max(1, int(line[0]) - 1)), message)


def is_runaway(outcome: OutOfTime, limits: Limits) -> bool:
    """True if Lean did not stop a tactic that it should have stopped, so that it runs on behind the REPL's answer."""
    return limits.lean_env is not None and STOPPED not in outcome.message
