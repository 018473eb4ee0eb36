// A table that the server sorts and pages. Arrow keys move between rows, Enter opens one, PageUp and PageDown turn pages.

import { useLayoutEffect, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from "react";
import { integer } from "../lib/format";

export interface Column<T> {
  key: string;
  title: string;
  cell: (row: T) => ReactNode;
  right?: boolean;
  /** Left out on a phone, or already on a small laptop ("desk"), for columns that say more. */
  wide?: boolean | "desk";
  /** Whether the server can sort by `key`. */
  sort?: boolean;
  /** What the heading means, shown on hover. */
  hint?: string;
}

interface Props<T> {
  /** What the table holds, for screen readers. */
  caption: string;
  columns: Column<T>[];
  rows: T[];
  rowKey: (row: T) => string;
  sort?: string;
  order?: "asc" | "desc";
  onSort?: (key: string, order: "asc" | "desc") => void;
  /** Opens a row (click or Enter). */
  onOpen?: (row: T) => void;
  selected?: (row: T) => boolean;
  busy?: boolean;
  page?: number;
  size?: number;
  total?: number;
  onPage?: (page: number) => void;
}

export function DataTable<T>(props: Props<T>) {
  const { caption, columns, rows, rowKey, onOpen, selected, busy, page = 1, size = 0, total = 0, onPage } = props;
  const [at, setAt] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const inside = useRef(false);
  const pages = size > 0 ? Math.max(1, Math.ceil(total / size)) : 1;
  const here = Math.min(at, rows.length - 1);

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    (body.current?.rows[next] as HTMLElement | undefined)?.focus();
  };
  // The row that had the focus may be gone; then the one in its place gets it.
  useLayoutEffect(() => {
    if (inside.current && document.activeElement === document.body) move(here);
  }, [rows]);
  const turn = (to: number): void => {
    if (onPage && to >= 1 && to <= pages) onPage(to);
  };
  const onKey = (event: KeyboardEvent, row: T): void => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return;
    const moves: Record<string, () => void> = {
      ArrowDown: () => move(here + 1),
      ArrowUp: () => move(here - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      PageDown: () => turn(page + 1),
      PageUp: () => turn(page - 1),
      Enter: () => onOpen?.(row),
    };
    const act = moves[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  return (
    <>
      <div className="table-wrap">
        <table className={onOpen ? "table choose" : "table"} aria-busy={busy ?? false}>
          <caption className="sr-only">{caption}</caption>
          <thead>
            <tr>{columns.map((column) => <Heading key={column.key} column={column} {...props} />)}</tr>
          </thead>
          <tbody ref={body} className={busy ? "busy" : ""} onFocus={() => { inside.current = true; }} onBlur={() => { inside.current = false; }}>
            {rows.map((row, index) => (
              <tr key={rowKey(row)} tabIndex={onOpen ? (index === here ? 0 : -1) : undefined} aria-selected={selected?.(row)}
                onFocus={() => setAt(index)} onKeyDown={(event) => onKey(event, row)}
                onClick={(event) => onOpen && isPlainClick(event) && onOpen(row)}>
                {columns.map((column) => <td key={column.key} className={classOf(column)}>{column.cell(row)}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {onPage && pages > 1 && (
        <nav className="pager" aria-label={`Pages of ${caption}`}>
          <span>{integer((page - 1) * size + 1)}–{integer(Math.min(total, page * size))} of {integer(total)}</span>
          <span className="spread" />
          <button className="button" disabled={page <= 1} onClick={() => turn(1)} aria-label="First page">«</button>
          <button className="button" disabled={page <= 1} onClick={() => turn(page - 1)}>Previous</button>
          <span>{integer(page)} / {integer(pages)}</span>
          <button className="button" disabled={page >= pages} onClick={() => turn(page + 1)}>Next</button>
          <button className="button" disabled={page >= pages} onClick={() => turn(pages)} aria-label="Last page">»</button>
        </nav>
      )}
    </>
  );
}

function classOf<T>({ right, wide }: Column<T>): string {
  return [right && "right", wide === "desk" ? "desk-only wide-only" : wide && "wide-only"].filter(Boolean).join(" ");
}

function Heading<T>({ column, sort, order, onSort }: Props<T> & { column: Column<T> }) {
  const active = sort === column.key;
  const cls = classOf(column);
  if (!column.sort || !onSort) return <th scope="col" className={cls} title={column.hint}>{column.title}</th>;
  const next = active ? (order === "asc" ? "desc" : "asc") : column.right ? "desc" : "asc";
  return (
    <th scope="col" className={cls} title={column.hint} aria-sort={active ? (order === "asc" ? "ascending" : "descending") : "none"}>
      <button type="button" onClick={() => onSort(column.key, next)}>
        {column.title}
        <span className="arrow" aria-hidden="true">{active ? (order === "asc" ? "↑" : "↓") : ""}</span>
      </button>
    </th>
  );
}

/** A click that is no link, no button and no selection of text. */
function isPlainClick(event: MouseEvent): boolean {
  return !(event.target as HTMLElement).closest("a, button, input") && !String(window.getSelection());
}
