"""Types of the monitor's API; `python -m nanoproof.monitor.typescript` generates those of the page from them.

Times are seconds since the epoch, durations seconds, sizes bytes. Every list is bounded; long ones come in pages.
"""

from typing import Any, Literal, NotRequired, TypedDict

from nanoproof.monitor.record_schema import AttemptRow, Outcome, Page, Transition

Level = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
Order = Literal["asc", "desc"]
StateName = Literal["running", "stalled", "silent", "finished", "stopped", "died", "unknown"]
StreamKind = Literal["hello", "status", "metrics", "event", "attempt", "log", "reset"]


# -- Run ---------------------------------------------------------------------------------------------------------


class Indexing(TypedDict):
    """How much of the attempt logs has been read."""

    done: bool
    bytes: int
    total_bytes: int


class RunState(TypedDict):
    """How a run fares."""

    name: StateName
    """stalled: its process lives but writes nothing; silent: on another machine, without a sign of life; stopped: ended
    before its time, by a signal or an error; died: its process is gone and left its lock."""
    since: float | None
    """When it was heard of last; null while it is running."""


class RunNote(TypedDict):
    """/api/note: what somebody wrote of a run; `PUT` changes it."""

    title: str
    """A name that says more than the folder's."""
    note: str


class RunFile(TypedDict):
    """A file of a run; a folder, with a slash, counts as one."""

    name: str
    bytes: int
    time: float


class RunIdentity(TypedDict):
    """What a run is."""

    path: str
    stage: str
    """Such as sft or rl; empty if it is unknown."""
    command: str
    """As one would type it."""
    resume: str
    """The command that resumes it; empty if there is nothing to resume from."""
    started: float | None
    """When it was started, or resumed, last."""
    seed: int | None
    commit: str
    changed: bool
    """Whether the code had changes beside the commit."""
    versions: dict[str, str]
    hardware: dict[str, str | float | None]
    """host, system, processor, cores, memory; empty in runs of earlier versions."""
    decisions: dict[str, str]
    parent: str
    """The checkpoint that it started from."""
    files: list[RunFile]
    """The largest first."""
    bytes: int


class RunRow(TypedDict):
    """One run in the list of runs."""

    name: str
    """Its folder below the one that is shown."""
    title: str
    note: str
    """What somebody wrote of it."""
    stage: str
    state: RunState
    step: int | None
    num_steps: int | None
    loss: float | None
    score: "EvaluationScore | None"
    """Its newest evaluation."""
    evaluates: str
    """Of a folder of evaluations: the run whose checkpoint they are of, where that is one of the list."""
    started: float | None
    updated: float | None
    commit: str
    changed: bool
    seed: int | None
    host: str


class EvaluationScore(TypedDict):
    """A score, with its 95% interval."""

    dataset: str
    solved: int
    total: int
    low: float
    high: float


class Runs(TypedDict):
    """/api/runs: the runs below a folder, newest first; none of a monitor that shows one run only."""

    folder: str
    """Empty if one run only is shown."""
    items: list[RunRow]
    total: int


class RunInfo(TypedDict):
    """/api/run: description of the run and its files."""

    name: str
    exists: bool
    live: bool
    time: float
    server: str
    """Changes when the monitor restarts."""
    ranks: list[int]
    datasets: list[str]
    args: dict[str, Any]
    meta: dict[str, Any]
    identity: RunIdentity
    indexing: Indexing
    has: dict[str, bool]
    """Whether there are attempts, trees, timeline, samples, train_samples, evaluations, logs, rounds."""


class Gpu(TypedDict):
    """One device of a rank."""

    name: str
    utilization: NotRequired[float | None]
    """0 to 1."""
    memory: NotRequired[float | None]
    memory_total: NotRequired[float | None]


class RankStatus(TypedDict):
    """The state of a rank, from its status file."""

    rank: int
    live: bool
    age: float
    phase: str
    step: int | None
    pid: int | None
    memory: float | None
    """Resident memory of the process."""
    gpu: Gpu | None
    actors: dict[str, int]
    """How many actors are in each state."""


class LeanServer(TypedDict):
    """A Lean server, and what the run's actors see of it."""

    address: str
    state: str
    """up or down."""
    actors: int
    errors: int


class Host(TypedDict):
    """A host of a cluster that makes attempts for the run; also those that are gone."""

    name: str
    state: Literal["up", "gone"]
    since: float | None
    """When it joined, or was lost; null where no event tells."""
    size: int
    """How many attempts it works on at a time."""
    under_way: int
    attempts: int
    attempts_per_minute: float
    """Since it joined."""
    given_again: int
    """Attempts that were lost with it and went to others."""
    servers: list[str]
    """Addresses of its Lean servers, with their state where that is not up."""
    reason: str
    """Why it is gone."""


