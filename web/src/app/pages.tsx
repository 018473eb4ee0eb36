// Every page, in the order of the navigation. A page without an icon is reached from another one (`under`).

import type { ComponentType } from "react";
import { ActorsPage } from "../pages/actors/ActorsPage";
import { LogsPage } from "../pages/logs/LogsPage";
import { OverviewPage } from "../pages/overview/OverviewPage";
import { ProfilePage } from "../pages/profile/ProfilePage";

export interface PageEntry {
  /** What stands after `#/`. */
  path: string;
  title: string;
  /** A path drawn on 16 by 16. */
  icon?: string;
  /** The page of the navigation that it belongs to. */
  under?: string;
  Page: ComponentType;
}

export const PAGES: PageEntry[] = [
  { path: "", title: "Overview", icon: "M2 9.5 5.5 6l3 3L14 3.5M2 13.5h12", Page: OverviewPage },
  { path: "actors", title: "Actors", icon: "M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z", Page: ActorsPage },
  { path: "profile", title: "Profile", icon: "M2 4h6M5 8h8M3 12h5M11 12h3", Page: ProfilePage },
  { path: "logs", title: "Logs", icon: "M2.5 3.5h11M2.5 6.5h8M2.5 9.5h11M2.5 12.5h6", Page: LogsPage },
];

export function pageOf(path: string): PageEntry {
  return PAGES.find((page) => page.path === path) ?? (PAGES[0] as PageEntry);
}
