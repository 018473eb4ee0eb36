// Every page, in the order of the navigation. A page without an icon is reached from another one (`under`).

import type { ComponentType } from "react";
import { ActorsPage } from "../pages/actors/ActorsPage";
import { RoundsPage } from "../pages/rounds/RoundsPage";
import { DiffPage } from "../pages/evaluations/DiffPage";
import { EvaluationPage } from "../pages/evaluations/EvaluationPage";
import { EvaluationsPage } from "../pages/evaluations/EvaluationsPage";
import { LogsPage } from "../pages/logs/LogsPage";
import { ModelPage } from "../pages/model/ModelPage";
import { OverviewPage } from "../pages/overview/OverviewPage";
import { ProfilePage } from "../pages/profile/ProfilePage";
import { RunPage } from "../pages/run/RunPage";
import { TheoremPage } from "../pages/theorems/TheoremPage";
import { TheoremsPage } from "../pages/theorems/TheoremsPage";
import { TreePage } from "../pages/tree/TreePage";

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
  Page: ComponentType;
}

export const PAGES: PageEntry[] = [
  { path: "", title: "Overview", icon: "M2 9.5 5.5 6l3 3L14 3.5M2 13.5h12", Page: OverviewPage },
  { path: "run", title: "Run", icon: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8ZM8 7.2v4M8 4.8v.2", Page: RunPage },
  { path: "actors", title: "Actors", proofs: true, icon: "M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z", Page: ActorsPage },
  { path: "theorems", title: "Theorems", proofs: true, icon: "M2.5 8.5 6 12l7.5-8", Page: TheoremsPage },
  { path: "theorem", title: "Theorem", under: "theorems", Page: TheoremPage },
  { path: "rounds", title: "Rounds", rounds: true, icon: "M8 1.8a4.2 4.2 0 0 0-2.3 7.7c.6.5.8 1 .8 1.7h3c0-.7.2-1.2.8-1.7A4.2 4.2 0 0 0 8 1.8ZM6.5 13.8h3", Page: RoundsPage },
  { path: "tree", title: "Search trees", proofs: true, icon: "M4.5 8h2.5M7 8C9 8 8 3.5 10.5 3.5M7 8h3.5M7 8C9 8 8 12.5 10.5 12.5M4.5 8a1.25 1.25 0 1 1-2.5 0 1.25 1.25 0 0 1 2.5 0ZM13.5 3.5a1.25 1.25 0 1 1-2.5 0 1.25 1.25 0 0 1 2.5 0ZM13.5 8A1.25 1.25 0 1 1 11 8a1.25 1.25 0 0 1 2.5 0ZM13.5 12.5a1.25 1.25 0 1 1-2.5 0 1.25 1.25 0 0 1 2.5 0Z", Page: TreePage },
  { path: "model", title: "Model", proofs: true, icon: "M2.5 13.5V9M5.5 13.5V5M8.5 13.5v-11M11.5 13.5V7M14 13.5H2", Page: ModelPage },
  { path: "evaluations", title: "Evaluations", icon: "M8 2.5v11M4.5 4.5 8 2.5l3.5 2M2.5 9.5 4.5 4.5l2 5a2.2 2.2 0 0 1-4 0ZM9.5 9.5l2-5 2 5a2.2 2.2 0 0 1-4 0ZM5 13.5h6", Page: EvaluationsPage },
  { path: "evaluation", title: "Evaluation", under: "evaluations", Page: EvaluationPage },
  { path: "compare", title: "Two evaluations", under: "evaluations", Page: DiffPage },
  { path: "profile", title: "Profile", proofs: true, icon: "M2 4h6M5 8h8M3 12h5M11 12h3", Page: ProfilePage },
  { path: "logs", title: "Logs", icon: "M2.5 3.5h11M2.5 6.5h8M2.5 9.5h11M2.5 12.5h6", Page: LogsPage },
];

export function pageOf(path: string): PageEntry {
  return PAGES.find((page) => page.path === path) ?? (PAGES[0] as PageEntry);
}
