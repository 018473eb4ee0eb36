// The run at a glance: what it does now, how it goes, what it costs.

import { useEffect, useState } from "react";
import type { Event, Overview, Series } from "../../api/types";
import { go, href } from "../../app/router";
import { compact, count, dateTime, duration, integer, measure, rate, signed } from "../../lib/format";
import { phaseWord, progressOf, shownSteps, stateSentence, stateTone } from "../../lib/state";
import { recent } from "../../lib/trend";
import { ChartTools } from "../../parts/chart_view";
import { Card, CopyButton, Stat, Title, useNow } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { FolderPage } from "../evaluations/FolderPage";
import { evaluationHref } from "../evaluations/links";
import { LatelyCard } from "./Lately";
import { LearningCard } from "./Learning";
import { Machines } from "./Machines";
import { ACCURACY, COLLECTION, LOSS, MetricCard, OwnMetricCard, STEP_TIME, TIME, useMetrics, VALIDATION } from "./MetricCharts";
import { problemsOf } from "./problems";
import { RefusedCard, useSearches } from "./Searches";
import "./overview.css";

export function OverviewPage() {
  const live = useLive((state) => state.overview);
  const asked = useResource<Overview>(live ? null : "overview", {}, { every: 3000 });
  const overview = live ?? asked.data;
  const plays = overview?.rounds ?? false;
  useEffect(() => {
    if (plays) go(href("rounds"), true); // all that there is of an experiment
  }, [plays]);
  if (overview?.stage === "evaluation") return <FolderPage overview={overview} />;
  return (
    <>
      <Title tools={<ChartTools />}>Overview</Title>
      {live ? <Glance overview={live} /> : <Loaded of={asked} height={420}>{(overview) => <Glance overview={overview} />}</Loaded>}
    </>
  );
}

/** What is wrong, what was proved lately, and what became of the tactics, of runs that search. */
function Proving({ overview }: { overview: Overview }) {
  const searches = useSearches();
  const problems = problemsOf(overview, searches.data);
  return (
    <>
      {problems.length > 0 && (
        <Card title="What is wrong">
          <ul className="problems">{problems.map((problem) => <li key={problem.text}><span className={`badge ${problem.tone}`} aria-hidden="true">{problem.tone === "bad" ? "!" : "?"}</span><span>{problem.text} <a href={problem.href}>{problem.where}</a></span></li>)}</ul>
        </Card>
      )}
      <div className="two"><LatelyCard /><RefusedCard of={searches} /></div>
    </>
  );
}

function Glance({ overview }: { overview: Overview }) {
  const [own, setOwn] = useState("");
  const validates = overview.attempts === 0 && Object.keys(overview.metrics).some((name) => name === "step_seconds");
  const proves = overview.attempts > 0;
  const metrics = useMetrics(own || (validates ? "lr_factor" : "theorems_proven"));
  return (
    <>
      <Trouble overview={overview} />
      {!validates && <LearningCard benchmarks={overview.benchmarks} best={overview.best} over={overview.state.name === "finished"} />}
      <section className="card figures" aria-label="Figures"><Figures overview={overview} series={metrics.data} /></section>
      {proves && <Proving overview={overview} />}
      <div className="two">
        <MetricCard of={metrics} group={LOSS} />
        {validates
          ? <><MetricCard of={metrics} group={VALIDATION} /><MetricCard of={metrics} group={ACCURACY} /></>
          : <MetricCard of={metrics} group={COLLECTION} />}
        <MetricCard of={metrics} group={validates ? STEP_TIME : TIME} />
        <OwnMetricCard of={metrics} own={own || (validates ? "lr_factor" : "theorems_proven")} onOwn={setOwn} />
      </div>
      {(overview.ranks.length > 0 || overview.servers.length > 0 || overview.hosts.length > 0) && <Machines overview={overview} />}
      <Card title="Events" note="newest first"><Events overview={overview} /></Card>
    </>
  );
}

/** What happened to a run that should be running and is not, and how to go on. */
function Trouble({ overview }: { overview: Overview }) {
  const now = useNow();
  const sentence = stateSentence(overview.state, now);
  if (sentence === null) return null;
  const goesOn = overview.state.name === "stalled" || overview.state.name === "silent";
  return (
    <section className={`card trouble ${stateTone(overview.state)}`} role="status" aria-label="What happened">
      <p><strong>{sentence}</strong> <a href={href("logs")}>Its log</a></p>
      {!goesOn && overview.resume && (
        <div className="command"><span className="muted small">Resume it from its last checkpoint:</span><code>{overview.resume}</code><CopyButton text={overview.resume} /></div>
      )}
      {!goesOn && !overview.resume && <p className="muted small">It has no checkpoint to resume from.</p>}
    </section>
  );
}

