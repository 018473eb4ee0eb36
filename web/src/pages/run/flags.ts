// The flags of a recorded command.

/** Each flag with its values: `--datasets a b` is ["--datasets", "a b"], `--no-eval-start` ["--no-eval-start", ""]. */
export function flagsOf(command: unknown): [flag: string, value: string][] {
  if (!Array.isArray(command)) return [];
  const found: [string, string[]][] = [];
  for (const word of command.slice(1).map(String)) {
    const joined = /^(--[\w-]+)=(.*)$/s.exec(word);
    if (joined) found.push([joined[1]!, [joined[2]!]]);
    else if (/^--?[a-zA-Z]/.test(word)) found.push([word, []]);
    else if (word !== "--") (found[found.length - 1] ?? (found.push(["", []]), found[0]!))[1].push(word);
  }
  return found.map(([flag, values]) => [flag, values.join(" ")]);
}
