// The logs of all ranks: live, filtered by level, rank and text. New lines are followed while the end is in sight.

import { Fragment, useMemo, useRef, useState } from "react";
import { ask, ApiFailure } from "../../api/client";
import type { LogLine, Logs } from "../../api/types";
import { Title } from "../../app/Frame";
import { useQuery } from "../../app/router";
import { count } from "../../lib/format";
import { Search, Select } from "../../parts/basics";
import { Empty, Failure } from "../../parts/states";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { newDays } from "./days";
import { LEVELS, passes, type Filter } from "./filter";
import "./logs.css";

const SIZE = 500;

export function LogsPage() {
  const [query, change] = useQuery();
  const ranks = useLive((state) => state.overview?.ranks.length ?? 1);
  const filter: Filter = { level: query.get("level") ?? "INFO", rank: query.get("rank") ?? "", text: query.get("q") ?? "" };
  const rankChoices: [string, string][] = [["", "all"], ...Array.from({ length: ranks }, (_, rank): [string, string] => [String(rank), String(rank)])];
  const tools = (
    <>
      <Search label="Search in these lines" value={filter.text} onChange={(q) => change({ q }, true)} />
      <Select label="Level" value={filter.level} choices={LEVELS.map((level) => [level, `${level.toLowerCase()} and above`])} onChange={(level) => change({ level }, true)} />
      <Select label="Rank" value={filter.rank} choices={rankChoices} onChange={(rank) => change({ rank }, true)} />
    </>
  );
  return (
    <>
      <Title tools={tools}>Logs</Title>
      <Lines key={`${filter.level} ${filter.rank}`} filter={filter} />
    </>
  );
}

interface Earlier {
  lines: LogLine[];
  /** Where the page before them is; null at the beginning of the logs, undefined as long as there are none. */
  previous: string | null | undefined;
  asking: boolean;
  error: string;
}

function Lines({ filter }: { filter: Filter }) {
  const params = { level: filter.level, rank: filter.rank };
  const first = useResource<Logs>("logs", { ...params, size: SIZE });
  const fresh = useFreshLines(first.data);
  const [earlier, setEarlier] = useState<Earlier>({ lines: [], previous: undefined, asking: false, error: "" });
  const previous = earlier.previous === undefined ? first.data?.previous ?? null : earlier.previous;
  const lines = useMemo(
    () => [...earlier.lines, ...(first.data?.items ?? []), ...fresh.filter((line) => passes(line, { ...filter, text: "" }))],
    [earlier.lines, first.data, fresh, filter.level, filter.rank],
  );
  const shown = filter.text ? lines.filter((line) => passes(line, filter)) : lines;
  const days = newDays(shown);
  const more = (): void => {
    setEarlier((old) => ({ ...old, asking: true }));
    ask<Logs>("logs", { ...params, before: previous, size: SIZE }).then(
      (page) => setEarlier((old) => ({ lines: [...page.items, ...old.lines], previous: page.previous, asking: false, error: "" })),
      (error: unknown) => setEarlier((old) => ({ ...old, asking: false, error: error instanceof ApiFailure ? error.message : String(error) })),
    );
  };
  const { box, onScroll, following, follow } = useFollow();
  if (!first.data && first.error) return <Failure message={first.error.message} retry={first.reload} />;
  return (
    <section className="card flush logs-card">
      <div className="log-box" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label="Log lines" aria-busy={first.loading && !first.data}>
        <div>
          {previous !== null && <button className="button earlier" disabled={earlier.asking} onClick={more}>Earlier lines</button>}
          {earlier.error && <p className="bad small">{earlier.error}</p>}
          {first.data && shown.length === 0 && <Empty title="No lines">{lines.length ? "None of the lines has this text." : "The run has logged nothing of this level yet."}</Empty>}
          {shown.map((line, index) => (
            <Fragment key={numberOf(line)}>
              {days[index] && <p className="day muted">{days[index]}</p>}
              <Row line={line} />
            </Fragment>
          ))}
        </div>
      </div>
      <div className="pager">
        <span>{count(shown.length, "line")}</span>
        <button className="button spread" aria-pressed={following} onClick={follow}>{following ? "Following" : "To the end"}</button>
      </div>
    </section>
  );
}

/** Lines that came by the stream since this was first drawn, without those that the first answer holds too. */
function useFreshLines(first: Logs | null): LogLine[] {
  const logs = useLive((state) => state.logs);
  const total = useLive((state) => state.logCount);
  const begin = useRef(total);
  if (total < begin.current) begin.current = 0; // the stream began anew
  const fresh = total - begin.current;
  return useMemo(() => {
    const known = new Set((first?.items ?? []).slice(-SIZE).map(identity));
    return first && fresh > 0 ? logs.slice(-fresh).filter((line) => !known.has(identity(line))) : [];
  }, [logs, fresh, first]);
}

const identity = (line: LogLine): string => `${line.rank} ${line.date} ${line.time} ${line.logger} ${line.message}`;

const numbers = new WeakMap<LogLine, number>();
let newest = 0;
/** A number of its own for each line, so that rows stay what they are when others come before or after. */
function numberOf(line: LogLine): number {
  const known = numbers.get(line);
  if (known !== undefined) return known;
  numbers.set(line, ++newest);
  return newest;
}

/** The box lays its lines out from the end, so that the browser itself keeps the end in sight; 0 is the end. */
function useFollow() {
  const box = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const onScroll = (): void => setFollowing(Math.abs(box.current?.scrollTop ?? 0) < 24);
  const follow = (): void => {
    if (box.current) box.current.scrollTop = 0;
  };
  return { box, onScroll, following, follow };
}

function Row({ line }: { line: LogLine }) {
  return (
    <div className={`log ${line.level}`}>
      <span className="when">{line.time}</span>
      <span className="rank">r{line.rank}</span>
      <span className="level">{line.level}</span>
      <span className="text"><span className="logger" title={line.logger}>{line.logger.replace(/^nanoproof\./, "")}</span> {line.message}</span>
    </div>
  );
}
