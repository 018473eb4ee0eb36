import { href } from "../../app/router";
import { useLive } from "../../state/store";

/** To the page where the model of a live run is asked about a state. */
export function AskLink({ state }: { state: string }) {
  const running = useLive((live) => live.overview?.state.name === "running");
  return running ? <a className="small" href={href("model", { view: "ask", state: state.slice(0, 4000) })}>Ask the model</a> : null;
}
