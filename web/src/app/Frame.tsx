// The frame around every page: skip link, navigation, the head line of the run, and the state of the connection.

import { useEffect, useRef } from "react";
import { chosenRun, runHref } from "../api/client";
import type { Link } from "../api/sse";
import type { RunState } from "../api/types";
import { dateTime, duration, integer, percent } from "../lib/format";
import { phaseWord, progressOf, readShare, shownSteps, stateTone, stateWord } from "../lib/state";
import { Segments } from "../parts/basics";
import { Boundary } from "../parts/states";
import { FILE_PAGES, fileRun } from "../file/data";
import { useLive } from "../state/store";
import { loadAhead } from "./later";
import { besides, PAGES, pageOf, type PageEntry } from "./pages";
import { href, useRoute } from "./router";
import { chooseTheme, useChoice, type Choice } from "./theme";

export function Frame() {
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const page = pageOf(route.page);
  const run = useLive((live) => live.overview?.run ?? "");
  const first = useRef(true);
  const filled = useLive((live) => live.overview !== null);
  const openings = useLive((live) => live.openings);
  useEffect(() => {
    if (filled) loadAhead(openings); // not before: it must not hold up what is asked for
  }, [filled]);
  useEffect(() => {
    document.title = [page.title, run, "nanoproof"].filter(Boolean).join(" · ");
  }, [page, run]);
  useEffect(() => {
    const was = Number(history.state?.scrolled) || 0; // only where one comes back
    if (first.current) first.current = false;
    else {
      window.scrollTo(0, 0);
      main.current?.focus({ preventScroll: true }); // a screen reader continues in the new page
    }
    const grown = new ResizeObserver(() => {
      if (document.documentElement.scrollHeight - innerHeight < was) return; // what it shows is on its way
      window.scrollTo(0, was);
      grown.disconnect();
    });
    if (was > 0 && main.current) grown.observe(main.current);
    const late = window.setTimeout(() => grown.disconnect(), 3000);
    return () => {
      grown.disconnect();
      window.clearTimeout(late);
    };
  }, [page]);
  useEffect(() => {
    let timer = 0;
    const note = (): void => {
      window.clearTimeout(timer);
      timer = window.setTimeout(() => history.replaceState({ scrolled: window.scrollY }, ""), 150);
    };
    window.addEventListener("scroll", note, { passive: true });
    return () => window.removeEventListener("scroll", note);
  }, []);
  return (
    <>
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the page</a>
      <div className="frame">
        <Side current={page.under ?? page.path} run={chosenRun() ?? ""} />
        <div>
          <Head />
          <Besides page={page} />
          <main className="page" id="main" ref={main} tabIndex={-1}>
            <Boundary key={route.page}>
              <page.Page />
            </Boundary>
          </main>
        </div>
      </div>
    </>
  );
}

/** Which pages have something to show, of a run of this stage. */
function useShows(): (page: PageEntry) => boolean {
  const stage = useLive((live) => live.overview?.stage ?? "");
  const plays = useLive((live) => live.overview?.rounds ?? false);
  const proves = !["pretrain", "midtrain", "sft", "evaluation", "selfplay"].includes(stage);
  return (page) => {
    if (fileRun() && !FILE_PAGES.includes(page.path)) return false;
    if (stage === "evaluation") return page.path === "" || page.path === "evaluations";
    if (plays) return page.path === "rounds" || page.path === "run"; // its rounds are runs of their own
    return (proves || !page.proofs) && !page.rounds;
  };
}

/** The pages that belong together, as tabs. */
function Besides({ page }: { page: PageEntry }) {
  const pages = besides(page, useShows());
  if (pages.length === 0) return null;
  return (
    <nav className="besides" aria-label="Beside this page">
      {pages.map((one) => <a key={one.path} href={href(one.path)} aria-current={one.path === page.path ? "page" : undefined}>{one.tab}</a>)}
    </nav>
  );
}

export const THEMES = [["system", "Auto"], ["light", "Light"], ["dark", "Dark"]] as const satisfies readonly (readonly [Choice, string])[];

