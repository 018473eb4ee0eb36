// Small parts that every page uses.

import { useEffect, useState, type ReactNode } from "react";
import { duration } from "../lib/format";
import { Boundary } from "./states";

/** The first line of a page: its name, a sentence, and its tools at the right. */
export function Title({ children, note, tools }: { children: ReactNode; note?: ReactNode; tools?: ReactNode }) {
  return (
    <div className="title">
      <h1>{children}</h1>
      {note && <p>{note}</p>}
      {tools && <div className="row spread">{tools}</div>}
    </div>
  );
}

/** A titled box. `flush` lets a table reach the edges. */
export function Card({ title, note, tools, flush = false, children }: {
  title?: ReactNode; note?: ReactNode; tools?: ReactNode; flush?: boolean; children: ReactNode;
}) {
  return (
    <section className={flush ? "card flush" : "card"}>
      {(title || tools) && (
        <header>
          {title && <h2>{title}</h2>}
          {note && <span className="note">{note}</span>}
          {tools && <div className="row spread">{tools}</div>}
        </header>
      )}
      <Boundary of={typeof title === "string" ? title : "This part"}>{children}</Boundary>
    </section>
  );
}

/** A number with its name, inside <dl className="stats">. */
export function Stat({ name, unit, note, children }: { name: string; unit?: ReactNode; note?: ReactNode; children: ReactNode }) {
  return (
    <div className="stat">
      <dt>{name}</dt>
      <dd>
        {children}
        {unit && <small> {unit}</small>}
      </dd>
      {note && <dd className="note">{note}</dd>}
    </div>
  );
}

/** One choice of a few, all in sight. */
export function Segments<T extends string>({ label, value, choices, onChange }: {
  label: string; value: T; choices: readonly (readonly [T, string])[]; onChange: (value: T) => void;
}) {
  return (
    <div className="segments" role="group" aria-label={label}>
      {choices.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>{text}</button>
      ))}
    </div>
  );
}

/** One choice of many. */
/** One choice of many. A `name` for screen readers is needed where there is no `label` to see. */
export function Select({ label, name, value, choices, onChange }: {
  label: string; name?: string; value: string; choices: readonly (readonly [string, string])[]; onChange: (value: string) => void;
}) {
  return (
    <label className="label">
      {label}
      <select className="field" aria-label={name} value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map(([key, text]) => <option key={key} value={key}>{text}</option>)}
      </select>
    </label>
  );
}

/** A search field that speaks up when typing rests. */
export function Search({ label, value, onChange, width = "22ch" }: { label: string; value: string; onChange: (text: string) => void; width?: string }) {
  const [text, setText] = useState(value);
  useEffect(() => {
    setText(value);
  }, [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = window.setTimeout(() => onChange(text), 200);
    return () => window.clearTimeout(timer);
  }, [text]);
  return (
    <input className="field" type="search" maxLength={1000} aria-label={label} placeholder={label} value={text} style={{ width }}
      onChange={(event) => setText(event.target.value)} />
  );
}

const OUTCOMES: Record<string, [tone: string, mark: string, text: string]> = {
  proven: ["good", "✓", "proved"],
  disproven: ["accent", "✗", "disproved"],
  unproven: ["", "·", "not proved"],
  error: ["bad", "!", "error"],
};

/** How an attempt ended: a mark and a word, so that it is understood without colour. */
export function Outcome({ of }: { of: string }) {
  const [tone, mark, text] = OUTCOMES[of] ?? ["", "?", of];
  return (
    <span className={`badge ${tone}`}>
      <span aria-hidden="true">{mark}</span>
      {text}
    </span>
  );
}

/** Copies text and says so. */
export function CopyButton({ text, label = "Copy" }: { text: string; label?: string }) {
  const [state, setState] = useState<"" | "done" | "failed">("");
  useEffect(() => {
    if (!state) return;
    const timer = window.setTimeout(() => setState(""), 1600);
    return () => window.clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    copyText(text).then(() => setState("done"), () => setState("failed"));
  };
  return (
    <button className="button" type="button" onClick={copy} aria-live="polite">
      {state === "done" ? "Copied" : state === "failed" ? "Not allowed" : label}
    </button>
  );
}

/** The clipboard is for secure pages only; a monitor behind plain HTTP on another machine needs the older way. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("refused");
}

/** The time in seconds since the epoch, anew every second. */
export function useNow(): number {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now() / 1000), 1000);
    return () => window.clearInterval(timer);
  }, []);
  return now;
}

/** For how long there has been nothing to hear, by now; `since` in seconds since the epoch. */
export function Silence({ since }: { since: number }) {
  const now = useNow();
  return <>silent for {duration(Math.floor(now - since))}</>;
}
