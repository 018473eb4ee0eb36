// The search that an actor is at: its tree as it grows, and how it ended.

import { useMemo, useState, type ReactNode } from "react";
import type { Actor, LiveSearch } from "../../api/types";
import { href } from "../../app/router";
import { atStep, count, integer } from "../../lib/format";
import { Outcome, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { Explorer } from "../../tree/Explorer";
import { liveTreeHref, theoremHref } from "../theorems/links";
import "./live.css";

/** Between two questions while a search goes on; the run takes snapshots at most as often. */
const PAUSE = 600;

export function LiveTreePage({ rank, actor }: { rank: string; actor: string }) {
  const [after, setAfter] = useState<number | null>(null);
  const path = `actors/${encodeURIComponent(rank)}/${encodeURIComponent(actor)}/tree`;
  const every = (data: LiveSearch): number => (data.state === "over" && data.attempt ? 0 : PAUSE);
  const answer = useResource<LiveSearch>(path, { after }, { every, atMost: PAUSE });
  const one = useLive((live) => live.actors?.ranks.find((found) => String(found.rank) === rank)?.actors.find((found) => String(found.actor) === actor));
  const search = answer.data;
  const known = search !== null && search.search !== null;
  const name = known ? search.theorem : one?.theorem;
  return (
    <>
      <Title
        note={<>actor {rank}.{actor}{known && <> · {search.dataset}{search.purpose === "evaluate" && " · evaluation"} · <Simulations of={search} /></>}</>}
        tools={
          <>
            {search?.state === "over" && <button className="button" type="button" onClick={() => setAfter(search.search)}>Watch its next search</button>}
            <a className="button" href={href("actors")}>All actors</a>
          </>
        }
      >
        {known && search.state === "over" && search.attempt ? <a href={theoremHref({ dataset: search.dataset, id: search.theorem })}>{name}</a> : name || "Search under way"}
      </Title>
      <Loaded of={answer} height={560}>
        {(data) => (data.search === null ? <Nothing of={data} actor={one} /> : <Search key={data.search} of={data} />)}
      </Loaded>
    </>
  );
}

function Simulations({ of }: { of: LiveSearch }) {
  const share = of.budget ? Math.min(1, of.simulations / of.budget) : 0;
  return (
    <span className="live-simulations num">
      <span className="bar" aria-hidden="true"><span style={{ width: `${100 * share}%` }} /></span>
      {" "}{of.budget ? `${integer(of.simulations)} of ${integer(of.budget)} simulations` : count(of.simulations, "simulation")}
    </span>
  );
}

function Search({ of }: { of: LiveSearch }) {
  const tree = useMemo(() => of.tree, [of.time]); // the same snapshot may be answered again
  const goesOn = of.state === "under way";
  const badge: ReactNode = goesOn ? <span className="badge accent" role="status">under way</span> : of.outcome && <Outcome of={of.outcome} />;
  return (
    <>
      {!goesOn && <p className="small live-end" role="status">{endOf(of)}</p>}
      {tree
        ? <Explorer data={tree} total={of.nodes} badge={badge} live={goesOn} />
        : <Empty title={`${count(of.nodes, "node")}: too many to be shown while they grow`}>The simulations go on being counted.</Empty>}
    </>
  );
}

function endOf(search: LiveSearch): ReactNode {
  const { attempt, rank } = search;
  return (
    <>
      The search is over{search.message && `: ${search.message}`}.{" "}
      {attempt && (attempt.tree
        ? <a href={href(`tree/${rank}/${attempt.step}/${attempt.seq}`)}>Its tree is kept, as an attempt of {atStep(attempt.step)}</a>
        : "Its tree is not kept: what is shown here is all there is.")}
    </>
  );
}

function Nothing({ of, actor }: { of: LiveSearch; actor: Actor | undefined }) {
  switch (of.state) {
    case "silent":
      return <Empty title="This rank does not search">It has ended, or it has not written its status for ten seconds. <a href={href("tree")}>Trees of searches that are over</a></Empty>;
    case "taken":
      return <Empty title="Another search of this rank is being watched">One at a time can be. <a href={liveTreeHref(of.rank, of.watched ?? 0)}>Watch that of actor {of.rank}.{of.watched}</a>, or wait: this page keeps asking.</Empty>;
    case "elsewhere":
      return <Empty title="This search is in another process">Only searches of threads of the run itself can be watched, not those of --prover-processes or of other hosts. <a href={href("tree")}>Trees of searches that are over</a></Empty>;
    case "refused":
      return <Empty title="The run cannot be asked">The monitor asks for a search with a file in the run's folder, and cannot write there.</Empty>;
    default:
      return <Empty title={actor && !actor.theorem ? "This actor has no search at present" : "Waiting for its next simulation"}>A search is seen between two simulations{actor?.theorem ? `; it has done ${integer(actor.simulations)}` : ""}.</Empty>;
  }
}
