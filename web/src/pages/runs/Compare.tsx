// Runs side by side: which is better, the options in which they differ, and their curves.

import { useEffect, useMemo, useState } from "react";
import { ask } from "../../api/client";
import type { EvaluationDiff, RunDiff, RunInfo, RunRow, Series } from "../../api/types";
import { count, integer, measure, percent, rate, signed } from "../../lib/format";
import { useResource } from "../../state/resource";
import { verdict } from "../evaluations/choice";
import { compareHref } from "../evaluations/links";
import { Card, Select } from "../../parts/basics";
import { ChartTools, MetricChart } from "../../parts/chart_view";
import type { Line } from "../../parts/chart_data";
import { Empty } from "../../parts/states";
import { differing, drawnApart, type Difference } from "./rows";

/** As many as there are colours of lines. */
export const MOST_COMPARED = 6;
const REST = 5000;

interface Known {
  series: Series | null;
  args: Record<string, unknown>;
}

/** A metric of each run, and its options; asked for again now and then. What cannot be read of one run hides no other. */
function useRuns(names: string[], metric: string): Map<string, Known> {
  const [known, setKnown] = useState<Map<string, Known>>(new Map());
  const key = names.join("\n");
  useEffect(() => {
    const asked = new AbortController();
    const again = (): void => {
      const answers = names.map(async (run): Promise<[string, Known]> => {
        const [series, info] = await Promise.all([
          ask<Series>("series", { run, names: metric, max_points: 500 }, asked.signal).catch(() => null),
          ask<RunInfo>("run", { run }, asked.signal).catch(() => null),
        ]);
        return [run, { series, args: info?.args ?? {} }];
      });
      void Promise.all(answers).then((found) => asked.signal.aborted || setKnown(new Map(found)));
    };
    again();
    const timer = window.setInterval(() => !document.hidden && again(), REST);
    return () => {
      asked.abort();
      window.clearInterval(timer);
    };
  }, [key, metric]);
  return known;
}

export function Compare({ rows, metric, onMetric, onNone }: { rows: RunRow[]; metric: string; onMetric: (name: string) => void; onNone: () => void }) {
  const names = rows.map((row) => row.name);
  const known = useRuns(names, metric);
  const charts = useMemo(() => drawnApart(rows.flatMap((row): { stage: string; line: Line }[] => {
    const series = known.get(row.name)?.series;
    const y = series?.values[metric];
    return series && y && y.some((value) => value !== null) ? [{ stage: row.stage, line: { name: row.name, x: series.steps, y } }] : [];
  })), [known, metric, names.join("\n")]);
  const metrics = [...new Set([metric, ...names.flatMap((name) => known.get(name)?.series?.names ?? [])])].sort();
  const times = (line: Line): (number | null)[] => known.get(line.name)?.series?.times ?? [];
  const trained = rows.some((row) => row.stage !== "evaluation");
  return (
    <>
      {names.length === 2 && <Better a={names[0]!} b={names[1]!} />}
      {trained && <Card title="Curves of the chosen runs" note={charts.length > 1 ? "runs of different stages or lengths have axes of their own" : undefined} tools={<>
        <Select label="" name="Metric of the runs" value={metric} choices={metrics.map((name) => [name, name] as const)} onChange={onMetric} />
        <ChartTools />
        <button className="button quiet" type="button" onClick={onNone}>Choose none</button>
      </>}>
        {charts.length === 0
          ? <Empty title={known.size ? "Nothing to draw" : "Reading"}>{known.size ? `None of these runs has ${metric}.` : "The runs are being read."}</Empty>
          : <div className={charts.length > 1 ? "two" : "stack"}>{charts.map((lines) => (
              <MetricChart key={lines.map((line) => line.name).join("\n")} label={`${metric} of ${lines.length === 1 ? lines[0]!.name : `${lines.length} runs`}`} lines={lines} times={times} y={measure} height={charts.length > 1 ? 220 : 280} />
            ))}</div>}
      </Card>}
      {names.length > 1 && <Options names={names} args={names.map((name) => known.get(name)?.args ?? {})} />}
      {!trained && <div><button className="button quiet" type="button" onClick={onNone}>Choose none</button></div>}
    </>
  );
}

