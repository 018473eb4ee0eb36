"""Types of the monitor's API (see `schema.py`) for theorems, attempts, search trees, model samples and timelines."""

from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar

T = TypeVar("T")

Outcome = Literal["proven", "disproven", "unproven", "error"]
TheoremSort = Literal[
    "id", "dataset", "outcome", "attempts", "proven", "budget", "simulations", "seconds", "tactics", "first", "last"
]


class Page(TypedDict, Generic[T]):
    """A part of a list; pages count from 1."""

    items: list[T]
    total: int
    page: int
    size: int


# -- Theorems and attempts ---------------------------------------------------------------------------------------


class TheoremRow(TypedDict):
    """A theorem that was tried."""

    dataset: str
    id: str
    statement: str
    """In one line, shortened."""
    outcome: Outcome
    """The best so far: proven, else disproven, else of the last attempt."""
    attempts: int
    proven: int
    disproven: int
    errors: int
    budget: int
    """Of the last attempt."""
    simulations: int
    seconds: float
    tactics: int | None
    """Steps of the shortest proof."""
    first_proven: int | None
    """Step of the first proof."""
    last_step: int
    last_time: float | None


class Theorems(Page[TheoremRow]):
    """/api/theorems"""

    datasets: dict[str, int]
    outcomes: dict[str, int]
    """How many theorems there are of each, before filters."""


class AttemptRow(TypedDict):
    """An attempt in short; `rank`, `step` and `seq` are its name."""

    rank: int
    step: int
    seq: int
    dataset: str
    id: str
    outcome: Outcome
    disproving: bool
    simulations: int
    budget: int
    tactics: int
    seconds: float
    time: float | None
    tree: bool
    """Whether its search tree was kept."""


class SearchesOfStep(TypedDict):
    """What the sampled searches up to a step, since the one before it in the list, did."""

    step: int
    counts: dict[str, int]


class RootValues(TypedDict):
    """What the network expected of theorems that ended alike: how many tactics they need."""

    count: int
    mean: float | None
    by_value: dict[str, int]
    """How many there are of each, rounded."""


class Searches(TypedDict):
    """/api/searches: a sample of the attempts, evenly over the run."""

    attempts: int
    total: int
    """Of the run; `attempts` were read."""
    counts: dict[str, int]
    """Of all of them together: tactics_run, rejected, timeouts, banned, cycles, ..."""
    steps: list[SearchesOfStep]
    values: dict[str, RootValues]
    """By outcome: proven, unproven."""
    told_apart: float | None
    """How often a proved theorem had a lower value than one that was not proved; 0.5 is chance, 1 perfect."""


class Transition(TypedDict):
    """One step of a proof; `depth` counts the tactics still needed, this one too."""

    state: str
    tactic: str
    depth: int


class FailedTactic(TypedDict):
    """A tactic that Lean refused."""

    state: str
    tactic: str


class Attempt(AttemptRow):
    """/api/attempts/<rank>/<step>/<seq>: the attempt with all of its record but the tree."""

    statement: str
    proof: str
    source: str
    message: str
    stop_reason: str
    policy: str
    seed: int
    counts: dict[str, int]
    phases: dict[str, float]
    """Seconds of each phase."""
    check: dict[str, Any] | None
    transitions: list[Transition]
    total_transitions: int
    failed_tactics: list[FailedTactic]
    total_failed_tactics: int


class Theorem(TypedDict):
    """/api/theorem: its history, and its best attempt."""

    theorem: TheoremRow
    best: Attempt | None
    """The shortest proof, else the last attempt."""
    history: list[AttemptRow]
    """The newest attempts, last one first."""
    total: int


class SearchTree(TypedDict):
    """A search tree in columns, one entry per node, parents before children, as `search/tree_json.py` describes it."""

    kind: str
    solved: str
    parent: list[int]
    tactic: list[int]
    prior: list[float]
    logprob: list[float]
    visits: list[int]
    value_sum: list[float]
    expansions: list[int]
    state: list[int]
    finisher: list[int]
    dead: list[int]
    spellings: NotRequired[dict[str, list[int]]]
    """Other texts of the edge that leads to a node, as tactics."""
    refused: NotRequired[dict[str, list[int]]]
    """Tactics that led nowhere from a node."""
    born: NotRequired[list[int]]
    """The simulation that added a node. Missing, as are the next two, in older files and where nodes were left out."""
    ends: NotRequired[list[int]]
    """The node that each simulation expanded; -1 where it went to a disproof."""
    values: NotRequired[list[float]]
    """What each simulation backed up from that node."""
    states: list[str]
    tactics: list[str]


class TreeAnswer(TypedDict):
    """/api/attempts/<rank>/<step>/<seq>/tree"""

    attempt: AttemptRow
    nodes: int
    """Of the whole tree; `tree` holds the most visited ones if there are more than one response may have."""
    tree: SearchTree


class EvaluatedTree(TypedDict):
    """/api/evaluations/<name>/results/<index>/tree: as TreeAnswer."""

    nodes: int
    tree: SearchTree


class LoggedAs(TypedDict):
    """The name of an attempt, with the rank, and whether its search tree is kept."""

    step: int
    seq: int
    tree: bool


