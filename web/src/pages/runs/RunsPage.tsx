// The runs of a folder: how each fares, how far it is, its newest score. Search, sort, open one.

import { useEffect, useMemo, useState } from "react";
import { runHref } from "../../api/client";
import type { RunRow, Runs } from "../../api/types";
import { Side } from "../../app/Frame";
import { useQuery } from "../../app/router";
import { count, dateTime, integer, measure, percent, rate } from "../../lib/format";
import { stateTone, stateWord } from "../../lib/state";
import { Card, Search, Title } from "../../parts/basics";
import { DataTable, type Column } from "../../parts/DataTable";
import { Empty } from "../../parts/states";
import { useResource } from "../../state/resource";
import { Compare, MOST_COMPARED } from "./Compare";
import { matching, sorted } from "./rows";

const SIZE = 50;
const REST = 3000;

const COLUMNS: Column<RunRow>[] = [
  { key: "name", title: "Run", sort: true, cell: (row) => <span title={row.note || undefined}><a href={hrefOf(row)}>{row.name}</a>{row.title && <div className="small muted">{row.title}</div>}{row.evaluates && <div className="small muted">of {row.evaluates}</div>}<InShort row={row} /></span> },
  { key: "stage", wide: "desk", title: "Stage", sort: true, cell: (row) => row.stage || "–" },
  { key: "state", title: "State", sort: true, cell: (row) => <span className={`badge ${stateTone(row.state)}`}>{stateWord(row.state)}</span> },
  { key: "step", wide: true, title: "Step", sort: true, right: true, cell: (row) => <>{integer(row.step)}{row.num_steps ? <span className="muted"> of {integer(row.num_steps)}</span> : ""}</> },
  { key: "loss", wide: "desk", title: "Loss", sort: true, right: true, cell: (row) => measure(row.loss) },
  { key: "score", wide: true, title: "Newest score", sort: true, right: true, hint: "With its 95% interval", cell: (row) => <Score row={row} /> },
  { key: "updated", wide: true, title: "Last heard of", sort: true, right: true, cell: (row) => <span className="muted">{dateTime(row.updated)}</span> },
  { key: "commit", wide: "desk", title: "Commit", right: true, cell: (row) => <span className="mono muted" title={row.changed ? `${row.commit}, with changes` : row.commit}>{row.commit.slice(0, 7) || "–"}{row.changed && "+"}</span> },
  { key: "seed", wide: "desk", title: "Seed", right: true, cell: (row) => integer(row.seed) },
];

/** What the columns that a phone has no room for say. */
function InShort({ row }: { row: RunRow }) {
  const steps = row.step === null ? "" : `step ${integer(row.step)}${row.num_steps ? ` of ${integer(row.num_steps)}` : ""}`;
  const score = row.score && `${rate(row.score.solved, row.score.total)} of ${row.score.dataset}`;
  return <div className="phone-only small muted">{[row.stage, steps, row.loss === null ? "" : `loss ${measure(row.loss)}`, score].filter(Boolean).join(" · ")}</div>;
}

/** Where stages have most to show, if not on their overview. */
const FIRST_PAGES: Record<string, string> = { "self-play": "#/rounds" };
const hrefOf = (row: RunRow): string => runHref(row.name, FIRST_PAGES[row.stage] ?? "#/");

function Score({ row: { score } }: { row: RunRow }) {
  if (!score) return <span className="muted">–</span>;
  return (
    <span title={`${integer(score.solved)} of ${integer(score.total)} of ${score.dataset}`}>
      <b>{rate(score.solved, score.total)}</b> <span className="muted">{percent(score.low, 0)} to {percent(score.high, 0)} <span className="desk-only">· </span><span className="benchmark-name">{score.dataset}</span></span>
    </span>
  );
}

/** A box for each run, whose curves are shown together. */
function choosing(chosen: string[], choose: (names: string[]) => void): Column<RunRow> {
  const change = (name: string, on: boolean): void => choose(on ? [...chosen, name] : chosen.filter((one) => one !== name));
  return {
    key: "chosen", title: "", hint: "Compare",
    cell: (row) => {
      const on = chosen.includes(row.name);
      return <input type="checkbox" aria-label={`Compare ${row.name}`} checked={on} disabled={!on && chosen.length >= MOST_COMPARED} onChange={(event) => change(row.name, event.target.checked)} />;
    },
  };
}

export function RunsPage({ first }: { first: Runs }) {
  const answer = useResource<Runs>("runs", {}, { every: REST });
  const runs = answer.data ?? first;
  const [words, setWords] = useState("");
  const [[sort, order], setSort] = useState<[string, "asc" | "desc"]>(["updated", "desc"]);
  const [page, setPage] = useState(1);
  const [query, change] = useQuery();
  const known = new Map(runs.items.map((row) => [row.name, row]));
  const chosen = query.getAll("with").flatMap((text) => text.split("\n")).filter((name) => known.has(name)).slice(0, MOST_COMPARED);
  const columns = [choosing(chosen, (names) => change({ with: names.join("\n") || null }, true)), ...COLUMNS];
  useEffect(() => {
    document.title = "runs · nanoproof";
  }, []);
  const rows = useMemo(() => sorted(matching(runs.items, words), sort, order), [runs, words, sort, order]);
  const running = runs.items.filter((row) => row.state.name === "running").length;
  return (
    <div className="frame">
      <Side current="" run={null} />
      <main className="page" id="main" tabIndex={-1}>
        <Title note={<>{running > 0 && `${integer(running)} running · `}<span className="mono small">{runs.folder}</span></>}>{count(runs.total, "run")}</Title>
        {answer.error && <p className="warn" role="status">{answer.error.message} The list is as it was.</p>}
        {chosen.length > 0 && <Compare rows={chosen.map((name) => known.get(name)!)} metric={query.get("metric") ?? "loss"} onMetric={(metric) => change({ metric }, true)} onNone={() => change({ with: null }, true)} />}
        <div className="row"><Search label="Search name, note, stage, commit" value={words} onChange={(text) => { setWords(text); setPage(1); }} width="34ch" /></div>
        <Card flush>
          {rows.length === 0
            ? <Empty title={runs.total ? "No run fits" : "No run yet"}>{runs.total ? "Each word must stand in its name, stage, state, commit, data set or machine." : "Each run appears here as soon as it has made its folder."}</Empty>
            : <DataTable caption="Runs" columns={columns} rows={rows.slice((page - 1) * SIZE, page * SIZE)} rowKey={(row) => row.name}
                sort={sort} order={order} onSort={(key, next) => setSort([key, next])} onOpen={(row) => location.assign(hrefOf(row))}
                page={page} size={SIZE} total={rows.length} onPage={setPage} />}
        </Card>
      </main>
    </div>
  );
}