/** The options in which runs differ; those that only some of them have say little, and are folded. */
function Options({ names, args }: { names: string[]; args: Record<string, unknown>[] }) {
  const { shared, own } = differing(args);
  if (shared.length + own.length === 0) return null;
  return (
    <Card title="Options that differ" note={shared.length ? undefined : "none that both have"} flush>
      {shared.length > 0 && <OptionTable label="Options that differ" names={names} options={shared} />}
      {own.length > 0 && <details className="settings small own-options"><summary>{count(own.length, "option")} that not all of them have</summary><OptionTable label="Options that not all have" names={names} options={own} /></details>}
    </Card>
  );
}

function OptionTable({ label, names, options }: { label: string; names: string[]; options: Difference[] }) {
  return (
    <div className="table-wrap" tabIndex={0} role="region" aria-label={label}>
      <table className="table options">
        <thead><tr><th scope="col">Option</th>{names.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>{options.map(([name, values]) => <tr key={name}><td className="mono">{name}</td>{values.map((value, at) => <td key={names[at]} className="mono small">{value}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** Which of two runs is better by their newest evaluations, and whether that could be luck: what the later one gained over the earlier one. */
function Better({ a, b }: { a: string; b: string }) {
  const answer = useResource<RunDiff>("runs/diff", { a, b }, { every: 15_000 });
  const items = answer.data?.items ?? [];
  const [earlier, later] = answer.data ? [answer.data.a, answer.data.b] : [a, b];
  return (
    <Card title="Which is better" note={items.length > 0 ? <>what <b>{later}</b>, the later one, gained over {earlier}, by their newest evaluations</> : undefined} flush>
      {items.length === 0
        ? <Empty title={answer.data ? "Nothing to compare" : answer.error ? "This could not be compared" : "Reading"}>{answer.data ? "Neither the runs nor folders of evaluations of their checkpoints have scores on the same theorems with as many simulations. scripts.prover_eval makes them." : answer.error?.message}</Empty>
        : <div className="table-wrap" tabIndex={0} role="region" aria-label="Which is better">
            <table className="table stacked">
              <thead><tr><th scope="col">Benchmark</th><th scope="col" className="right">{later}</th><th scope="col" className="right">{earlier}</th><th scope="col" className="right">Difference, 95% interval</th><th scope="col" className="right" title="McNemar, exact">p</th><th scope="col">Theorems</th></tr></thead>
              <tbody>{items.map((item) => <BetterRow key={`${item.a.name} ${item.b.name}`} item={item} earlier={earlier} later={later} />)}</tbody>
            </table>
          </div>}
    </Card>
  );
}

/** A benchmark in two rows: figures, and in words under them whether they could be luck. */
function BetterRow({ item, earlier, later }: { item: EvaluationDiff; earlier: string; later: string }) {
  const points = (value: number): string => (100 * value).toFixed(1);
  const score = ({ solved, total }: { solved: number; total: number }) => <><b>{rate(solved, total)}</b> <span className="muted">{integer(solved)} of {integer(total)}</span></>;
  return (
    <>
    <tr className="figures-row">
      <td>{item.a.split ? `${item.a.dataset}/${item.a.split}` : item.a.dataset}<div className="small muted">{count(item.a.simulations, "simulation")}</div></td>
      <td className="right" data-name={later} title={`${percent(item.b.low)} to ${percent(item.b.high)}`}>{score(item.b)}</td>
      <td className="right" data-name={earlier} title={`${percent(item.a.low)} to ${percent(item.a.high)}`}>{score(item.a)}</td>
      <td className="right" data-name="Difference, 95% interval">{signed(item.difference, points)} <span className="muted">{signed(item.low, points)} to {signed(item.high, points)}</span></td>
      <td className="right" data-name="p">{item.p < 0.001 ? "<0.001" : item.p.toFixed(3)}</td>
      <td data-name="Theorems"><a href={compareHref(item)}>+{integer(item.only_b)} −{integer(item.only_a)}</a></td>
    </tr>
    <tr><td className="small" colSpan={6}>{`${later}: ${verdict(item.p, item.only_b, item.only_a)}`}</td></tr>
    </>
  );
}
