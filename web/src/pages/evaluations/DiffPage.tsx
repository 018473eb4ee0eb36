// Two evaluations of the same theorems: which of them changed, and whether that could be chance.

import { useEffect, useRef, useState } from "react";
import { chosenRun, runHref } from "../../api/client";
import type { EvaluatedTheorem, Evaluation, EvaluationDiff, EvaluationRow } from "../../api/types";
import { href, useRoute } from "../../app/router";
import { LeanSource } from "../../lean/LeanText";
import { count, integer, percent, rate, signed } from "../../lib/format";
import { Card, Outcome, Search, Stat, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { verdict } from "./choice";
import { compareHref, evaluationHref } from "./links";
import "./evaluations.css";

export function DiffPage() {
  const { query } = useRoute();
  const a = query.get("a") ?? "";
  const b = query.get("b") ?? "";
  const theorem = query.get("theorem");
  const of = query.get("of") ?? ""; // the run of a, where that is another one
  const answer = useResource<EvaluationDiff>(a && b ? "evaluations/diff" : null, { a, b, run_a: of });
  return (
    <>
      <Title note={answer.data && `${answer.data.a.dataset}, ${count(answer.data.total, "theorem")}`}
        tools={<><a className="button" href={swapped(a, b, of)}>Swap</a><a className="button" href={href("evaluations")}>All evaluations</a></>}>
        Two evaluations
      </Title>
      {a && b
        ? <Loaded of={answer} height={420}>{(data) => <Both data={data} asked={theorem} />}</Loaded>
        : <Card><Empty title="Choose two evaluations">Mark them in the table of all evaluations.</Empty></Card>}
    </>
  );
}

/** The comparison, and both proofs of the theorem that was asked for, or else of the first that changed. */
function Both({ data, asked }: { data: EvaluationDiff; asked: string | null }) {
  const theorem = asked ?? data.gained[0] ?? data.lost[0];
  return (
    <>
      <Diff data={data} theorem={theorem} />
      {theorem && <SideBySide key={theorem} data={data} theorem={theorem} isAsked={asked !== null} />}
    </>
  );
}

function Diff({ data, theorem }: { data: EvaluationDiff; theorem: string | undefined }) {
  const points = (value: number): string => `${(100 * value).toFixed(1)}`;
  return (
    <>
      <div className="score">
        <Card>
          <dl className="stats">
            <Stat name="Difference" unit="points" note={`95%: ${signed(data.low, points)} to ${signed(data.high, points)}`}>{signed(data.difference, points)}</Stat>
            <Stat name="Gained">{integer(data.only_b)}</Stat>
            <Stat name="Lost">{integer(data.only_a)}</Stat>
            <Stat name="p" note="McNemar, exact">{data.p < 0.001 ? "<0.001" : data.p.toFixed(3)}</Stat>
          </dl>
          <p className="verdict">{verdict(data.p, data.only_b, data.only_a)}</p>
        </Card>
        <Card title="Theorem by theorem"><Square data={data} /></Card>
      </div>
      <div className="two">
        <Changed title="Gained" note="proved by B, not by A" mark="+" names={data.gained} total={data.only_b} of={data} theorem={theorem} />
        <Changed title="Lost" note="proved by A, not by B" mark="−" names={data.lost} total={data.only_a} of={data} theorem={theorem} />
      </div>
      {data.errors.length > 0 && <Changed title="Errors" note="in one of the two; they count as not proved" mark="!" names={data.errors} total={data.errors.length} of={data} theorem={theorem} />}
      <OtherSettings of={data.settings} />
    </>
  );
}

/** The address of the same comparison the other way round. */
function swapped(a: string, b: string, of: string): string {
  const run = chosenRun();
  if (!of || !run) return href("compare", { a: b, b: a });
  return runHref(of, href("compare", { a: b, b: a, of: run }));
}

/** What tells an evaluation from the other one: its step in one run, else the run that it is of. */
function label(row: EvaluationRow, run: string): string {
  if (run) return `${run}${row.step === null ? "" : `, step ${integer(row.step)}`}`;
  return row.step === null ? row.name : `step ${integer(row.step)}`;
}

const hrefOf = (row: EvaluationRow, run: string, theorem = ""): string => (run ? runHref(run, evaluationHref(row.name, theorem)) : evaluationHref(row.name, theorem));

function Square({ data }: { data: EvaluationDiff }) {
  return (
    <div className="table-wrap">
      <table className="square num">
        <thead>
          <tr><td /><th scope="col">B proved</th><th scope="col">B did not</th><th scope="col" className="muted">in all</th></tr>
        </thead>
        <tbody>
          <tr><th scope="row">A proved</th><td>{integer(data.both)}</td><td className="changed lost">− {integer(data.only_a)}</td><td className="muted">{integer(data.both + data.only_a)}</td></tr>
          <tr><th scope="row">A did not</th><td className="changed gained">+ {integer(data.only_b)}</td><td>{integer(data.neither)}</td><td className="muted">{integer(data.only_b + data.neither)}</td></tr>
        </tbody>
      </table>
      <p className="small muted">
        A: <a href={hrefOf(data.a, data.run_a)}>{label(data.a, data.run_a)}</a>, {rate(data.a.solved, data.a.total)} ({percent(data.a.low)} to {percent(data.a.high)}), {count(data.a.simulations, "simulation")}<br />
        B: <a href={hrefOf(data.b, data.run_b)}>{label(data.b, data.run_b)}</a>, {rate(data.b.solved, data.b.total)} ({percent(data.b.low)} to {percent(data.b.high)}), {count(data.b.simulations, "simulation")}
      </p>
    </div>
  );
}

function Changed({ title, note, mark, names, total, of, theorem }: { title: string; note: string; mark: string; names: string[]; total: number; of: EvaluationDiff; theorem: string | undefined }) {
  const [q, setQ] = useState("");
  const shown = names.filter((name) => name.toLowerCase().includes(q.toLowerCase()));
  return (
    <Card title={`${title} ${integer(total)}`} note={names.length < total ? `${note}; the first ${integer(names.length)}` : note} tools={names.length > 12 && <Search label="Search names" value={q} onChange={setQ} width="18ch" />}>
      {shown.length === 0
        ? <p className="muted">None{q && " that fits"}.</p>
        : <ul className="changed-list">{shown.map((name) => <li key={name}><span aria-hidden="true" className="muted">{mark} </span><a className="mono" aria-current={name === theorem || undefined} href={compareHref(of, name)}>{name}</a></li>)}</ul>}
    </Card>
  );
}

/** What both made of one theorem. */
function SideBySide({ data, theorem, isAsked }: { data: EvaluationDiff; theorem: string; isAsked: boolean }) {
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isAsked) place.current?.scrollIntoView({ block: "nearest" });
  }, [isAsked]);
  return (
    <section ref={place} aria-label={`${theorem} in both`}>
      <h2 className="mono both-head">{theorem}</h2>
      <div className="two">
        <OneSide side="A" row={data.a} run={data.run_a} theorem={theorem} />
        <OneSide side="B" row={data.b} run={data.run_b} theorem={theorem} />
      </div>
    </section>
  );
}

