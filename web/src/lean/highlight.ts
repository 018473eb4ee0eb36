// Lean source text and proof states as tokens with a kind, for the eye only: close to Lean's lexical rules, no parser.
// The texts of the tokens, put together, are the input.

export type TokenKind =
  | "plain"
  | "command"
  | "keyword"
  | "tactic"
  | "name"
  | "sort"
  | "number"
  | "string"
  | "comment"
  | "operator"
  | "sorry"
  | "label"
  | "hypothesis"
  | "goal";

export interface Token {
  kind: TokenKind;
  text: string;
}

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

const DECLARATIONS = words("theorem lemma def abbrev instance structure class inductive axiom opaque example");
const COMMANDS = words(`
  import open namespace section end variable universe noncomputable private protected set_option attribute deriving
  local scoped macro syntax notation infixl infixr infix prefix postfix mutual partial unsafe export`);
const KEYWORDS = words(`
  by fun let have show from if then else match with do return where at using calc suffices in forall exists this
  only termination_by decreasing_by mut for unless try catch finally`);
const TACTICS = words(`
  intro intros exact apply refine constructor cases rcases obtain rintro induction simp simp_all simpa dsimp rw rwa erw
  rfl ring ring_nf linarith nlinarith positivity norm_num norm_cast push_cast push_neg exact_mod_cast omega decide
  contradiction exfalso absurd left right use exists existsi ext funext congr unfold change specialize generalize subst
  subst_vars injection assumption trivial tauto aesop field_simp gcongr by_contra by_cases contrapose split split_ifs
  interval_cases fin_cases symm trans all_goals any_goals first repeat iterate next case rename_i clear revert skip done
  conv nth_rewrite native_decide bound grind solve_by_elim apply_fun choose set wlog set_option linear_combination
  polyrith infer_instance exacts convert convert_to refine' simp_arith ac_rfl bv_decide nofun nomatch haveI letI`);
const SORTS = words("Prop Type Sort");
const MISSING = words("sorry admit");

const ATOM = "(?:[^\\P{L}λΠΣ]|_)(?:[^\\P{L}λΠΣ]|[\\p{N}_'!?₀-₉ₐ-ₜᵢ-ᵪ])*";
const PART = `(?:${ATOM}|«[^»\\n]*»)`;
const LEXER = new RegExp(
  [
    "(?<space>\\s+)",
    "(?<line>--[^\\n]*)",
    "(?<block>/-)",
    '(?<string>r?"(?:[^"\\\\]|\\\\[^])*(?:"|$)|\'(?:[^\'\\\\\\n]|\\\\[^\\n])\')',
    "(?<number>\\d+(?:\\.\\d+)?(?:[eE]-?\\d+)?|0[xX][\\da-fA-F]+)",
    `(?<word>@?(?:${PART})(?:\\.(?:${PART}|\\d+))*)`,
    "(?<operator>:=|=>|->|<-|<;>|[<>≤≥]=?|[-+*/^%=≠∣∧∨¬→←↔↦⟶∀∃!λΠΣ∑∏∫∈∉⊆⊂∪∩∘×·⊢|&!$∣∥≡≈∼⁻⊤⊥√⌊⌋⌈⌉▸▹◃;])",
  ].join("|"),
  "uy",
);

/** The tokens of Lean source text. */
export function highlight(source: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  let declares = false;
  while (at < source.length) {
    LEXER.lastIndex = at;
    const groups = LEXER.exec(source)?.groups;
    if (!groups) {
      const end = at + (source.codePointAt(at)! > 0xffff ? 2 : 1);
      push(tokens, "plain", source.slice(at, end));
      at = end;
      continue;
    }
    const end = groups.block ? blockEnd(source, LEXER.lastIndex) : LEXER.lastIndex;
    const text = source.slice(at, end);
    if (groups.space) push(tokens, "plain", text);
    else if (groups.line || groups.block) push(tokens, "comment", text);
    else if (groups.string) push(tokens, "string", text);
    else if (groups.number) push(tokens, "number", text);
    else if (groups.operator) push(tokens, "operator", text);
    else {
      const kind = declares && !DECLARATIONS.has(text) ? "name" : wordKind(text);
      push(tokens, kind, text);
    }
    if (groups.word || groups.operator) declares = DECLARATIONS.has(text) && text !== "example";
    at = end;
  }
  return tokens;
}

function wordKind(word: string): TokenKind {
  if (MISSING.has(word)) return "sorry";
  if (DECLARATIONS.has(word) || COMMANDS.has(word)) return "command";
  if (KEYWORDS.has(word)) return "keyword";
  if (TACTICS.has(word)) return "tactic";
  return SORTS.has(word) ? "sort" : "plain";
}

/** Where the block comment opened before `at` ends; they nest. */
function blockEnd(source: string, at: number): number {
  const edge = /\/-|-\//g;
  let depth = 1;
  edge.lastIndex = at;
  for (let match = edge.exec(source); match; match = edge.exec(source)) {
    depth += match[0] === "/-" ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return source.length;
}

function push(tokens: Token[], kind: TokenKind, text: string): void {
  const last = tokens[tokens.length - 1];
  if (last && last.kind === kind && kind === "plain") last.text += text;
  else tokens.push({ kind, text });
}

const HYPOTHESIS = /^((?:«[^»]*»|[^:«\s]|(?!\s:) )+)( :)(?=\s|$)/u;

/** The tokens of a proof state as Lean prints it: `case` lines, hypotheses, goals. */
export function highlightState(state: string): Token[] {
  const tokens: Token[] = [];
  for (const line of state.split(/(?<=\n)/)) {
    const hypothesis = HYPOTHESIS.exec(line);
    if (line.startsWith("⊢")) {
      tokens.push({ kind: "goal", text: "⊢" }, ...highlight(line.slice(1)));
    } else if (/^case \S/.test(line) && !line.includes(":")) {
      tokens.push({ kind: "label", text: line });
    } else if (hypothesis) {
      tokens.push({ kind: "hypothesis", text: hypothesis[1]! }, { kind: "operator", text: hypothesis[2]! });
      tokens.push(...highlight(line.slice(hypothesis[0].length)));
    } else {
      tokens.push(...highlight(line));
    }
  }
  return tokens;
}

/** What is to be proved, in one line: the goals of a state without their hypotheses. */
export function goalsOf(state: string): string {
  return state
    .split(/\n\s*\n/)
    .map((goal) => oneLine(goal.slice(Math.max(0, goal.search(/^⊢/m)))))
    .join("   ");
}

export const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();
