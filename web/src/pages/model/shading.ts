// How losses, values and Lean's answers are put for the eye.

/** A loss from here on is shaded as strongly as can be. */
export const FULL = 5;

/** Strength of the shading, 0 to 1; losses of no token have none. */
export function shade(loss: number | null): number {
  return loss === null ? 0 : Math.min(1, Math.max(0, loss) / FULL);
}

/** The probability that the model gave to what came. */
export const probability = (loss: number): number => Math.exp(-loss);

export interface Hard {
  index: number;
  token: string;
  loss: number;
}

/** The tokens of the highest losses, hardest first. */
export function hardest(tokens: string[], losses: (number | null)[], count: number): Hard[] {
  return tokens
    .map((token, index) => ({ index, token, loss: losses[index] ?? NaN }))
    .filter((one) => one.loss >= 0)
    .sort((a, b) => b.loss - a.loss || a.index - b.index)
    .slice(0, count);
}

/** White space made visible, for tokens that stand alone. */
export function visible(token: string): string {
  return token.replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/^ +| +$/g, (spaces) => "␣".repeat(spaces.length)) || "∅";
}

export interface Spread {
  mean: number;
  /** The most likely number of tactics. */
  mode: number;
  deviation: number;
}

/** What a distribution over 1, 2, ... tactics comes to; null if it is none. */
export function spreadOf(distribution: number[]): Spread | null {
  const total = distribution.reduce((sum, p) => sum + p, 0);
  if (!(total > 0)) return null;
  const mean = distribution.reduce((sum, p, i) => sum + p * (i + 1), 0) / total;
  const square = distribution.reduce((sum, p, i) => sum + p * (i + 1 - mean) ** 2, 0) / total;
  const mode = distribution.reduce((best, p, i) => (p > distribution[best]! ? i : best), 0) + 1;
  return { mean, mode, deviation: Math.sqrt(square) };
}

/** What Lean said without what every answer begins with. */
export function shorter(message: string): string {
  return message.replace(/^(?:\s*(?:Could not apply tactic|Lean error):\s*)+/, "").trim();
}