class LiveSearch(TypedDict):
    """/api/actors/<rank>/<actor>/tree: the search that an actor is at, as it was a moment ago."""

    rank: int
    actor: int
    state: Literal["asked", "under way", "over", "taken", "elsewhere", "silent", "refused"]
    """`asked`: nothing was shown yet; `taken`: somebody watches `watched`; `elsewhere`: it searches in another process;
    `silent`: the rank does not run; `refused`: the run's folder cannot be written."""
    watched: int | None
    search: int | None
    """The number of this search among those of the actor, for `after`."""
    time: float | None
    theorem: str
    dataset: str
    purpose: str
    """collect or evaluate."""
    simulations: int
    budget: int | None
    outcome: Outcome | None
    message: str
    attempt: LoggedAs | None
    """What became of it, where it was logged."""
    nodes: int
    """Of the whole tree, as in TreeAnswer."""
    tree: SearchTree | None
    """Null where it is too large to be shown while it grows."""


# -- Model -------------------------------------------------------------------------------------------------------


class SampledTactic(TypedDict):
    """A tactic that the model sampled, and what became of it."""

    tactic: str
    logprob: float
    count: int
    outcome: str
    """applied, solved, rejected, timeout, cycle, or untried."""
    message: str


class Sample(TypedDict):
    """A state, with the tactics and the value that the model gave it."""

    rank: int
    step: int
    time: float | None
    dataset: str
    id: str
    state: str
    tactics: list[SampledTactic]
    dropped: int
    value: float | None
    """Expected number of tactics still needed."""
    distribution: list[float]
    """Probabilities of 1, 2, ... tactics."""
    depth: int | None
    """The true number, where a proof was found through this state."""


class StateAnswer(TypedDict):
    """`PUT /api/ask`: what the policy of the run says at a state, with its present weights."""

    state: Literal["asked", "taken", "answered", "silent"]
    """`asked`: not answered yet, ask again; `taken`: another question is before this one; `silent`: the run is over."""
    error: str
    """Why the policy could not answer."""
    sample: Sample | None
    command: str
    """Of a run that is over: what asks its newest checkpoint; empty without one."""


class TrainSample(TypedDict):
    """An example that was trained on, with the loss of each token (null where none was asked for)."""

    step: int
    time: float | None
    kind: str
    """sft, replay, negative, or value (a state without a tactic)."""
    tokens: list[str]
    losses: list[float | None]
    loss: float | None


class CalibrationBin(TypedDict):
    """States with values between `low` and `high`: their true distances from a proof."""

    low: float
    high: float
    count: int
    predicted: float
    actual: float
    deviation: float
    """Standard deviation of the true number."""


class CalibrationDepth(TypedDict):
    """States that needed so many tactics, the last row also more: what the model predicted there."""

    depth: int
    count: int
    predicted: float
    error: float
    """Mean of predicted minus true numbers."""
    absolute_error: float


class Calibration(TypedDict):
    """/api/calibration: values against the true depths known from proofs."""

    bins: list[CalibrationBin]
    depths: list[CalibrationDepth]
    count: int
    expected_error: float | None
    """Expected calibration error, in tactics, as in `scripts.policy_eval`."""
    mean_error: float | None
    mean_absolute_error: float | None
    correlation: float | None
    first_step: int | None
    last_step: int | None


# -- Rounds of self-play ---------------------------------------------------------------------------------------------


class Round(TypedDict):
    """A round of self-play; what is not known yet is null."""

    number: int
    over: bool
    proved_percent: float | None
    """Of the data's statements, ever proved."""
    proofs: int | None
    """To learn from."""
    lessons: int | None
    """Conjectures that teach the conjecturer."""
    length: float | None
    """Mean tokens of what is trained on."""
    distinct_statements: float | None
    """Distinct texts behind names, for each statement that was attempted."""
    proofs_each: float | None
    """Distinct proofs for each problem that has one."""
    tally: dict[str, int]
    """Of its conjectures: pairs, proposed, refused, kept, ..."""
    success_rates: dict[str, int]
    """How many problems have a rate."""


class Rounds(TypedDict):
    """/api/rounds: of an experiment of self-play; none for other runs."""

    rounds: list[Round]


# -- Timelines ---------------------------------------------------------------------------------------------------------


class Lane(TypedDict):
    """Spans [start, end, state] of one actor, or of one rank's model or phases."""

    rank: int
    kind: Literal["actor", "model", "phase"]
    name: str
    spans: list[tuple[float, float, str]]


class Batches(TypedDict):
    """Samples of a model's load, ten times a second while it computes, in columns; thinned if there are too many."""

    rank: int
    busy: float
    """Seconds that the model computed, by all samples."""
    start: list[float]
    seconds: list[float]
    """How long it computed since the sample before."""
    rows: list[int]
    states: list[int]
    queue: list[int]


class Timeline(TypedDict):
    """/api/timeline: spans within [start, end] of a run that has them within [first, last]."""

    start: float
    """Later than what was asked for if `shortened`."""
    end: float
    first: float | None
    last: float | None
    lanes: list[Lane]
    batches: list[Batches]
    shares: dict[str, float]
    """Fraction of the actors' time in each state, in all that is shown."""
    shortened: bool
    """Whether the beginning was left out because there is too much to read."""
    merged: bool
    """Whether short spans were merged because there are too many."""


class TraceEvent(TypedDict):
    """An event of Chrome's trace format."""

    name: str
    ph: str
    pid: int
    tid: int
    ts: NotRequired[float]
    dur: NotRequired[float]
    args: NotRequired[dict[str, Any]]


class Trace(TypedDict):
    """/api/trace: for chrome://tracing and Perfetto."""

    traceEvents: list[TraceEvent]
    displayTimeUnit: str


class ApiError(TypedDict):
    """The body of every response with a status from 400 on."""

    error: str
