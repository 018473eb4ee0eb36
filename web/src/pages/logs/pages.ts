// Pages of the logs, one after the other, as they are asked for at both ends.

import type { Logs } from "../../api/types";

/** With a newer page at the end. The oldest ones go while there are more than `most` lines without them. */
export function withNewer(pages: Logs[], page: Logs, most: number): Logs[] {
  const all = page.items.length > 0 || pages.length === 0 ? [...pages, page] : pages;
  let lines = all.reduce((sum, one) => sum + one.items.length, 0);
  let first = 0;
  while (first < all.length - 1 && lines - all[first]!.items.length > most) lines -= all[first++]!.items.length;
  return first ? all.slice(first) : all;
}
