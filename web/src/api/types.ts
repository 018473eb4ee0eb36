// Made by `python -m nanoproof.monitor.typescript` from nanoproof/monitor; do not edit.

export type Outcome = "proven" | "disproven" | "unproven" | "error";

export type TheoremSort = "id" | "dataset" | "outcome" | "attempts" | "proven" | "budget" | "simulations" | "seconds" | "tactics" | "first" | "last";

/** A part of a list; pages count from 1. */
export interface Page<T> {
  items: T[];
  total: number;
  page: number;
  size: number;
}

/** A theorem that was tried. */
export interface TheoremRow {
  dataset: string;
  id: string;
  /** In one line, shortened. */
  statement: string;
  /** The best so far: proven, else disproven, else of the last attempt. */
  outcome: "proven" | "disproven" | "unproven" | "error";
  attempts: number;
  proven: number;
  disproven: number;
  errors: number;
  /** Of the last attempt. */
  budget: number;
  simulations: number;
  seconds: number;
  /** Steps of the shortest proof. */
  tactics: number | null;
  /** Step of the first proof. */
  first_proven: number | null;
  last_step: number;
  last_time: number | null;
}

/** /api/theorems */
export interface Theorems extends Page<TheoremRow> {
  datasets: Record<string, number>;
  /** How many theorems there are of each, before filters. */
  outcomes: Record<string, number>;
}

/** An attempt in short; `rank`, `step` and `seq` are its name. */
export interface AttemptRow {
  rank: number;
  step: number;
  seq: number;
  dataset: string;
  id: string;
  outcome: "proven" | "disproven" | "unproven" | "error";
  disproving: boolean;
  simulations: number;
  budget: number;
  tactics: number;
  seconds: number;
  time: number | null;
  /** Whether its search tree was kept. */
  tree: boolean;
}

/** What the sampled searches up to a step, since the one before it in the list, did. */
export interface SearchesOfStep {
  step: number;
  counts: Record<string, number>;
}

/** What the network expected of theorems that ended alike: how many tactics they need. */
export interface RootValues {
  count: number;
  mean: number | null;
  /** How many there are of each, rounded. */
  by_value: Record<string, number>;
}

/** /api/searches: a sample of the attempts, evenly over the run. */
export interface Searches {
  attempts: number;
  /** Of the run; `attempts` were read. */
  total: number;
  /** Of all of them together: tactics_run, rejected, timeouts, banned, cycles, ... */
  counts: Record<string, number>;
  steps: SearchesOfStep[];
  /** By outcome: proven, unproven. */
  values: Record<string, RootValues>;
  /** How often a proved theorem had a lower value than one that was not proved; 0.5 is chance, 1 perfect. */
  told_apart: number | null;
}

/** One step of a proof; `depth` counts the tactics still needed, this one too. */
export interface Transition {
  state: string;
  tactic: string;
  depth: number;
}

/** A tactic that Lean refused. */
export interface FailedTactic {
  state: string;
  tactic: string;
}

/** /api/attempts/<rank>/<step>/<seq>: the attempt with all of its record but the tree. */
export interface Attempt {
  rank: number;
  step: number;
  seq: number;
  dataset: string;
  id: string;
  outcome: "proven" | "disproven" | "unproven" | "error";
  disproving: boolean;
  simulations: number;
  budget: number;
  tactics: number;
  seconds: number;
  time: number | null;
  tree: boolean;
  statement: string;
  proof: string;
  source: string;
  message: string;
  stop_reason: string;
  policy: string;
  seed: number;
  counts: Record<string, number>;
  /** Seconds of each phase. */
  phases: Record<string, number>;
  check: Record<string, unknown> | null;
  transitions: Transition[];
  total_transitions: number;
  failed_tactics: FailedTactic[];
  total_failed_tactics: number;
}

/** /api/theorem: its history, and its best attempt. */
export interface Theorem {
  theorem: TheoremRow;
  /** The shortest proof, else the last attempt. */
  best: Attempt | null;
  /** The newest attempts, last one first. */
  history: AttemptRow[];
  total: number;
}

