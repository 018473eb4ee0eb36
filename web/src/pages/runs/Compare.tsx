// Curves of several runs in one chart, and the options in which they differ.

import { useEffect, useMemo, useState } from "react";
import { ask } from "../../api/client";
import type { EvaluationDiff, RunDiff, RunInfo, Series } from "../../api/types";
import { count, integer, measure, percent, rate, signed } from "../../lib/format";
import { useResource } from "../../state/resource";
import { verdict } from "../evaluations/choice";
import { Card, Select } from "../../parts/basics";
import { ChartTools, MetricChart } from "../../parts/chart_view";
import type { Line } from "../../parts/chart_data";
import { Empty } from "../../parts/states";
import { differing } from "./rows";

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

export function Compare({ names, metric, onMetric, onNone }: { names: string[]; metric: string; onMetric: (name: string) => void; onNone: () => void }) {
  const known = useRuns(names, metric);
  const lines = useMemo(() => names.flatMap((name): Line[] => {
    const series = known.get(name)?.series;
    const y = series?.values[metric];
    return series && y && y.some((value) => value !== null) ? [{ name, x: series.steps, y }] : [];
  }), [known, metric, names.join("\n")]);
  const metrics = [...new Set([metric, ...names.flatMap((name) => known.get(name)?.series?.names ?? [])])].sort();
  const args = names.map((name) => known.get(name)?.args ?? {});
  const options = differing(args);
  return (
    <>
      <Card title="Curves of the chosen runs" tools={<>
        <Select label="" name="Metric of the runs" value={metric} choices={metrics.map((name) => [name, name] as const)} onChange={onMetric} />
        <ChartTools />
        <button className="button quiet" type="button" onClick={onNone}>Choose none</button>
      </>}>
        {lines.length === 0
          ? <Empty title={known.size ? "Nothing to draw" : "Reading"}>{known.size ? `None of these runs has ${metric}.` : "The runs are being read."}</Empty>
          : <MetricChart label={`${metric} of ${names.length} runs`} lines={lines} times={(line) => known.get(line.name)?.series?.times ?? []} y={measure} height={280} />}
      </Card>
      {names.length === 2 && <Better a={names[0]!} b={names[1]!} />}
      {names.length > 1 && options.length > 0 && (
        <Card title="Options that differ" flush>
          <div className="table-wrap" tabIndex={0} role="region" aria-label="Options that differ">
            <table className="table">
              <thead><tr><th scope="col">Option</th>{names.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
              <tbody>{options.map(([name, values]) => <tr key={name}><td className="mono">{name}</td>{values.map((value, at) => <td key={names[at]} className="mono small">{value}</td>)}</tr>)}</tbody>
            </table>
          </div>
        </Card>
      )}
    </>
  );
}

/** Which of two runs is better by their newest evaluations, and whether that could be luck. */
function Better({ a, b }: { a: string; b: string }) {
  const answer = useResource<RunDiff>("runs/diff", { a, b }, { every: 15_000 });
  const items = answer.data?.items ?? [];
  return (
    <Card title="Which is better" note="the newest evaluations of both, theorem by theorem" flush>
      {items.length === 0
        ? <Empty title={answer.data ? "Nothing to compare" : answer.error ? "This could not be compared" : "Reading"}>{answer.data ? "There is no benchmark on which both were evaluated on the same theorems with as many simulations." : answer.error?.message}</Empty>
        : <div className="table-wrap" tabIndex={0} role="region" aria-label="Which is better">
            <table className="table">
              <thead><tr><th scope="col">Benchmark</th><th scope="col" className="right">{a}</th><th scope="col" className="right">{b}</th><th scope="col" className="right">Difference, 95% interval</th><th scope="col" className="right" title="McNemar, exact">p</th><th scope="col">Luck?</th></tr></thead>
              <tbody>{items.map((one) => <BetterRow key={`${one.a.name} ${one.b.name}`} one={one} second={b} />)}</tbody>
            </table>
          </div>}
    </Card>
  );
}

function BetterRow({ one, second }: { one: EvaluationDiff; second: string }) {
  const points = (value: number): string => (100 * value).toFixed(1);
  const score = ({ solved, total }: { solved: number; total: number }) => <><b>{rate(solved, total)}</b> <span className="muted">{integer(solved)} of {integer(total)}</span></>;
  return (
    <tr>
      <td>{one.a.split ? `${one.a.dataset}/${one.a.split}` : one.a.dataset}<div className="small muted">{count(one.a.simulations, "simulation")}</div></td>
      <td className="right" title={`${percent(one.a.low)} to ${percent(one.a.high)}`}>{score(one.a)}</td>
      <td className="right" title={`${percent(one.b.low)} to ${percent(one.b.high)}`}>{score(one.b)}</td>
      <td className="right">{signed(one.difference, points)} <span className="muted">{signed(one.low, points)} to {signed(one.high, points)}</span></td>
      <td className="right">{one.p < 0.001 ? "<0.001" : one.p.toFixed(3)}</td>
      <td className="small">{`${second}: ${verdict(one.p, one.only_b, one.only_a)}`}</td>
    </tr>
  );
}
