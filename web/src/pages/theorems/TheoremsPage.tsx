// The table of theorems that were tried: search, filter, sort.

import type { TheoremRow, Theorems } from "../../api/types";
import { go, useLastPage, useQuery } from "../../app/router";
import { atStep, ago, count, duration, integer } from "../../lib/format";
import { Card, Outcome, Search, Segments, Select, Title, useNow } from "../../parts/basics";
import { DataTable, type Column } from "../../parts/DataTable";
import { Empty, Loaded } from "../../parts/states";
import { useStill } from "../../state/calm";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { theoremHref, withoutName } from "./links";
import "./theorems.css";

const SIZE = 50;
const REST = 4000;

function columnsAt(now: number): Column<TheoremRow>[] {
  return [
    { key: "id", title: "Theorem", sort: true, cell: (row) => <><a className="mono theorem-id" href={theoremHref(row)}>{row.id}</a><span className="statement small muted mono">{withoutName(row.statement, row.id)}</span></> },
    { key: "dataset", title: "Data set", wide: true, sort: true, cell: (row) => <span className="muted name">{row.dataset}</span> },
    { key: "outcome", title: "Outcome", sort: true, hint: "The best so far", cell: (row) => <Outcome of={row.outcome} /> },
    { key: "attempts", title: "Attempts", sort: true, right: true, hint: "How many of them proved it", cell: (row) => <>{row.proven > 0 && <span className="muted">{integer(row.proven)} of </span>}{integer(row.attempts)}</> },
    { key: "tactics", title: "Proof", sort: true, right: true, hint: "Tactics of the shortest proof", cell: (row) => integer(row.tactics) },
    { key: "first", title: "First proof", wide: "desk", sort: true, right: true, hint: "Step of the first proof", cell: (row) => (row.first_proven === null ? "–" : atStep(row.first_proven)) },
    { key: "simulations", title: "Simulations", wide: "desk", sort: true, right: true, hint: "Of all attempts", cell: (row) => integer(row.simulations) },
    { key: "seconds", title: "Time", wide: true, sort: true, right: true, hint: "Of all attempts", cell: (row) => duration(row.seconds) },
    { key: "last", title: "Last attempt", sort: true, right: true, cell: (row) => <span className="muted" title={atStep(row.last_step)}>{ago(row.last_time, now)}</span> },
  ];
}

export function TheoremsPage() {
  const [query, change] = useQuery();
  const [attempts, still] = useStill(useLive((live) => live.overview?.attempts ?? 0));
  const now = useNow();
  const get = (name: string, otherwise = ""): string => query.get(name) ?? otherwise;
  const sort = get("sort", "last");
  const order = get("order", "desc") === "asc" ? "asc" : "desc";
  const page = Math.max(1, Number(get("page")) || 1);
  const question = { q: get("q"), dataset: get("dataset"), outcome: get("outcome"), sort, order, page, size: SIZE };
  const answer = useResource<Theorems>("theorems", question, { version: attempts, atMost: REST });
  useLastPage(answer.data);
  const filter = (changes: Record<string, string>): void => change({ page: null, ...changes }, true);
  const filtered = Boolean(question.q || question.dataset || question.outcome);
  const all = Object.values(answer.data?.outcomes ?? {}).reduce((sum, value) => sum + value, 0);
  return (
    <>
      <Title note={answer.data && `${count(all, "theorem")} tried, ${integer(answer.data.outcomes["proven"])} proved`}>Theorems</Title>
      <div className="row">
        <Search label="Search names and statements" value={question.q} onChange={(q) => filter({ q })} width="30ch" />
        <Select label="Data set" value={question.dataset} onChange={(dataset) => filter({ dataset })}
          choices={[["", "all"], ...Object.entries(answer.data?.datasets ?? {}).map(([name, found]) => [name, `${name} (${integer(found)})`] as const)]} />
        <OutcomeFilter value={question.outcome} counts={answer.data?.outcomes ?? {}} onChange={(outcome) => filter({ outcome })} />
      </div>
      <div {...still}>
        <Card flush>
          <Loaded of={answer} height={480}>
            {(data) => data.items.length === 0
              ? <Nothing filtered={filtered} clear={() => filter({ q: "", dataset: "", outcome: "" })} />
              : <DataTable caption="Theorems" columns={columnsAt(now)} rows={data.items} rowKey={(row) => `${row.dataset}\n${row.id}`}
                  sort={sort} order={order} onSort={(key, next) => change({ sort: key, order: next, page: null }, true)}
                  onOpen={(row) => go(theoremHref(row))} busy={answer.loading && answer.data?.page !== page}
                  page={data.page} size={data.size} total={data.total} onPage={(next) => change({ page: next }, true)} />}
          </Loaded>
        </Card>
      </div>
    </>
  );
}

const OUTCOMES = [["", "All"], ["proven", "Proved"], ["unproven", "Not proved"], ["disproven", "Disproved"], ["error", "Error"]] as const;

function OutcomeFilter({ value, counts, onChange }: { value: string; counts: Record<string, number>; onChange: (outcome: string) => void }) {
  const choices = OUTCOMES.map(([key, text]) => [key, key && counts[key] !== undefined ? `${text} ${integer(counts[key])}` : text] as const);
  return <div className="outcomes"><Segments<string> label="Outcome" value={value} choices={choices} onChange={onChange} /></div>;
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  if (!filtered) return <Empty title="No theorem was tried yet">Theorems appear here when their first attempt ends.</Empty>;
  return (
    <Empty title="No theorem fits">
      <div><button className="button" type="button" onClick={clear}>Show all</button></div>
    </Empty>
  );
}
