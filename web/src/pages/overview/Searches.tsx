// What a sample of the searches did: which tactics led nowhere, over time; and what the value said of what was not proved.

import { useMemo } from "react";
import type { Searches } from "../../api/types";
import { integer, isCounted, percent } from "../../lib/format";
import { Card } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart_data";
import { Empty, Loaded } from "../../parts/states";
import { useResource, type Resource } from "../../state/resource";
import { useLive } from "../../state/store";
import { Refusals } from "../evaluations/Breakdown";

/** The sample, taken anew after each step, but not more often than its reading is worth. */
export function useSearches(): Resource<Searches> {
  const version = useLive((live) => live.metricsStep);
  return useResource<Searches>("searches", {}, { version, atMost: 20_000 });
}

const KINDS = [["refused by Lean", "rejected"], ["out of time", "timeouts"], ["back to a state before", "cycles"], ["to the state of a sibling", "merged"]] as const;

export function RefusedCard({ of }: { of: Resource<Searches> }) {
  const lines = useMemo(() => linesOf(of.data), [of.data]);
  return (
    <Card title="What became of the tactics" note={of.data ? `${integer(of.data.attempts)} of ${integer(of.data.total)} attempts looked at` : undefined}>
      <Loaded of={of} height={200}>
        {(data) => (data.counts["tactics_run"] ?? 0) === 0
          ? <Empty title="No search yet">Tactics are counted when the first attempt ends.</Empty>
          : <>
              {lines[0]!.x.length > 1 && <Chart label="Share of tactics by step" lines={lines} height={150} y={(value) => percent(value)} level={(value) => percent(value, 0)} range={[0, 1]} />}
              <Refusals counts={data.counts} />
            </>}
      </Loaded>
    </Card>
  );
}

function linesOf(data: Searches | null): Line[] {
  const steps = (data?.steps ?? []).filter((one) => isCounted(one.step)); // those after the last update are of no step
  const x = steps.map((one) => one.step + 1);
  return KINDS.filter(([, kind], at) => at === 0 || (data?.counts[kind] ?? 0) > 0)
    .map(([name, kind]) => ({ name, x, y: steps.map(({ counts }) => (counts[kind] ?? 0) / Math.max(1, counts["tactics_run"] ?? 0)) }));
}

const OUTCOMES = [["proven", "proved"], ["unproven", "not proved"]] as const;

/** What the network expected of theorems that were proved, and of those that were not. */
export function ValuesCard({ of }: { of: Resource<Searches> }) {
  const { data } = of;
  const lines = useMemo(() => OUTCOMES.map(([outcome, name]): Line => {
    const values = Object.entries(data?.values[outcome]?.by_value ?? {}).map(([value, number]) => [Number(value), number] as const).sort((a, b) => a[0] - b[0]);
    const all = Math.max(1, data?.values[outcome]?.count ?? 0);
    return { name, x: values.map(([value]) => value), y: values.map(([, number]) => number / all) };
  }), [data]);
  if (!data || data.told_apart === null) return null;
  const means = OUTCOMES.map(([outcome, name]) => `${name} ${data.values[outcome]!.mean!.toFixed(2)} in the mean (${integer(data.values[outcome]!.count)})`);
  return (
    <Card title="Can the value tell what will be proved?" note={`tactics expected of the theorem itself: ${means.join(", ")}`}>
      <p>Of a proved theorem and one that was not, the value was lower for the proved one in <b>{percent(data.told_apart, 0)}</b> of the pairs. {judgement(data.told_apart)}</p>
      <Chart label="Theorems by value" lines={lines} height={200} x={(value) => `about ${value} tactics`} y={(value) => percent(value)} level={(value) => percent(value, 0)} shape="points" range={[0, null]} />
    </Card>
  );
}

function judgement(share: number): string {
  if (share < 0.45) return "It is misleading: theorems that look hard to it are proved more often.";
  if (share < 0.56) return "That is nearly chance, 50%.";
  return share < 0.7 ? "That is somewhat better than chance, 50%." : "Chance would be 50%.";
}
