// Curves of several runs in one chart, and the options in which they differ.

import { useEffect, useMemo, useState } from "react";
import { ask } from "../../api/client";
import type { RunInfo, Series } from "../../api/types";
import { measure } from "../../lib/format";
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
