import { expect, it } from "vitest";
import type { LogLine } from "../../api/types";
import { passes } from "./filter";

const line: LogLine = { rank: 1, date: "", time: "", level: "WARNING", logger: "nanoproof.rl", message: "Server away" };

it.each([
  [{ level: "INFO", rank: "", text: "" }, true],
  [{ level: "WARNING", rank: "1", text: "server" }, true],
  [{ level: "ERROR", rank: "", text: "" }, false],
  [{ level: "DEBUG", rank: "0", text: "" }, false],
  [{ level: "DEBUG", rank: "", text: "NANOPROOF.RL" }, true],
  [{ level: "DEBUG", rank: "", text: "absent" }, false],
])("a warning of rank 1 passes %o: %s", (filter, passed) => expect(passes(line, filter)).toBe(passed));
