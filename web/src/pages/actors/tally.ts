// What the ranks say of all their actors, also of those that are too many to be shown.

/** The ranks that count: those that are live, or all if none is. An earlier part of the run may have had more ranks. */
export function present<T extends { live: boolean }>(ranks: T[]): T[] {
  const live = ranks.filter((rank) => rank.live);
  return live.length > 0 ? live : ranks;
}

/** The numbers of several records, added up by their names. */
export function sums(records: Record<string, number>[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const record of records) for (const [name, value] of Object.entries(record)) all[name] = (all[name] ?? 0) + value;
  return all;
}
