// Buttons to turn pages of cards.

import { integer } from "../../lib/format";

export function Pager({ page, size, total, onPage }: { page: number; size: number; total: number; onPage: (page: number) => void }) {
  const pages = Math.max(1, Math.ceil(total / size));
  if (pages === 1) return null;
  return (
    <nav className="row" aria-label="Pages of the list">
      <button className="button" type="button" disabled={page <= 1} onClick={() => onPage(page - 1)}>Newer</button>
      <span className="small muted num">{integer(page)} / {integer(pages)}</span>
      <button className="button" type="button" disabled={page >= pages} onClick={() => onPage(page + 1)}>Older</button>
    </nav>
  );
}

/** How often a list is asked for: an empty one again and again, until something is in it. */
export const untilSome = ({ items }: { items: unknown[] }): number => (items.length === 0 ? 5000 : 0);

/** Says that there is something newer, which would otherwise push away what is being read. */
export function Renew({ onClick }: { onClick: () => void }) {
  return <button className="button renew" type="button" onClick={onClick}>Show what came since</button>;
}
