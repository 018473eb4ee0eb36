// One theorem: what became of it over the run, its proof, and the steps of the proof.

import type { Attempt, AttemptRow, Theorem } from "../../api/types";
import { href, useQuery, useRoute } from "../../app/router";
import { atStep, attemptStep, count, dateTime, duration, integer } from "../../lib/format";
import { Card, Outcome, Stat, Title } from "../../parts/basics";
import { DataTable, type Column } from "../../parts/DataTable";
import { NoPage } from "../../parts/NoPage";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { AttemptDetails } from "./AttemptDetails";
import { HistoryChart } from "./HistoryChart";
import { attemptPath, treeHref } from "./links";
import "./theorems.css";

const SIZE = 25;
const REST = 4000;

const COLUMNS: Column<AttemptRow>[] = [
  { key: "step", title: "Step", cell: (row) => <span className="name">{attemptStep(row.step)}</span> },
  { key: "outcome", title: "Outcome", cell: (row) => <span className="row"><Outcome of={row.outcome} />{row.disproving && row.outcome !== "disproven" && <span className="small muted">of the negation</span>}</span> },
  { key: "simulations", title: "Simulations", right: true, hint: "Used, of those allowed", cell: (row) => <>{integer(row.simulations)} <span className="muted">of {integer(row.budget)}</span></> },
  { key: "tactics", title: "Proof", wide: true, right: true, hint: "Tactics of the proof", cell: (row) => (row.tactics ? integer(row.tactics) : "–") },
  { key: "seconds", title: "Time", wide: true, right: true, cell: (row) => duration(row.seconds) },
  { key: "time", title: "When", wide: true, right: true, cell: (row) => <span className="muted">{dateTime(row.time)}</span> },
  { key: "tree", title: "", cell: (row) => (row.tree ? <a href={treeHref(row)}>Tree</a> : "") },
];

export function TheoremPage() {
  const { query } = useRoute();
  const dataset = query.get("dataset");
  const id = query.get("id");
  if (!dataset || !id) return <NoPage title="Theorem" says="Which theorem?">This address names none. <a href={href("theorems")}>All theorems</a></NoPage>;
  return <OneTheorem dataset={dataset} id={id} />;
}

function OneTheorem({ dataset, id }: { dataset: string; id: string }) {
  const attempts = useLive((live) => live.overview?.attempts ?? 0);
  const answer = useResource<Theorem>("theorem", { dataset, id }, { version: attempts, atMost: REST, forget: true });
  const theorem = answer.data?.theorem;
  return (
    <>
      <Title note={<>{dataset}{theorem && <> <Outcome of={theorem.outcome} /></>}</>} tools={<a className="button" href={href("theorems")}>All theorems</a>}>
        <span className="mono theorem-id">{id}</span>
      </Title>
      <Loaded of={answer} height={480}>{(data) => <Contents data={data} />}</Loaded>
    </>
  );
}

function Contents({ data }: { data: Theorem }) {
  const { theorem, best } = data;
  const [query, change] = useQuery();
  const chosen = query.get("attempt");
  const page = Math.max(1, Number(query.get("page")) || 1);
  const own = best && attemptPath(best) === chosen ? null : chosen;
  const other = useResource<Attempt>(own && `attempts/${own.split("/").map(encodeURIComponent).join("/")}`, {}, { forget: true });
  const rows = data.history.slice((page - 1) * SIZE, page * SIZE);
  const shown = own ?? (best && attemptPath(best));
  return (
    <>
      <Card>
        <dl className="stats">
          <Stat name="Attempts" note={theorem.errors ? count(theorem.errors, "error") : undefined}>{integer(theorem.attempts)}</Stat>
          <Stat name="Proved" unit={`of ${integer(theorem.attempts)}`} note={theorem.disproven ? `${integer(theorem.disproven)} disproofs` : undefined}>{integer(theorem.proven)}</Stat>
          <Stat name="First proof" unit={theorem.first_proven === null ? "" : undefined}>{theorem.first_proven === null ? "–" : atStep(theorem.first_proven)}</Stat>
          <Stat name="Shortest proof" unit={theorem.tactics === null ? "" : theorem.tactics === 1 ? "tactic" : "tactics"}>{integer(theorem.tactics)}</Stat>
          <Stat name="Simulations">{integer(theorem.simulations)}</Stat>
          <Stat name="Time">{duration(theorem.seconds)}</Stat>
        </dl>
      </Card>
      <Card title="Attempts" flush note={data.total > data.history.length ? `the newest ${integer(data.history.length)} of ${integer(data.total)}` : "choose one to see it below"}>
        {data.history.length > 1 && <HistoryChart attempts={data.history} chosen={shown} onChoose={(attempt) => change({ attempt: attemptPath(attempt) }, true)} />}
        <DataTable caption="Attempts" columns={COLUMNS} rows={rows} rowKey={attemptPath} selected={(row) => attemptPath(row) === shown}
          onOpen={(row) => change({ attempt: attemptPath(row) }, true)}
          page={page} size={SIZE} total={data.history.length} onPage={(next) => change({ page: next }, true)} />
      </Card>
      {own
        ? <Loaded of={other} height={300}>{(attempt) => <AttemptDetails attempt={attempt} best={false} />}</Loaded>
        : best ? <AttemptDetails attempt={best} best /> : <Empty title="Its record is gone">The log of attempts holds no full record of this theorem any more.</Empty>}
    </>
  );
}
