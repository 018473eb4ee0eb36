import { href } from "../../app/router";

/** The address of an evaluation's page. */
export const evaluationHref = (name: string): string => href(`evaluation/${encodeURIComponent(name)}`);
