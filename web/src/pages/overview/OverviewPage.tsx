// The run at a glance.

import { Title } from "../../app/Frame";
import { Loaded } from "../../parts/states";
import { useResource } from "../../state/resource";
import type { Overview } from "../../api/types";

export function OverviewPage() {
  const overview = useResource<Overview>("overview");
  return (
    <>
      <Title>Overview</Title>
      <Loaded of={overview}>{(data) => <p>{data.phase}</p>}</Loaded>
    </>
  );
}
