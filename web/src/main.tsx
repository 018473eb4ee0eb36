import { createRoot } from "react-dom/client";
import { Frame } from "./app/Frame";
import { startTheme } from "./app/theme";
import { startLive } from "./state/store";
import "./styles/base.css";
import "./styles/parts.css";
import "./styles/layout.css";

startTheme();
startLive();
createRoot(document.getElementById("root") as HTMLElement).render(<Frame />);
