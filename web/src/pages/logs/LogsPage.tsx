// The logs of all ranks: live, filtered by level, rank and text. New lines are followed while the end is in sight.

import { Fragment, useEffect, useMemo, useRef, useState } from "react";
import { ask, ApiFailure, type Params } from "../../api/client";
import type { LogLine, Logs } from "../../api/types";
import { useQuery } from "../../app/router";
import { count } from "../../lib/format";
import { Search, Select, Title } from "../../parts/basics";
import { Empty, Failure } from "../../parts/states";
import { Asking } from "../../state/asking";
import { useLive } from "../../state/store";
import { newDays } from "./days";
import { LEVELS, passes, type Filter } from "./filter";
import { withNewer } from "./pages";
import "./logs.css";

const SIZE = 500;
/** So many lines are kept while new ones are followed. */
const KEEP = 3000;
/** New lines are asked for at most so often, in milliseconds. */
const PAUSE = 500;

export function LogsPage() {
  const [query, change] = useQuery();
  const generation = useLive((state) => state.generation);
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
      <Lines key={`${generation} ${filter.level} ${filter.rank}`} filter={filter} />
    </>
  );
}

interface Earlier {
  asking: boolean;
  error: string;
}

function Lines({ filter }: { filter: Filter }) {
  const params = { level: filter.level, rank: filter.rank };
  const { box, onScroll, following, follow } = useFollow();
  const { pages, addBefore, error, reload } = usePages(params, following);
  const [earlier, setEarlier] = useState<Earlier>({ asking: false, error: "" });
  const previous = pages[0]?.previous ?? null;
  const lines = useMemo(() => pages.flatMap((page) => page.items), [pages]);
  const shown = filter.text ? lines.filter((line) => passes(line, filter)) : lines;
  const days = newDays(shown);
  const more = (): void => {
    setEarlier({ asking: true, error: "" });
    ask<Logs>("logs", { ...params, before: previous, size: SIZE }).then(
      (page) => {
        addBefore(page, previous);
        setEarlier({ asking: false, error: "" });
      },
      (failure: unknown) => setEarlier({ asking: false, error: messageOf(failure) }),
    );
  };
  if (pages.length === 0 && error) return <Failure message={error} retry={reload} />;
  return (
    <section className="card flush logs-card">
      <div className="log-box" ref={box} onScroll={onScroll} tabIndex={0} role="log" aria-label="Log lines" aria-busy={pages.length === 0}>
        <div>
          {previous !== null && <button className="button earlier" disabled={earlier.asking} onClick={more}>Earlier lines</button>}
          {earlier.error && <p className="bad small">{earlier.error}</p>}
          {pages.length > 0 && shown.length === 0 && <Empty title="No lines">{lines.length ? "None of the lines has this text." : "The run has logged nothing of this level yet."}</Empty>}
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

/** The newest lines, and with each message of the stream those that were written since, from where the last page ended:
 * none is missed, however many came at once. While the end is followed the oldest are let go, but none of those that
 * were asked for. */
function usePages(params: Params, following: boolean) {
  const came = useLive((state) => state.logs);
  const openings = useLive((state) => state.openings);
  const [pages, setPages] = useState<Logs[]>([]);
  const [error, setError] = useState("");
  const most = useRef(KEEP);
  const follows = useRef(following);
  follows.current = following;
  const asking = useRef<Asking<Logs> | null>(null);
  const reload = (): void => asking.current?.again();
  useEffect(() => {
    let after = "";
    const own = new Asking<Logs>((signal) => ask("logs", { ...params, after, size: SIZE }, signal), (answer) => {
      if ("error" in answer) return setError(messageOf(answer.error));
      const { data } = answer;
      setError("");
      setPages((old) => withNewer(old, data, follows.current ? most.current : Infinity));
      if (after && data.items.length === SIZE) own.again();
      after = data.next;
    }, PAUSE);
    asking.current = own;
    return () => own.close();
  }, []);
  useEffect(() => {
    reload();
  }, [came, openings]);
  const addBefore = (page: Logs, place: string | null): void => {
    most.current += page.items.length;
    setPages((old) => (old[0]?.previous === place ? [page, ...old] : old));
  };
  return { pages, addBefore, error, reload };
}

const messageOf = (error: unknown): string => (error instanceof ApiFailure ? error.message : String(error));

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