function Figures({ overview, series }: { overview: Overview; series: Series | null }) {
  const { metrics } = overview;
  const next = overview.until_evaluation === null ? undefined : `next evaluation in about ${duration(overview.until_evaluation)}`;
  const remaining = overview.remaining === null ? undefined : `about ${duration(overview.remaining)} to go`;
  const collecting = overview.live && overview.phase === "collect" && overview.collect_transitions;
  const progress = progressOf(overview);
  const steps = shownSteps(overview);
  const proves = overview.attempts > 0 || overview.theorems !== null;
  return (
    <dl className="stats">
      <Stat name="Phase" note={collecting ? <Progress now={overview.collected ?? 0} all={overview.collect_transitions ?? 0} word="transitions" /> : undefined}>
        {phaseWord(overview)}
      </Stat>
      <Stat name="Step" unit={steps ? `of ${integer(steps)}` : undefined}
        note={progress?.by === "step" ? <><Progress now={overview.step ?? 0} all={overview.num_steps ?? 0} />{next}</> : next}>
        {integer(overview.step)}
      </Stat>
      <Stat name="Time" unit={progress?.by === "time" ? `of ${duration(overview.max_seconds)}` : undefined}
        note={progress?.by === "time" ? <><Progress now={Math.round(overview.seconds ?? 0)} all={overview.max_seconds ?? 0} label="seconds" />{remaining}</> : remaining}>
        {duration(overview.elapsed)}
      </Stat>
      <Losses series={series} newest={metrics["loss"] ?? null} />
      {proves && <><Stat name="Theorems proved" unit={overview.theorems ? `of ${compact(overview.theorems)}` : undefined}
        note={overview.theorems ? rate(overview.theorems_proven ?? 0, overview.theorems) : undefined}>
        {integer(overview.theorems_proven)}
      </Stat>
      <Stat name="Proofs per hour" note={`${count(overview.proofs, "proof")} in all`}>{integer(overview.proofs_per_hour)}</Stat>
      <Stat name="Attempts" unit={overview.since_step > 0 && Object.keys(metrics).length > 0 ? `${integer(overview.since_step)} since the last step` : undefined} note={`${count(overview.disproofs, "disproof")}, ${count(overview.errors, "error")}`}>{integer(overview.attempts)}</Stat>
      <Stat name="Replay buffer" unit="transitions" note={bufferNote(overview)}>
        {compact(overview.replay)}
      </Stat></>}
      {(overview.lost_proofs > 0 || overview.refused_proofs > 0) && (
        <Stat name="Found proofs lost" unit={`and ${integer(overview.refused_proofs)} refused`}
          note={overview.last_loss && <span title={overview.last_loss}>{`last: ${overview.last_loss.slice(0, 120)}`}</span>}>
          <span className={overview.lost_proofs > 0 ? "bad" : undefined}>{integer(overview.lost_proofs)}</span>
        </Stat>
      )}
    </dl>
  );
}

/** The loss as a mean of the newest steps, since that of one batch jumps; before it that of held-out data, where there is one. */
function Losses({ series, newest }: { series: Series | null; newest: number | null }) {
  const valid = recent(series?.values["valid/loss"] ?? [], 1);
  const loss = recent(series?.values["loss"] ?? []);
  return (
    <>
      {valid && <Stat name="Validation loss" note={valid.before === null ? "the first one" : `${signed(valid.now - valid.before)} since the one before`}>{measure(valid.now)}</Stat>}
      <Stat name="Loss" note={loss && loss.steps > 1 ? `mean of the last ${integer(loss.steps)} points${loss.before === null ? "" : `, ${signed(loss.now - loss.before)} against as many before`}` : undefined}>{measure(loss?.now ?? newest)}</Stat>
    </>
  );
}

/** What is learned from besides the replay buffer. */
function bufferNote({ negative }: Overview) {
  return negative ? `${integer(negative)} failed tactics` : undefined;
}

function Progress({ now, all, word, label = word ?? "steps" }: { now: number; all: number; word?: string; label?: string }) {
  const share = all > 0 ? Math.min(1, now / all) : 0;
  return (
    <span className="progress">
      <span className="bar" role="progressbar" aria-valuenow={now} aria-valuemin={0} aria-valuemax={all} aria-label={label}>
        <span style={{ width: `${100 * share}%` }} />
      </span>
      {word && <span className="progress-text">{integer(now)} of {integer(all)} {word}</span>}
    </span>
  );
}

/** The evaluation that an event tells of, where it is known; else the list of all. */
function evaluationOf(event: Event, overview: Overview): string {
  const { dataset, split, step } = event.fields;
  const points = overview.benchmarks.filter((one) => one.dataset === dataset && (!split || one.split === split)).flatMap((one) => one.points);
  const found = points.filter((point) => point.step === step);
  return found.length === 1 ? evaluationHref(found[0]!.name) : href("evaluations");
}

const TONES: Record<string, string> = { warning: "warn", error: "bad", evaluation: "accent", checkpoint: "", nan: "bad" };

function Events({ overview }: { overview: Overview }) {
  const fresh = useLive((state) => state.events);
  const seen = new Set<string>();
  const events = [...fresh, ...overview.events].filter((event) => {
    const key = `${event.time} ${event.kind} ${event.rank} ${event.text}`;
    return event.kind !== "phase" && !seen.has(key) && seen.add(key);
  });
  if (events.length === 0) return <Empty title="Nothing has happened yet">Checkpoints, evaluations and warnings will be listed here.</Empty>;
  return (
    <ol className="events">
      {events.slice(0, 12).map((event) => (
        <li key={`${event.time} ${event.kind} ${event.rank} ${event.text}`}>
          <time className="num muted">{dateTime(event.time)}</time>
          <span className={`badge ${TONES[event.kind] ?? ""}`}>{event.kind.replaceAll("_", " ")}</span>
          {event.kind === "evaluation" ? <a href={evaluationOf(event, overview)}>{event.text}</a> : <span>{event.text}</span>}
        </li>
      ))}
    </ol>
  );
}