/** The navigation: of a run (`run` is its name in a folder, empty where the monitor has one run), or null: of the list of runs. */
export function Side({ current, run }: { current: string; run: string | null }) {
  const choice = useChoice();
  const shows = useShows();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => { // on a phone the pages are a line that scrolls
    const box = nav.current;
    const link = box?.querySelector<HTMLElement>('[aria-current="page"]');
    if (box && link && box.scrollWidth > box.clientWidth) box.scrollLeft = link.offsetLeft - (box.clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <div className="side">
      <a className="brand" href={run === null ? runHref(null) : href("")} aria-label={run === null ? "nanoproof, runs" : "nanoproof, overview"}>
        <svg width="20" height="20" viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" fill="var(--accent)" />
          <path d="M5 3.5v9M5 8h6.5" stroke="var(--on-accent)" strokeWidth="1.8" strokeLinecap="round" fill="none" />
        </svg>
        <span>nanoproof</span>
      </a>
      <nav aria-label="Pages" ref={nav}>
        {run && <a href={runHref(null)}><svg viewBox="0 0 16 16" aria-hidden="true"><path d="M9.5 3.5 5 8l4.5 4.5" /></svg>All runs</a>}
        {run !== null && PAGES.filter((page) => page.icon && shows(page)).map((page) => (
          <a key={page.path} href={href(page.path)} aria-current={page.path === current ? "page" : undefined}>
            <svg viewBox="0 0 16 16" aria-hidden="true"><path d={page.icon} /></svg>
            {page.title}
          </a>
        ))}
      </nav>
      <div className="foot">
        <Segments label="Colours" value={choice} choices={THEMES} onChange={chooseTheme} />
      </div>
    </div>
  );
}

function Head() {
  const overview = useLive((live) => live.overview);
  const link = useLive((live) => live.link);
  const file = fileRun();
  const steps = overview && shownSteps(overview);
  const progress = overview && progressOf(overview);
  const reading = overview && readShare(overview.indexing);
  return (
    <div className="head">
      <span className="run clip" title={overview?.run}>{overview ? overview.title || overview.run : "nanoproof"}</span>
      {file
        ? <span className="link-state" title="This file shows the run as it was then">{`${overview ? stateWord(overview.state).toLowerCase() : ""} · as of ${dateTime(file.made)}`}</span>
        : <LinkState link={link} state={overview?.state ?? null} />}
      {overview && (
        <div className="facts">
          {reading !== null && <span className="warn" role="status">reading its log: {percent(reading, 0)}</span>}
          {overview.live && <span>{phaseWord(overview).toLowerCase()}</span>}
          {overview.step !== null && <span>step <b>{integer(overview.step)}</b>{steps ? ` of ${integer(steps)}` : ""}</span>}
          {overview.attempts > 0 && <span><b>{integer(overview.theorems_proven)}</b> theorems proved</span>}
          {overview.elapsed !== null && <span>{duration(overview.elapsed)}{progress?.by === "time" && overview.live ? ` of ${duration(overview.max_seconds)}` : ""}</span>}
        </div>
      )}
    </div>
  );
}

function LinkState({ link, state }: { link: Link; state: RunState | null }) {
  const [dot, text] = describeLink(link, state);
  return (
    <span className="link-state" role="status">
      <span className={`dot ${dot}`} aria-hidden="true" />
      {text}
    </span>
  );
}

/** The dot's look and the words for the state of the connection. */
export function describeLink(link: Link, state: RunState | null): [dot: string, text: string] {
  if (link.state === "waiting") {
    const without = link.missing ? "the monitor knows no such run" : "waiting for the monitor";
    return ["wait", state && !link.missing ? "reconnecting, last state shown" : without];
  }
  if (link.state === "refused") return ["wait", "the monitor asks for its token"];
  if (link.state === "connecting" || !state) return ["", "connecting"];
  return state.name === "running" ? ["live", "live"] : [stateTone(state) === "bad" ? "bad" : "over", stateWord(state).toLowerCase()];
}
