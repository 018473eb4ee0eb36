// The search tree of one attempt; without one, the attempts that have a tree to choose from.

import type { EvaluatedTheorem, EvaluatedTree, TreeAnswer } from "../../api/types";
import { href, useRoute } from "../../app/router";
import { atStep, count, duration } from "../../lib/format";
import { Outcome, Title } from "../../parts/basics";
import { NoPage } from "../../parts/NoPage";
import { Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import { Explorer } from "../../tree/Explorer";
import { evaluationHref } from "../evaluations/links";
import { theoremHref } from "../theorems/links";
import { LiveTreePage } from "./LiveTreePage";
import { TreeChoice } from "./TreeChoice";

export function TreePage() {
  const { parts } = useRoute();
  if (parts.length === 0) return <TreeChoice />;
  const key = parts.join("/");
  if (/^evaluation\/.+\/\d+$/.test(key) && parts.length === 3) return <TreeOfResult key={key} name={parts[1]!} index={parts[2]!} />;
  if (/^live\/\d+\/\d+$/.test(key)) return <LiveTreePage key={key} rank={parts[1]!} actor={parts[2]!} />;
  if (/^\d+\/\d+\/\d+$/.test(key)) return <OneTree key={key} name={parts} />;
  return <NoPage title="Search tree" says="Which search tree?">The address of one is #/tree/RANK/STEP/NUMBER. <a href={href("tree")}>All search trees</a></NoPage>;
}

function OneTree({ name }: { name: string[] }) {
  const answer = useResource<TreeAnswer>(`attempts/${name.map(encodeURIComponent).join("/")}/tree`);
  const attempt = answer.data?.attempt;
  return (
    <>
      <Title
        note={attempt && <>{attempt.dataset} · {atStep(attempt.step)} · {count(attempt.simulations, "simulation")} · {duration(attempt.seconds)}</>}
        tools={<a className="button" href={href("tree")}>Other trees</a>}
      >
        {attempt ? <a href={theoremHref(attempt)}>{attempt.id}</a> : "Search tree"}
      </Title>
      <Loaded of={answer} height={560}>
        {(data) => <Explorer data={data.tree} total={data.nodes} badge={<Outcome of={data.attempt.outcome} />} />}
      </Loaded>
    </>
  );
}

/** The tree of a result of an evaluation. */
function TreeOfResult({ name, index }: { name: string; index: string }) {
  const path = `evaluations/${encodeURIComponent(name)}/results/${encodeURIComponent(index)}`;
  const about = useResource<EvaluatedTheorem>(path).data?.result;
  const answer = useResource<EvaluatedTree>(`${path}/tree`);
  return (
    <>
      <Title note={about && <>{name} · {count(about.simulations, "simulation")} · {duration(about.seconds)}</>}
        tools={<a className="button" href={`${evaluationHref(name)}?result=${index}`}>The evaluation</a>}>
        {about ? about.id : "Search tree"}
      </Title>
      <Loaded of={answer} height={560}>
        {(data) => <Explorer data={data.tree} total={data.nodes} badge={about ? <Outcome of={about.outcome} /> : null} />}
      </Loaded>
    </>
  );
}
