// Every page, in the order of the navigation. A page without an icon belongs to another one (`under`): it stands beside that
// one in the line of tabs below the head, or is reached from it.

import type { ComponentType } from "react";
import { OverviewPage } from "../pages/overview/OverviewPage";
import { NoPage } from "../parts/NoPage";
import { later } from "./later";
import { href } from "./router";

export interface PageEntry {
  /** What stands after `#/`. */
  path: string;
  title: string;
  /** A path drawn on 16 by 16. */
  icon?: string;
  /** Whether only runs that prove have something to show there. */
  proofs?: boolean;
  /** Whether only experiments of self-play have something to show there. */
  rounds?: boolean;
  /** The page of the navigation that it belongs to. */
  under?: string;
  /** Its name in the line of tabs of the pages that belong together. */
  tab?: string;
  Page: ComponentType;
}

const evaluations = (): Promise<typeof import("../pages/evaluation_pages")> => import("../pages/evaluation_pages");
const searches = (): Promise<typeof import("../pages/search_pages")> => import("../pages/search_pages");
const inner = (): Promise<typeof import("../pages/inner_pages")> => import("../pages/inner_pages");

export const PAGES: PageEntry[] = [
  { path: "", title: "Overview", icon: "M2 9.5 5.5 6l3 3L14 3.5M2 13.5h12", Page: OverviewPage },
  { path: "theorems", title: "Theorems", tab: "Theorems", proofs: true, icon: "M2.5 8.5 6 12l7.5-8", Page: later(searches, (part) => part.TheoremsPage) },
  { path: "tree", title: "Search trees", tab: "Search trees", under: "theorems", proofs: true, Page: later(searches, (part) => part.TreePage) },
  { path: "theorem", title: "Theorem", under: "theorems", proofs: true, Page: later(searches, (part) => part.TheoremPage) },
  { path: "rounds", title: "Rounds", rounds: true, icon: "M8 1.8a4.2 4.2 0 0 0-2.3 7.7c.6.5.8 1 .8 1.7h3c0-.7.2-1.2.8-1.7A4.2 4.2 0 0 0 8 1.8ZM6.5 13.8h3", Page: later(inner, (part) => part.RoundsPage) },
  { path: "evaluations", title: "Evaluations", icon: "M8 2.5v11M4.5 4.5 8 2.5l3.5 2M2.5 9.5 4.5 4.5l2 5a2.2 2.2 0 0 1-4 0ZM9.5 9.5l2-5 2 5a2.2 2.2 0 0 1-4 0ZM5 13.5h6", Page: later(evaluations, (part) => part.EvaluationsPage) },
  { path: "evaluation", title: "Evaluation", under: "evaluations", Page: later(evaluations, (part) => part.EvaluationPage) },
  { path: "compare", title: "Two evaluations", under: "evaluations", Page: later(evaluations, (part) => part.DiffPage) },
  { path: "model", title: "Model", proofs: true, icon: "M2.5 13.5V9M5.5 13.5V5M8.5 13.5v-11M11.5 13.5V7M14 13.5H2", Page: later(inner, (part) => part.ModelPage) },
  { path: "run", title: "Run", tab: "Settings", icon: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.2v4M8 4.8v.2", Page: later(inner, (part) => part.RunPage) },
  { path: "actors", title: "Actors", tab: "Actors", under: "run", proofs: true, Page: later(inner, (part) => part.ActorsPage) },
  { path: "profile", title: "Profile", tab: "Profile", under: "run", proofs: true, Page: later(inner, (part) => part.ProfilePage) },
  { path: "logs", title: "Logs", tab: "Logs", under: "run", Page: later(inner, (part) => part.LogsPage) },
];

const NOWHERE: PageEntry = { path: "nowhere", title: "No such page", Page: NowherePage };

export function pageOf(path: string): PageEntry {
  return PAGES.find((page) => page.path === path) ?? NOWHERE;
}

/** The pages beside a page, itself too, of those that `shows`; none where it stands alone. */
export function besides(page: PageEntry, shows: (page: PageEntry) => boolean): PageEntry[] {
  const head = page.under ?? page.path;
  const pages = PAGES.filter((one) => one.tab && (one.under ?? one.path) === head && shows(one));
  return pages.length > 1 ? pages : [];
}

function NowherePage() {
  return (
    <NoPage title="No such page" says="There is no page at this address">
      It may be of another version of the monitor, or mistyped. <a href={href("")}>The overview of the run</a>
    </NoPage>
  );
}