class Remote(TypedDict):
    """What became of attempts that were handed to hosts."""

    attempts: int
    stale: int
    """Dropped since they were begun with weights that are too old."""
    given_again: int
    revision: int
    """Of the weights."""


class Event(TypedDict):
    """An event of the run."""

    time: float
    kind: str
    rank: int
    text: str
    """The event in one line."""
    fields: dict[str, Any]


class EvaluationPoint(TypedDict):
    """The score of one evaluation, with its 95% interval."""

    name: str
    step: int | None
    time: float | None
    solved: int
    total: int
    low: float
    high: float
    simulations: int


class SolverScore(TypedDict):
    """What solver tactics alone prove of the theorems of a benchmark, with its 95% interval."""

    solved: int
    total: int
    low: float
    high: float
    where: str
    """The folder of the evaluation."""


class Benchmark(TypedDict):
    """The scores on one benchmark with one budget, by step."""

    name: str
    """Such as nanolean/valid; with simulations and theorems where others differ in nothing else."""
    dataset: str
    split: str
    simulations: int
    total: int
    theorem_set: str
    """A hash of the theorems of its newest evaluation; empty where that does not tell."""
    lean: str
    points: list[EvaluationPoint]
    solvers: SolverScore | None


class Best(TypedDict):
    """The best checkpoint so far."""

    step: int
    solved: int


class LiveOverview(TypedDict):
    """The part of the overview that changes all the time."""

    time: float
    live: bool
    state: RunState
    phase: str
    step: int | None
    num_steps: int | None
    elapsed: float | None
    """At work, over all its parts; never less than before."""
    seconds: float | None
    """As the run counts them towards `max_seconds`: a checkpoint restores them."""
    max_seconds: float | None
    """The time limit, if it has one."""
    remaining: float | None
    """Expected time to the last step, estimated from the newest steps."""
    until_evaluation: float | None
    """Seconds until the next evaluation, where the run tells."""
    collected: int | None
    collect_transitions: int | None
    indexing: Indexing
    attempts: int
    """As far as their logs were read; `since_step` of them belong to no step that has ended."""
    since_step: int
    proofs: int
    disproofs: int
    errors: int
    lost_proofs: int
    """Found proofs that the final check neither accepted nor refused."""
    refused_proofs: int
    """Found proofs that it refused, or that did not replay."""
    last_loss: str | None
    """The reason of the newest lost proof."""
    theorems: int | None
    """Of the data sets, as `theorems_proven` is."""
    theorems_proven: int | None
    proofs_per_hour: float | None
    """Of the last hour, or of as much as there is."""
    replay: int | None
    negative: int | None
    metrics: dict[str, float | None]
    """The newest value of each."""
    previous: dict[str, float | None]
    """The value before it."""
    ranks: list[RankStatus]
    servers: list[LeanServer]
    hosts: list[Host]
    """Those that work for it, then those that are gone; empty where actors are threads of the ranks."""
    remote: Remote | None


class Overview(LiveOverview):
    """/api/overview"""

    run: str
    title: str
    """The name that somebody gave it; mostly empty."""
    stage: str
    resume: str
    """The command that resumes it; empty if there is nothing to resume from."""
    rounds: bool
    """Whether it is an experiment of self-play."""
    benchmarks: list[Benchmark]
    best: Best | None
    checkpoints: list[int]
    events: list[Event]
    """The newest, last one first."""


class Series(TypedDict):
    """/api/series: metrics by step, in columns; merged steps have mean, lowest and highest value."""

    names: list[str]
    """All metrics there are."""
    steps: list[int]
    times: list[float | None]
    values: dict[str, list[float | None]]
    low: dict[str, list[float | None]]
    high: dict[str, list[float | None]]
    total: int
    thinned: bool
    partial: bool
    """Whether the last step was cut short, as by the time limit of the run: its counts and times are lower for that."""


# -- Actors -------------------------------------------------------------------------------------------------------


class Actor(TypedDict):
    """One thread."""

    actor: int
    state: str
    """model, lean, idle, error, or paused: waiting for a model that is paused for training."""
    theorem: str
    simulations: int
    budget: int | None
    server: str
    state_seconds: float | None
    """How long it has been in its state."""
    seconds: dict[str, float]
    """Spent in each state so far."""


class RankActors(TypedDict):
    """The actors of one rank."""

    rank: int
    live: bool
    age: float
    phase: str
    actors: list[Actor]
    total: int
    """More than `actors` holds, if there are too many; `states` and `seconds` are of all of them."""
    states: dict[str, int]
    """How many actors are in each state."""
    seconds: dict[str, float]
    """Spent in each state so far, by all actors together."""


class Actors(TypedDict):
    """/api/actors"""

    time: float
    ranks: list[RankActors]


