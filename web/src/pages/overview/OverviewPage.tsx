// The run at a glance: what it does now, how it goes, what it costs.

import { useState } from "react";
import type { Overview } from "../../api/types";
import { href } from "../../app/router";
import { compact, count, duration, integer, measure, rate, signed, timeOfDay } from "../../lib/format";
import { Card, Stat, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { ScoresCard, SolveRateCard } from "./Benchmarks";
import { Machines } from "./Machines";
import { COLLECTION, LOSS, MetricCard, OwnMetricCard, TIME, useMetrics } from "./MetricCharts";
import "./overview.css";

export function OverviewPage() {
  const live = useLive((state) => state.overview);
  const asked = useResource<Overview>(live ? null : "overview", {}, { every: 3000 });
  return (
    <>
      <Title>Overview</Title>
      {live ? <Glance overview={live} /> : <Loaded of={asked} height={420}>{(overview) => <Glance overview={overview} />}</Loaded>}
    </>
  );
}

function Glance({ overview }: { overview: Overview }) {
  const [own, setOwn] = useState("theorems_proven");
  const metrics = useMetrics(own);
  return (
    <>
      <section className="card figures" aria-label="Figures"><Figures overview={overview} /></section>
      <div className="two">
        <MetricCard of={metrics} group={LOSS} />
        <SolveRateCard benchmarks={overview.benchmarks} best={overview.best} />
        <MetricCard of={metrics} group={COLLECTION} />
        <ScoresCard benchmarks={overview.benchmarks} />
        <MetricCard of={metrics} group={TIME} />
        <OwnMetricCard of={metrics} own={own} onOwn={setOwn} />
      </div>
      <Machines overview={overview} />
      <Card title="Events" note="newest first"><Events overview={overview} /></Card>
    </>
  );
}

const PHASES: Record<string, string> = {
  starting: "Starting", collect: "Collecting", exchange: "Exchanging", train: "Training", evaluate: "Evaluating",
  save: "Saving", stopped: "Stopped",
};

function Figures({ overview }: { overview: Overview }) {
  const { metrics, previous } = overview;
  const loss = metrics["loss"];
  const before = previous["loss"];
  const change = typeof loss === "number" && typeof before === "number" ? `${signed(loss - before)} since the last step` : undefined;
  const remaining = overview.remaining === null ? undefined : `about ${duration(overview.remaining)} to go`;
  const collecting = overview.phase === "collect" && overview.collect_transitions;
  return (
    <dl className="stats">
      <Stat name="Phase" note={collecting ? <Progress now={overview.collected ?? 0} all={overview.collect_transitions ?? 0} word="transitions" /> : undefined}>
        {PHASES[overview.phase] ?? overview.phase}
      </Stat>
      <Stat name="Step" unit={overview.num_steps ? `of ${integer(overview.num_steps)}` : undefined}
        note={overview.num_steps && overview.step !== null ? <Progress now={overview.step} all={overview.num_steps} /> : undefined}>
        {integer(overview.step)}
      </Stat>
      <Stat name="Time" note={remaining}>{duration(overview.elapsed)}</Stat>
      <Stat name="Loss" note={change}>{measure(loss)}</Stat>
      <Stat name="Theorems proved" unit={overview.theorems ? `of ${compact(overview.theorems)}` : undefined}
        note={overview.theorems ? rate(overview.theorems_proven ?? 0, overview.theorems) : undefined}>
        {integer(overview.theorems_proven)}
      </Stat>
      <Stat name="Proofs per hour" note={`${count(overview.proofs, "proof")} in all`}>{integer(overview.proofs_per_hour)}</Stat>
      <Stat name="Attempts" note={`${count(overview.disproofs, "disproof")}, ${count(overview.errors, "error")}`}>{integer(overview.attempts)}</Stat>
      <Stat name="Replay buffer" unit="transitions" note={bufferNote(overview)}>
        {compact(overview.replay)}
      </Stat>
      {(overview.lost_proofs > 0 || overview.refused_proofs > 0) && (
        <Stat name="Found proofs lost" unit={`and ${integer(overview.refused_proofs)} refused`}
          note={overview.last_loss && <span title={overview.last_loss}>{`last: ${overview.last_loss.slice(0, 120)}`}</span>}>
          <span className={overview.lost_proofs > 0 ? "bad" : undefined}>{integer(overview.lost_proofs)}</span>
        </Stat>
      )}
    </dl>
  );
}

/** What is learned from besides the replay buffer. */
function bufferNote({ negative, hindsight }: Overview) {
  const subgoals = hindsight ? `${integer(hindsight)} of solved subgoals` : undefined;
  return [subgoals, negative === null ? undefined : `${integer(negative)} failed tactics`].filter(Boolean).join(", ") || undefined;
}

function Progress({ now, all, word }: { now: number; all: number; word?: string }) {
  const share = all > 0 ? Math.min(1, now / all) : 0;
  return (
    <span className="progress">
      <span className="bar" role="progressbar" aria-valuenow={now} aria-valuemin={0} aria-valuemax={all} aria-label={word ?? "steps"}>
        <span style={{ width: `${100 * share}%` }} />
      </span>
      {word && <span className="progress-text">{integer(now)} of {integer(all)} {word}</span>}
    </span>
  );
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
          <time className="num muted">{timeOfDay(event.time)}</time>
          <span className={`badge ${TONES[event.kind] ?? ""}`}>{event.kind}</span>
          {event.kind === "evaluation" ? <a href={href("evaluations")}>{event.text}</a> : <span>{event.text}</span>}
        </li>
      ))}
    </ol>
  );
}
