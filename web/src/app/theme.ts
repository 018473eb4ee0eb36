// Light, dark, or as the system is. The choice is remembered; charts are told when it changes.

import { useSyncExternalStore } from "react";

export type Choice = "system" | "light" | "dark";
export type Theme = "light" | "dark";

const KEY = "nanoproof-theme";
const system = window.matchMedia("(prefers-color-scheme: dark)");
const watchers = new Set<() => void>();
let choice: Choice = remembered();

function remembered(): Choice {
  try {
    const text = localStorage.getItem(KEY);
    return text === "light" || text === "dark" ? text : "system";
  } catch {
    return "system";
  }
}

const theme = (): Theme => (choice === "system" ? (system.matches ? "dark" : "light") : choice);

function apply(): void {
  document.documentElement.dataset["theme"] = theme();
  for (const watcher of watchers) watcher();
}

/** Called once before anything is drawn. */
export function startTheme(): void {
  apply();
  system.addEventListener("change", apply);
}

export function chooseTheme(next: Choice): void {
  choice = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice holds until the page is closed.
  }
  apply();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** The theme on show. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, theme);
}

/** What the user chose. */
export function useChoice(): Choice {
  return useSyncExternalStore(subscribe, () => choice);
}

/** The value of a CSS variable, for what is drawn on a canvas. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
