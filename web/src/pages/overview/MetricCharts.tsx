// Metrics by step: losses, proofs, where a step's time goes, and any other metric of the run.

import { useState } from "react";
import type { Series } from "../../api/types";
import { duration, integer, measure } from "../../lib/format";
import { Card, Select } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart_data";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";

const GROUPS = [
  { title: "Loss", names: ["loss", "loss/tactic", "loss/value"], format: measure },
  { title: "Each collection", names: ["attempts", "proofs", "errors"], format: integer },
  { title: "Time of a step", names: ["seconds/collect", "seconds/train"], format: duration },
];
const SHOWN = GROUPS.flatMap((group) => group.names);

export function MetricCharts() {
  const version = useLive((state) => state.metricsStep);
  const [own, setOwn] = useState("theorems_proven");
  const series = useResource<Series>("series", { names: [...SHOWN, own].join(","), max_points: 500 }, { version, atMost: 3000 });
  return (
    <Loaded of={series} height={520}>
      {(data) => (
        <div className="two">
          {GROUPS.map((group) => (
            <Card key={group.title} title={group.title} note={thinned(data)}>
              <Lines label={`${group.title} by step`} data={data} names={group.names} format={group.format} />
            </Card>
          ))}
          <Card title="Any metric" tools={<Select label="" value={own} choices={choices(data, own)} onChange={setOwn} />}>
            <Lines label={`${own} by step`} data={data} names={[own]} format={measure} />
          </Card>
        </div>
      )}
    </Loaded>
  );
}

function Lines({ label, data, names, format }: { label: string; data: Series; names: string[]; format: (value: number) => string }) {
  const lines = linesOf(data, names);
  if (lines.length === 0) return <Empty title="Nothing to draw yet">The first step has not been finished.</Empty>;
  return <Chart label={label} lines={lines} y={format} height={190} />;
}

/** Those of `names` that have values; where steps were put together, with a band from lowest to highest. */
export function linesOf(data: Series, names: string[]): Line[] {
  return names.flatMap((name) => {
    const y = data.values[name];
    if (!y || y.every((value) => value === null)) return [];
    const line: Line = { name, x: data.steps, y };
    const low = data.low[name];
    const high = data.high[name];
    return [data.thinned && low && high ? { ...line, low, high } : line];
  });
}

const thinned = (data: Series): string | undefined => (data.thinned ? `${integer(data.total)} steps, means with lowest and highest` : undefined);

function choices(data: Series, own: string): [string, string][] {
  const names = data.names.filter((name) => name === own || !SHOWN.includes(name));
  return (names.includes(own) ? names : [own, ...names]).map((name) => [name, name]);
}
