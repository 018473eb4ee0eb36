// The attempts whose search tree was kept, the newest first.

import type { AttemptRow, Page } from "../../api/types";
import { go, useLastPage, useQuery } from "../../app/router";
import { fileRun } from "../../file/data";
import { ago, attemptStep, duration, integer } from "../../lib/format";
import { Card, Outcome, Segments, Title, useNow } from "../../parts/basics";
import { DataTable, type Column } from "../../parts/DataTable";
import { Empty, Loaded } from "../../parts/states";
import { useStill } from "../../state/calm";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { attemptPath, liveTreeHref, treeHref } from "../theorems/links";
import "./live.css";

const SIZE = 25;
const REST = 4000;
const OUTCOMES = [["", "All"], ["proven", "Proved"], ["unproven", "Not proved"], ["disproven", "Disproved"]] as const;

function columnsAt(now: number): Column<AttemptRow>[] {
  return [
    { key: "id", title: "Theorem", cell: (row) => <a className="mono theorem-id" href={treeHref(row)}>{row.id}</a> },
    { key: "dataset", title: "Data set", wide: true, cell: (row) => <span className="muted">{row.dataset}</span> },
    { key: "outcome", title: "Outcome", cell: (row) => <Outcome of={row.outcome} /> },
    { key: "step", title: "Step", right: true, cell: (row) => attemptStep(row.step) },
    { key: "simulations", title: "Simulations", right: true, cell: (row) => integer(row.simulations) },
    { key: "seconds", title: "Time", right: true, cell: (row) => duration(row.seconds) },
    { key: "time", title: "When", right: true, cell: (row) => <span className="muted">{ago(row.time, now)}</span> },
  ];
}

export function TreeChoice() {
  const [query, change] = useQuery();
  const [attempts, still] = useStill(useLive((live) => live.overview?.attempts ?? 0));
  const now = useNow();
  const page = Math.max(1, Number(query.get("page")) || 1);
  const outcome = query.get("outcome") ?? "";
  const answer = useResource<Page<AttemptRow>>("attempts", { tree: true, outcome, page, size: SIZE }, { version: attempts, atMost: REST });
  useLastPage(answer.data);
  return (
    <>
      <Title note={fileRun() ? "A choice of those that the run has kept." : "Of the newest attempts the whole search is kept."} tools={<Segments<string> label="Outcome" value={outcome} choices={OUTCOMES} onChange={(next) => change({ outcome: next, page: null }, true)} />}>
        Search trees
      </Title>
      <UnderWay />
      <div {...still}>
        <Card flush>
          <Loaded of={answer} height={480}>
            {(data) => data.items.length === 0
              ? <Empty title={outcome ? "No tree of such an attempt" : "No search tree was kept yet"}>A run keeps the trees of its newest attempts; --keep-trees says how many.</Empty>
              : <DataTable caption="Attempts with a search tree" columns={columnsAt(now)} rows={data.items} rowKey={attemptPath}
                  onOpen={(row) => go(treeHref(row))} busy={answer.loading && data.page !== page}
                  page={data.page} size={data.size} total={data.total} onPage={(next) => change({ page: next }, true)} />}
          </Loaded>
        </Card>
      </div>
    </>
  );
}

const MOST_UNDER_WAY = 6;

/** Some searches that can be watched while they go on. */
function UnderWay() {
  const actors = useLive((live) => live.actors);
  const searches = (actors?.ranks ?? []).filter((rank) => rank.live)
    .flatMap((rank) => rank.actors.filter((actor) => actor.theorem).map((actor) => ({ rank: rank.rank, ...actor })))
   .slice(0, MOST_UNDER_WAY);
  if (searches.length === 0) return null;
  return (
    <Card title="Under way" note="watch a search while it goes on">
      <ul className="under-way small">
        {searches.map((one) => (
          <li key={`${one.rank}.${one.actor}`}><a className="mono" href={liveTreeHref(one.rank, one.actor)}>{one.theorem}</a> <span className="muted num">{integer(one.simulations)}{one.budget ? ` / ${integer(one.budget)}` : ""}</span></li>
        ))}
      </ul>
    </Card>
  );
}
