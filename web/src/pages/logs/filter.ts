// Which log lines are shown.

import type { LogLine } from "../../api/types";

export const LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;

export interface Filter {
  /** The lowest level shown. */
  level: string;
  /** A rank's number, or "" for all. */
  rank: string;
  /** Words of the message or logger, in any case. */
  text: string;
}

export function passes(line: LogLine, filter: Filter): boolean {
  if (LEVELS.indexOf(line.level) < LEVELS.indexOf(filter.level as LogLine["level"])) return false;
  if (filter.rank !== "" && String(line.rank) !== filter.rank) return false;
  return filter.text === "" || `${line.logger} ${line.message}`.toLowerCase().includes(filter.text.toLowerCase());
}
