// A proof outside of the page: as a file, and in Lean's web editor.

/** Data sets whose theorems need Mathlib; those of NanoLean need no import. */
const MATHLIB = ["numinamath", "leanworkbook", "deepseek_prover", "minif2f", "proofnet", "leantree"];

/** The text of a proof as Lean reads it, without notes. */
export function withImports(source: string, dataset: string): string {
  const needs = MATHLIB.some((name) => dataset.startsWith(name)) && !/^\s*import\s/.test(source);
  return `${needs ? "import Mathlib\n\n" : ""}${source.trimEnd()}\n`;
}

/** Lean's web editor with the proof in it; the part after the hash is not sent to its server. */
export function editorHref(source: string, dataset: string): string {
  return `https://live.lean-lang.org/#code=${encodeURIComponent(withImports(source, dataset))}`;
}

/** The file of a proof: what is known of it as a comment, then the proof. */
export function leanFile(source: string, dataset: string, notes: string[]): string {
  const nanolean = dataset.startsWith("nanolean");
  const lines = [...notes, ...(nanolean ? ["A certificate for external checkers: python -m nanolean export --format ndjson FILE.lean -o FILE.ndjson"] : [])];
  const comment = lines.map((line) => `-- ${line.replace(/\s+/g, " ")}\n`).join("");
  const text = withImports(source, dataset);
  return text.startsWith("import ") ? text.replace("\n\n", `\n\n${comment}\n`) : `${comment}\n${text}`;
}

export const fileName = (id: string): string => `${id.replace(/[^\w.'+-]|^\./g, "_").slice(0, 120) || "proof"}.lean`;
