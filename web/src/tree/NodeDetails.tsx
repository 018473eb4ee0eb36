// What is known of the selected node: its state, its tactics and what became of them, the way to it.

import { Fragment, memo } from "react";
import { CopyButton } from "../parts/basics";
import { count, integer, percent } from "../lib/format";
import { LeanCode, LeanState } from "../lean/LeanText";
import { AskLink } from "../pages/model/AskLink";
import { FATE_WORD, fateOf, nameOf, pathTo, type TreeNode } from "./model";

const TONE = { solved: "good", dead: "bad", open: "", untried: "" } as const;
const MOST_CHILDREN = 200;

export const NodeDetails = memo(function NodeDetails({ node, onSelect }: { node: TreeNode; onSelect: (node: TreeNode) => void }) {
  const fate = fateOf(node);
  const path = pathTo(node);
  return (
    <div className="node-details">
      <div className="row">
        <span className={`badge ${TONE[fate]}`}>{node.kind === "closed" ? "✓ closes the goal" : FATE_WORD[fate]}</span>
        {node.kind === "and" && <span className="badge">∧ all branches needed</span>}
        {node.proof && <span className="badge accent">on the proof</span>}
        {node.finisher && <span className="badge" title="Not suggested by the policy">solver tactic</span>}
      </div>
      {node.tactic !== null && <pre><LeanCode text={node.tactic} /></pre>}
      {node.spellings.length > 0 && (
        <p className="small muted">also found as {node.spellings.map((text, i) => <Fragment key={i}>{i > 0 && ", "}<LeanCode text={text} /></Fragment>)}</p>
      )}
      <dl className="facts-grid">
        <Fact name="visits">{integer(node.visits)}</Fact>
        <Fact name="tactics to go">{node.toGo === null ? "–" : node.toGo.toFixed(2)}</Fact>
        <Fact name="prior">{share(node.share)}</Fact>
        <Fact name="log p">{node.tactic !== null && !node.finisher && node.logprob ? node.logprob.toFixed(2).replace("-", "−") : "–"}</Fact>
        <Fact name="expansions">{integer(node.expansions)}</Fact>
        <Fact name="depth">{integer(node.depth)}</Fact>
      </dl>
      {node.kind === "or" && (
        <>
          <div className="row"><h3>State</h3><span className="spread" /><AskLink state={node.state} /><CopyButton text={node.state} /></div>
          <LeanState text={node.state} />
        </>
      )}
      {node.children.some((child) => !child.unborn) && <Children node={node} onSelect={onSelect} />}
      {node.refused.length > 0 && (
        <details open={node.children.length === 0}>
          <summary><h3>Led nowhere · {node.refused.length}</h3></summary>
          <ul className="refused">{node.refused.map((text, i) => <li key={i}><span aria-hidden="true">✗ </span><LeanCode text={text} /></li>)}</ul>
        </details>
      )}
      {path.length > 0 && (
        <>
          <h3>Path from the theorem</h3>
          <ol className="path">
            {path.map((step) => (
              <li key={step.index}><button type="button" onClick={() => onSelect(step)} aria-current={step === node || undefined}><LeanCode text={nameOf(step)} /></button></li>
            ))}
          </ol>
        </>
      )}
    </div>
  );
});

function Fact({ name, children }: { name: string; children: string }) {
  return <div><dt>{name}</dt><dd className="num">{children}</dd></div>;
}

function Children({ node, onSelect }: { node: TreeNode; onSelect: (node: TreeNode) => void }) {
  const children = node.children.filter((child) => !child.unborn);
  const most = Math.max(1, ...children.map((child) => child.visits));
  return (
    <>
      <h3>{node.kind === "and" ? count(children.length, "branch", "branches") : `${count(children.length, "tactic")} that ${children.length === 1 ? "applies" : "apply"}`}</h3>
      <div className="tactics num">
        <div className="tactic-head small muted" aria-hidden="true"><span>Outcome</span><span>Prior</span><span>Visits</span><span>To go</span></div>
        <ul>
          {children.slice(0, MOST_CHILDREN).map((child) => (
            <li key={child.index}>
              <button type="button" className="pick" onClick={() => onSelect(child)}><LeanCode text={nameOf(child)} /></button>
              <span className={`fate ${TONE[fateOf(child)]}`}>{FATE_WORD[fateOf(child)]}</span>
              <span><span className="sr-only">prior </span>{share(child.share)}</span>
              <span><span className="sr-only">visits </span>{integer(child.visits)}</span>
              <span><span className="sr-only">tactics to go </span>{child.toGo === null ? "–" : child.toGo.toFixed(1)}</span>
              <span className="under-bar" aria-hidden="true" style={{ width: `${(100 * child.visits) / most}%` }} />
            </li>
          ))}
        </ul>
      </div>
      {children.length > MOST_CHILDREN && <p className="small muted">and {integer(children.length - MOST_CHILDREN)} more</p>}
    </>
  );
}

const share = (part: number | null): string => (part === null ? "–" : part > 0 && part < 0.005 ? "<1%" : percent(part, 0));
