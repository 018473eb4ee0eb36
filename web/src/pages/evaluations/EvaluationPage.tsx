// One evaluation: its score, what more simulations bring, and its results.

import { useEffect, useMemo, useRef } from "react";
import type { EvaluatedTheorem, Evaluation, EvaluationResult } from "../../api/types";
import { href, useLastPage, useQuery, useRoute } from "../../app/router";
import { compact, count, dateTime, duration, integer, percent, rate } from "../../lib/format";
import { apiUrl, chosenRun } from "../../api/client";
import { fileRun } from "../../file/data";
import { ProofTools } from "../../lean/ProofTools";
import { LeanSource } from "../../lean/LeanText";
import { Card, Outcome, Search, Segments, Stat, Title } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import { DataTable, type Column } from "../../parts/DataTable";
import { NoPage } from "../../parts/NoPage";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { Transitions } from "../theorems/AttemptDetails";
import { withoutName } from "../theorems/links";
import { Parts, Rivals } from "./Breakdown";
import { Interval } from "./Interval";
import { solvedWithin } from "./wilson";
import "../theorems/theorems.css";
import "./evaluations.css";

const SIZE = 50;
/** How often one that is under way is looked at. */
export const PAUSE = 3000;

const COLUMNS: Column<EvaluationResult>[] = [
  { key: "id", title: "Theorem", cell: (row) => <><span className="mono theorem-id">{row.id}</span><span className="statement small muted mono">{withoutName(row.statement, row.id)}</span><InShort row={row} /></> },
  { key: "outcome", title: "Outcome", cell: (row) => <Outcome of={row.outcome} /> },
  { key: "simulations", title: "Simulations", wide: true, right: true, cell: (row) => integer(row.simulations) },
  { key: "tactics", title: "Proof", wide: true, right: true, hint: "Tactics of the proof", cell: (row) => (row.tactics ? integer(row.tactics) : "–") },
  { key: "seconds", title: "Time", wide: true, right: true, cell: (row) => duration(row.seconds) },
  { key: "message", title: "Message", wide: true, cell: (row) => <span className="small muted result-message">{row.message}</span> },
];

/** What the columns that a phone has no room for say. */
function InShort({ row }: { row: EvaluationResult }) {
  return <div className="phone-only small muted">{[row.message, count(row.simulations, "simulation"), row.tactics ? count(row.tactics, "tactic") : "", duration(row.seconds)].filter(Boolean).join(" · ")}</div>;
}

/** An evaluation by its address, or by name where it is all that there is. */
export function EvaluationPage({ name: given }: { name?: string }) {
  const { parts: [named] } = useRoute();
  const name = given ?? named;
  if (!name) return <NoPage title="Evaluation" says="Which evaluation?">This address names none. <a href={href("evaluations")}>All evaluations</a></NoPage>;
  return <OneEvaluation name={name} isAll={given !== undefined} />;
}

function OneEvaluation({ name, isAll }: { name: string; isAll: boolean }) {
  const run = chosenRun();
  const [query, change] = useQuery();
  const page = Math.max(1, Number(query.get("page")) || 1);
  const outcome = query.get("outcome") ?? "";
  const q = query.get("q") ?? "";
  const answer = useResource<Evaluation>(`evaluations/${encodeURIComponent(name)}`, { outcome, q, page, size: SIZE }, { every: (data) => (data.evaluation.over ? 0 : PAUSE) });
  useLastPage(answer.data?.results);
  const row = answer.data?.evaluation;
  return (
    <>
      <Title note={row && [row.split, row.step === null ? row.about : `step ${integer(row.step)}`, dateTime(row.time)].filter(Boolean).join(" · ")} tools={!isAll && <a className="button" href={href("evaluations")}>All evaluations</a>}>
        {row?.dataset ?? name}
      </Title>
      <Loaded of={answer} height={480}>
        {(data) => (
          <>
            <Score data={data} />
            <div className="two"><Parts of={data} /></div>
            <Card flush title="Results" note={count(data.results.total, "theorem")} tools={
              <>
                <Search label="Search names and statements" width="30ch" value={q} onChange={(next) => change({ q: next, page: null }, true)} />
                <OutcomeFilter value={outcome} counts={data.outcomes} onChange={(next) => change({ outcome: next, page: null }, true)} />
              </>
            }>
              {data.results.items.length === 0
                ? <Empty title={q || outcome ? "No theorem fits" : "No results yet"} />
                : <DataTable caption="Results" columns={COLUMNS} rows={data.results.items} rowKey={(one) => String(one.index)}
                    selected={(one) => String(one.index) === query.get("result")} onOpen={(one) => change({ result: one.index }, true)}
                    page={data.results.page} size={data.results.size} total={data.results.total} onPage={(next) => change({ page: next }, true)} />}
            </Card>
            {query.has("result") && <OneResult name={name} index={query.get("result")!} close={() => change({ result: null }, true)} />}
            {run && !fileRun() && <Rivals run={run} only={name} />}
          </>
        )}
      </Loaded>
    </>
  );
}

