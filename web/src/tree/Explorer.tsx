// A search tree to look at: the canvas with its tools and the replay of the search, beside it what is known of a node.

import { useCallback, useDeferredValue, useEffect, useMemo, useReducer, useRef, useState, type ReactNode } from "react";
import { count, integer } from "../lib/format";
import { buildTree, type Tree, type TreeNode } from "./model";
import type { SearchTree } from "../api/types";
import { Empty } from "../parts/states";
import { NodeDetails } from "./NodeDetails";
import { treeAt, whatHappened } from "./replay";
import { initialState, treeReducer, type TreeAction, type TreeState } from "./state";
import { TreeCanvas, type CanvasHandle } from "./TreeCanvas";
import "./tree.css";

interface Props {
  /** How the attempt ended. */
  badge: ReactNode;
  /** All nodes, where the tree holds only the most visited ones. */
  total: number;
  /** Whether the search goes on: the newest simulation is marked, and what comes next is the same tree, grown. */
  live?: boolean;
}

/** Another tree than that of the same search needs another key. */
export function Explorer({ data, ...props }: Props & { data: SearchTree }) {
  const tree = useMemo(() => (data.kind ? buildTree(data) : null), [data]);
  if (!tree) return <Empty title="This tree has no nodes">The attempt ended before its search began.</Empty>;
  return <Stage tree={tree} {...props} />;
}

function Stage({ tree, total, badge, live = false }: Props & { tree: Tree }) {
  const [state, act] = useReducer((old: TreeState, action: TreeAction) => treeReducer(tree, old, action), tree, initialState);
  const [moment, setMoment] = useState(tree.simulations);
  const [plays, setPlays] = useState(false);
  const [known, setKnown] = useState(tree);
  if (known !== tree) {
    setKnown(tree);
    act({ type: "grown", from: known });
    if (moment >= known.simulations) setMoment(tree.simulations);
  }
  const now = useMemo(() => treeAt(tree, moment, live), [tree, moment, live]);
  const canvas = useRef<CanvasHandle>(null);
  const find = useRef<HTMLInputElement>(null);
  const selected = useDeferredValue(state.selected); // the canvas moves first, what stands beside it follows
  const shown = useDeferredValue(now);
  const node = born(shown.nodes[selected] ?? shown.root);
  const onSelect = useCallback((chosen: TreeNode) => act({ type: "select", index: chosen.index }), []);
  const left = total - tree.nodes.length;
  return (
    <div className="tree-page">
      <div className="tree-stage card flush">
        <div className="tree-tools">
          {badge}
          <span className="small muted num">{count(tree.nodes.length, "node")}{left > 0 && `, the most visited of ${integer(total)}`}</span>
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
            <button type="button" onClick={() => canvas.current?.fit()} title="Show all of it; again: with its texts (F)">Fit</button>
          </span>
        </div>
        <div className="tree-view">
          <TreeCanvas tree={tree} now={now} live={live && moment >= tree.simulations} state={state} act={act} onFind={() => find.current?.focus()} handle={canvas} />
        </div>
        {tree.simulations > 0 && <Replay tree={tree} moment={moment} plays={plays} onPlay={setPlays} onMoment={setMoment} />}
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

/** The node, or where it was not there yet, the nearest one above it that was. */
function born(node: TreeNode): TreeNode {
  while (node.unborn && node.parent) node = node.parent;
  return node;
}

/** A replay takes at most so many seconds, and shows at most so many simulations in one of them. */
const SECONDS = 16;
const SLOWEST = 4;

/** The slider over the simulations, which also plays them. */
function Replay({ tree, moment, plays, onPlay, onMoment }: {
  tree: Tree; moment: number; plays: boolean; onPlay: (plays: boolean) => void; onMoment: (moment: (old: number) => number) => void;
}) {
  const { simulations } = tree;
  useEffect(() => {
    if (!plays) return;
    const rate = Math.max(SLOWEST, simulations / SECONDS);
    const pause = Math.max(1000 / rate, 50);
    const step = Math.max(1, Math.round((rate * pause) / 1000));
    const timer = window.setInterval(() => onMoment((old) => Math.min(simulations, old + step)), pause);
    return () => window.clearInterval(timer);
  }, [plays, simulations]);
  useEffect(() => {
    if (moment >= simulations) onPlay(false);
  }, [moment]);
  const play = (): void => {
    if (!plays && moment >= simulations) onMoment(() => 0);
    onPlay(!plays);
  };
  return (
    <div className="tree-replay">
      <button className="button" type="button" onClick={play} title="Watch the search, simulation by simulation">
        <svg width="10" height="11" viewBox="0 0 10 11" aria-hidden="true">{plays ? <path d="M1 .5h3v10H1zM6 .5h3v10H6z" fill="currentColor" /> : <path d="M1 .5 9.5 5.5 1 10.5Z" fill="currentColor" />}</svg>
        {plays ? "Pause" : "Replay"}
      </button>
      <input type="range" min={0} max={simulations} value={moment} aria-label="Simulation" aria-valuetext={`simulation ${moment} of ${simulations}`}
        onChange={(event) => {
          const chosen = Number(event.target.value);
          onPlay(false);
          onMoment(() => chosen);
        }} />
      <span className="small muted num where">{moment >= simulations ? count(simulations, "simulation") : <><b>{integer(moment)}</b> of {integer(simulations)}: {whatHappened(tree, moment)}</>}</span>
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
