// States with the tactics that were sampled there, and the model's value.

import type { Page, Sample, SampledTactic } from "../../api/types";
import { useLastPage, useQuery } from "../../app/router";
import { atStep, ago, count, integer, percent } from "../../lib/format";
import { oneLine } from "../../lean/highlight";
import { LeanCode, LeanState } from "../../lean/LeanText";
import { Card, useNow } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useAsked } from "../../state/calm";
import { useResource } from "../../state/resource";
import { AskLink } from "./AskLink";
import { theoremHref } from "../theorems/links";
import { Distribution } from "./Distribution";
import { Pager, Renew, untilSome } from "./Pager";
import { shorter } from "./shading";

const SIZE = 8;

export function SamplesView() {
  const [query, change] = useQuery();
  const page = Math.max(1, Number(query.get("page")) || 1);
  const asked = useAsked();
  const answer = useResource<Page<Sample>>("samples", { page, size: SIZE }, { version: asked.version, every: untilSome });
  useLastPage(answer.data);
  const now = useNow();
  return (
    <Loaded of={answer} height={480}>
      {(data) => data.items.length === 0
        ? <Card><Empty title="No samples yet">A few states of each step are written down when their attempts end.</Empty></Card>
        : <>
            {asked.newer && <Renew onClick={asked.renew} />}
            {data.items.map((sample, i) => <OneSample key={`${sample.rank} ${sample.time} ${i}`} sample={sample} now={now} />)}
            <Pager page={data.page} size={data.size} total={data.total} onPage={(next) => change({ page: next })} />
          </>}
    </Loaded>
  );
}

function OneSample({ sample, now }: { sample: Sample; now: number }) {
  return (
    <Card title={<a className="mono" href={theoremHref(sample)}>{sample.id}</a>} tools={<AskLink state={sample.state} />} note={`${sample.dataset} · ${atStep(sample.step)} · rank ${sample.rank} · ${ago(sample.time, now)}`}>
      <SampleBody sample={sample} />
    </Card>
  );
}

/** A state, what the model expects of it, and the tactics that it sampled. */
export function SampleBody({ sample }: { sample: Sample }) {
  return (
    <div className="sample">
      <div className="stack">
        <LeanState text={sample.state} />
        <Distribution distribution={sample.distribution} value={sample.value} depth={sample.depth} />
      </div>
      <SampledTactics sample={sample} />
    </div>
  );
}

const FATES: Record<string, [tone: string, text: string]> = {
  solved: ["good", "✓ solved"],
  applied: ["accent", "→ applied"],
  rejected: ["bad", "✗ rejected"],
  error: ["bad", "✗ rejected"],
  banned: ["bad", "✗ banned"],
  timeout: ["warn", "◷ timeout"],
  cycle: ["", "↺ cycle"],
  untried: ["", "untried"],
};

function SampledTactics({ sample }: { sample: Sample }) {
  return (
    <div className="table-wrap">
      <table className="table sampled">
        <thead><tr><th scope="col">Tactic</th><th scope="col" className="right" title="Log-probability of the whole text">log p</th><th scope="col" className="right less" title="The same as a probability">p</th><th scope="col" className="right less" title="How often it was sampled">Times</th><th scope="col">Outcome</th></tr></thead>
        <tbody>{sample.tactics.map((one, i) => <SampledRow key={i} one={one} />)}</tbody>
      </table>
      {sample.dropped > 0 && <p className="small muted">{count(sample.dropped, "sample")} dropped: not finished, or not allowed</p>}
    </div>
  );
}

function SampledRow({ one }: { one: SampledTactic }) {
  const [tone, text] = FATES[one.outcome] ?? ["", one.outcome];
  const p = Math.exp(one.logprob);
  return (
    <tr>
      <td>
        <LeanCode text={one.tactic} />
        <span className="under-bar" aria-hidden="true" style={{ width: `${Math.max(0.5, 100 * p)}%` }} />
        {one.message && <Message text={shorter(one.message)} />}
      </td>
      <td className="right">{one.logprob.toFixed(2).replace("-", "−")}</td>
      <td className="right less">{p < 0.0005 ? "<0.1%" : percent(p)}</td>
      <td className="right less">{integer(one.count)}</td>
      <td><span className={`badge ${tone}`}>{text}</span></td>
    </tr>
  );
}

const ONE_LINE = 64;

/** What Lean said: a long answer is one line until it is opened. */
function Message({ text }: { text: string }) {
  const line = oneLine(text);
  if (line.length <= ONE_LINE) return <p className="small muted message">{line}</p>;
  return (
    <details className="small muted message">
      <summary>{`${line.slice(0, ONE_LINE)}…`}</summary>
      <p>{text}</p>
    </details>
  );
}
