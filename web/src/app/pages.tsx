// Every page, in the order of the navigation. A page without an icon is reached from another one (`under`).

import type { ComponentType } from "react";
import { OverviewPage } from "../pages/overview/OverviewPage";

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
];

export function pageOf(path: string): PageEntry {
  return PAGES.find((page) => page.path === path) ?? (PAGES[0] as PageEntry);
}
