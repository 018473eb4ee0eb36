// What the network states by itself: what passes the filters, what is proved, how long it is, and the texts to read.

import { useMemo, type ReactNode } from "react";
import type { Conjecture, Conjectures, ConjectureSort, Page, Proposal, Round, Series, Stated } from "../../api/types";
import { useQuery } from "../../app/router";
import { LeanCode, LeanSource } from "../../lean/LeanText";
import { attemptStep, count, integer, measure, percent } from "../../lib/format";
import { Card, Outcome, Search, Segments, Select, Title } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import { ChartTools, MetricChart } from "../../parts/chart_view";
import type { Line } from "../../parts/chart_data";
import { Empty, Loaded } from "../../parts/states";
import { useResource, type Resource } from "../../state/resource";
import { useLive } from "../../state/store";
import { Pager } from "../model/Pager";
import { theoremHref } from "../theorems/links";
import { funnel, lineOf, METRICS, VERDICTS } from "./funnel";
import "./conjectures.css";

const SIZE = 12;
const REST = 5000;

export function ConjecturesPage() {
  const [query, change] = useQuery();
  const version = useLive((live) => live.metricsStep);
  const get = (name: string, otherwise = ""): string => query.get(name) ?? otherwise;
  const page = Math.max(1, Number(get("page")) || 1);
  const view = get("view") === "proposals" ? "proposals" : "attempted";
  const sort = get("sort", "step") as ConjectureSort;
  const order = get("order", sort === "rate" ? "asc" : "desc");
  const own = view === "attempted" ? page : 1;
  const answer = useResource<Conjectures>("conjectures", { q: get("q"), outcome: get("outcome"), sort, order, page: own, size: SIZE }, { version, atMost: REST });
  const metrics = useResource<Series>("series", { names: METRICS.join(","), max_points: 500 }, { version, atMost: REST });
  const filter = (changes: Record<string, string>): void => change({ page: null, ...changes }, true);
  return (
    <>
      <Title note="Statements of the network's own: proposed, filtered, attempted, and learned from where they are barely proved." tools={<ChartTools />}>Conjectures</Title>
      <Loaded of={answer} height={480}>
        {(data) => (
          <>
            {data.rounds.length > 0 && <Rounds rounds={data.rounds} />}
            {(data.rounds.length === 0 || data.total > 0) && <Figures data={data} metrics={metrics} />}
            {data.rounds.length === 0 && (
              <>
                <div className="row">
                  <Segments label="Which" value={view} choices={[["attempted", "Attempted"], ["proposals", "All proposals"]]} onChange={(next) => filter({ view: next })} />
                  {view === "attempted" && (
                    <>
                      <Search label="Search text, seed, lemma" value={get("q")} onChange={(q) => filter({ q })} width="26ch" />
                      <Select label="Outcome" value={get("outcome")} onChange={(outcome) => filter({ outcome })}
                        choices={[["", "all"], ["proven", "proved"], ["unproven", "not proved"], ["error", "error"]]} />
                      <Select label="First" value={sort} onChange={(next) => filter({ sort: next })}
                        choices={[["step", "newest"], ["rate", "barely proved"], ["simulations", "most simulations"], ["length", "longest"]]} />
                    </>
                  )}
                </div>
                {view === "attempted" ? <Attempted data={data} onPage={(next) => change({ page: next })} /> : <Proposals data={data} page={page} />}
              </>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

// -- Figures -----------------------------------------------------------------------------------------------------------

function Figures({ data, metrics }: { data: Conjectures; metrics: Resource<Series> }) {
  const tried = Object.values(data.outcomes).reduce((sum, value) => sum + value, 0);
  const proved = data.outcomes["proven"] ?? 0;
  const stages = funnel(data.verdicts);
  const last = [{ name: "attempted", count: tried }, { name: "proved", count: proved }];
  const all = stages[0]!.count;
  return (
    <div className="two">
      <Card title="What became of them" note={all ? `${count(all, "proposal")}, of all ranks and steps` : undefined}>
        {all + tried === 0
          ? <Empty title="Nothing was proposed yet">Proposals are counted as soon as Lean has seen them.</Empty>
          : <ol className="funnel">{[...stages, ...last].filter((one) => all || one.count).map((one) => {
              const share = all ? one.count / all : one.count / Math.max(1, tried);
              return (
                <li key={one.name}>
                  <span>{one.name}</span>
                  <span className="bar" aria-hidden="true"><span style={{ width: `${100 * Math.min(1, share)}%` }} /></span>
                  <span className="num"><b>{integer(one.count)}</b> <span className="muted">{all ? percent(share) : ""}</span></span>
                </li>
              );
            })}</ol>}
      </Card>
      <Curves title="What passes the filters" note="of the proposals of a step" of={metrics} format={percent} range={[0, 1]}
        lines={[["well_formed", "well-formed", "proposed"], ["novel", "novel", "proposed"], ["not_trivial", "not trivial", "proposed"], ["not_false", "not refuted", "proposed"]]} />
      <Curves title="Attempts of each step" of={metrics} format={integer}
        lines={[["attempted", "attempted"], ["proved", "proved"], ["barely_proved", "barely proved"], ["lessons", "learned from"], ["set_aside", "set aside"]]} />
      <Curves title="Proved, of those attempted" note="near 100%: too easy; near 0: too hard, or false" of={metrics} format={percent} range={[0, 1]} lines={[["proved", "proved", "attempted"]]} />
      <Curves title="Mean length" note="characters of what passed; a fall says that the conjecturer retreats to short statements" of={metrics} format={measure} range={[0, null]} lines={[["length", "length"]]} />
      <Curves title="Proposals of each step" of={metrics} format={integer} lines={[["proposed", "proposed"], ["novel", "novel"], ["not_false", "not refuted"]]} />
    </div>
  );
}

function Curves({ title, note, of, lines, format, range }: {
  title: string; note?: string; of: Resource<Series>; lines: [name: string, title: string, of?: string][];
  format: (value: number) => string; range?: [number | null, number | null];
}) {
  return (
    <Card title={title} note={note}>
      <Loaded of={of} height={200}>{(data) => <Drawn label={`${title} by step`} data={data} lines={lines} format={format} {...(range ? { range } : {})} />}</Loaded>
    </Card>
  );
}

function Drawn({ label, data, lines, format, range }: { label: string; data: Series } & Pick<Parameters<typeof Curves>[0], "lines" | "format" | "range">) {
  const drawn = useMemo(() => lines.flatMap(([name, title, of]): Line[] => {
    const line = lineOf(data, name, title, of);
    return line ? [line] : [];
  }), [data]);
  if (drawn.length === 0) return <Empty title="Nothing to draw yet">The first step has not been finished.</Empty>;
  return <MetricChart label={label} lines={drawn} times={() => data.times} y={format} {...(range ? { range } : {})} />;
}

// -- Texts -------------------------------------------------------------------------------------------------------------

/** The theorem and the lemma that the network was shown. */
function From({ of }: { of: Stated }) {
  if (!of.statement && !of.seed) return null;
  return (
    <dl className="from small">
      <div><dt>from</dt><dd>{of.seed && <a className="mono" href={theoremHref({ dataset: of.dataset, id: of.seed })}>{of.seed}</a>} <LeanCode text={of.statement} /></dd></div>
      {of.lemma && <div><dt>using</dt><dd><LeanCode text={of.lemma} /></dd></div>}
    </dl>
  );
}

function Attempted({ data, onPage }: { data: Conjectures; onPage: (page: number) => void }) {
  if (data.items.length === 0) return <Card><Empty title="No conjecture fits">Conjectures are listed when the step of their first attempt is over.</Empty></Card>;
  return (
    <>
      {data.items.map((one) => <Attempt key={one.id} one={one} />)}
      <Pager page={data.page} size={data.size} total={data.total} onPage={onPage} />
    </>
  );
}

function Attempt({ one }: { one: Conjecture }) {
  return (
    <Card title={<a className="mono" href={theoremHref({ dataset: "conjectures", id: one.id })}>{one.id}</a>}
      note={`step ${attemptStep(one.step)} · ${count(one.simulations, "simulation")}${one.steps > 1 ? ` in ${one.steps} steps` : ""}${one.outcome === "proven" ? ` · success rate ${percent(one.rate)}` : ""}`}
      tools={<Outcome of={one.outcome} />}>
      <p className="stated"><LeanCode text={one.text} /></p>
      <From of={one} />
      {one.proof && <LeanSource text={one.proof} label={`Proof of ${one.id}`} />}
    </Card>
  );
}

function Proposals({ data, page }: { data: Conjectures; page: number }) {
  const [query, change] = useQuery();
  const verdict = query.get("verdict") ?? "";
  const answer = useResource<Page<Proposal>>("proposals", { verdict, page, size: 2 * SIZE });
  const known = [...VERDICTS, ...Object.keys(data.verdicts)].filter((name, at, all) => data.verdicts[name] && all.indexOf(name) === at);
  return (
    <Card title="Proposals" note="newest first" tools={<Select label="Verdict" value={verdict} onChange={(next) => change({ verdict: next, page: null }, true)}
      choices={[["", "all"], ...known.map((name) => [name, `${name} (${integer(data.verdicts[name])})`] as const)]} />}>
      <Loaded of={answer} height={300}>
        {(found) => found.items.length === 0
          ? <Empty title="No proposal">None of this verdict, yet.</Empty>
          : (
            <>
              <ul className="proposals">{found.items.map((one, at) => (
                <li key={`${one.rank} ${one.step} ${at}`}>
                  <p><span className={`badge ${one.verdict === "new" ? "good" : ""}`}>{one.verdict}</span> <LeanCode text={one.text} /></p>
                  {one.reason && <p className="small muted">{one.reason}</p>}
                  <details className="small"><summary className="muted">step {attemptStep(one.step)}, rank {one.rank}: what it was shown</summary><From of={one} /></details>
                </li>
              ))}</ul>
              <Pager page={found.page} size={found.size} total={found.total} onPage={(next) => change({ page: next })} />
            </>
          )}
      </Loaded>
    </Card>
  );
}

// -- Rounds of self-play ---------------------------------------------------------------------------------------------

function Rounds({ rounds }: { rounds: Round[] }) {
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
