// Every actor: what it does, which theorem, how far; and where the actors' time goes.

import { useMemo, useState } from "react";
import type { Actor, Actors, RankActors } from "../../api/types";
import { href, useQuery } from "../../app/router";
import { count, duration, integer } from "../../lib/format";
import { Card, Segments, Silence, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { Shares } from "../../timeline/Shares";
import { liveTreeHref } from "../theorems/links";
import { Timeline } from "../../timeline/Timeline";
import { useTimeline } from "../../timeline/useTimeline";
import { present, sums } from "./tally";
import "./actors.css";

export function ActorsPage() {
  const live = useLive((state) => state.actors);
  const asked = useResource<Actors>(live ? null : "actors", {}, { every: 2000 });
  return live ? <Everyone actors={live} /> : <><Title>Actors</Title><Loaded of={asked} height={420}>{(actors) => <Everyone actors={actors} bare />}</Loaded></>;
}

type State = "all" | "model" | "lean" | "paused" | "idle" | "error";
const WORDS: Record<string, string> = { model: "model", lean: "Lean", paused: "paused", idle: "idle", error: "error" };
const MARKS: Record<string, string> = { model: "◆", lean: "▲", paused: "‖", idle: "○", error: "!" };

function Everyone({ actors, bare = false }: { actors: Actors; bare?: boolean }) {
  const [query, change] = useQuery();
  const state = (query.get("state") ?? "all") as State;
  const counts = sums(present(actors.ranks).map((rank) => rank.states));
  const total = Object.values(counts).reduce((sum, value) => sum + value, 0);
  const choices = (["all", "model", "lean", "paused", "idle", "error"] as const).map((key): [State, string] =>
    [key, `${key === "all" ? "All" : `${MARKS[key]} ${WORDS[key]}`} ${integer(key === "all" ? total : counts[key] ?? 0)}`]);
  const tools = <Segments label="State" value={state} choices={choices} onChange={(next) => change({ state: next === "all" ? null : next }, true)} />;
  return (
    <>
      {!bare && <Title note={count(total, "thread")} tools={tools}>Actors</Title>}
      {bare && tools}
      {total === 0 && <Card><Empty title="No actors">They appear as soon as the run has leased its first Lean process.</Empty></Card>}
      {actors.ranks.filter((rank) => rank.actors.length > 0).map((rank) => <Rank key={rank.rank} rank={rank} time={actors.time} state={state} />)}
      <WhereTimeGoes actors={actors} />
    </>
  );
}

/** `time` is when the rank was looked at. */
function Rank({ rank, time, state }: { rank: RankActors; time: number; state: State }) {
  const shown = state === "all" ? rank.actors : rank.actors.filter((actor) => actor.state === state);
  const doing = rank.live ? rank.phase : rank.phase === "stopped" ? "stopped, last state shown" : <Silence since={time - rank.age} />;
  const cut = rank.total > rank.actors.length ? `, ${integer(rank.actors.length)} of ${integer(rank.total)} shown` : "";
  return (
    <section aria-label={`Rank ${rank.rank}`}>
      <div className="row rank-head"><h2>Rank {rank.rank}</h2><span className="muted small">{doing}{cut}</span></div>
      {shown.length === 0
        ? <p className="muted small">None of these actors is in this state.</p>
        : <ul className="actors">{shown.map((actor) => <Cell key={actor.actor} rank={rank.rank} actor={actor} live={rank.live} />)}</ul>}
    </section>
  );
}

function Cell({ rank, actor, live }: { rank: number; actor: Actor; live: boolean }) {
  const share = actor.budget ? Math.min(1, actor.simulations / actor.budget) : 0;
  return (
    <li className={`actor ${actor.state}`}>
      <div className="top">
        <span className="num muted">{rank}.{actor.actor}</span>
        <span className="state-name"><span aria-hidden="true">{MARKS[actor.state] ?? "?"}</span> {WORDS[actor.state] ?? actor.state}</span>
        <span className="num muted spread" title={actor.server}>{actor.state_seconds === null ? "" : duration(actor.state_seconds)}</span>
      </div>
      <div className="clip what" title={actor.theorem}>
        {actor.theorem ? <a href={href("theorems", { q: actor.theorem })}>{actor.theorem}</a> : <span className="muted">no theorem</span>}
      </div>
      <div className="sims num muted">
        <span className="bar" aria-hidden="true"><span style={{ width: `${100 * share}%` }} /></span>
        <span>{integer(actor.simulations)}{actor.budget ? ` / ${integer(actor.budget)}` : ""}<span className="sr-only"> simulations</span></span>
        {live && actor.theorem && <a href={liveTreeHref(rank, actor.actor)} aria-label={`Watch the search of actor ${rank}.${actor.actor}`}>watch</a>}
      </div>
    </li>
  );
}

const WINDOWS = [["20", "20 s"], ["60", "1 min"], ["300", "5 min"]] as const;

function WhereTimeGoes({ actors }: { actors: Actors }) {
  const [seconds, setSeconds] = useState<"20" | "60" | "300">("60");
  const { answer, range, limits, following, choose } = useTimeline(Number(seconds), 6000);
  const lanes = useMemo(() => (answer.data?.lanes ?? []).filter((lane) => lane.kind === "actor"), [answer.data]);
  const all = useMemo(() => sums(present(actors.ranks).map((rank) => rank.seconds)), [actors]);
  const tools = (
    <>
      {!following && <button className="button" onClick={() => choose(null)}>Follow</button>}
      <Segments label="Length" value={seconds} choices={WINDOWS} onChange={(next) => { setSeconds(next); choose(null); }} />
    </>
  );
  return (
    <>
      <Card title="Where the time went" note="all actors, since they started"><Shares label="Time of all actors" shares={all} /></Card>
      <Card title="Timeline" note={following ? "drag to look closer" : "Escape or a double click goes back"} tools={tools}>
        <Loaded of={answer} height={280}>
          {() => lanes.length === 0
            ? <Empty title="No timeline">The run has written none for this stretch (see --timeline-minutes).</Empty>
            : <Timeline label="Actors" lanes={lanes} range={range} limits={limits} onRange={choose} />}
        </Loaded>
      </Card>
    </>
  );
}
