import { createRoot } from "react-dom/client";
import { ask, chosenRun } from "./api/client";
import type { Runs } from "./api/types";
import { Frame } from "./app/Frame";
import { startTheme } from "./app/theme";
import { fileData } from "./file/data";
import { RunsPage } from "./pages/runs/RunsPage";
import { startLive } from "./state/store";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/layout.css";

startTheme();
const root = createRoot(document.getElementById("root") as HTMLElement);
const one = (): void => {
  startLive();
  root.render(<Frame />);
};
const file = fileData();
if (file?.kind === "trees") import("./pages/search_pages").then(({ TreesPage }) => root.render(<TreesPage file={file} />));
// A monitor of a folder shows the list of its runs until one is chosen.
else if (file || chosenRun() !== null) one();
else ask<Runs>("runs").then((runs) => (runs.folder ? root.render(<RunsPage first={runs} />) : one()), one);
