// Metrics by step: losses, proofs, where a step's time goes, and any other metric of the run.

import { useMemo } from "react";
import type { Series } from "../../api/types";
import { duration, integer, measure, percent } from "../../lib/format";
import { Card, Select } from "../../parts/basics";
import { MetricChart } from "../../parts/chart_view";
import type { Line } from "../../parts/chart_data";
import { Empty, Loaded } from "../../parts/states";
import { useResource, type Resource } from "../../state/resource";
import { useLive } from "../../state/store";

export interface Group {
  title: string;
  names: string[];
  format: (value: number) => string;
  /** Of values that most steps do not have. */
  shape?: "points";
  /** Counts and times, which say nothing of a last step that was cut short. */
  whole?: boolean;
}

export const LOSS: Group = { title: "Loss", names: ["loss", "tactic_loss", "value_loss", "unlikelihood_loss"], format: measure };
export const VALIDATION: Group = { title: "Validation loss", names: ["valid/loss", "valid/tactic_loss", "valid/value_loss"], format: measure, shape: "points" };
export const ACCURACY: Group = { title: "Accuracy", names: ["tactic_token_accuracy", "valid/tactic_token_accuracy", "valid/tactic_exact_match"], format: percent };
export const STEP_TIME: Group = { title: "Time of a step", names: ["step_seconds", "wait_seconds"], format: duration };
export const COLLECTION: Group = { title: "Each collection", names: ["attempts", "proofs", "errors"], format: integer, whole: true };
export const TIME: Group = { title: "Time of a step", names: ["seconds/collect", "seconds/train"], format: duration, whole: true };
const SHOWN = [LOSS, COLLECTION, TIME, VALIDATION, ACCURACY, STEP_TIME].flatMap((group) => group.names);

/** The metrics of the charts below, asked for anew when a step has ended. */
export function useMetrics(own: string): Resource<Series> {
  const version = useLive((state) => state.metricsStep);
  return useResource<Series>("series", { names: [...SHOWN, own].join(","), max_points: 500 }, { version, atMost: 3000 });
}

export function MetricCard({ of, group }: { of: Resource<Series>; group: Group }) {
  const cut = group.whole && of.data?.partial;
  const notes = [of.data?.thinned && `${integer(of.data.total)} steps, means with lowest and highest`, cut && "without the last step, which was cut short"];
  return (
    <Card title={group.title} note={notes.filter(Boolean).join("; ") || undefined}>
      <Loaded of={of} height={HEIGHT}>
        {(all) => { const data = cut ? withoutLast(all) : all; return <Lines label={`${group.title} by step`} data={data} names={group.names} format={group.format} shape={group.shape} />; }}
      </Loaded>
    </Card>
  );
}

/** Any other metric of the run, by its name. */
export function OwnMetricCard({ of, own, onOwn }: { of: Resource<Series>; own: string; onOwn: (name: string) => void }) {
  const tools = of.data && <Select label="" name="Metric" value={own} choices={choices(of.data, own)} onChange={onOwn} />;
  return (
    <Card title="Any metric" tools={tools}>
      <Loaded of={of} height={HEIGHT}>
        {(data) => <Lines label={`${own} by step`} data={data} names={[own]} format={measure} />}
      </Loaded>
    </Card>
  );
}

const HEIGHT = 200;

function Lines({ label, data, names, format, shape }: { label: string; data: Series } & Pick<Group, "names" | "format" | "shape">) {
  const lines = useMemo(() => linesOf(data, names), [data, ...names]);
  if (lines.length === 0) return data.steps.length > 0 ? <Empty title="Not measured">No step has such a figure.</Empty> : <Empty title="Nothing to draw yet">The first step has not been finished.</Empty>;
  return <MetricChart label={label} lines={lines} times={() => data.times} y={format} height={HEIGHT} {...(shape ? { shape } : {})} />;
}

/** The same series without its last step. */
function withoutLast(data: Series): Series {
  const columns = (of: Series["values"]) => Object.fromEntries(Object.entries(of).map(([name, column]) => [name, column.slice(0, -1)]));
  return { ...data, steps: data.steps.slice(0, -1), times: data.times.slice(0, -1), values: columns(data.values), low: columns(data.low), high: columns(data.high) };
}

/** Terms that are 0 where what they belong to is turned off. */
const OPTIONAL = ["unlikelihood_loss", "wait_seconds"];

/** Those of `names` that have values; where steps were put together, with a band from lowest to highest. */
export function linesOf(data: Series, names: string[]): Line[] {
  return names.flatMap((name) => {
    const y = data.values[name];
    if (!y || y.every((value) => value === null || (value === 0 && OPTIONAL.includes(name)))) return [];
    const line: Line = { name, x: data.steps, y };
    const low = data.low[name];
    const high = data.high[name];
    return [data.thinned && low && high ? { ...line, low, high } : line];
  });
}

function choices(data: Series, own: string): [string, string][] {
  const names = data.names.filter((name) => name === own || !SHOWN.includes(name));
  return (names.includes(own) ? names : [own, ...names]).map((name) => [name, name]);
}