function OneSide({ side, row, run, theorem }: { side: string; row: EvaluationRow; run: string; theorem: string }) {
  const path = `evaluations/${encodeURIComponent(row.name)}`;
  const of = run ? { run } : {};
  const found = useResource<Evaluation>(path, { ...of, q: theorem, size: 50 }, { forget: true });
  const result = found.data?.results.items.find((one) => one.id === theorem);
  const answer = useResource<EvaluatedTheorem>(result ? `${path}/results/${result.index}` : null, of, { forget: true });
  return (
    <Card title={`${side}: ${label(row, run)}`} note={result && `${count(result.simulations, "simulation")}${result.tactics ? `, ${count(result.tactics, "tactic")}` : ""}`}
      tools={<>{result && <Outcome of={result.outcome} />}<a className="button" href={hrefOf(row, run, theorem)}>In its evaluation</a></>}>
      {found.data && !result
        ? <Empty title="No result">This evaluation has none of this theorem.</Empty>
        : <Loaded of={answer} height={120}>{(one) => <>
            <LeanSource text={one.source || one.statement} label={`${theorem} by ${side}`} />
            {!one.proof && <p className="muted small">{one.stop_reason ? `ended: ${one.stop_reason}` : one.result.message}</p>}
          </>}</Loaded>}
    </Card>
  );
}

function OtherSettings({ of }: { of: Record<string, unknown[]> }) {
  const entries = Object.entries(of);
  if (entries.length === 0) return null;
  return (
    <Card title="Other settings that differ" flush>
      <div className="table-wrap">
        <table className="table">
          <thead><tr><th scope="col">Setting</th><th scope="col">A</th><th scope="col">B</th></tr></thead>
          <tbody>{entries.map(([name, [a, b]]) => <tr key={name}><td>{name}</td><td className="mono">{show(a)}</td><td className="mono">{show(b)}</td></tr>)}</tbody>
        </table>
      </div>
    </Card>
  );
}

const show = (value: unknown): string => (value === undefined || value === null ? "–" : typeof value === "string" ? value : JSON.stringify(value));
