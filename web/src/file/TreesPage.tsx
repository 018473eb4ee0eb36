// The page of a file of search trees: one at a time, a list to choose from if there are several.

import { useState } from "react";
import { chooseTheme, useChoice } from "../app/theme";
import { THEMES } from "../app/Frame";
import { Outcome, Segments, Title } from "../parts/basics";
import { Boundary, Empty } from "../parts/states";
import { Explorer } from "../tree/Explorer";
import type { TreesFile } from "./data";

const MARKS: Record<string, string> = { proven: "✓", disproven: "✗", error: "!" };

export function TreesPage({ file }: { file: TreesFile }) {
  const [chosen, setChosen] = useState(0);
  const theme = useChoice();
  const search = file.searches[chosen];
  const several = file.searches.length > 1;
  return (
    <main className="page trees-file">
      <Title note={search?.facts} tools={<Segments label="Colours" value={theme} choices={THEMES} onChange={chooseTheme} />}>
        {several
          ? <select className="field mono" aria-label="Which search" value={chosen} onChange={(event) => setChosen(Number(event.target.value))}>
              {file.searches.map((one, i) => <option key={i} value={i}>{MARKS[one.outcome] ?? "·"} {one.title}</option>)}
            </select>
          : <span className="mono theorem-id">{search?.title}</span>}
      </Title>
      <Boundary key={chosen}>
        {search
          ? <Explorer key={chosen} data={search.tree} total={search.tree.kind.length} badge={<Outcome of={search.outcome} />} />
          : <Empty title="There is no search in this file" />}
      </Boundary>
    </main>
  );
}
