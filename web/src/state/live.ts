// What the page knows of the run by the live stream: a pure reducer over its messages.

import type {
  Actors, Event, EventMessage, Hello, MetricsMessage, Overview, StatusMessage,
} from "../api/types";
import type { Link, ServerEvent } from "../api/sse";

export const KEEP_EVENTS = 200;

export interface Live {
  link: Link;
  /** How often the stream was opened. */
  openings: number;
  server: string;
  /** Grows when everything that was asked for before has to be asked for anew. */
  generation: number;
  /** Asked for once, and kept up to date by the stream. */
  overview: Overview | null;
  actors: Actors | null;
  /** Newest first. */
  events: Event[];
  /** Messages about new log lines, as a number that grows. */
  logs: number;
  /** The newest step whose metrics came. */
  metricsStep: number;
  /** Evaluations that came, as a number that grows. */
  evaluations: number;
}

export const initial: Live = {
  link: { state: "connecting" },
  openings: 0,
  server: "",
  generation: 0,
  overview: null,
  actors: null,
  events: [],
  logs: 0,
  metricsStep: -1,
  evaluations: 0,
};

export type Action =
  | { type: "link"; link: Link }
  | { type: "overview"; overview: Overview }
  | { type: "message"; event: ServerEvent };

export function reduce(live: Live, action: Action): Live {
  switch (action.type) {
    case "link":
      return { ...live, link: action.link, openings: live.openings + (action.link.state === "open" ? 1 : 0) };
    case "overview":
      return { ...live, overview: action.overview };
    case "message":
      return message(live, action.event);
  }
}

function message(live: Live, event: ServerEvent): Live {
  let data: unknown;
  try {
    data = JSON.parse(event.data);
  } catch {
    return live; // a message that cannot be read is no reason to lose the page
  }
  switch (event.kind) {
    case "hello":
      return hello(live, data as Hello);
    case "reset":
      return afresh(live);
    case "status": {
      const { overview, actors } = data as StatusMessage;
      return { ...live, actors, overview: live.overview && { ...live.overview, ...overview } };
    }
    case "metrics": {
      const steps = (data as MetricsMessage).items.map((item) => item.step).filter((step) => typeof step === "number");
      return { ...live, metricsStep: Math.max(live.metricsStep, ...steps) };
    }
    case "event": {
      const items = (data as EventMessage).items;
      const scored = items.filter((item) => item.kind === "evaluation").length;
      const events = newest(items, live.events, KEEP_EVENTS);
      return { ...live, events, evaluations: live.evaluations + scored };
    }
    case "log":
      return { ...live, logs: live.logs + 1 };
    default:
      return live;
  }
}

/** Another server may show another run: what came from the earlier one is forgotten. */
function hello(live: Live, data: Hello): Live {
  if (live.server === data.server) return live;
  return live.server === "" ? { ...live, server: data.server } : { ...afresh(live), server: data.server };
}

function afresh(live: Live): Live {
  const { link, openings, server, overview, actors } = live;
  return { ...initial, link, openings, server, overview, actors, generation: live.generation + 1 };
}

function newest<T>(items: T[], before: T[], keep: number): T[] {
  return [...items].reverse().concat(before).slice(0, keep);
}
