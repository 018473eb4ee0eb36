// Keeps what is read from moving away under the reader.

import { useEffect, useRef, useState, type FocusEvent, type RefObject } from "react";
import { useLive } from "./store";

interface Handlers {
  ref: RefObject<HTMLDivElement | null>;
  onPointerEnter: () => void;
  onPointerLeave: () => void;
  onFocus: (event: FocusEvent) => void;
  onBlur: (event: FocusEvent) => void;
}

/** A version that stands still while the pointer is over the element that gets these handlers, the focus is in a row of
 * a table in it, or its beginning is above what is in sight: no row slips away, and the browser, which keeps the row that it
 * shows in its place, does not scroll after one that is now the first. */
export function useStill(version: number): [number, Handlers] {
  const [over, setOver] = useState(false);
  const [inside, setInside] = useState(false);
  const [above, setAbove] = useState(false);
  const ref = useRef<HTMLDivElement>(null);
  const held = useRef(version);
  if (!over && !inside && !above) held.current = version;
  useEffect(() => {
    const look = (): void => setAbove((ref.current?.getBoundingClientRect().top ?? 0) < 0);
    window.addEventListener("scroll", look, { passive: true });
    return () => window.removeEventListener("scroll", look);
  }, []);
  return [held.current, {
    ref,
    onPointerEnter: () => setOver(true),
    onPointerLeave: () => setOver(false),
    onFocus: (event) => setInside(isInRow(event.target)),
    onBlur: (event) => setInside(isInRow(event.relatedTarget)),
  }];
}

const isInRow = (target: EventTarget | null): boolean => target instanceof Element && target.closest("tbody") !== null;

/** When something was asked for: a step of a run, null while that is not known. */
export interface Moment {
  generation: number;
  step: number | null;
}

/** Whether what was asked for then is of another run, or of a part of this one that was done again. */
export function outdated(then: Moment, now: Moment): boolean {
  if (then.generation !== now.generation) return true;
  return now.step !== null && (then.step === null || now.step < then.step);
}

/** A version that changes when `renew` is called or another run is shown, and whether there is a newer one by now. */
export function useAsked(): { version: number; newer: boolean; renew: () => void } {
  const generation = useLive((live) => live.generation);
  const step = useLive((live) => live.overview?.step ?? null);
  const [held, setHeld] = useState<Moment>({ generation, step });
  if (outdated(held, { generation, step })) setHeld({ generation, step });
  return { version: held.step ?? -1, newer: step !== null && held.step !== null && step > held.step, renew: () => setHeld({ generation, step }) };
}
