// An evaluation by part, level and length of proof; what its searches did; and how it stands against others.

import { useMemo } from "react";
import { runHref } from "../../api/client";
import type { Evaluation, EvaluationDiff, EvaluationPart, RunRivals } from "../../api/types";
import { count, integer, percent, rate, signed } from "../../lib/format";
import { Card } from "../../parts/basics";
import { useResource } from "../../state/resource";
import { compareHref } from "./links";
import { verdict } from "./choice";
import { Interval } from "./Interval";

const WAYS: Record<EvaluationPart["by"], string> = { dataset: "Data set", part: "Part", level: "Level" };

/** The score on each part, as far as the names of the theorems tell parts. */
export function Parts({ of }: { of: Evaluation }) {
  const ways = [...new Set(of.parts.map((part) => part.by))];
  return (
    <>
      {ways.map((way) => <PartTable key={way} title={WAYS[way]} rows={of.parts.filter((part) => part.by === way)} />)}
      {Object.keys(of.lengths).length > 0 && <Lengths of={of.lengths} />}
      {(of.counts["tactics_run"] ?? 0) > 0 && <Card title="What became of the tactics"><Refusals counts={of.counts} /></Card>}
    </>
  );
}

function PartTable({ title, rows }: { title: string; rows: EvaluationPart[] }) {
  return (
    <Card title={`Solved by ${title.toLowerCase()}`} flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label={`Solved by ${title.toLowerCase()}`}>
        <table className="table">
          <thead><tr><th scope="col">{title}</th><th scope="col" className="right">Solved</th><th scope="col">95% interval</th></tr></thead>
          <tbody>{rows.map((row) => (
            <tr key={row.name}><td className="name">{row.name}</td><td className="right"><b>{rate(row.solved, row.total, 0)}</b> <span className="muted">{integer(row.solved)} of {integer(row.total)}</span></td><td><Interval row={{ ...row, done: row.total }} /></td></tr>
          ))}</tbody>
        </table>
      </div>
    </Card>
  );
}

function Lengths({ of }: { of: Record<string, number> }) {
  const rows = Object.entries(of).map(([length, proofs]) => [Number(length), proofs] as const).sort((a, b) => a[0] - b[0]);
  const most = Math.max(...rows.map(([, proofs]) => proofs));
  return (
    <Card title="Proofs by length" note={`the longest has ${count(rows[rows.length - 1]![0], "tactic")}`}>
      <ul className="bars">{rows.map(([length, proofs]) => (
        <li key={length}><span>{count(length, "tactic")}</span><span className="bar"><span style={{ width: `${(100 * proofs) / most}%` }} /></span><span className="right">{count(proofs, "proof")}</span></li>
      ))}</ul>
    </Card>
  );
}

const KINDS: readonly (readonly [name: string, text: string])[] = [
  ["rejected", "refused by Lean"], ["timeouts", "out of time"], ["cycles", "back to a state before"], ["merged", "to the state of a sibling"], ["banned", "not run: banned"],
];

/** What became of the tactics: which share led nowhere, by kind, and which did not; `counts` are those of the searches. */
export function Refusals({ counts }: { counts: Record<string, number> }) {
  const run = counts["tactics_run"] ?? 0;
  const nowhere = KINDS.filter(([name]) => (counts[name] ?? 0) > 0).map(([name, text]) => [text, counts[name]!] as const);
  const rows = [...nowhere, ["to a new state, or a proof", run - nowhere.reduce((sum, [, number]) => sum + number, 0)] as const];
  return (
    <>
      <p className="small muted">{count(run, "tactic")} run in {count(counts["simulations"] ?? 0, "simulation")}; {percent((counts["rejected"] ?? 0) / run, 0)} were refused</p>
      <ul className="bars">{rows.map(([text, number]) => (
        <li key={text}><span>{text}</span><span className="bar"><span style={{ width: `${Math.min(100, (100 * number) / run)}%` }} /></span><span className="right">{percent(number / run)} <span className="muted">{integer(number)}</span></span></li>
      ))}</ul>
    </>
  );
}

/** The evaluations of other folders on the same theorems, against those of this one, or against `only` of them. */
export function Rivals({ run, only }: { run: string; only?: string }) {
  const answer = useResource<RunRivals>("runs/rivals", { run });
  const items = useMemo(() => (answer.data?.items ?? []).filter((item) => !only || item.b.name === only), [answer.data, only]);
  if (items.length === 0) return null;
  return (
    <Card title="Against others on the same theorems" flush>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Against others">
        <table className="table">
          <thead><tr><th scope="col">Other</th><th scope="col">Benchmark</th><th scope="col" className="right">Its score</th><th scope="col" className="right">This one's</th><th scope="col" className="right">Difference, 95% interval</th><th scope="col">Theorems</th><th scope="col" className="desk-only">Luck?</th></tr></thead>
          <tbody>{items.map((item) => <Rival key={`${item.run_a} ${item.a.name}`} item={item} />)}</tbody>
        </table>
      </div>
    </Card>
  );
}

function Rival({ item }: { item: EvaluationDiff }) {
  const points = (value: number): string => (100 * value).toFixed(1);
  return (
    <tr>
      <td><a href={runHref(item.run_a)}>{item.run_a}</a></td>
      <td className="name">{[item.a.dataset, item.a.split].filter(Boolean).join("/")}</td>
      <td className="right">{rate(item.a.solved, item.a.total)}</td>
      <td className="right">{rate(item.b.solved, item.b.total)}</td>
      <td className="right">{signed(item.difference, points)} <span className="muted">{signed(item.low, points)} to {signed(item.high, points)}</span></td>
      <td><a href={compareHref(item)}>+{integer(item.only_b)} −{integer(item.only_a)}</a></td>
      <td className="small desk-only">{verdict(item.p, item.only_b, item.only_a)}</td>
    </tr>
  );
}
