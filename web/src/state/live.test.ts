import { describe, expect, it } from "vitest";
import type { Link } from "../api/sse";
import type { Overview } from "../api/types";
import { initial, reduce, type Live } from "./live";

const message = (live: Live, kind: string, data: unknown): Live =>
  reduce(live, { type: "message", event: { kind, id: "", data: JSON.stringify(data) } });
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

  it("counts how often the stream was opened, whichever monitor is behind it", () => {
    const links: Link[] = [{ state: "connecting" }, { state: "open" }, { state: "waiting", seconds: 1 }, { state: "open" }];
    const live = links.reduce<Live>((before, link) => reduce(before, { type: "link", link }), { ...initial, server: "one" });
    expect(live.openings).toBe(2);
    expect(message(live, "hello", { server: "two", run: "a" }).openings).toBe(2);
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
    const first = message(message(initial, "hello", { server: "one", run: "a" }), "log", { items: [{}] });
    expect(first.generation).toBe(0);
    expect(message(first, "hello", { server: "one", run: "a" })).toEqual(first);
    const other = message(first, "hello", { server: "two", run: "a" });
    expect(other.generation).toBe(1);
    expect([first.logs, other.logs]).toEqual([1, 0]);
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
