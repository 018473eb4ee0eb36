// What the model says at any state, with the present weights of the run: typed in here, answered by the run itself.

import { useEffect, useState, type FormEvent } from "react";
import { ApiFailure, put } from "../../api/client";
import type { StateAnswer } from "../../api/types";
import { useQuery } from "../../app/router";
import { atStep } from "../../lib/format";
import { Card, CopyButton } from "../../parts/basics";
import { useLive } from "../../state/store";
import { SampleBody } from "./SamplesView";

const AGAIN = 400;
const LONGEST = 20_000;

interface Question { id: string; state: string }

export function AskView() {
  const [query] = useQuery();
  const given = query.get("state") ?? "";
  const live = useLive((state) => state.overview?.live ?? true);
  const [text, setText] = useState(given);
  const [question, setQuestion] = useState<Question | null>(null);
  useEffect(() => {
    setText(given);
    setQuestion(given ? newQuestion(given) : null);
  }, [given]);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setQuestion(newQuestion(text));
  };
  return (
    <>
      <Card title="A state" note="as Lean prints it: hypotheses, then ⊢ and the goal">
        <form className="run-note" onSubmit={send}>
          <textarea className="field mono" aria-label="State" rows={Math.max(4, Math.min(16, 1 + text.split("\n").length))} maxLength={LONGEST} placeholder={"n : ℕ\n⊢ n + 0 = n"} value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && text.trim() && event.currentTarget.form?.requestSubmit()} />
          <div className="row"><button className="button" type="submit" disabled={!text.trim()}>Ask</button><span className="small muted">{live ? "with the weights of now; Ctrl+Enter" : "no run is live here: you get the command that asks its newest checkpoint"}</span></div>
        </form>
      </Card>
      {question && <Reply key={question.id} question={question} />}
    </>
  );
}

const newQuestion = (state: string): Question => ({ id: `${Date.now().toString(36)}${Math.random().toString(36).slice(2)}`, state });

function Reply({ question }: { question: Question }) {
  const [answer, setAnswer] = useState<StateAnswer | null>(null);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    let timer = 0, over = false;
    const askAgain = (): void => {
      put<StateAnswer>("ask", question).then(
        (next) => {
          if (over) return;
          setAnswer(next);
          // A run that is over may be resumed, and one that begins has no status yet.
          if (next.state !== "answered") timer = window.setTimeout(askAgain, next.state === "silent" ? 5 * AGAIN : AGAIN);
        },
        (reason: unknown) => {
          if (!over) setFailure(reason instanceof ApiFailure ? reason.message : String(reason));
        },
      );
    };
    askAgain();
    return () => {
      over = true;
      window.clearTimeout(timer);
    };
  }, [question]);
  const error = failure || answer?.error;
  if (error) return <Card title="No answer"><p className="bad" role="alert">{error}</p></Card>;
  if (answer?.sample) return <Card title="The model" note={`${atStep(answer.sample.step)} · nothing was tried in Lean`}><SampleBody sample={answer.sample} /></Card>;
  if (answer?.state === "silent") return <Over command={answer.command} />;
  return <Card title="Asked"><p className="muted" role="status">{answer?.state === "taken" ? "Another question comes before this one." : "The run has the question; while it trains, its model answers when it proves again."}</p></Card>;
}

function Over({ command }: { command: string }) {
  return (
    <Card title="No model is running">
      <p>This run is over, or does not prove, so that nobody answers here.{command ? " Its newest checkpoint answers in a terminal:" : " It left no checkpoint."}</p>
      {command && <div className="command"><code>{command}</code><CopyButton text={command} /></div>}
    </Card>
  );
}
