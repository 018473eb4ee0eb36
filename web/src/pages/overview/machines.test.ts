import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, expect, it, vi } from "vitest";
import type { LeanServer, Overview, RankStatus } from "../../api/types";
import { Machines } from "./Machines";

const rank: RankStatus = { rank: 0, live: false, age: 10, phase: "collect", step: 3, pid: 1, memory: null, gpu: null, actors: {} };
const server = (address: string, state: string): LeanServer => ({ address, state, actors: 4, errors: 0 });
const drawn = (overview: Partial<Overview>): string => renderToStaticMarkup(createElement(Machines, { overview: { time: 1000, ranks: [], servers: [], hosts: [], remote: null, ...overview } as Overview }));

afterEach(() => void vi.useRealTimers());

it("a server that is down looks like it, and one that is up does too", () => {
  const text = drawn({ live: true, servers: [server("a:1", "up"), server("b:1", "down")] });
  expect(text).toMatch(/badge good"><span[^>]*>✓<\/span>up/);
  expect(text).toMatch(/badge bad"><span[^>]*>!<\/span>down/);
});

it("a server of a run that is over is not called up", () => {
  const text = drawn({ live: false, servers: [server("a:1", "up")] });
  expect(text).toContain("was up");
  expect(text).not.toContain("badge good");
});

it("a rank is silent for longer as time goes on, though nothing is heard of it", () => {
  vi.useFakeTimers({ now: 1000 * 1000 });
  expect(drawn({ ranks: [rank] })).toContain("silent for 10 s");
  vi.setSystemTime(1000 * (1000 + 3590));
  expect(drawn({ ranks: [rank] })).toContain("silent for 1 h 00 m");
});

it("hosts that came and went are told apart, and a run without any has no such card", () => {
  const host = { name: "h1", state: "up", since: 900, size: 4, under_way: 2, attempts: 7, attempts_per_minute: 3.5, given_again: 0, servers: ["a:1"], reason: "" };
  const text = drawn({ live: true, hosts: [host, { ...host, name: "h2", state: "gone", given_again: 2, reason: "no word for 30 s" }] } as Partial<Overview>);
  expect(text).toContain("1 host, 3.5 attempts a minute");
  expect(text).toContain("working");
  expect(text).toContain("no word for 30 s");
  expect(drawn({ live: true })).not.toContain("Hosts");
});
