"""From a list of tactics with their goals to trees of them."""

from nanoproof.repos.trees import Ran, dedent, nest, proof_trees, split_goals


def test_goals_are_split_with_and_without_empty_lines_between_them():
    first, second = "case a\nx : Nat\nh : x =\n    1\n⊢ x = 1 ∧\n    True", "⊢ True"
    assert split_goals(f"{first}\n\n{second}") == split_goals(f"{first}\n{second}") == [first, second]
    assert split_goals("no goals") == split_goals("") == []


def test_lines_of_a_tactic_move_with_its_first():
    assert dedent("cases h with\n    | a => x\n  y", 4) == "cases h with\n| a => x\ny"


TEXT = """theorem t (n : Nat) : n = n := by
  induction n with
  | zero => rfl
  | succ n ih =>
    have h : 1 = 1 := by
      simp
    exact (foo (by omega))
"""


def ran(text: str, before: list[str], after: list[str] | None = None, number: int = 0) -> Ran:
    start = TEXT.index(text)
    return Ran(start, start + len(text), text, number, before, (), after)


def induction_tactics() -> list[Ran]:
    return [
        ran(TEXT[TEXT.index("induction") : -1], ["n : Nat\n⊢ n = n"], []),
        ran("rfl", ["case zero\n⊢ 0 = 0"], []),
        ran("have h : 1 = 1 := by\n      simp", ["⊢ n = n + 1"], ["h : 1 = 1\n⊢ n = n + 1"]),
        ran("simp", ["⊢ 1 = 1"], []),
        ran("exact (foo (by omega))", ["h : 1 = 1\n⊢ n = n + 1"], []),
        ran("omega", ["⊢ 2 = 2"], []),
    ]


def test_a_tactic_that_runs_others_becomes_its_head_and_they_work_on_its_goals():
    tactics = induction_tactics()
    nest(tactics, TEXT)
    assert [each.head for each in tactics] == [
        "induction n with\n| zero => ?_\n| succ n ih => ?_",
        "",
        "have h : 1 = 1 := ?_",
        "",
        "refine (foo (?_))",
        "",
    ]
    tactics[0].head_after = ["case zero\n⊢ 0 = 0", "case succ\n⊢ n = n + 1"]
    tactics[2].head_after = ["⊢ 1 = 1", "h : 1 = 1\n⊢ n = n + 1"]
    tactics[4].head_after = ["⊢ 3 = 3"]  # not the goal that `omega` proves: it stays whole
    (block,) = proof_trees(tactics, {id(each): [each.text] for each in tactics})
    nodes = block["tree"]["nodes"]
    assert [(n["tactic"]["tactic_string"].split("\n")[0], n["tactic"]["children"]) for n in nodes] == [
        ("induction n with", [1, 2]),
        ("rfl", []),
        ("have h : 1 = 1 := ?_", [3, 4]),
        ("simp", []),
        ("exact (foo (by omega))", []),
    ]
    assert [(n["proof_size"], n["proof_depth"]) for n in nodes] == [(5, 3), (1, 1), (3, 2), (1, 1), (1, 1)]
    assert block["span"] == {"start": tactics[0].start, "finish": tactics[0].end}


def test_proofs_that_are_no_tree_are_told():
    tactics = [
        ran("simp", ["⊢ 1 = 1", "⊢ 2 = 2"], []),
        ran("omega", ["⊢ 3 = 3"], None),
        ran("rfl", ["⊢ 4 = 4"], ["⊢ 5 = 5"]),
    ]
    found = [proof_trees([each], {id(each): []}) for each in tactics]
    assert found == [
        [{"error": "`simp` works on several goals at once"}],
        [{"error": "`omega` is refused on its own"}],
        [{"error": "no tactic is known for a goal of it"}],
    ]
