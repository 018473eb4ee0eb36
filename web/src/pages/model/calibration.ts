// The lines of the calibration charts.

import type { CalibrationBin, CalibrationDepth } from "../../api/types";
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

/** What was predicted by the true number, with a band of the mean absolute error, and the diagonal. */
export function depthLines(depths: CalibrationDepth[]): Line[] {
  const x = depths.map((row) => row.depth);
  const predicted: Line = {
    name: "predicted",
    x,
    y: depths.map((row) => row.predicted),
    low: depths.map((row) => Math.max(0, row.predicted - row.absolute_error)),
    high: depths.map((row) => row.predicted + row.absolute_error),
  };
  return [predicted, { name: "perfect", x, y: depths.map((row) => row.predicted - row.error) }];
}
