// The search tree of one attempt; without one, the attempts that have a tree to choose from.

import { useCallback, useDeferredValue, useMemo, useReducer, useRef } from "react";
import type { TreeAnswer } from "../../api/types";
import { href, useRoute } from "../../app/router";
import { attemptStep, count, duration, integer } from "../../lib/format";
import { Outcome, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { theoremHref } from "../theorems/links";
import { buildTree, type Tree, type TreeNode } from "../../tree/model";
import { NodeDetails } from "../../tree/NodeDetails";
import { initialState, treeReducer, type TreeAction, type TreeState } from "../../tree/state";
import { TreeCanvas, type CanvasHandle } from "../../tree/TreeCanvas";
import { TreeChoice } from "./TreeChoice";
import "../../tree/tree.css";

export function TreePage() {
  const { parts } = useRoute();
  return parts.length === 3 ? <OneTree key={parts.join("/")} name={parts} /> : <TreeChoice />;
}

function OneTree({ name }: { name: string[] }) {
  const answer = useResource<TreeAnswer>(`attempts/${name.map(encodeURIComponent).join("/")}/tree`);
  const attempt = answer.data?.attempt;
  return (
    <>
      <Title
        note={attempt && <>{attempt.dataset} · step {attemptStep(attempt.step)} · {count(attempt.simulations, "simulation")} · {duration(attempt.seconds)}</>}
        tools={<a className="button" href={href("tree")}>Other trees</a>}
      >
        {attempt ? <a href={theoremHref(attempt)}>{attempt.id}</a> : "Search tree"}
      </Title>
      <Loaded of={answer} height={560}>{(data) => <Viewer answer={data} />}</Loaded>
    </>
  );
}

function Viewer({ answer }: { answer: TreeAnswer }) {
  const tree = useMemo(() => (answer.tree.kind ? buildTree(answer.tree) : null), [answer]);
  if (!tree) return <Empty title="This tree has no nodes">The attempt ended before its search began.</Empty>;
  return <Explorer tree={tree} answer={answer} />;
}

function Explorer({ tree, answer }: { tree: Tree; answer: TreeAnswer }) {
  const [state, act] = useReducer((old: TreeState, action: TreeAction) => treeReducer(tree, old, action), tree, initialState);
  const canvas = useRef<CanvasHandle>(null);
  const find = useRef<HTMLInputElement>(null);
  const selected = useDeferredValue(state.selected); // the canvas moves first, what stands beside it follows
  const node = tree.nodes[selected] ?? tree.root;
  const onSelect = useCallback((chosen: TreeNode) => act({ type: "select", index: chosen.index }), []);
  const left = answer.nodes - tree.nodes.length;
  return (
    <div className="tree-page">
      <div className="tree-stage card flush">
        <div className="tree-tools">
          <Outcome of={answer.attempt.outcome} />
          <span className="small muted num">{count(tree.nodes.length, "node")}{left > 0 && `, the most visited of ${integer(answer.nodes)}`}</span>
          <span className="spread" />
          <span className="row find">
            <input ref={find} className="field" type="search" placeholder="Find tactic or goal" aria-label="Find in tactics and states" value={state.words}
              onChange={(event) => act({ type: "search", words: event.target.value })}
              onKeyDown={(event) => {
                if (event.key === "Enter") act({ type: "next hit", back: event.shiftKey });
                if (event.key === "Escape") canvas.current?.focus();
              }} />
            {state.words && <span className="small muted num" role="status">{count(state.hits.size, "hit")}</span>}
          </span>
          <button className="button" type="button" onClick={() => act({ type: "proof" })} title={tree.solved ? "Fold all but the proof (P)" : "Fold everything (P)"}>{tree.solved ? "Proof" : "Fold"}</button>
          <button className="button" type="button" onClick={() => act({ type: "unfold" })}>Unfold</button>
          <button className="button" type="button" aria-pressed={state.untried} onClick={() => act({ type: "untried" })} title="Tactics that the search never followed (U)">Untried</button>
          <span className="segments">
            <button type="button" aria-label="Zoom out" onClick={() => canvas.current?.zoom(0.8)}>−</button>
            <button type="button" aria-label="Zoom in" onClick={() => canvas.current?.zoom(1.25)}>+</button>
            <button type="button" onClick={() => canvas.current?.fit()} title="Show it with its texts; again: all of it (F)">Fit</button>
          </span>
        </div>
        <div className="tree-view">
          <TreeCanvas tree={tree} state={state} act={act} onFind={() => find.current?.focus()} handle={canvas} />
        </div>
        <Legend farthest={tree.farthest} />
      </div>
      <aside className="tree-side card" aria-label="Selected node">
        <NodeDetails node={node} onSelect={onSelect} />
        <p className="keys small muted">
          {KEYS.map(([keys, what]) => <span key={what}>{keys.map((key) => <kbd key={key}>{key}</kbd>)} {what}</span>)}
        </p>
      </aside>
    </div>
  );
}

const KEYS: [keys: string[], what: string][] = [
  [["←", "→"], "parent, child"], [["↑", "↓"], "neighbours"], [["Enter"], "fold"], [["+", "−"], "zoom"], [["F"], "fit"],
  [["P"], "proof"], [["U"], "untried"], [["/"], "find"], [["N"], "next hit"],
];

function Legend({ farthest }: { farthest: number }) {
  return (
    <div className="tree-legend small" role="note" aria-label="Legend">
      <div className="scale"><span>0</span><i aria-hidden="true" /><span>{farthest.toFixed(0)} tactics to go</span></div>
      <ul>
        <li><svg width="22" height="10" aria-hidden="true"><path d="M0 5h22" stroke="var(--good)" strokeWidth="3" /></svg>✓ proof</li>
        <li><svg width="22" height="10" aria-hidden="true"><path d="M0 3h22" stroke="var(--faint)" strokeWidth="1" /><path d="M0 7h22" stroke="var(--faint)" strokeWidth="4" /></svg>more visits</li>
        <li><svg width="22" height="12" aria-hidden="true"><rect x="1" y="1" width="20" height="10" fill="none" stroke="var(--muted)" strokeDasharray="4 2.5" /></svg>∧ all needed</li>
        <li><span className="bad">✗</span> dead end</li>
        <li><svg width="22" height="10" aria-hidden="true"><path d="M0 5h22" stroke="var(--faint)" strokeDasharray="3 3" /></svg>untried</li>
      </ul>
    </div>
  );
}
