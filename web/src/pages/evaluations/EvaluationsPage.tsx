// The evaluations of a run: history by benchmark, and a table to open one or to compare two.

import { useMemo, useState } from "react";
import type { Benchmark, EvaluationRow, Evaluations } from "../../api/types";
import { go, href, useLastPage, useQuery } from "../../app/router";
import { count, dateTime, duration, integer, percent, rate } from "../../lib/format";
import { Card, Select, Title } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import { DataTable, type Column } from "../../parts/DataTable";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { choose, inOrder, mismatch } from "./choice";
import { Interval } from "./Interval";
import { evaluationHref } from "./links";
import "./evaluations.css";

const SIZE = 25;
/** Up to so many points of a history are drawn as such. */
const FEW = 60;

export function EvaluationsPage() {
  const [query, change] = useQuery();
  const [chosen, setChosen] = useState<string[]>([]);
  const came = useLive((live) => live.evaluations);
  const page = Math.max(1, Number(query.get("page")) || 1);
  const dataset = query.get("dataset") ?? "";
  const answer = useResource<Evaluations>("evaluations", { dataset, page, size: SIZE }, { version: came, every: 15_000 });
  useLastPage(answer.data);
  const benchmarks = useLive((live) => live.overview?.benchmarks);
  const [known, setKnown] = useState<Record<string, EvaluationRow>>({});
  const rows = Object.values(known);
  const pick = (row: EvaluationRow): void => {
    setKnown({ ...known, [row.name]: row });
    setChosen(choose(chosen, row.name));
  };
  return (
    <>
      <Title note={answer.data && count(answer.data.total, "evaluation")}
        tools={answer.data && answer.data.benchmarks.length > 1 && (
          <Select label="Benchmark" value={dataset} onChange={(next) => change({ dataset: next, page: null }, true)}
            choices={[["", "all"], ...answer.data.benchmarks.map((name) => [name, name] as const)]} />
        )}>
        Evaluations
      </Title>
      {benchmarks && benchmarks.length > 0 && <History benchmarks={benchmarks.filter((one) => !dataset || one.dataset === dataset)} />}
      <Card flush title="All evaluations" note="choose two to see which theorems changed" tools={<Compare chosen={chosen} rows={rows} />}>
        <Loaded of={answer} height={300}>
          {(data) => data.items.length === 0
            ? <Empty title="No evaluation yet">A run evaluates itself every --eval-every; scripts/prover_eval.py evaluates a checkpoint.</Empty>
            : <DataTable caption="Evaluations" columns={columnsOf(chosen, pick)} rows={data.items} rowKey={(row) => row.name}
                selected={(row) => chosen.includes(row.name)} onOpen={(row) => go(evaluationHref(row.name))}
                page={data.page} size={data.size} total={data.total} onPage={(next) => change({ page: next }, true)} />}
        </Loaded>
      </Card>
    </>
  );
}

const benchmarkName = ({ dataset, split }: { dataset: string; split: string }): string => (split ? `${dataset}/${split}` : dataset);

function History({ benchmarks }: { benchmarks: Benchmark[] }) {
  const drawn = benchmarks.filter((one) => one.points.some((point) => point.step !== null));
  return drawn.length > 0 && <div className="two">{drawn.map((one) => <BenchmarkHistory key={one.name} benchmark={one} />)}</div>;
}

function BenchmarkHistory({ benchmark }: { benchmark: Benchmark }) {
  const points = benchmark.points.filter((point) => point.step !== null);
  const first = points[0];
  const last = points[points.length - 1]!;
  const lines = useMemo(() => [{
    name: "solved",
    x: points.map((point) => point.step!),
    y: points.map((point) => (point.total ? point.solved / point.total : null)),
    low: points.map((point) => point.low),
    high: points.map((point) => point.high),
  }], [benchmark]);
  return (
    <Card title={benchmark.name} note={`${integer(last.solved)} of ${integer(last.total)} solved at ${count(benchmark.simulations, "simulation")}; 95% interval`}
      tools={first && first !== last && <a className="button" href={href("compare", { a: first.name, b: last.name })}>What changed since the first</a>}>
      <Chart label={`Share solved of ${benchmark.name}`} lines={lines} height={190} y={(value) => percent(value)} level={(value) => percent(value, 0)} shape={points.length > FEW ? "line" : "points"} range={[0, null]} />
    </Card>
  );
}

function columnsOf(chosen: string[], pick: (row: EvaluationRow) => void): Column<EvaluationRow>[] {
  return [
    {
      key: "choose", title: "",
      cell: (row) => <input type="checkbox" aria-label={`Compare ${row.name}`} checked={chosen.includes(row.name)} onChange={() => pick(row)} />,
    },
    { key: "name", title: "Benchmark", cell: (row) => <><a href={evaluationHref(row.name)}>{benchmarkName(row)}</a><span className="which small muted">{row.name}{row.about && ` · ${row.about}`}</span></> },
    { key: "step", title: "Step", wide: true, right: true, cell: (row) => integer(row.step) },
    { key: "solved", title: "Solved", right: true, cell: (row) => <><b>{rate(row.solved, row.done)}</b> <span className="muted">{integer(row.solved)} of {integer(row.done)}</span><div className="phone-only"><Interval row={row} /></div></> },
    { key: "interval", title: "95% interval", wide: true, cell: (row) => <Interval row={row} /> },
    { key: "simulations", title: "Simulations", wide: true, right: true, cell: (row) => integer(row.simulations) },
    { key: "errors", title: "Errors", wide: "desk", right: true, cell: (row) => (row.errors ? <span className="bad">{integer(row.errors)}</span> : "0") },
    { key: "seconds", title: "Took", wide: true, right: true, cell: (row) => duration(row.seconds) },
    { key: "time", title: "When", wide: true, right: true, cell: (row) => (row.over ? <span className="muted">{dateTime(row.time)}</span> : <span className="badge accent">{integer(row.done)} of {integer(row.total)} done</span>) },
  ];
}

function Compare({ chosen, rows }: { chosen: string[]; rows: EvaluationRow[] }) {
  const pair = inOrder(chosen, rows);
  const wrong = mismatch(chosen, rows);
  return (
    <>
      {wrong && <span className="small warn" role="status">{wrong}</span>}
      <button className="button" type="button" disabled={!pair || wrong !== null} onClick={() => pair && go(href("compare", { a: pair[0], b: pair[1] }))}>Compare the two</button>
    </>
  );
}
