// Training examples, token by token, shaded by loss.

import { Fragment, useState } from "react";
import type { Page, TrainSample } from "../../api/types";
import { useLastPage, useQuery } from "../../app/router";
import { ago, attemptStep, count, measure, percent } from "../../lib/format";
import { Card, useNow } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useAsked } from "../../state/calm";
import { useResource } from "../../state/resource";
import { Pager, Renew, untilSome } from "./Pager";
import { FULL, hardest, probability, shade, visible } from "./shading";

const SIZE = 6;
const KINDS: Record<string, string> = { sft: "from the SFT data", replay: "from the replay buffer", negative: "a tactic that Lean refused", value: "a state that searches worked on in vain, its value alone" };

export function TrainSamplesView() {
  const [query, change] = useQuery();
  const [values, setValues] = useState(false);
  const page = Math.max(1, Number(query.get("page")) || 1);
  const asked = useAsked();
  const answer = useResource<Page<TrainSample>>("train-samples", { page, size: SIZE }, { version: asked.version, every: untilSome });
  useLastPage(answer.data);
  const now = useNow();
  return (
    <Loaded of={answer} height={480}>
      {(data) => data.items.length === 0
        ? <Card><Empty title="No training examples yet">A few examples of each step are written down with the loss of each token.</Empty></Card>
        : <>
            <div className="row">
              <span className="loss-scale small muted" role="note">loss 0 <i aria-hidden="true" /> {FULL} and more · grey tokens were not trained on</span>
              <span className="spread" />
              {asked.newer && <Renew onClick={asked.renew} />}
              <button className="button" type="button" aria-pressed={values} onClick={() => setValues(!values)}>Show values</button>
            </div>
            {data.items.map((sample, i) => <OneExample key={`${sample.step} ${sample.time} ${i}`} sample={sample} values={values} now={now} />)}
            <Pager page={data.page} size={data.size} total={data.total} onPage={(next) => change({ page: next })} />
          </>}
    </Loaded>
  );
}

function OneExample({ sample, values, now }: { sample: TrainSample; values: boolean; now: number }) {
  const hard = hardest(sample.tokens, sample.losses, 6);
  const trained = sample.losses.filter((loss) => loss !== null).length;
  return (
    <Card title={`Step ${attemptStep(sample.step)}`} note={`${KINDS[sample.kind] ?? sample.kind} · loss ${measure(sample.loss)} over ${count(trained, "token")} · ${ago(sample.time, now)}`}>
      <p className={values ? "tokens mono with-values" : "tokens mono"}>
        {sample.tokens.map((token, i) => <Token key={i} token={token} loss={sample.losses[i] ?? null} values={values} />)}
      </p>
      {hard.length > 0 && (
        <p className="hardest small muted">
          least expected: {hard.map((one, i) => <span key={one.index}>{i > 0 && ", "}<code>{visible(one.token)}</code> {one.loss.toFixed(2)} ({percent(probability(one.loss))})</span>)}
        </p>
      )}
    </Card>
  );
}

function Token({ token, loss, values }: { token: string; loss: number | null; values: boolean }) {
  if (loss === null) return <span className="untrained">{token}</span>;
  const style = { background: `color-mix(in oklab, var(--v3) ${Math.round(46 * shade(loss))}%, transparent)` };
  const title = `${visible(token)}: loss ${loss.toFixed(3)}, probability ${percent(probability(loss))}`;
  if (!values) return <span style={style} title={title}>{token}</span>;
  const lines = token.split("\n");
  const carrier = Math.max(0, lines.findIndex((line) => line.trim()));
  return lines.map((line, i) => (
    <Fragment key={i}>
      {i > 0 && "\n"}
      {i === carrier
        ? <ruby><span style={style} title={title}>{line.trim() ? line : visible(token)}</span><rt>{loss.toFixed(2)}</rt></ruby>
        : <span style={style}>{line}</span>}
    </Fragment>
  ));
}
