// Rounds of self-play: what each proved, stated and learned from.

import type { ReactNode } from "react";
import type { Round, Rounds } from "../../api/types";
import { integer, measure, percent } from "../../lib/format";
import { Card, Title } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import type { Line } from "../../parts/chart_data";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";

const REST = 5000;

export function RoundsPage() {
  const version = useLive((live) => live.metricsStep);
  const answer = useResource<Rounds>("rounds", {}, { version, atMost: REST });
  return (
    <>
      <Title note="One model states conjectures and proves: what each round proved, kept and learned from.">Rounds</Title>
      <Loaded of={answer} height={480}>
        {({ rounds }) => (rounds.length === 0 ? <Card><Empty title="No round yet">A round is listed as soon as it has begun.</Empty></Card> : <RoundsTable rounds={rounds} />)}
      </Loaded>
    </>
  );
}

function RoundsTable({ rounds }: { rounds: Round[] }) {
  const over = rounds.filter((one) => one.over);
  const line = (name: string, value: (one: Round) => number | null): Line => ({ name, x: over.map((one) => one.number), y: over.map(value) });
  const x = (value: number): string => `round ${value}`;
  const drawn: [string, ReactNode][] = [
    ["Proved so far, of the data", <Chart label="Proved by round" x={x} y={(value) => percent(value / 100)} lines={[line("proved", (one) => one.proved_percent)]} range={[0, 100]} shape="points" />],
    ["Learned from", <Chart label="Examples by round" x={x} y={integer} lines={[line("proofs", (one) => one.proofs), line("conjectures", (one) => one.lessons)]} shape="points" />],
    ["Conjectures", <Chart label="Conjectures by round" x={x} y={integer} lines={[line("proposed", (one) => one.tally["proposed"] ?? null), line("kept", (one) => one.tally["kept"] ?? null)]} shape="points" />],
    ["Mean length", <Chart label="Length by round" x={x} y={measure} lines={[line("tokens", (one) => one.length)]} range={[0, null]} shape="points" />],
  ];
  return (
    <>
      {over.length > 0 && <div className="two">{drawn.map(([title, chart]) => <Card key={title} title={title}>{chart}</Card>)}</div>}
      <Card title="Rounds" note={`${integer(over.length)} over`} flush>
        <div className="table-wrap" tabIndex={0} role="region" aria-label="Rounds of self-play">
          <table className="table">
            <thead><tr>{["Round", "Proved so far", "Pairs", "Proposed", "Refused", "Kept", "Proofs learned", "Conjectures learned", "Distinct statements", "Problems by success rate"].map((title, at) => <th key={title} scope="col" className={at && at < 9 ? "right" : ""}>{title}</th>)}</tr></thead>
            <tbody>{rounds.map((one) => (
              <tr key={one.number}>
                <td>{one.number}{!one.over && <span className="muted"> under way</span>}</td>
                <td className="right">{one.proved_percent === null ? "–" : percent(one.proved_percent / 100)}</td>
                {["pairs", "proposed", "refused", "kept"].map((name) => <td key={name} className="right">{integer(one.tally[name])}</td>)}
                <td className="right">{integer(one.proofs)}</td>
                <td className="right">{integer(one.lessons)}</td>
                <td className="right">{percent(one.distinct_statements)}</td>
                <td className="muted">{Object.entries(one.success_rates).map(([rate, problems]) => `${percent(Number(rate), 0)}: ${problems}`).join(" · ") || "–"}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      </Card>
    </>
  );
}
