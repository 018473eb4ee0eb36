// Lean text and proof states with colours; a proof with a button that copies it.

import { memo, type ReactNode } from "react";
import { CopyButton } from "../parts/basics";
import { highlight, highlightState, type Token } from "./highlight";
import "./lean.css";

const LONGEST = 200_000;

function colored(tokens: Token[]): ReactNode[] {
  return tokens.map((token, i) => (token.kind === "plain" ? token.text : <span key={i} className={`lean-${token.kind}`}>{token.text}</span>));
}

/** Source text within a line: a tactic, a name. */
export const LeanCode = memo(function LeanCode({ text }: { text: string }) {
  return <code className="lean">{colored(highlight(text))}</code>;
});

/** A proof state, as Lean prints it. */
export const LeanState = memo(function LeanState({ text }: { text: string }) {
  return <pre className="lean">{text ? colored(highlightState(text)) : "no goals"}</pre>;
});

/** A piece of source text with a button that copies it. */
export const LeanSource = memo(function LeanSource({ text, label }: { text: string; label: string }) {
  return (
    <div className="lean-source">
      <CopyButton text={text} />
      <pre className="lean" tabIndex={0} aria-label={label}>{text.length > LONGEST ? text : colored(highlight(text))}</pre>
    </div>
  );
});
