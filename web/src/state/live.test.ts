import { describe, expect, it } from "vitest";
import type { LogLine, Overview } from "../api/types";
import { initial, KEEP_LOGS, reduce, type Live } from "./live";

const message = (live: Live, kind: string, data: unknown): Live =>
  reduce(live, { type: "message", event: { kind, id: "", data: JSON.stringify(data) } });
const line = (text: string): LogLine => ({ rank: 0, date: "", time: "12:00:00", level: "INFO", logger: "x", message: text });
const overview = { run: "a", step: 3 } as Overview;

describe("the live state", () => {
  it("takes what changes from the status and keeps the rest of the overview", () => {
    const asked = reduce(initial, { type: "overview", overview });
    const live = message(asked, "status", { overview: { step: 4 }, actors: { time: 1, ranks: [] } });
    expect(live.overview).toEqual({ run: "a", step: 4 });
    expect(live.actors?.ranks).toEqual([]);
  });

  it("has no overview of a status alone", () => {
    expect(message(initial, "status", { overview: { step: 4 }, actors: null }).overview).toBeNull();
  });

  it("keeps the order of log lines and forgets the oldest", () => {
    const lines = Array.from({ length: KEEP_LOGS + 5 }, (_, index) => line(String(index)));
    const live = message(message(initial, "log", { items: lines.slice(0, 10) }), "log", { items: lines.slice(10) });
    expect(live.logs).toHaveLength(KEEP_LOGS);
    expect(live.logs[live.logs.length - 1]?.message).toBe(String(KEEP_LOGS + 4));
    expect(live.logCount).toBe(KEEP_LOGS + 5);
  });

  it("counts evaluations among events", () => {
    const live = message(initial, "event", { items: [{ kind: "evaluation" }, { kind: "checkpoint" }] });
    expect(live.evaluations).toBe(1);
    expect(live.events.map((event) => event.kind)).toEqual(["checkpoint", "evaluation"]);
  });

  it("knows the newest step of the metrics, whatever order they come in", () => {
    const live = message(message(initial, "metrics", { items: [{ step: 7 }] }), "metrics", { items: [{ step: 5 }, { step: null }] });
    expect(live.metricsStep).toBe(7);
  });

  it("asks for everything anew when the server is another one, and only then", () => {
    const first = message(message(initial, "hello", { server: "one", run: "a" }), "log", { items: [line("x")] });
    expect(first.generation).toBe(0);
    expect(message(first, "hello", { server: "one", run: "a" })).toEqual(first);
    const other = message(first, "hello", { server: "two", run: "a" });
    expect(other.generation).toBe(1);
    expect(other.logs).toEqual([]);
    expect(other.server).toBe("two");
  });

  it("keeps what is on show when too much was missed", () => {
    const live = message({ ...initial, overview, server: "one" }, "reset", { reason: "too much" });
    expect(live.overview).toEqual(overview);
    expect(live.generation).toBe(1);
  });

  it("is not lost to a message that it cannot read", () => {
    const live = { ...initial, overview };
    expect(reduce(live, { type: "message", event: { kind: "status", id: "", data: '{"overv' } })).toBe(live);
    expect(message(live, "something else", {})).toBe(live);
  });
});
