// Server-sent events: a parser for the text, and a connection that comes back by itself and resumes where it was.

export interface ServerEvent {
  kind: string;
  id: string;
  data: string;
}

/** Cuts a stream of text into events. `push` returns those that are complete. */
export class EventParser {
  private rest = "";
  private kind = "";
  private id = "";
  private data: string[] = [];

  push(text: string): ServerEvent[] {
    const events: ServerEvent[] = [];
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line !== "") this.field(line);
      else if (this.data.length > 0) {
        events.push({ kind: this.kind || "message", id: this.id, data: this.data.join("\n") });
        this.kind = "";
        this.data = [];
      } else this.kind = "";
    }
    return events;
  }

  private field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return; // a comment, which keeps the connection awake
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.kind = value;
    else if (name === "data") this.data.push(value);
    else if (name === "id") this.id = value;
  }
}

export type Link =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "waiting"; seconds: number; missing?: boolean }
  | { state: "refused"; status: number };

const SILENCE_MS = 20_000;
const REFUSED = [401, 403];

/** Seconds before the n-th try in a row that failed: 1, 2, 4, then 8. */
export function pause(failures: number): number {
  return Math.min(8, 2 ** Math.max(0, failures - 1));
}

/** Listens to `url` until the returned function is called. A connection that is silent for 20 s is taken for dead.
 *
 * A hidden page does not listen: browsers allow few connections to one host, and a page for each of several tabs would
 * take them all. When it is seen again it resumes after the last event that it heard.
 */
export function listen(url: string, onEvent: (event: ServerEvent) => void, onLink: (link: Link) => void): () => void {
  let last = "";
  let failures = 0;
  let timer: number | undefined;
  let current: AbortController | null = null;

  const hush = (): void => {
    window.clearTimeout(timer);
    timer = undefined;
    current?.abort();
    current = null;
  };
  const connect = (): void => {
    hush();
    const control = new AbortController();
    current = control;
    void hear(control).then((status) => {
      if (current !== control) return;
      current = null;
      if (!REFUSED.includes(status)) again(status === 404);
    });
  };
  const again = (missing: boolean): void => {
    failures += 1;
    onLink({ state: "waiting", seconds: pause(failures), missing });
    timer = window.setTimeout(connect, 1000 * pause(failures));
  };
  /** Until the connection ends; the monitor's answer, 0 where it gave none. */
  const hear = async (control: AbortController): Promise<number> => {
    let silence = 0, status = 0;
    const awake = (): void => {
      window.clearTimeout(silence);
      silence = window.setTimeout(() => control.abort(), SILENCE_MS);
    };
    awake();
    try {
      const headers: Record<string, string> = { Accept: "text/event-stream" };
      if (last) headers["Last-Event-ID"] = last;
      const answer = await fetch(url, { headers, signal: control.signal, cache: "no-store" });
      status = answer.status;
      if (REFUSED.includes(status)) {
        onLink({ state: "refused", status });
        return status;
      }
      if (!answer.ok || !answer.body) throw new Error(String(status));
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      onLink({ state: "open" });
      for (;;) {
        const { value, done } = await reader.read();
        if (done || control.signal.aborted) break;
        awake();
        failures = 0;
        for (const event of parser.push(value)) {
          if (event.id) last = event.id;
          onEvent(event);
        }
      }
    } catch {
      // Whatever ended the connection, the answer is the same: wait a little and try again.
    } finally {
      window.clearTimeout(silence);
    }
    return status;
  };
  const wake = (): void => {
    if (document.hidden) hush();
    else if (current === null) connect();
  };

  onLink({ state: "connecting" });
  wake();
  window.addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  return () => {
    window.removeEventListener("online", wake);
    document.removeEventListener("visibilitychange", wake);
    hush();
  };
}
