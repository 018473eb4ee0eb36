// Where the time goes: phases, model and actors over time, how much is computed at once and the queue; as a file for a
// trace viewer too.

import { useMemo, useState } from "react";
import type { Batches, Timeline as TimelineData } from "../../api/types";
import { apiUrl } from "../../api/client";
import { compact, duration, integer, percent, timeOfDay } from "../../lib/format";
import { Card, Segments, Stat, Title } from "../../parts/basics";
import { Chart } from "../../parts/Chart";
import { Empty, Loaded } from "../../parts/states";
import { Shares } from "../../timeline/Shares";
import { Timeline } from "../../timeline/Timeline";
import { useTimeline } from "../../timeline/useTimeline";
import { batchFigures, batchLines, busyShare } from "./batches";

const WINDOWS = [["60", "1 min"], ["300", "5 min"], ["1800", "30 min"], ["0", "All"]] as const;
type Window = (typeof WINDOWS)[number][0];

export function ProfilePage() {
  const [seconds, setSeconds] = useState<Window>("300");
  const { answer, range, limits, following, choose } = useTimeline(Number(seconds), 8000);
  const tools = (
    <>
      {!following && <button className="button" onClick={() => choose(null)}>Follow</button>}
      <Segments label="Length" value={seconds} choices={WINDOWS} onChange={(next) => { setSeconds(next); choose(null); }} />
      <a className="button" href={apiUrl("trace", { ...range })} download="trace.json" title="Opens in Perfetto and in chrome://tracing">Chrome trace</a>
    </>
  );
  const { data } = answer;
  const note = data?.first ? `${timeOfDay(data.start)} to ${timeOfDay(data.end)}, ${duration(data.end - data.start)}${data.shortened ? ", the newest part of what was asked for" : ""}` : undefined;
  return (
    <>
      <Title note={note} tools={tools}>Profile</Title>
      <Loaded of={answer} height={520}>
        {(data) => data.lanes.length === 0 && data.batches.length === 0
          ? <Card><Empty title="No timeline">The run has written none for this stretch. It keeps the last minutes only (see --timeline-minutes).</Empty></Card>
          : (
            <>
              <Figures data={data} />
              <Card title="Timeline" note={data.merged ? "short spans are drawn together, drag to look closer" : "drag to look closer"}>
                <Timeline label="Profile" lanes={data.lanes} range={range} limits={limits} onRange={choose} />
              </Card>
              <BatchCharts batches={data.batches} onRange={(from, to) => choose({ from, to })} />
            </>
          )}
      </Loaded>
    </>
  );
}

function Figures({ data }: { data: TimelineData }) {
  const figures = batchFigures(data.batches);
  return (
    <Card title="Where the actors' time goes">
      <Shares label="Time of actors" shares={data.shares} />
      {data.batches.length > 0 && (
        <dl className="stats" style={{ marginTop: 18 }}>
          <Stat name="Model busy" note={data.batches.length > 1 ? "in the mean of the ranks" : undefined}>{percent(busyShare(data.batches, data.end - data.start), 0)}</Stat>
          <Stat name="States in work" note={`half have at least ${integer(figures.medianStates)}`}>{figures.meanStates.toFixed(1)}</Stat>
          <Stat name="Rows in work" note={`at most ${integer(figures.mostRows)}`}>{figures.meanRows.toFixed(1)}</Stat>
          <Stat name="Waiting in the queue" note={`at most ${integer(figures.mostQueue)}`}>{figures.meanQueue.toFixed(1)}</Stat>
        </dl>
      )}
    </Card>
  );
}

function BatchCharts({ batches, onRange }: { batches: Batches[]; onRange: (from: number, to: number) => void }) {
  const { rows, queue, seconds } = useMemo(() => batchLines(batches), [batches]);
  if (rows.length === 0) return <Card title="The model"><Empty title="No samples in this stretch">The model computed nothing here.</Empty></Card>;
  const shared = { time: true, x: timeOfDay, onRange, height: 180, range: [0, null] as [number, null] };
  return (
    <div className="three">
      <Card title="Rows in work" note="ten samples a second"><Chart label="Rows in work" lines={rows} y={compact} {...shared} /></Card>
      <Card title="Queue" note="states that wait"><Chart label="Queue" lines={queue} y={compact} {...shared} /></Card>
      <Card title="Busy" note="since the sample before"><Chart label="Busy" lines={seconds} y={duration} {...shared} /></Card>
    </div>
  );
}