/** A search tree in columns, one entry per node, parents before children, as `search/tree_json.py` describes it. */
export interface SearchTree {
  kind: string;
  solved: string;
  parent: number[];
  tactic: number[];
  prior: number[];
  logprob: number[];
  visits: number[];
  value_sum: number[];
  expansions: number[];
  state: number[];
  finisher: number[];
  dead: number[];
  /** Other texts of the edge that leads to a node, as tactics. */
  spellings?: Record<string, number[]>;
  /** Tactics that led nowhere from a node. */
  refused?: Record<string, number[]>;
  /** The simulation that added a node. Missing, as are the next two, in older files and where nodes were left out. */
  born?: number[];
  /** The node that each simulation expanded; -1 where it went to a disproof. */
  ends?: number[];
  /** What each simulation backed up from that node. */
  values?: number[];
  states: string[];
  tactics: string[];
}

/** /api/attempts/<rank>/<step>/<seq>/tree */
export interface TreeAnswer {
  attempt: AttemptRow;
  /** Of the whole tree; `tree` holds the most visited ones if there are more than one response may have. */
  nodes: number;
  tree: SearchTree;
}

/** /api/evaluations/<name>/results/<index>/tree: as TreeAnswer. */
export interface EvaluatedTree {
  nodes: number;
  tree: SearchTree;
}

/** The name of an attempt, with the rank, and whether its search tree is kept. */
export interface LoggedAs {
  step: number;
  seq: number;
  tree: boolean;
}

/** /api/actors/<rank>/<actor>/tree: the search that an actor is at, as it was a moment ago. */
export interface LiveSearch {
  rank: number;
  actor: number;
  /** `asked`: nothing was shown yet; `taken`: somebody watches `watched`; `elsewhere`: it searches in another process; `silent`: the rank does not run; `refused`: the run's folder cannot be written. */
  state: "asked" | "under way" | "over" | "taken" | "elsewhere" | "silent" | "refused";
  watched: number | null;
  /** The number of this search among those of the actor, for `after`. */
  search: number | null;
  time: number | null;
  theorem: string;
  dataset: string;
  /** collect or evaluate. */
  purpose: string;
  simulations: number;
  budget: number | null;
  outcome: "proven" | "disproven" | "unproven" | "error" | null;
  message: string;
  /** What became of it, where it was logged. */
  attempt: LoggedAs | null;
  /** Of the whole tree, as in TreeAnswer. */
  nodes: number;
  /** Null where it is too large to be shown while it grows. */
  tree: SearchTree | null;
}

/** A tactic that the model sampled, and what became of it. */
export interface SampledTactic {
  tactic: string;
  logprob: number;
  count: number;
  /** applied, solved, rejected, timeout, cycle, or untried. */
  outcome: string;
  message: string;
}

/** A state, with the tactics and the value that the model gave it. */
export interface Sample {
  rank: number;
  step: number;
  time: number | null;
  dataset: string;
  id: string;
  state: string;
  tactics: SampledTactic[];
  dropped: number;
  /** Expected number of tactics still needed. */
  value: number | null;
  /** Probabilities of 1, 2, ... tactics. */
  distribution: number[];
  /** The true number, where a proof was found through this state. */
  depth: number | null;
}

/** `PUT /api/ask`: what the policy of the run says at a state, with its present weights. */
export interface StateAnswer {
  /** `asked`: not answered yet, ask again; `taken`: another question is before this one; `silent`: the run is over. */
  state: "asked" | "taken" | "answered" | "silent";
  /** Why the policy could not answer. */
  error: string;
  sample: Sample | null;
  /** Of a run that is over: what asks its newest checkpoint; empty without one. */
  command: string;
}

/** An example that was trained on, with the loss of each token (null where none was asked for). */
export interface TrainSample {
  step: number;
  time: number | null;
  /** sft, replay, negative, or value (a state without a tactic). */
  kind: string;
  tokens: string[];
  losses: (number | null)[];
  loss: number | null;
}

/** States with values between `low` and `high`: their true distances from a proof. */
export interface CalibrationBin {
  low: number;
  high: number;
  count: number;
  predicted: number;
  actual: number;
  /** Standard deviation of the true number. */
  deviation: number;
}

/** States that needed so many tactics, the last row also more: what the model predicted there. */
export interface CalibrationDepth {
  depth: number;
  count: number;
  predicted: number;
  /** Mean of predicted minus true numbers. */
  error: number;
  absolute_error: number;
}

/** /api/calibration: values against the true depths known from proofs. */
export interface Calibration {
  bins: CalibrationBin[];
  depths: CalibrationDepth[];
  count: number;
  /** Expected calibration error, in tactics, as in `scripts.policy_eval`. */
  expected_error: number | null;
  mean_error: number | null;
  mean_absolute_error: number | null;
  correlation: number | null;
  first_step: number | null;
  last_step: number | null;
}

