// The lines of the calibration chart.

import type { CalibrationBin } from "../../api/types";
import type { Line } from "../../parts/chart_data";

/** What was measured with a band of one standard deviation, and the diagonal. */
export function calibrationLines(bins: CalibrationBin[]): Line[] {
  const sorted = [...bins].sort((a, b) => a.predicted - b.predicted);
  const x = sorted.map((bin) => bin.predicted);
  const measured: Line = {
    name: "true",
    x,
    y: sorted.map((bin) => bin.actual),
    low: sorted.map((bin) => Math.max(0, bin.actual - bin.deviation)),
    high: sorted.map((bin) => bin.actual + bin.deviation),
  };
  return [measured, { name: "perfect", x, y: x }];
}
