// Predicted against true numbers of tactics: a line on the diagonal would be perfect.

import { useMemo } from "react";
import type { Calibration } from "../../api/types";
import { attemptStep, count, integer, measure, signed } from "../../lib/format";
import { Card, Stat } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import { Empty, Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { useSearches, ValuesCard } from "../overview/Searches";
import { calibrationLines, depthLines } from "./calibration";

const LAST_DEPTH = 16;

export function CalibrationView() {
  const step = useLive((live) => live.overview?.step ?? 0);
  const answer = useResource<Calibration>("calibration", {}, { version: step });
  const searches = useSearches();
  return (
    <>
      <ValuesCard of={searches} />
      <Loaded of={answer} height={480}>{(data) => (data.count ? <Calibrated data={data} /> : <Unknown />)}</Loaded>
    </>
  );
}

const Unknown = () => (
  <Card><Empty title="Nothing to compare with yet">A value can be checked where a proof was found through its state.</Empty></Card>
);

function Calibrated({ data }: { data: Calibration }) {
  const lines = useMemo(() => calibrationLines(data.bins), [data]);
  const byDepth = useMemo(() => depthLines(data.depths), [data]);
  const most = Math.max(...data.bins.map((bin) => bin.count));
  return (
    <>
      <Card>
        <dl className="stats">
          <Stat name="States" note={data.first_step === null ? undefined : `steps ${attemptStep(data.first_step)} to ${attemptStep(data.last_step).replace("after ", "")}`}>{integer(data.count)}</Stat>
          <Stat name="Calibration error" note="expected, in tactics">{measure(data.expected_error)}</Stat>
          <Stat name="Mean error" note={bias(data.mean_error)}>{signed(data.mean_error, (value) => value.toFixed(2))}</Stat>
          <Stat name="Mean absolute error" note="tactics">{measure(data.mean_absolute_error)}</Stat>
          <Stat name="Correlation" note="1 would be perfect">{data.correlation === null ? "–" : data.correlation.toFixed(2)}</Stat>
        </dl>
      </Card>
      <div className="calibration">
        <Card title="Tactics still needed" note="by what the model predicted; the band is one standard deviation">
          <Chart label="Tactics needed by tactics predicted" lines={lines} height={340} x={(value) => `predicted ${value.toFixed(1)}`} y={(value) => value.toFixed(1)} level={String} shape="points" range={[0, null]} />
        </Card>
        <Card title="The same in numbers" flush>
          <div className="table-wrap">
            <table className="table">
              <thead><tr><th scope="col" title="Predicted, rounded">About</th><th scope="col" className="right">Predicted</th><th scope="col" className="right">True</th><th scope="col" className="right">±</th><th scope="col" className="right">States</th></tr></thead>
              <tbody>
                {data.bins.map((bin) => (
                  <tr key={bin.low}>
                    <td>{integer((bin.low + bin.high) / 2)}</td>
                    <td className="right">{bin.predicted.toFixed(2)}</td>
                    <td className="right">{bin.actual.toFixed(2)}</td>
                    <td className="right">{bin.deviation.toFixed(2)}</td>
                    <td className="right"><span title={count(bin.count, "state")}>{integer(bin.count)}</span><span className="under-bar" aria-hidden="true" style={{ width: `${(100 * bin.count) / most}%`, marginLeft: "auto" }} /></td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
        <Card title="Tactics predicted" note="by how many were really needed">
          <Chart label="Tactics predicted by tactics needed" lines={byDepth} height={340} x={(value) => `needed ${value}`} y={(value) => value.toFixed(1)} level={String} shape="points" range={[0, null]} />
        </Card>
        <Card title="By true number" flush>
          <div className="table-wrap">
            <table className="table">
              <thead><tr><th scope="col">Needed</th><th scope="col" className="right">Predicted</th><th scope="col" className="right">Mean error</th><th scope="col" className="right">Absolute</th><th scope="col" className="right">States</th></tr></thead>
              <tbody>
                {data.depths.map((row) => (
                  <tr key={row.depth}>
                    <td>{row.depth === LAST_DEPTH ? `from ${row.depth}` : row.depth}</td>
                    <td className="right">{row.predicted.toFixed(2)}</td>
                    <td className="right">{signed(row.error, (value) => value.toFixed(2))}</td>
                    <td className="right">{row.absolute_error.toFixed(2)}</td>
                    <td className="right">{integer(row.count)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Card>
      </div>
    </>
  );
}

function bias(error: number | null): string | undefined {
  if (error === null || Math.abs(error) < 0.05) return undefined;
  return error > 0 ? "states are nearer than predicted" : "states are farther than predicted";
}