/** A round of self-play; what is not known yet is null. */
export interface Round {
  number: number;
  over: boolean;
  /** Of the data's statements, ever proved. */
  proved_percent: number | null;
  /** To learn from. */
  proofs: number | null;
  /** Conjectures that teach the conjecturer. */
  lessons: number | null;
  /** Mean tokens of what is trained on. */
  length: number | null;
  /** Distinct texts behind names, for each statement that was attempted. */
  distinct_statements: number | null;
  /** Distinct proofs for each problem that has one. */
  proofs_each: number | null;
  /** Of its conjectures: pairs, proposed, refused, kept, ... */
  tally: Record<string, number>;
  /** How many problems have a rate. */
  success_rates: Record<string, number>;
}

/** /api/rounds: of an experiment of self-play; none for other runs. */
export interface Rounds {
  rounds: Round[];
}

/** Spans [start, end, state] of one actor, or of one rank's model or phases. */
export interface Lane {
  rank: number;
  kind: "actor" | "model" | "phase";
  name: string;
  spans: [number, number, string][];
}

/** Samples of a model's load, ten times a second while it computes, in columns; thinned if there are too many. */
export interface Batches {
  rank: number;
  /** Seconds that the model computed, by all samples. */
  busy: number;
  start: number[];
  /** How long it computed since the sample before. */
  seconds: number[];
  rows: number[];
  states: number[];
  queue: number[];
}

/** /api/timeline: spans within [start, end] of a run that has them within [first, last]. */
export interface Timeline {
  /** Later than what was asked for if `shortened`. */
  start: number;
  end: number;
  first: number | null;
  last: number | null;
  lanes: Lane[];
  batches: Batches[];
  /** Fraction of the actors' time in each state, in all that is shown. */
  shares: Record<string, number>;
  /** Whether the beginning was left out because there is too much to read. */
  shortened: boolean;
  /** Whether short spans were merged because there are too many. */
  merged: boolean;
}

/** An event of Chrome's trace format. */
export interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts?: number;
  dur?: number;
  args?: Record<string, unknown>;
}

/** /api/trace: for chrome://tracing and Perfetto. */
export interface Trace {
  traceEvents: TraceEvent[];
  displayTimeUnit: string;
}

/** The body of every response with a status from 400 on. */
export interface ApiError {
  error: string;
}

export type Level = "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";

export type Order = "asc" | "desc";

export type StateName = "running" | "stalled" | "silent" | "finished" | "stopped" | "died" | "unknown";

export type StreamKind = "hello" | "status" | "metrics" | "event" | "attempt" | "log" | "reset";

/** How much of the attempt logs has been read. */
export interface Indexing {
  done: boolean;
  bytes: number;
  total_bytes: number;
}

/** How a run fares. */
export interface RunState {
  /** stalled: its process lives but writes nothing; silent: on another machine, without a sign of life; stopped: ended before its time, by a signal or an error; died: its process is gone and left its lock. */
  name: "running" | "stalled" | "silent" | "finished" | "stopped" | "died" | "unknown";
  /** When it was heard of last; null while it is running. */
  since: number | null;
}

/** /api/note: what somebody wrote of a run; `PUT` changes it. */
export interface RunNote {
  /** A name that says more than the folder's. */
  title: string;
  note: string;
}

/** A file of a run; a folder, with a slash, counts as one. */
export interface RunFile {
  name: string;
  bytes: number;
  time: number;
}

/** What a run is. */
export interface RunIdentity {
  path: string;
  /** Such as sft or rl; empty if it is unknown. */
  stage: string;
  /** As one would type it. */
  command: string;
  /** The command that resumes it; empty if there is nothing to resume from. */
  resume: string;
  /** When it was started, or resumed, last. */
  started: number | null;
  seed: number | null;
  commit: string;
  /** Whether the code had changes beside the commit. */
  changed: boolean;
  versions: Record<string, string>;
  /** host, system, processor, cores, memory; empty in runs of earlier versions. */
  hardware: Record<string, string | number | null>;
  decisions: Record<string, string>;
  /** The checkpoint that it started from. */
  parent: string;
  /** The largest first. */
  files: RunFile[];
  bytes: number;
}