# -- Evaluations -------------------------------------------------------------------------------------------------


class EvaluationRow(TypedDict):
    """An evaluation; `done` of `total` theorems if it is not over."""

    name: str
    about: str
    """What was evaluated: checkpoint or policy, seed, tactics of a state; tells evaluations of one directory apart."""
    model: str
    """The path of the checkpoint; empty for a policy without one, and before the evaluation is over."""
    dataset: str
    split: str
    step: int | None
    time: float | None
    over: bool
    done: int
    total: int
    solved: int
    low: float
    high: float
    failed: int
    errors: int
    simulations: int
    tactic_samples: int | None
    seconds: float | None
    solved_at: dict[str, int]
    baseline: dict[str, int] | None
    """Solved within so many simulations by solver tactics alone, where that was measured too."""
    accepted: str
    """How many of the proofs which checkers accept; empty where nobody was asked."""


class Evaluations(Page[EvaluationRow]):
    """/api/evaluations: the newest first."""

    benchmarks: list[str]


class EvaluationResult(TypedDict):
    """A theorem of an evaluation; `index` is its place among the results."""

    index: int
    dataset: str
    id: str
    statement: str
    """Shortened; `EvaluatedTheorem` has all of it."""
    outcome: Outcome
    simulations: int
    tactics: int
    seconds: float
    message: str


class EvaluationPart(TypedDict):
    """The score on some of the theorems, with its 95% interval."""

    by: Literal["dataset", "part", "level"]
    """`part` is the first word of the names, such as `classic` or `imo`; `level` their `l3`."""
    name: str
    solved: int
    total: int
    low: float
    high: float


class Evaluation(TypedDict):
    """/api/evaluations/<name>"""

    evaluation: EvaluationRow
    settings: dict[str, Any]
    outcomes: dict[str, int]
    parts: list[EvaluationPart]
    lengths: dict[str, int]
    """How many proofs there are of so many tactics."""
    counts: dict[str, int]
    """Of all searches together: tactics_run, rejected, timeouts, banned, cycles, ..."""
    results: Page[EvaluationResult]


class EvaluatedTheorem(TypedDict):
    """/api/evaluations/<name>/results/<index>: one result in full; which of /certificate and /tree there are."""

    result: EvaluationResult
    statement: str
    proof: str
    source: str
    stop_reason: str
    transitions: list[Transition]
    counts: dict[str, int]
    phases: dict[str, float]
    kept: list[Literal["certificate", "tree"]]


class EvaluationDiff(TypedDict):
    """/api/evaluations/diff: two evaluations of the same theorems."""

    run_a: str
    """The run of the folder that holds evaluation a; empty where both are of the run that was asked."""
    run_b: str
    a: EvaluationRow
    b: EvaluationRow
    total: int
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float
    """McNemar's exact test: how likely so uneven a result were if both were equally good."""
    difference: float
    low: float
    high: float
    gained: list[str]
    lost: list[str]
    errors: list[str]
    settings: dict[str, list[Any]]
    """What else differs: the values of a and b."""


class RunDiff(TypedDict):
    """/api/runs/diff: the newest evaluations of two runs, on each benchmark that both were evaluated on.

    Evaluations in folders of their own count as those of the run whose checkpoint they evaluated.
    """

    a: str
    """The earlier one: what differs is gained or lost by b."""
    b: str
    items: list[EvaluationDiff]


class RunRivals(TypedDict):
    """/api/runs/rivals: the evaluations of a run against those of others on the same theorems, which are `a`."""

    items: list[EvaluationDiff]


# -- Logs and live updates ---------------------------------------------------------------------------------------


class LogLine(TypedDict):
    """A record of a log; lines that follow it, as those of a traceback, are part of its message."""

    rank: int
    date: str
    """Such as 2026-11-21; empty in logs of older runs."""
    time: str
    """Time of day."""
    level: Level
    logger: str
    message: str


class Logs(TypedDict):
    """/api/logs: records, oldest first. `after=next` gives those that follow, `before=previous` those before."""

    items: list[LogLine]
    next: str
    previous: str | None
    """None at the beginning of the logs."""


class Hello(TypedDict):
    """The first message of /api/stream; after a change of `server` everything must be requested again."""

    server: str
    run: str


class StatusMessage(TypedDict):
    """Once a second while something changes."""

    overview: LiveOverview
    actors: Actors


class MetricsMessage(TypedDict):
    """New steps."""

    items: list[dict[str, float | int | None]]


class EventMessage(TypedDict):
    """New events."""

    items: list[Event]


class AttemptMessage(TypedDict):
    """New attempts."""

    items: list[AttemptRow]


class LogMessage(TypedDict):
    """New records of the logs."""

    items: list[LogLine]


class Reset(TypedDict):
    """Too much was missed to be sent: request everything again."""

    reason: str
