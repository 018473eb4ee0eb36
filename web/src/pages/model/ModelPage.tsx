// What the model makes of states and of examples: sampled tactics, values against the truth, losses of tokens.

import { useQuery } from "../../app/router";
import { Segments, Title } from "../../parts/basics";
import { AskView } from "./AskView";
import { CalibrationView } from "./CalibrationView";
import { SamplesView } from "./SamplesView";
import { TrainSamplesView } from "./TrainSamplesView";
import "./model.css";

const VIEWS = [["samples", "Sampled tactics"], ["ask", "Ask"], ["calibration", "Calibration"], ["training", "Training examples"]] as const;
type View = (typeof VIEWS)[number][0];

const NOTES: Record<View, string> = {
  samples: "States from the search, and what became of the tactics that the model sampled there.",
  ask: "What the model suggests at any state, and how many tactics it expects.",
  calibration: "How many tactics the model expects, against how many proofs really needed.",
  training: "Examples that were trained on; the darker a token, the less the model expected it.",
};

export function ModelPage() {
  const [query, change] = useQuery();
  const view = VIEWS.find(([key]) => key === query.get("view"))?.[0] ?? "samples";
  return (
    <>
      <Title note={NOTES[view]} tools={<Segments<View> label="View" value={view} choices={VIEWS} onChange={(next) => change({ view: next, page: null, state: null })} />}>Model</Title>
      {view === "samples" && <SamplesView />}
      {view === "ask" && <AskView />}
      {view === "calibration" && <CalibrationView />}
      {view === "training" && <TrainSamplesView />}
    </>
  );
}
