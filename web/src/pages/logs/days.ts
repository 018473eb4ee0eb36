// Where a day begins in the logs. Logs of older runs have no days.

import type { LogLine } from "../../api/types";

/** For each line the day that begins with it; "" where that of the line before continues, or none is known. */
export function newDays(lines: LogLine[]): string[] {
  let day = "";
  return lines.map(({ date }) => {
    const begins = date !== "" && date !== day;
    if (begins) day = date;
    return begins ? date : "";
  });
}
