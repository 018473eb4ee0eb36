// A folder of evaluations, as scripts.prover_eval writes it: what was evaluated, and what came of it.

import { chosenRun } from "../../api/client";
import type { Evaluation, EvaluationRow, Evaluations, Overview } from "../../api/types";
import { count, dateTime } from "../../lib/format";
import { stateSentence, stateTone } from "../../lib/state";
import { Card, Title, useNow } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { fileRun } from "../../file/data";
import { EvaluationPage, PAUSE, Score } from "./EvaluationPage";
import { Parts, Rivals } from "./Breakdown";
import { evaluationHref } from "./links";
import "./evaluations.css";

export function FolderPage({ overview }: { overview: Overview }) {
  const answer = useResource<Evaluations>("evaluations", { size: 100 }, { every: overview.live ? PAUSE : 15_000 });
  return (
    <Loaded of={answer} height={480}>
      {({ items }) => (items.length === 1 ? <><Interrupted overview={overview} /><EvaluationPage name={items[0]!.name} /></> : <Folder overview={overview} rows={items} />)}
    </Loaded>
  );
}

function Folder({ overview, rows }: { overview: Overview; rows: EvaluationRow[] }) {
  const run = chosenRun();
  const models = new Set(rows.map((row) => row.about));
  return (
    <>
      <Title note={models.size === 1 && [...models]}>Evaluations of {overview.title || overview.run}</Title>
      <Interrupted overview={overview} />
      {rows.length === 0 && <Card><Empty title="No evaluation yet">It appears here as soon as it has begun.</Empty></Card>}
      {rows.map((row) => <OneOfFolder key={row.name} row={row} model={models.size > 1 ? row.about : ""} />)}
      {run && !fileRun() && <Rivals run={run} />}
    </>
  );
}

/** What is to be said of evaluations that are not over and that nobody works on. */
export function Interrupted({ overview }: { overview: Overview }) {
  const sentence = stateSentence(overview.state, useNow());
  if (overview.state.name === "stopped") return <section className="card trouble warn" role="status"><p><strong>An evaluation here was stopped before its end.</strong> The command that began it, with --continue, goes on where it stopped.</p></section>;
  return sentence === null ? null : <section className={`card trouble ${stateTone(overview.state)}`} role="status"><p><strong>{sentence}</strong></p></section>;
}

function OneOfFolder({ row, model }: { row: EvaluationRow; model: string }) {
  const answer = useResource<Evaluation>(`evaluations/${encodeURIComponent(row.name)}`, { size: 1 }, { every: row.over ? 0 : PAUSE });
  const name = [row.dataset, row.split].filter(Boolean).join("/");
  return (
    <section className="stack" aria-label={[name, model].filter(Boolean).join(" by ")}>
      <div className="row"><h2 className="benchmark"><a href={evaluationHref(row.name)}>{name}</a></h2>
        <span className="muted small">{model && `${model} · `}{count(row.total, "theorem")}, {count(row.simulations, "simulation")} each · {row.over ? dateTime(row.time) : "under way"}</span>
        <span className="spread" /><a className="button" href={evaluationHref(row.name)}>Theorems and proofs</a></div>
      <Loaded of={answer} height={300}>{(data) => <><Score data={data} /><div className="two"><Parts of={data} /></div></>}</Loaded>
    </section>
  );
}