const OUTCOMES = [["", "All"], ["proven", "Proved"], ["unproven", "Not proved"], ["error", "Error"]] as const;

function OutcomeFilter({ value, counts, onChange }: { value: string; counts: Record<string, number>; onChange: (outcome: string) => void }) {
  const choices = OUTCOMES.map(([key, text]) => [key, key ? `${text} ${integer(counts[key] ?? 0)}` : text] as const);
  return <div className="outcomes"><Segments<string> label="Outcome" value={value} onChange={onChange} choices={choices} /></div>;
}

export function Score({ data }: { data: Evaluation }) {
  const { evaluation: row, settings } = data;
  const lines = useMemo(() => [
    solvedWithin("model", row.solved_at, row.total),
    ...(row.baseline ? [solvedWithin("solver tactics alone", row.baseline, row.total)] : []),
  ].filter((line) => line.x.length), [row]);
  return (
    <div className="score">
      <Card>
        <dl className="stats">
          <Stat name="Solved" note={<>{integer(row.solved)} of {integer(row.done)}{row.over ? "" : `, ${integer(row.total)} in all`}<br /><span className="score-interval"><Interval row={row} /></span></>}>{rate(row.solved, row.done)}</Stat>
          <Stat name="Simulations" note="at most, for each">{integer(row.simulations)}</Stat>
          <Stat name="Errors">{integer(row.errors)}</Stat>
          <Stat name="Took" note={row.tactic_samples === null ? undefined : `${compact(row.tactic_samples)} tactics sampled`}>{duration(row.seconds)}</Stat>
        </dl>
        {row.accepted && <p className="accepted muted small">Proofs accepted: {row.accepted}</p>}
        <Settings of={settings} />
      </Card>
      <Card title="Solved within so many simulations" note="95% intervals">
        {lines.length === 0
          ? <Empty title="No curve yet">It is written when the evaluation is over.</Empty>
          : <Chart label="Share solved by simulations" lines={lines} height={240} x={(value) => `${integer(Math.round(2 ** value))} simulations`} y={(value) => percent(value)} level={(value) => percent(value, 0)} shape="points" range={[0, null]} tick={(value) => integer(2 ** value)} />}
      </Card>
    </div>
  );
}

function Settings({ of }: { of: Record<string, unknown> }) {
  const entries = Object.entries(of).filter(([, value]) => value !== null && value !== "");
  if (entries.length === 0) return null;
  return (
    <details className="settings small">
      <summary>{count(entries.length, "setting")}</summary>
      <dl>{entries.map(([name, value]) => <div key={name}><dt className="muted">{name}</dt><dd className="mono">{typeof value === "string" ? value : JSON.stringify(value)}</dd></div>)}</dl>
    </details>
  );
}

function OneResult({ name, index, close }: { name: string; index: string; close: () => void }) {
  const answer = useResource<EvaluatedTheorem>(`evaluations/${encodeURIComponent(name)}/results/${encodeURIComponent(index)}`, {}, { forget: true });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.scrollIntoView({ block: "nearest" });
  }, [answer.data]);
  return (
    <div className="stack" ref={place}>
      <Loaded of={answer} height={200}>
        {(data) => (
          <>
            <Card title={<span className="mono">{data.result.id}</span>} note={[data.stop_reason, count(data.result.simulations, "simulation")].filter(Boolean).join(" · ")}
              tools={<><Outcome of={data.result.outcome} />
                {data.kept.includes("tree") && <a className="button" href={href(`tree/evaluation/${encodeURIComponent(name)}/${index}`)}>Search tree</a>}
                {data.result.outcome === "proven" && data.source && <ProofTools id={data.result.id} dataset={data.result.dataset} source={data.source}
                  notes={[`${data.result.id} of ${data.result.dataset}: proof of the evaluation ${name}, ${count(data.result.simulations, "simulation")}`]}
                  certificate={data.kept.includes("certificate") ? apiUrl(`evaluations/${encodeURIComponent(name)}/results/${encodeURIComponent(index)}/certificate`) : null} />}
                <button className="button" type="button" onClick={close}>Close</button></>}>
              <LeanSource text={data.source || data.statement} label={`Text of ${data.result.id}`} />
            </Card>
            {data.transitions.length > 0 && <Transitions of={data.transitions} total={data.transitions.length} tactics={data.result.tactics} />}
          </>
        )}
      </Loaded>
    </div>
  );
}
