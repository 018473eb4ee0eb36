// What the run is: its command, seed, commit, machine, versions, decisions, options and files.

import { useState, type FormEvent, type ReactNode } from "react";
import { ApiFailure, put, runHref } from "../../api/client";
import type { RunInfo, RunNote } from "../../api/types";
import { fileRun } from "../../file/data";
import { bytes, count, dateTime, integer } from "../../lib/format";
import { stateTone, stateWord } from "../../lib/state";
import { Card, CopyButton, Title } from "../../parts/basics";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { renewOverview, useLive } from "../../state/store";
import { flagsOf } from "./flags";
import "./run.css";

export function RunPage() {
  const state = useLive((live) => live.overview?.state);
  const note = useResource<RunNote>("note");
  const answer = useResource<RunInfo>("run", {}, { every: 10_000 });
  return (
    <>
      <Title note={state && <span className={`badge ${stateTone(state)}`}>{stateWord(state)}</span>}>Run</Title>
      <Loaded of={note} height={90}>{(known) => <Note key={`${known.title}\n${known.note}`} known={known} onSaved={() => { note.reload(); renewOverview(); }} />}</Loaded>
      <Loaded of={answer} height={480}>{(run) => <Contents run={run} />}</Loaded>
    </>
  );
}

/** A name and a note, kept in the run's folder. */
function Note({ known, onSaved }: { known: RunNote; onSaved: () => void }) {
  const [title, setTitle] = useState(known.title);
  const [note, setNote] = useState(known.note);
  const [error, setError] = useState("");
  const changed = title !== known.title || note !== known.note;
  const save = (event: FormEvent): void => {
    event.preventDefault();
    put<RunNote>("note", { title, note }).then(onSaved, (reason: unknown) => setError(reason instanceof ApiFailure ? reason.message : String(reason)));
  };
  return (
    <Card title="Name and note" note="kept in the run's folder, and shown in the list of runs">
      <form className="run-note" onSubmit={save}>
        <input className="field" aria-label="Name" placeholder="A name that says more than the folder's" maxLength={100} value={title} onChange={(event) => setTitle(event.target.value)} />
        <textarea className="field" aria-label="Note" placeholder="What it was for, what came of it" rows={Math.min(8, 1 + note.split("\n").length)} maxLength={4000} value={note} onChange={(event) => setNote(event.target.value)} />
        <div className="row"><button className="button" type="submit" disabled={!changed}>Save</button>{error && <span className="bad small" role="alert">{error}</span>}</div>
      </form>
    </Card>
  );
}

function Contents({ run }: { run: RunInfo }) {
  const { identity } = run;
  const flags = flagsOf(run.meta["command"]);
  // As the command that resumes it names the run: a run of the home by its name.
  const named = /--resume-from ('[^']*'|\S+)$/.exec(identity.resume ?? "")?.[1] ?? quoted(identity.path);
  return (
    <>
      <Card title="Command" tools={identity.command && <CopyButton text={identity.command} />}>
        {identity.command ? <pre>{identity.command}</pre> : <Empty title="Not recorded">The run has no meta.json.</Empty>}
        {identity.resume && <Command of={identity.resume}>To resume it:</Command>}
        {!fileRun() && <Command of={`python -m nanoproof.monitor export ${named} --out run.html`}>To send it, as one file that needs no monitor:</Command>}
      </Card>
      <div className="two">
        <Card title="What it is">
          <Facts of={[
            ["Stage", identity.stage],
            ["Folder", <span className="mono">{identity.path}</span>],
            ["Started from", identity.parent && <span className="mono">{identity.parent}</span>],
            ["Started", identity.started === null ? "" : `${dateTime(identity.started)} (or resumed then)`],
            ["Seed", identity.seed === null ? "" : integer(identity.seed)],
            ["Commit", identity.commit && <><span className="mono">{identity.commit}</span> {identity.changed ? <span className="badge warn">with changes that no commit holds</span> : <span className="muted">clean</span>}</>],
            ...Object.entries(identity.versions),
          ]} />
        </Card>
        <Card title="Where it runs">
          <Facts of={[
            ["Host", text(identity.hardware["host"])],
            ["Processor", text(identity.hardware["processor"])],
            ["Cores", text(identity.hardware["cores"])],
            ["Memory", typeof identity.hardware["memory"] === "number" ? bytes(identity.hardware["memory"]) : ""],
            ["System", text(identity.hardware["system"])],
            ...Object.entries(identity.decisions),
          ]} />
        </Card>
        <Card title="Flags that were given" note={identity.command && count(flags.length, "flag")}>
          {flags.length === 0
            ? identity.command ? <Empty title="None">Every option has its default.</Empty> : <p className="muted">Not recorded.</p>
            : <Facts of={flags.map(([name, value]) => [name, <span className="mono">{value || "yes"}</span>])} mono />}
        </Card>
        <Card title="Files" note={`${bytes(identity.bytes)} in all`}>
          <Facts of={identity.files.map((file) => [file.name, <>{bytes(file.bytes)} <span className="muted">{dateTime(file.time)}</span></>])} mono />
        </Card>
      </div>
      <details className="card">
        <summary>All options, with defaults · {count(Object.keys(run.args).length, "option")}</summary>
        <Facts of={Object.entries(run.args).map(([name, value]) => [name, <span className="mono">{JSON.stringify(value)}</span>])} mono />
      </details>
      {run.name && <p className="small muted">As data: <a href={`api/run${location.search}`}>api/run</a>. <a href={runHref(null)} hidden={!location.search}>All runs</a></p>}
    </>
  );
}

function Command({ of, children }: { of: string; children: ReactNode }) {
  return <div className="command resume"><span className="muted small">{children}</span><code>{of}</code><CopyButton text={of} /></div>;
}

/** A path as a shell takes it. */
const quoted = (path: string): string => (/^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const text = (value: string | number | null | undefined): string => (value === null || value === undefined ? "" : String(value));

/** Names with values; those without a value are left out. */
function Facts({ of, mono = false }: { of: (readonly [string, ReactNode])[]; mono?: boolean }) {
  const known = of.filter(([, value]) => value !== "" && value !== null && value !== undefined);
  if (known.length === 0) return <p className="muted">Not recorded.</p>;
  return <dl className="about" tabIndex={0}>{known.map(([name, value]) => <div key={name}><dt className={mono ? "mono" : undefined}>{name}</dt><dd>{value}</dd></div>)}</dl>;
}
