import { describe, expect, it } from "vitest";
import { EventParser, pause } from "./sse";

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
