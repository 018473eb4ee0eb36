import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventParser, listen, pause, type Link } from "./sse";

describe("server-sent events", () => {
  it("come whole, wherever the stream was cut", () => {
    const text = 'id: 7\nevent: status\ndata: {"a":\ndata: 1}\n\n: awake\n\nevent: log\ndata: x\n\n';
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new EventParser();
      const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
      expect(events).toEqual([
        { kind: "status", id: "7", data: '{"a":\n1}' },
        { kind: "log", id: "7", data: "x" },
      ]);
    }
  });

  it("may end lines as the network does", () => {
    expect(new EventParser().push("data: y\r\n\r\n")).toEqual([{ kind: "message", id: "", data: "y" }]);
  });

  it("without data are none", () => {
    expect(new EventParser().push("event: status\n\ndata: z\n\n")).toEqual([{ kind: "message", id: "", data: "z" }]);
  });

  it("are waited for longer after each failure, up to 8 seconds", () => {
    expect([1, 2, 3, 4, 9].map(pause)).toEqual([1, 2, 4, 8, 8]);
  });
});

describe("a connection", () => {
  interface Connection { last: string | undefined; signal: AbortSignal; send: (text: string) => void; fail: () => void }
  let connections: Connection[];
  let heard: string[];
  let links: Link["state"][];
  let page: EventTarget & { hidden: boolean };
  let frame: EventTarget;
  let stop: () => void;
  const open = (): number => connections.filter((one) => !one.signal.aborted).length;
  const rest = (): Promise<unknown> => vi.advanceTimersByTimeAsync(10);
  const show = (shown: boolean): void => {
    page.hidden = !shown;
    page.dispatchEvent(new Event("visibilitychange"));
  };

  beforeEach(async () => {
    [connections, heard, links] = [[], [], []];
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    page = Object.assign(new EventTarget(), { hidden: false });
    frame = Object.assign(new EventTarget(), { setTimeout, clearTimeout });
    vi.stubGlobal("document", page);
    vi.stubGlobal("window", frame);
    vi.stubGlobal("fetch", (_: string, { headers, signal }: { headers: Record<string, string>; signal: AbortSignal }) => {
      const body = new ReadableStream<Uint8Array>({
        start: (control) => {
          const send = (text: string): void => control.enqueue(new TextEncoder().encode(text));
          const fail = (): void => control.error(new Error("gone"));
          connections.push({ last: headers["Last-Event-ID"], signal, send, fail });
          signal.addEventListener("abort", fail);
        },
      });
      return Promise.resolve(new Response(body));
    });
    stop = listen("stream", (event) => heard.push(event.data), (link) => links.push(link.state));
    await rest();
  });
  afterEach(async () => {
    stop();
    await rest();
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });

  it("ends while the page is hidden, and resumes after the last event that was heard", async () => {
    connections[0]!.send("id: 7\ndata: a\n\ndata: half");
    await rest();
    show(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([connections.length, open()]).toEqual([1, 0]);
    show(true);
    await rest();
    connections[1]!.send("data: b\n\n");
    await rest();
    expect([connections.length, open(), connections[1]!.last]).toEqual([2, 1, "7"]);
    expect(heard).toEqual(["a", "b"]);
    expect(links).toEqual(["connecting", "open", "open"]);
  });

  it("is not tried anew while the page is hidden", async () => {
    connections[0]!.fail();
    await rest();
    show(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connections.length).toBe(1);
  });

  it("that was tried anew stays the only one when the network is said to be back", async () => {
    connections[0]!.fail();
    await vi.advanceTimersByTimeAsync(1100);
    expect(connections.length).toBe(2);
    frame.dispatchEvent(new Event("online"));
    await vi.advanceTimersByTimeAsync(5000);
    expect(connections.length).toBe(2);
  });

  it("is tried at once when the network is back", async () => {
    connections[0]!.fail();
    await rest();
    frame.dispatchEvent(new Event("online"));
    await vi.advanceTimersByTimeAsync(5000);
    expect([connections.length, links[links.length - 1]]).toEqual([2, "open"]);
  });
});
