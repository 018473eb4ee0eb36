import Lean

/-!
Tactics of a local nanoproof server in the editor: `try?` shows those that close the goal, `nanoproof?` those that
advance it as well. The server is `python -m nanoproof.inference --model-path sft/RUN`; in the environment of Lean,
`NANOPROOF_SERVER` is its address and `NANOPROOF_POLICY_TOKEN` its token, if it has one.
-/

open Lean Meta Elab Tactic

namespace Nanoproof

/-- A text as a value in curl's configuration. -/
def quote (text : String) : String :=
  "\"" ++ (text.replace "\\" "\\\\").replace "\"" "\\\"" ++ "\""

/-- What curl reads from its standard input: in its arguments all users of the machine would see the token. -/
def request (server token body : String) : String :=
  let settings := [
    ("url", s!"http://{server}/generate"),
    ("header", "Content-Type: application/json"),
    ("header", s!"Authorization: Bearer {token}"),
    ("data-binary", body)]
  String.join (settings.map fun (name, value) => s!"{name} = {quote value}\n")

/-- Asks the server for tactics, the likeliest first. Throws what it, or curl, complains of. -/
def ask (state : String) : IO (Array String) := do
  let server := (← IO.getEnv "NANOPROOF_SERVER").getD "127.0.0.1:5000"
  let token := (← IO.getEnv "NANOPROOF_POLICY_TOKEN").getD ""
  let body := (Json.mkObj [("states", toJson #[state])]).compress
  -- curl takes no longer line, and no network so long a state.
  if (quote body).utf8ByteSize > 100000 then
    throw <| IO.userError "the goal is too long to ask for tactics"
  let answer ← IO.Process.output
    { cmd := "curl",
      args := #["--disable", "--silent", "--show-error", "--noproxy", "*", "--max-time", "60", "--config", "-"] }
    (some (request server token body))
  if answer.exitCode != 0 then
    throw <| IO.userError s!"no nanoproof server answers at {server} (NANOPROOF_SERVER): {answer.stderr}"
  let json ← IO.ofExcept (Json.parse answer.stdout)
  if let .ok (complaint : String) := json.getObjValAs? String "error" then
    throw <| IO.userError s!"the nanoproof server at {server}: {complaint}"
  let suggestions ← IO.ofExcept (json.getObjValAs? (Array Json) "suggestions")
  let some suggestion := suggestions[0]? | return #[]
  IO.ofExcept (suggestion.getObjValAs? (Array String) "tactics")

/-- The tactics for a goal that Lean can read, as text and as syntax. -/
def tacticsFor (goal : MVarId) : MetaM (Array (String × TSyntax `tactic)) := goal.withContext do
  let texts ← ask (← ppGoal goal).pretty
  let mut tactics := #[]
  for text in texts do
    match Parser.runParserCategory (← getEnv) `tactic text with
    | .ok tactic => tactics := tactics.push (text, ⟨tactic⟩)
    | .error _ => continue
  return tactics

/-- Registers the tactics for `try?`, which runs them after its own, and shows those that leave no goal. -/
@[try_suggestion]
def suggest (goal : MVarId) (_info : Try.Info) : MetaM (Array (TSyntax `tactic)) := do
  return (← tacticsFor goal).map (·.2)

/-- Shows the tactics that close the goal, or else those that change it. -/
elab token:"nanoproof?" : tactic => withMainContext do
  let goal ← getMainGoal
  let start ← saveState
  let mut closing : Array Meta.Tactic.TryThis.Suggestion := #[]
  let mut advancing : Array Meta.Tactic.TryThis.Suggestion := #[]
  for (text, tactic) in ← tacticsFor goal do
    try
      setGoals [goal]
      Term.withoutErrToSorry <| withoutRecover <| evalTactic tactic
      let left ← getUnsolvedGoals
      if left.isEmpty then
        closing := closing.push { suggestion := .string text }
      else if left != [goal] then
        advancing := advancing.push { suggestion := .string text }
    catch _ => pure ()
    start.restore
  let shown := if closing.isEmpty then advancing else closing
  if shown.isEmpty then
    throwError "none of the tactics that the nanoproof server suggests does anything here"
  Meta.Tactic.TryThis.addSuggestions token shown

end Nanoproof