/** One run in the list of runs. */
export interface RunRow {
  /** Its folder below the one that is shown. */
  name: string;
  title: string;
  /** What somebody wrote of it. */
  note: string;
  stage: string;
  state: RunState;
  step: number | null;
  num_steps: number | null;
  loss: number | null;
  /** Its newest evaluation. */
  score: EvaluationScore | null;
  /** Of a folder of evaluations: the run whose checkpoint they are of, where that is one of the list. */
  evaluates: string;
  started: number | null;
  updated: number | null;
  commit: string;
  changed: boolean;
  seed: number | null;
  host: string;
}

/** A score, with its 95% interval. */
export interface EvaluationScore {
  dataset: string;
  solved: number;
  total: number;
  low: number;
  high: number;
}

/** /api/runs: the runs below a folder, newest first; none of a monitor that shows one run only. */
export interface Runs {
  /** Empty if one run only is shown. */
  folder: string;
  items: RunRow[];
  total: number;
}

/** /api/run: description of the run and its files. */
export interface RunInfo {
  name: string;
  exists: boolean;
  live: boolean;
  time: number;
  /** Changes when the monitor restarts. */
  server: string;
  ranks: number[];
  datasets: string[];
  args: Record<string, unknown>;
  meta: Record<string, unknown>;
  identity: RunIdentity;
  indexing: Indexing;
  /** Whether there are attempts, trees, timeline, samples, train_samples, evaluations, logs, rounds. */
  has: Record<string, boolean>;
}

/** One device of a rank. */
export interface Gpu {
  name: string;
  /** 0 to 1. */
  utilization?: number | null;
  memory?: number | null;
  memory_total?: number | null;
}

/** The state of a rank, from its status file. */
export interface RankStatus {
  rank: number;
  live: boolean;
  age: number;
  phase: string;
  step: number | null;
  pid: number | null;
  /** Resident memory of the process. */
  memory: number | null;
  gpu: Gpu | null;
  /** How many actors are in each state. */
  actors: Record<string, number>;
}

/** A Lean server, and what the run's actors see of it. */
export interface LeanServer {
  address: string;
  /** up or down. */
  state: string;
  actors: number;
  errors: number;
}

/** A host of a cluster that makes attempts for the run; also those that are gone. */
export interface Host {
  name: string;
  state: "up" | "gone";
  /** When it joined, or was lost; null where no event tells. */
  since: number | null;
  /** How many attempts it works on at a time. */
  size: number;
  under_way: number;
  attempts: number;
  /** Since it joined. */
  attempts_per_minute: number;
  /** Attempts that were lost with it and went to others. */
  given_again: number;
  /** Addresses of its Lean servers, with their state where that is not up. */
  servers: string[];
  /** Why it is gone. */
  reason: string;
}

/** What became of attempts that were handed to hosts. */
export interface Remote {
  attempts: number;
  /** Dropped since they were begun with weights that are too old. */
  stale: number;
  given_again: number;
  /** Of the weights. */
  revision: number;
}

/** An event of the run. */
export interface Event {
  time: number;
  kind: string;
  rank: number;
  /** The event in one line. */
  text: string;
  fields: Record<string, unknown>;
}

/** The score of one evaluation, with its 95% interval. */
export interface EvaluationPoint {
  name: string;
  step: number | null;
  time: number | null;
  solved: number;
  total: number;
  low: number;
  high: number;
  simulations: number;
}

/** What solver tactics alone prove of the theorems of a benchmark, with its 95% interval. */
export interface SolverScore {
  solved: number;
  total: number;
  low: number;
  high: number;
  /** The folder of the evaluation. */
  where: string;
}

/** The scores on one benchmark with one budget, by step. */
export interface Benchmark {
  /** Such as nanolean/valid; with simulations and theorems where others differ in nothing else. */
  name: string;
  dataset: string;
  split: string;
  simulations: number;
  total: number;
  /** A hash of the theorems of its newest evaluation; empty where that does not tell. */
  theorem_set: string;
  lean: string;
  points: EvaluationPoint[];
  solvers: SolverScore | null;
}

/** The best checkpoint so far. */
export interface Best {
  step: number;
  solved: number;
}

