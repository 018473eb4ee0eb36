// What an address shows that names no page, or not what the page is of. The server is not asked: there is nothing to ask for.

import type { ReactNode } from "react";
import { Card, Title } from "./basics";
import { Empty } from "./states";

export function NoPage({ title, says, children }: { title: string; says: string; children: ReactNode }) {
  return (
    <>
      <Title>{title}</Title>
      <Card><Empty title={says}>{children}</Empty></Card>
    </>
  );
}
