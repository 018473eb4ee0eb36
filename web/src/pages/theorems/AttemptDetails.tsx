// One attempt in full: the proof, its steps, where the time went, what Lean refused.

import { useState } from "react";
import type { Attempt, Transition } from "../../api/types";
import { atStep, compact, count, duration, integer } from "../../lib/format";
import { LeanCode, LeanSource, LeanState } from "../../lean/LeanText";
import { ProofTools } from "../../lean/ProofTools";
import { Card, CopyButton } from "../../parts/basics";
import { checkFacts, whyNot } from "./check";
import { attemptPath, treeHref } from "./links";

export function AttemptDetails({ attempt, best }: { attempt: Attempt; best: boolean }) {
  const done = attempt.outcome === "proven" || attempt.outcome === "disproven";
  const title = attempt.outcome === "disproven" ? "Disproof" : done ? "Proof" : "Statement";
  return (
    <>
      <Card title={title} note={`${best && done ? "the shortest, " : ""}attempt of ${atStep(attempt.step)}${attempt.tactics ? `, ${count(attempt.tactics, "tactic")}` : ""}`}
        tools={(attempt.tree || done) && (
          <>
            {attempt.tree && <a className="button" href={treeHref(attempt)}>Search tree</a>}
            {done && attempt.source && <ProofTools id={attempt.id} dataset={attempt.dataset} source={attempt.source} notes={notesOf(attempt)} />}
          </>
        )}>
        {attempt.message && <p className="attempt-message muted">{attempt.message}</p>}
        {whyNot(attempt).map((sentence) => <p key={sentence} className="attempt-why">{sentence}</p>)}
        <LeanSource text={attempt.source || attempt.statement} label={`${title} of ${attempt.id}`} />
        <AttemptFacts attempt={attempt} />
      </Card>
      {attempt.transitions.length > 0 && <Transitions of={attempt.transitions} total={attempt.total_transitions} tactics={attempt.tactics} />}
      {attempt.failed_tactics.length > 0 && <Failed attempt={attempt} />}
    </>
  );
}

/** What the file of a proof says of it. */
function notesOf(attempt: Attempt): string[] {
  const name = attempt.outcome === "disproven" ? "disproof" : "proof";
  return [`${attempt.id} of ${attempt.dataset}: ${name} of attempt ${attemptPath(attempt)} (rank/step/number), ${count(attempt.simulations, "simulation")}`, ...checkFacts(attempt.check)];
}

function AttemptFacts({ attempt }: { attempt: Attempt }) {
  const facts = [
    attempt.stop_reason && `ended: ${attempt.stop_reason}`,
    ...checkFacts(attempt.check),
    attempt.policy && `model: ${attempt.policy}`,
    ...Object.entries(attempt.counts).filter(([, value]) => value > 0).map(([name, value]) => `${name.replace(/_/g, " ")} ${compact(value)}`),
    ...Object.entries(attempt.phases).map(([name, seconds]) => `${name} ${duration(seconds)}`),
  ];
  return <ul className="facts-line small muted num">{facts.filter(Boolean).map((fact, i) => <li key={i}>{fact}</li>)}</ul>;
}

/** What of a proof is learned from: what was to be shown, what was done about it, and the value that the state gets. */
export function Transitions({ of, total, tactics }: { of: Transition[]; total: number; tactics: number }) {
  const left = tactics > total ? ` of the ${integer(tactics)} tactics: those of solvers are left out` : "";
  return (
    <Card title="What is learned from it" note={`${total > of.length ? `the first ${integer(of.length)} of ${count(total, "step")}` : count(total, "step")}${left}`}>
      <ol className="transitions">
        {of.map((step, i) => (
          <li key={i}>
            <div className="transition-state"><LeanState text={step.state} /></div>
            <div className="transition-tactic">
              <pre><LeanCode text={step.tactic} /></pre>
              <span className="small muted num">{step.depth === 1 ? "value 1: closes it" : `value ${integer(step.depth)}: the tactics of the longest branch from here`}</span>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}

const FEW = 8;

function Failed({ attempt }: { attempt: Attempt }) {
  const [all, setAll] = useState(false);
  const shown = all ? attempt.failed_tactics : attempt.failed_tactics.slice(0, FEW);
  return (
    <Card title="Tactics that Lean refused" note={integer(attempt.total_failed_tactics)}
      tools={<CopyButton text={attempt.failed_tactics.map((one) => one.tactic).join("\n")} />}>
      <ul className="failed">
        {shown.map((one, i) => (
          <li key={i}>
            <details>
              <summary><span aria-hidden="true" className="muted">✗ </span><LeanCode text={one.tactic} /></summary>
              <LeanState text={one.state} />
            </details>
          </li>
        ))}
      </ul>
      {attempt.failed_tactics.length > FEW && (
        <button className="button quiet" type="button" onClick={() => setAll(!all)}>{all ? "Show fewer" : `Show all ${integer(attempt.failed_tactics.length)}`}</button>
      )}
    </Card>
  );
}