/** The part of the overview that changes all the time. */
export interface LiveOverview {
  time: number;
  live: boolean;
  state: RunState;
  phase: string;
  step: number | null;
  num_steps: number | null;
  /** At work, over all its parts; never less than before. */
  elapsed: number | null;
  /** As the run counts them towards `max_seconds`: a checkpoint restores them. */
  seconds: number | null;
  /** The time limit, if it has one. */
  max_seconds: number | null;
  /** Expected time to the last step, estimated from the newest steps. */
  remaining: number | null;
  /** Seconds until the next evaluation, where the run tells. */
  until_evaluation: number | null;
  collected: number | null;
  collect_transitions: number | null;
  indexing: Indexing;
  /** As far as their logs were read; `since_step` of them belong to no step that has ended. */
  attempts: number;
  since_step: number;
  proofs: number;
  disproofs: number;
  errors: number;
  /** Found proofs that the final check neither accepted nor refused. */
  lost_proofs: number;
  /** Found proofs that it refused, or that did not replay. */
  refused_proofs: number;
  /** The reason of the newest lost proof. */
  last_loss: string | null;
  /** Of the data sets, as `theorems_proven` is. */
  theorems: number | null;
  theorems_proven: number | null;
  /** Of the last hour, or of as much as there is. */
  proofs_per_hour: number | null;
  replay: number | null;
  negative: number | null;
  /** The newest value of each. */
  metrics: Record<string, number | null>;
  /** The value before it. */
  previous: Record<string, number | null>;
  ranks: RankStatus[];
  servers: LeanServer[];
  /** Those that work for it, then those that are gone; empty where actors are threads of the ranks. */
  hosts: Host[];
  remote: Remote | null;
}

/** /api/overview */
export interface Overview {
  time: number;
  live: boolean;
  state: RunState;
  phase: string;
  step: number | null;
  num_steps: number | null;
  elapsed: number | null;
  seconds: number | null;
  max_seconds: number | null;
  remaining: number | null;
  until_evaluation: number | null;
  collected: number | null;
  collect_transitions: number | null;
  indexing: Indexing;
  attempts: number;
  since_step: number;
  proofs: number;
  disproofs: number;
  errors: number;
  lost_proofs: number;
  refused_proofs: number;
  last_loss: string | null;
  theorems: number | null;
  theorems_proven: number | null;
  proofs_per_hour: number | null;
  replay: number | null;
  negative: number | null;
  metrics: Record<string, number | null>;
  previous: Record<string, number | null>;
  ranks: RankStatus[];
  servers: LeanServer[];
  hosts: Host[];
  remote: Remote | null;
  run: string;
  /** The name that somebody gave it; mostly empty. */
  title: string;
  stage: string;
  /** The command that resumes it; empty if there is nothing to resume from. */
  resume: string;
  /** Whether it is an experiment of self-play. */
  rounds: boolean;
  benchmarks: Benchmark[];
  best: Best | null;
  checkpoints: number[];
  /** The newest, last one first. */
  events: Event[];
}

/** /api/series: metrics by step, in columns; merged steps have mean, lowest and highest value. */
export interface Series {
  /** All metrics there are. */
  names: string[];
  steps: number[];
  times: (number | null)[];
  values: Record<string, (number | null)[]>;
  low: Record<string, (number | null)[]>;
  high: Record<string, (number | null)[]>;
  total: number;
  thinned: boolean;
  /** Whether the last step was cut short, as by the time limit of the run: its counts and times are lower for that. */
  partial: boolean;
}

/** One thread. */
export interface Actor {
  actor: number;
  /** model, lean, idle, error, or paused: waiting for a model that is paused for training. */
  state: string;
  theorem: string;
  simulations: number;
  budget: number | null;
  server: string;
  /** How long it has been in its state. */
  state_seconds: number | null;
  /** Spent in each state so far. */
  seconds: Record<string, number>;
}

/** The actors of one rank. */
export interface RankActors {
  rank: number;
  live: boolean;
  age: number;
  phase: string;
  actors: Actor[];
  /** More than `actors` holds, if there are too many; `states` and `seconds` are of all of them. */
  total: number;
  /** How many actors are in each state. */
  states: Record<string, number>;
  /** Spent in each state so far, by all actors together. */
  seconds: Record<string, number>;
}

/** /api/actors */
export interface Actors {
  time: number;
  ranks: RankActors[];
}

/** An evaluation; `done` of `total` theorems if it is not over. */
export interface EvaluationRow {
  name: string;
  /** What was evaluated: checkpoint or policy, seed, tactics of a state; tells evaluations of one directory apart. */
  about: string;
  /** The path of the checkpoint; empty for a policy without one, and before the evaluation is over. */
  model: string;
  dataset: string;
  split: string;
  step: number | null;
  time: number | null;
  over: boolean;
  done: number;
  total: number;
  solved: number;
  low: number;
  high: number;
  failed: number;
  errors: number;
  simulations: number;
  tactic_samples: number | null;
  seconds: number | null;
  solved_at: Record<string, number>;
  /** Solved within so many simulations by solver tactics alone, where that was measured too. */
  baseline: Record<string, number> | null;
  /** How many of the proofs which checkers accept; empty where nobody was asked. */
  accepted: string;
}

