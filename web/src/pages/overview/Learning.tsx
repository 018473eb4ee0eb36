// Is the run learning? The solve rate on held-out theorems with its interval, and which theorems flipped since the last evaluation.

import type { Benchmark, Best, EvaluationDiff } from "../../api/types";
import { href } from "../../app/router";
import { integer } from "../../lib/format";
import { Card } from "../../parts/basics";
import { useResource } from "../../state/resource";
import { compareHref } from "../evaluations/links";
import { verdict } from "../evaluations/choice";
import { Scores, SolveRateChart } from "./Benchmarks";
import { Empty } from "../../parts/states";

export function LearningCard({ benchmarks, best, over }: { benchmarks: Benchmark[]; best: Best | null; over: boolean }) {
  const scored = benchmarks.filter((benchmark) => benchmark.points.length > 0);
  return (
    <Card title="Is it learning?" note={best ? `best checkpoint: step ${integer(best.step)}` : undefined} tools={scored.length > 0 && <a className="button" href={href("evaluations")}>All evaluations</a>}>
      {scored.length === 0
        ? over ? <Empty title="No evaluation">Nothing was scored on held-out theorems.</Empty> : <Empty title="No evaluation yet">The first score on held-out theorems appears when an evaluation ends.</Empty>
        : <div className="two">
            <SolveRateChart benchmarks={scored} />
            <div className="stack"><Scores benchmarks={scored} />{scored.map((benchmark) => <Flips key={benchmark.name} benchmark={benchmark} named={scored.length > 1} />)}</div>
          </div>}
    </Card>
  );
}

const FEW = 6;

/** The theorems that the newest evaluation gained and lost over the one before. */
function Flips({ benchmark, named }: { benchmark: Benchmark; named: boolean }) {
  const [before, last] = benchmark.points.slice(-2);
  const answer = useResource<EvaluationDiff>(before && last ? "evaluations/diff" : null, { a: before?.name, b: last?.name });
  const { data } = answer;
  if (!data) return null;
  const since = data.a.step === null ? "the evaluation before" : `step ${integer(data.a.step)}`;
  return (
    <div className="small" role="group" aria-label={`Flipped on ${benchmark.name}`}>
      <p>{named && `${benchmark.name}: `}<a href={compareHref(data)}>+{integer(data.only_b)} −{integer(data.only_a)}</a> since {since}{benchmark.points.length > 2 || data.only_a + data.only_b === 0 ? "" : ", the first"}. {verdict(data.p, data.only_b, data.only_a)}</p>
      <Names mark="+" names={data.gained} of={data} />
      <Names mark="−" names={data.lost} of={data} />
    </div>
  );
}

function Names({ mark, names, of }: { mark: string; names: string[]; of: EvaluationDiff }) {
  if (names.length === 0) return null;
  return (
    <p className="flips">
      {names.slice(0, FEW).map((name) => <span key={name}><span aria-hidden="true" className={mark === "+" ? "good" : "bad"}>{mark}</span><a className="mono" href={compareHref(of, name)}>{name}</a></span>)}
      {names.length > FEW && <a href={compareHref(of)}>and {integer(names.length - FEW)} more</a>}
    </p>
  );
}
