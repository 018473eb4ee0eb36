import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Asking, type Answer } from "./asking";

const TAKES = 3000;
const seconds = (time: number): number => Math.round(time / 1000);
let asked: number[];
let heard: Answer<number>[];
let signals: AbortSignal[];

/** A question whose answer is the time it was asked at, and takes three seconds. */
function slow(atMost: number): Asking<number> {
  const request = (signal: AbortSignal): Promise<number> => {
    signals.push(signal);
    asked.push(Date.now());
    return new Promise((resolve) => setTimeout(resolve, TAKES, Date.now()));
  };
  return new Asking(request, (answer) => heard.push(answer), atMost);
}

beforeEach(() => {
  [asked, heard, signals] = [[], [], []];
  vi.useFakeTimers({ now: 0 });
});
afterEach(() => void vi.useRealTimers());

describe("a question that is asked again and again", () => {
  it("is answered though it is wanted anew before each answer", async () => {
    const asking = slow(1000);
    for (let second = 0; second < 10; second++) {
      asking.again();
      await vi.advanceTimersByTimeAsync(1000);
    }
    expect(asked.map(seconds)).toEqual([0, 3, 6, 9]);
    expect(heard.map((answer) => "data" in answer && seconds(answer.data))).toEqual([0, 3, 6]);
    expect(signals.every((signal) => !signal.aborted)).toBe(true);
  });

  it("is asked no more often than wanted, and not more often than allowed", async () => {
    const asking = slow(5000);
    asking.again();
    await vi.advanceTimersByTimeAsync(TAKES + 100);
    asking.again();
    asking.again();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toEqual([0, 5000]);
  });

  it("continues after an answer that failed", async () => {
    const asking = new Asking(() => Promise.reject(new Error("away")), (answer) => heard.push(answer), 0);
    asking.again();
    await vi.advanceTimersByTimeAsync(1);
    asking.again();
    await vi.advanceTimersByTimeAsync(1);
    expect(heard).toEqual([{ error: new Error("away") }, { error: new Error("away") }]);
  });

  it("is given up when it is closed", async () => {
    const asking = slow(0);
    asking.again();
    await vi.advanceTimersByTimeAsync(1000);
    asking.again();
    asking.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(signals.map((signal) => signal.aborted)).toEqual([true]);
    expect(heard).toEqual([]);
  });
});
