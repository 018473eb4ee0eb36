// Keeps what is read from moving away under the reader.

import { useRef, useState } from "react";

/** A version that stands still while the pointer is over the element that gets these handlers: no row slips away. */
export function useStill(version: number): [number, { onPointerEnter: () => void; onPointerLeave: () => void }] {
  const [over, setOver] = useState(false);
  const held = useRef(version);
  if (!over) held.current = version;
  return [held.current, { onPointerEnter: () => setOver(true), onPointerLeave: () => setOver(false) }];
}

/** A version that changes when `renew` is called, and whether there is a newer one by now. */
export function useAsked(version: number): { version: number; newer: boolean; renew: () => void } {
  const [held, setHeld] = useState(version);
  if (held === 0 && version !== 0) setHeld(version);
  return { version: held, newer: version > held && held !== 0, renew: () => setHeld(version) };
}
