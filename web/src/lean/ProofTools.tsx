// What one can do with a proof: open it in Lean's web editor, keep it as a file, with its certificate where there is one.

import { editorHref, fileName, leanFile } from "./share";

export function ProofTools({ id, dataset, source, notes, certificate }: {
  id: string; dataset: string; source: string; notes: string[];
  /** The address of the certificate. */
  certificate?: string | null;
}) {
  const save = (): void => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([leanFile(source, dataset, notes)], { type: "text/plain" }));
    link.download = fileName(id);
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <>
      <a className="button" href={editorHref(source, dataset)} target="_blank" rel="noreferrer" title="Opens live.lean-lang.org with this proof">Lean’s web editor</a>
      <button className="button" type="button" onClick={save} title="The proof as a file, with what is known of it">.lean</button>
      {certificate && <a className="button" href={certificate} download title="The proof as a term, for external checkers">Certificate</a>}
    </>
  );
}