/** /api/evaluations: the newest first. */
export interface Evaluations extends Page<EvaluationRow> {
  benchmarks: string[];
}

/** A theorem of an evaluation; `index` is its place among the results. */
export interface EvaluationResult {
  index: number;
  dataset: string;
  id: string;
  /** Shortened; `EvaluatedTheorem` has all of it. */
  statement: string;
  outcome: "proven" | "disproven" | "unproven" | "error";
  simulations: number;
  tactics: number;
  seconds: number;
  message: string;
}

/** The score on some of the theorems, with its 95% interval. */
export interface EvaluationPart {
  /** `part` is the first word of the names, such as `classic` or `imo`; `level` their `l3`. */
  by: "dataset" | "part" | "level";
  name: string;
  solved: number;
  total: number;
  low: number;
  high: number;
}

/** /api/evaluations/<name> */
export interface Evaluation {
  evaluation: EvaluationRow;
  settings: Record<string, unknown>;
  outcomes: Record<string, number>;
  parts: EvaluationPart[];
  /** How many proofs there are of so many tactics. */
  lengths: Record<string, number>;
  /** Of all searches together: tactics_run, rejected, timeouts, banned, cycles, ... */
  counts: Record<string, number>;
  results: Page<EvaluationResult>;
}

/** /api/evaluations/<name>/results/<index>: one result in full; which of /certificate and /tree there are. */
export interface EvaluatedTheorem {
  result: EvaluationResult;
  statement: string;
  proof: string;
  source: string;
  stop_reason: string;
  transitions: Transition[];
  counts: Record<string, number>;
  phases: Record<string, number>;
  kept: ("certificate" | "tree")[];
}

/** /api/evaluations/diff: two evaluations of the same theorems. */
export interface EvaluationDiff {
  /** The run of the folder that holds evaluation a; empty where both are of the run that was asked. */
  run_a: string;
  run_b: string;
  a: EvaluationRow;
  b: EvaluationRow;
  total: number;
  both: number;
  only_a: number;
  only_b: number;
  neither: number;
  /** McNemar's exact test: how likely so uneven a result were if both were equally good. */
  p: number;
  difference: number;
  low: number;
  high: number;
  gained: string[];
  lost: string[];
  errors: string[];
  /** What else differs: the values of a and b. */
  settings: Record<string, unknown[]>;
}

/** /api/runs/diff: the newest evaluations of two runs, on each benchmark that both were evaluated on. Evaluations in folders of their own count as those of the run whose checkpoint they evaluated. */
export interface RunDiff {
  /** The earlier one: what differs is gained or lost by b. */
  a: string;
  b: string;
  items: EvaluationDiff[];
}

/** /api/runs/rivals: the evaluations of a run against those of others on the same theorems, which are `a`. */
export interface RunRivals {
  items: EvaluationDiff[];
}

/** A record of a log; lines that follow it, as those of a traceback, are part of its message. */
export interface LogLine {
  rank: number;
  /** Such as 2026-11-21; empty in logs of older runs. */
  date: string;
  /** Time of day. */
  time: string;
  level: "DEBUG" | "INFO" | "WARNING" | "ERROR" | "CRITICAL";
  logger: string;
  message: string;
}

/** /api/logs: records, oldest first. `after=next` gives those that follow, `before=previous` those before. */
export interface Logs {
  items: LogLine[];
  next: string;
  /** None at the beginning of the logs. */
  previous: string | null;
}

/** The first message of /api/stream; after a change of `server` everything must be requested again. */
export interface Hello {
  server: string;
  run: string;
}

/** Once a second while something changes. */
export interface StatusMessage {
  overview: LiveOverview;
  actors: Actors;
}

/** New steps. */
export interface MetricsMessage {
  items: (Record<string, number | null>)[];
}

/** New events. */
export interface EventMessage {
  items: Event[];
}

/** New attempts. */
export interface AttemptMessage {
  items: AttemptRow[];
}

/** New records of the logs. */
export interface LogMessage {
  items: LogLine[];
}

/** Too much was missed to be sent: request everything again. */
export interface Reset {
  reason: string;
}
