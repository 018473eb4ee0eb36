// What is shown where there is nothing to show: empty, loading, failed.

import { Component, type ReactNode } from "react";
import type { Resource } from "../state/resource";

/** Nothing here, and why, and what would change that. */
export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="state">
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Something failed; says what and offers another try. */
export function Failure({ message, retry }: { message: string; retry?: () => void }) {
  return (
    <div className="state bad" role="alert">
      <strong>This could not be loaded</strong>
      {message}
      {retry && (
        <div>
          <button className="button" onClick={retry}>Try again</button>
        </div>
      )}
    </div>
  );
}

/** A resource's data drawn by `children`; before it is there a quiet placeholder of `height`, or why it failed. */
export function Loaded<T>({ of, height = 140, children }: { of: Resource<T>; height?: number; children: (data: T) => ReactNode }) {
  if (of.data !== null) return <>{children(of.data)}</>;
  if (of.error) return <Failure message={of.error.message} retry={of.reload} />;
  return <div className="skeleton" style={{ minHeight: height }} role="status" aria-label="Loading" />;
}

/** Keeps the mistake of a panel, or of a page, from taking what is around it along. Give it a key that changes with what it shows. */
export class Boundary extends Component<{ of?: string; children: ReactNode }, { error: Error | null }> {
  override state = { error: null as Error | null };

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <Failure message={`${this.props.of ?? "The page"}: a mistake of the page, not of the run: ${error.message}`} retry={() => this.setState({ error: null })} />;
  }
}
