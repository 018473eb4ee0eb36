// What the run proved for the first time lately: the proofs themselves.

import { useState } from "react";
import type { Theorem, Theorems } from "../../api/types";
import { href } from "../../app/router";
import { atStep } from "../../lib/format";
import { LeanSource } from "../../lean/LeanText";
import { Card } from "../../parts/basics";
import { useResource } from "../../state/resource";
import { useLive } from "../../state/store";
import { theoremHref } from "../theorems/links";

const SIZE = 4;

export function LatelyCard() {
  const attempts = useLive((live) => live.overview?.attempts ?? 0);
  const answer = useResource<Theorems>("theorems", { outcome: "proven", sort: "first", order: "desc", page: 1, size: SIZE }, { version: attempts, atMost: 10_000 });
  const items = answer.data?.items ?? [];
  const [chosen, choose] = useState("");
  const row = items.find((one) => one.id === chosen) ?? items[0];
  if (!row) return null;
  return (
    <Card title="Proved for the first time lately" tools={<a className="button" href={href("theorems", { outcome: "proven", sort: "first", order: "desc" })}>All that was proved</a>}>
      <ul className="lately" aria-label="Newest proofs">{items.map((one) => (
        <li key={`${one.dataset} ${one.id}`}><button type="button" className="button quiet mono" title={one.id} aria-pressed={one === row} onClick={() => choose(one.id)}><span className="clip">{one.id}</span></button></li>
      ))}</ul>
      <NewProof dataset={row.dataset} id={row.id} />
    </Card>
  );
}

function NewProof({ dataset, id }: { dataset: string; id: string }) {
  const { data } = useResource<Theorem>("theorem", { dataset, id }, { forget: true });
  if (!data?.best) return null;
  return (
    <>
      <LeanSource text={data.best.source} label={`Proof of ${id}`} />
      <p className="small muted">{dataset}, {atStep(data.theorem.first_proven)} · <a href={theoremHref({ dataset, id })}>its attempts</a></p>
    </>
  );
}
