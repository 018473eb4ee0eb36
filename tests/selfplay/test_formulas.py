"""The formulas of self-play, on data made by hand: each constant, order, boundary and rule of removal."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest

from nanolean.tests.each import each
from nanoproof.selfplay import formulas
from nanoproof.selfplay.formulas import Example, Problem, Record, Row, Seed, State


def problem(name: str, header: str | None = None, label: tuple[str, ...] = ("train",), weight: int = 1) -> Problem:
    return Problem(f"theorem {name} : P := by", header, label, weight)


def conjecture(name: str, lemma: str = "L", parent: str = "easy") -> Problem:
    return formulas.conjecture_of(Seed(problem(parent), "simp", lemma, f"theorem {lemma} : L"), problem(name).statement)


def tried(
    item: Problem, proofs: int, failures: int = 0, number: int = 0, invokes: tuple[str, ...] = (), proof: str = "rfl"
) -> list[Record]:
    """Records of a problem: one text that proves it and one that does not, from so many samples each."""
    found = [Record(item, proof, number, True, proofs, 0.0, invokes)] if proofs else []
    return found + ([Record(item, "fail", number, False, failures)] if failures else [])


def booked(*rounds: list[Record], dataset: tuple[Problem, ...] = ()) -> State:
    state = State()
    for records in rounds:
        state = formulas.book(state, records, {each.key for each in dataset})
    return state


class Fixed(random.Random):
    """Chance that shuffles nothing and always draws the same number."""

    def __init__(self, number: float = 0.0) -> None:
        super().__init__(0)
        self.number = number

    def random(self) -> float:
        return self.number

    def shuffle(self, x: object, *rest: object) -> None:
        pass


# -- Records and book-keeping (A0, A11) ------------------------------------------------------------------------------


def test_levels_come_from_the_labels() -> None:
    levels = [Problem("s", None, label).level for label in ((), ("train",), ("train", "conjecture 2"), ("conjecture",))]
    assert levels == [0, 0, 2, 1]


def test_a_success_rate_counts_samples_and_not_texts() -> None:
    one, other = problem("one"), problem("one", "open Nat\n")
    records = [*tried(one, 1, 3), *tried(other, 3, 1)]
    assert formulas.success_rates(records) == {one.key: 0.25, other.key: 0.75}


def test_the_best_rate_of_all_rounds_is_kept() -> None:
    one = problem("one")
    state = booked(tried(one, 1, 1), tried(one, 1, 3, number=1), dataset=(one,))
    assert state.rates[one.key] == 0.5
    assert booked(tried(one, 1, 3), tried(one, 1, 1, number=1), dataset=(one,)).rates[one.key] == 0.5
    assert state.proved == {one.key} and state.round == 1


def test_three_rounds_are_kept_and_of_the_data_set_all() -> None:
    own, other = problem("own"), conjecture("other")
    rounds = [[*tried(own, 1, 1, number), *tried(other, 1, 1, number)] for number in range(4)]
    state = booked(*rounds, dataset=(own,))
    assert [each.round for each in state.records if each.problem == own] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert [each.round for each in state.records if each.problem == other] == [1, 1, 2, 2, 3, 3]
    assert sorted({each.round for each in formulas.replay(state)}) == [1, 2, 3]


def test_failures_stay_only_of_what_was_proved_and_then_also_old_ones() -> None:
    own, never = problem("own"), problem("never")
    state = booked(tried(own, 0, 4) + tried(never, 0, 4), dataset=(own, never))
    assert state.records == () and state.proved == frozenset()
    state = formulas.book(state, tried(own, 1, number=1) + tried(never, 0, 1, number=1), {own.key, never.key})
    assert [each.complete for each in state.records] == [True]
    state = formulas.book(state, tried(own, 0, 5, number=2), {own.key})
    assert [each.complete for each in state.records] == [True, False] and state.rates[own.key] == 1.0


# -- Seeds (A7) ------------------------------------------------------------------------------------------------------


def test_seeds_are_proved_problems_of_the_data_set_that_are_not_hard() -> None:
    at, above, made = problem("at"), problem("above"), conjecture("made")
    records = [*tried(at, 35, 65), *tried(above, 36, 64), *tried(made, 1)]
    state = booked(records, dataset=(at, above))
    assert [each.problem for each in formulas.conjecture_seeds(state, {}, 10, Fixed())] == [above]
    seed = formulas.conjecture_seeds(state, {}, 10, Fixed())[0]
    assert seed == Seed(above, "rfl", "", "theorem true: True")


@pytest.mark.parametrize(("number", "expected"), [(0.49, ["a", ""]), (0.5, ["a"])])
def test_half_of_the_proofs_are_shown_without_a_lemma_too(number: float, expected: list[str]) -> None:
    own = problem("own")
    state = booked(tried(own, 1, invokes=("a", "unknown")), dataset=(own,))
    seeds = formulas.conjecture_seeds(state, {"a": "theorem a : A"}, 10, Fixed(number))
    assert [each.lemma for each in seeds] == expected
    assert state.records[0].invokes == ("a", "unknown"), "what is stored must not change"


def test_a_pair_comes_once_and_as_often_as_its_problem_weighs() -> None:
    own = problem("own", weight=3)
    records = [*tried(own, 1, invokes=("a",)), *tried(own, 1, invokes=("a",), proof="simp")]
    seeds = formulas.conjecture_seeds(booked(records, dataset=(own,)), {"a": "A"}, 20, Fixed(0.9))
    assert [(each.lemma, each.lemma_statement, each.proof) for each in seeds] == [("a", "A", "simp")] * 3


@each(("count", "used"), [(9, 1), (10, 1), (11, 2), (20, 2), (21, 3), (30, 3)])
def test_a_lemma_is_in_a_tenth_as_many_pairs_as_there_are_problems(count: int, used: int) -> None:
    items = [problem(f"p{number}") for number in range(9)]
    records = [record for item in items for record in tried(item, 1, invokes=("a",))]
    seeds = formulas.conjecture_seeds(booked(records, dataset=tuple(items)), {"a": "A"}, count, Fixed())
    assert [sum(each.lemma == lemma for each in seeds) for lemma in ("a", "")] == [used, used]


def test_the_newest_proofs_come_first_and_no_more_seeds_than_problems() -> None:
    items = [problem(f"p{number}", weight=2) for number in range(4)]
    rounds = [tried(item, 1, number=number, invokes=(f"a{number}",)) for number, item in enumerate(items)]
    lemmas = {f"a{number}": "A" for number in range(4)}
    seeds = formulas.conjecture_seeds(booked(*rounds, dataset=tuple(items)), lemmas, 3, Fixed(0.9))
    assert [each.lemma for each in seeds] == ["a3", "a3", "a2"]


def test_seeds_are_drawn_from_the_generator_that_is_given() -> None:
    items = [problem(f"p{number}") for number in range(30)]
    state = booked([record for item in items for record in tried(item, 1)], dataset=tuple(items))
    first, same, other = (formulas.conjecture_seeds(state, {}, 100, random.Random(seed)) for seed in (1, 1, 2))
    assert first == same != other


def test_the_first_round_has_no_seeds() -> None:
    assert formulas.conjecture_seeds(State(), {"a": "A"}, 10, Fixed()) == []
    assert formulas.samples_per_pair(10, 0) == 0


# -- Conjectures (A8) ------------------------------------------------------------------------------------------------


@each(
    ("count", "pairs", "least", "samples"),
    [(100, 100, 1, 3), (100, 60, 1, 5), (100, 10, 1, 8), (10, 100, 1, 1), (100, 100, 4, 4), (100, 10, 12, 12)],
)
def test_three_conjectures_are_aimed_at_for_each_problem(count: int, pairs: int, least: int, samples: int) -> None:
    assert formulas.samples_per_pair(count, pairs, least) == samples


@each(
    ("text", "statement"),
    [
        ("\ntheorem a (n : ℕ) : n = n := by\n</hard theorem>\njunk", "theorem a (n : ℕ) : n = n := by"),
        (" a : 1 = 1 :=\n rfl := by</hard theorem>", "theorem a : 1 = 1 := by"),
        ("theorem_x : True", "theorem theorem_x : True := by"),
        ("theorem\na : True", "theorem a : True := by"),
        ("@[simp, foo] protected theorem N.a : True", "theorem N.a : True := by"),
        ("lemma a : True", "theorem a : True := by"),
        ("/-- It := holds. -/\n@[simp] public theorem a : True := trivial", "theorem a : True := by"),
        ('-- So:\n@[foo (b := [1, 2]), deprecated "]"]\nlemma a : True', "theorem a : True := by"),
        ("theorem a : ∀ n : ℕ, n = n\n  | 0 => by\n    have h := rfl", "theorem a : ∀ n : ℕ, n = n := by"),
        ("a :\n  True", "theorem a :\n  True := by"),
        ("a (n : ℕ := 3) : let m := n; m = n := by", "theorem a (n : ℕ := 3) : let m := n; m = n := by"),
        ("a : True -- which := is\n  := by trivial", "theorem a : True := by"),
        ("a (h : 1 = 1 := by", "theorem a (h : 1 = 1 := by"),
        ("</hard theorem> theorem a : True", None),
        (" := by", None),
        ("theorem", None),
    ],
)
def test_a_conjecture_is_read_up_to_its_value(text: str, statement: str | None) -> None:
    assert formulas.read_conjecture(text) == statement


def test_the_conjecturer_is_shown_lemma_and_easy_theorem() -> None:
    seed = Seed(problem("easy"), "\n  simp\n", "L", "theorem L : Q")
    assert formulas.conjecture_prompt(seed) == (
        "<lemma>\ntheorem L : Q\n<easy theorem>\ntheorem easy : P := by\n  simp\n<hard theorem>"
    )
    assert formulas.conjecture_prompt(replace(seed, proof="  simp")) == formulas.conjecture_prompt(seed)
    target = formulas.conjecture_target(problem("hard"))
    assert target == "\ntheorem hard : P := by\n</hard theorem>"
    assert formulas.read_conjecture(target) == "theorem hard : P := by"


def test_a_conjecture_is_one_level_above_its_seed_and_has_its_header() -> None:
    parent = replace(problem("p", "open Nat\n", ("train", "conjecture 2", "tag")), matching_weight=7)
    made = formulas.conjecture_of(Seed(parent, "rfl"), "theorem q : Q := by")
    assert (made.header, made.label, made.level) == ("open Nat\n", ("train", "tag", "conjecture 3"), 3)
    assert made.matching_weight == 1


def test_conjectures_that_differ_in_white_space_alone_are_one() -> None:
    here, there = Seed(problem("a"), "rfl"), Seed(problem("b", "open Nat\n"), "rfl")
    texts = [
        (here, "x : 1 = 1"),
        (here, "x : 1\n = 1 "),
        (there, "x : 1 = 1"),
        (here, "a : P"),
        (there, "a : P"),
        (here, ":= by"),
    ]
    found, tally = formulas.new_conjectures(texts, [problem("a")], 10, Fixed())
    assert [each.key for each in found] == [
        ("", "theorem x : 1 = 1 := by"),
        ("open Nat\n", "theorem x : 1 = 1 := by"),
        ("open Nat\n", "theorem a : P := by"),
    ]
    assert tally == {"proposed": 6, "unreadable": 1, "known": 2, "kept": 3}


def test_equal_conjectures_are_chosen_from_by_chance_and_refused_ones_left_out() -> None:
    seeds = [Seed(problem(f"p{number}"), "rfl") for number in range(20)]
    texts = [(seed, "x : 1 = 1") for seed in seeds]
    chosen = {formulas.new_conjectures(texts, [], 5, random.Random(seed))[0][0].seed for seed in range(5)}
    assert len(chosen) > 1
    found, tally = formulas.new_conjectures(texts, [], 5, Fixed(), lambda item: "1 = 1" in item.statement)
    assert found == [] and tally["refused"] == 1


def test_no_more_conjectures_than_problems_are_tried() -> None:
    texts = [(Seed(problem("p"), "rfl"), f"x{number} : P") for number in range(40)]
    found, tally = formulas.new_conjectures(texts, [], 7, random.Random(0))
    assert len({each.key for each in found}) == 7 == tally["kept"] and tally["surplus"] == 33
    assert found != formulas.new_conjectures(texts, [], 7, random.Random(1))[0]
    assert len(formulas.new_conjectures(texts, [], 40, random.Random(0))[0]) == 40


# -- What a round tries (A9) -----------------------------------------------------------------------------------------


def test_a_round_tries_what_was_never_proved_and_what_is_hard() -> None:
    at, below, never = problem("at"), problem("below"), problem("never")
    old, new = conjecture("old"), conjecture("new")
    records = [*tried(at, 35, 65), *tried(below, 34, 66), *tried(never, 0, 1), *tried(old, 1, 9)]
    state = booked(records, dataset=(at, below, never))
    dataset = [at, below, never]
    assert formulas.attempted(dataset, [old, new], state, Fixed(0.05)) == [never, new, below]
    assert formulas.attempted(dataset, [old, new], state, Fixed(0.049)) == [never, new, at, below]
    assert formulas.attempted_by_experts(dataset, state) == [never]


def test_one_in_twenty_of_the_easy_problems_is_tried_again() -> None:
    items = [problem(f"p{number}") for number in range(4000)]
    state = booked([record for item in items for record in tried(item, 1)], dataset=tuple(items))
    assert 150 < len(formulas.attempted(items, [], state, random.Random(0))) < 250


# -- Which conjectures teach (A12, A13) ------------------------------------------------------------------------------


def test_only_barely_provable_conjectures_teach() -> None:
    at, below, never, own = conjecture("at"), conjecture("below"), conjecture("never"), problem("own")
    records = [
        record
        for item, proofs, failures in ((at, 1, 3), (below, 24, 76), (never, 0, 9), (own, 1, 9))
        for record in tried(item, proofs, failures, invokes=("L",))
    ]
    assert [each.problem for each in formulas.hard_conjectures(records)] == [below]


def test_conjectures_whose_proofs_leave_their_lemma_aside_have_the_trivial_one() -> None:
    unused, used = conjecture("unused"), conjecture("used")
    records = [
        Record(used, "a", 0, True, 1, 0.0, ("M",)),
        Record(unused, "b", 0, True, 1, 0.0, ("M", "L.x")),
        Record(used, "c", 0, True, 1, 0.0, ("M", "L")),
        *tried(used, 0, 20),
        *tried(unused, 0, 20),
        Record(unused, "d", 0, True),
    ]
    found = formulas.hard_conjectures(records)
    assert [(each.problem, each.seed.lemma) for each in found] == [(used, "L"), (unused, "")]
    assert found[1].seed.lemma_statement == "theorem true: True" and found[1].seed.proof == "simp"
    assert used.seed is not None and found[0].seed is used.seed


@pytest.mark.parametrize(("used", "unused", "kept"), [(0, 4097, 4096), (204, 4097, 4096), (205, 4101, 4100)])
def test_conjectures_without_their_lemma_are_limited(used: int, unused: int, kept: int) -> None:
    names = [*(("u", "L", number) for number in range(used)), *(("n", "M", number) for number in range(unused))]
    items = [(conjecture(f"{kind}{number}"), lemma) for kind, lemma, number in names]
    records = [record for item, lemma in items for record in tried(item, 1, 9, invokes=(lemma,))]
    found = formulas.hard_conjectures(records)
    assert sum(each.seed.lemma == "" for each in found) == kept
    assert len(found) == used + kept


@each(("size", "left"), [(1, 1), (4, 4), (5, 4), (9, 8), (10, 8), (15, 12), (35, 28)])
def test_the_fifth_with_the_shortest_proofs_is_left_out(size: int, left: int) -> None:
    items = [conjecture(f"c{number:02}") for number in range(size)]
    records = [Record(item, "x" * (number + 1), 0, True) for number, item in enumerate(items)]
    random.Random(0).shuffle(records)
    examples = [Example(item, item.seed) for item in items if item.seed is not None]
    assert [each.problem for each in formulas.elegant(examples, records)] == items[size - left :]


def test_elegance_is_relative_to_the_statement_the_lemma_and_the_shortest_kept_proof() -> None:
    items = [conjecture("c" * 100), *(conjecture(f"d{number}") for number in range(4)), conjecture("e", lemma="M")]
    records = [Record(item, "x" * 10, 0, True) for item in items]
    records += [Record(items[0], "x" * 1000, 1, True), Record(items[1], "x", 1, False), Record(items[5], "x", 1, True)]
    examples = [Example(item, item.seed) for item in items if item.seed is not None]
    assert [each.problem for each in formulas.elegant(examples, records)] == items[1:]
    records.append(Record(items[2], "x", 2, True))
    assert items[2] not in [each.problem for each in formulas.elegant(examples, records)]


# -- Matching (A14) --------------------------------------------------------------------------------------------------


def vectors(*degrees: float) -> np.ndarray:
    return np.array([[math.cos(math.radians(each)), math.sin(math.radians(each))] for each in degrees], np.float32)


def test_each_unproved_problem_gives_to_the_conjectures_most_like_it() -> None:
    conjectures, unproved = vectors(0, 20, 90), vectors(1, 80)
    assert formulas.match_weights(conjectures, unproved, [1, 1], Fixed()) == [1.5, 0, 1.5]
    assert formulas.match_weights(conjectures, unproved, [2, 1], Fixed()) == [1, 1, 1]
    assert formulas.match_weights(conjectures, unproved, [5, 1], Fixed()) == [0.5, 0.5, 1]
    assert formulas.match_weights(7 * conjectures, 0.1 * unproved, [1, 1], Fixed()) == [1.5, 0, 1.5]


def test_a_conjecture_that_has_got_four_gets_no_more_also_from_what_is_unlike_all_others() -> None:
    conjectures = vectors(0, *([180] * 9))  # all but the first point away from what is unproved
    weights = formulas.match_weights(conjectures, vectors(*([0] * 100)), [1] * 100, Fixed())
    assert weights[:3] == [4, 4, 2] and sum(weights) == pytest.approx(10)
    over = formulas.match_weights(vectors(0, 180, 180, 180, 180), vectors(0, 0, 0), [1] * 3, Fixed())
    assert over == pytest.approx([5, 0, 0, 0, 0])  # 3 x 5/3: the last share may go past 4


def test_shares_add_up_exactly_at_the_cap() -> None:
    weights = formulas.match_weights(vectors(0, *([180] * 6)), vectors(*([0] * 70)), [1] * 70, Fixed())
    assert weights[:2] == [4, 3]  # forty shares of a tenth are 4, whatever floats make of it


def test_nothing_unproved_and_nothing_to_match() -> None:
    assert formulas.match_weights(vectors(0, 1), np.zeros((0, 2), np.float32), [], Fixed()) == [1.0, 1.0]
    assert formulas.match_weights(np.zeros((0, 2), np.float32), vectors(0), [1], Fixed()) == []


def test_the_order_of_matching_is_drawn() -> None:
    conjectures, unproved = vectors(0, 30, -30, *([180] * 7)), vectors(*([14] * 10), *([-14] * 10))
    found = {tuple(formulas.match_weights(conjectures, unproved, [1] * 20, random.Random(seed))) for seed in range(9)}
    assert all(each[0] == 4 and sum(each[:3]) == 10 for each in found)
    assert len(found) > 2, "who comes after the first eight depends on chance"
    same = formulas.match_weights(conjectures, unproved, [1] * 20, random.Random(0))
    assert same == formulas.match_weights(conjectures, unproved, [1] * 20, random.Random(0))


def test_conjectures_without_a_weight_are_left_out() -> None:
    examples = [Example(conjecture(name), Seed(problem("p"), "rfl")) for name in "abc"]
    found = formulas.matched(examples, [1.5, 0.0, 0.25])
    assert [(each.problem, each.weight) for each in found] == [(examples[0].problem, 1.5), (examples[2].problem, 0.25)]


# -- Rows (A15, A17) -------------------------------------------------------------------------------------------------


def write(item: Problem, proof: str) -> tuple[str, str]:
    return item.statement, proof


def test_a_proof_weighs_by_its_length_its_time_and_how_many_there_are() -> None:
    assert formulas.proof_weight("x" * 500, 20.0) == pytest.approx(math.exp(-0.7))
    one = problem("one")
    records = [
        Record(one, "x" * 100, 0, True, 5, 10.0),
        Record(one, "x" * 200, 0, True, 1, 0.0),
        *tried(one, 0, 90),
        Record(one, "x" * 100, 1, True, 1, 30.0),
    ]
    rows = formulas.proof_rows(records, write)
    assert [len(row.target) for row in rows] == [100, 200, 100]
    assert [row.weight for row in rows] == pytest.approx([math.exp(-each) / 3 for each in (0.4, 0.2, 0.2)])
    assert [row.weight for row in formulas.distinct(rows)] == pytest.approx([math.exp(-0.4) / 3, math.exp(-0.2) / 3])
    timeless = [row.weight for row in formulas.proof_rows(records, write, per_second=0)]
    assert timeless == pytest.approx([math.exp(-each) / 3 for each in (0.1, 0.2, 0.1)])


def random_rounds(rng: random.Random) -> State:
    """The state after some rounds that found some proofs, many of them again."""
    names = [f"{name}{rest}" for name in "abcd" for rest in (" : P", " : Q", "")]
    problems = [Problem(f"theorem {name} := by") for name in rng.sample(names, rng.randint(1, 6))]
    rounds = []
    for number in range(rng.randint(1, 5)):
        records = []
        for item in problems:
            for proof in rng.sample(["rfl", "simp", "omega" * 30], rng.randint(0, 3)):
                invokes = tuple(rng.sample("uvwxyz", rng.randint(0, 2)))
                complete, samples, seconds = rng.random() < 0.4, rng.randint(1, 9), rng.uniform(0, 60)
                records.append(Record(item, proof, number, complete, samples, seconds, invokes))
        rounds.append(records)
    return booked(*rounds, dataset=tuple(problems[::2]))


@each("seed", range(50))
def test_weights_and_measures_of_rounds_are_those_of_the_published_code(seed: int) -> None:
    state = random_rounds(random.Random(seed))
    file = formulas.replay(state)
    # What the published code does with its file of attempts, written out: no function of ours but `proof_weight`.
    samples: dict[str, list[bool]] = {}
    for record in file:
        samples.setdefault(record.problem.statement, []).extend([record.complete] * record.multiplicity)
    wanted: dict[tuple[str, str], float] = {}
    invokes: set[str] = set()
    for record in reversed(file):
        results = samples[record.problem.statement]
        if record.complete and sum(results) / len(results) <= 0.5:
            attempts = sum(1 for other in file if other.complete and other.problem == record.problem)
            weight = formulas.proof_weight(record.proof, record.verify_time) / attempts
            wanted.setdefault((record.problem.statement, record.proof), weight)
            invokes |= set(record.invokes)
    rows = formulas.distinct(formulas.proof_rows(file, write))
    assert {(row.prompt, row.target): row.weight for row in rows} == pytest.approx(wanted)

    texts: dict[str, set[str]] = {}
    for record in file:
        if record.round == state.round:
            texts.setdefault(record.problem.statement, set()).add(record.proof)
    statements = {record.problem.statement for record in file}
    bodies = {statement.split(":", 1)[-1] for statement in statements}
    measured = formulas.round_metrics([record for record in file if record.round == state.round], file, [])
    assert measured == {
        "monitoring/unique_statement_ratio": pytest.approx(len(bodies) / max(1, len(statements))),
        "monitoring/average_unique_proofs": pytest.approx(sum(map(len, texts.values())) / max(1, len(texts))),
        "monitoring/unique_invokes_in_Pprime": 0,
        "monitoring/unique_invokes_in_proofs": len(invokes),
    }


def test_problems_proved_in_more_than_half_of_their_tries_are_not_learned_from() -> None:
    at, above, made = problem("at"), problem("above"), conjecture("made")
    records = [*tried(at, 1, 1), *tried(above, 501, 499), *tried(made, 1, 9)]
    assert {row.prompt for row in formulas.proof_rows(records, write)} == {at.statement, made.statement}


def test_conjectures_have_the_weight_of_their_example() -> None:
    made = conjecture("made")
    assert made.seed is not None
    rows = formulas.conjecture_rows(
        [Example(made, made.seed, 1.5)],
        lambda seed, item: (formulas.conjecture_prompt(seed), formulas.conjecture_target(item)),
    )
    assert rows == [
        Row(
            "<lemma>\ntheorem L : L\n<easy theorem>\ntheorem easy : P := by\nsimp\n<hard theorem>",
            "\ntheorem made : P := by\n</hard theorem>",
            1.5,
        )
    ]


def test_of_equal_rows_the_first_counts_and_their_order_is_drawn() -> None:
    rows = [Row(str(number), "t", number) for number in range(20)]
    found = formulas.shuffled([*rows, *(row._replace(weight=99) for row in rows)], random.Random(2333))
    assert sorted(found, key=lambda row: row.weight) == rows != found
    assert found == formulas.shuffled(rows, random.Random(2333))


def test_a_final_training_takes_barely_proved_conjectures_and_all_proofs_of_the_data_set() -> None:
    own, at, above = problem("own"), conjecture("at"), conjecture("above")
    first = [*tried(own, 9, 1), *tried(at, 1, 3), *tried(above, 26, 74)]
    second = [*tried(own, 1, number=1), *tried(at, 1, number=1, proof="simp")]
    chosen = formulas.final_records([first, second], {own.key}, True, Fixed())
    assert [(each.problem, each.proof) for each in chosen] == [(own, "rfl"), (at, "rfl")]
    alone = formulas.final_records([first, second], {own.key}, False, Fixed())
    assert [each.problem for each in alone] == [own]


def test_a_final_training_has_sixteen_distinct_proofs_of_a_statement() -> None:
    own = problem("own")
    records = [Record(own, "x" * (number // 2), 0, True, 1, 50.0) for number in range(80)]
    chosen = formulas.final_records([records], {own.key}, False, random.Random(0))
    assert len({each.proof for each in chosen}) == len(chosen) == 16
    assert chosen != formulas.final_records([records], {own.key}, False, random.Random(1))
    lengths = [len(row.target) for row in formulas.final_rows(chosen, write)]
    assert [row.weight for row in formulas.final_rows(chosen, write)] == pytest.approx(
        [math.exp(-0.001 * each) for each in lengths]
    )


# -- Reports (A11, A15) ----------------------------------------------------------------------------------------------


def test_a_training_set_is_counted_by_kind() -> None:
    rows = [Row("p", "ab"), Row("x\n<hard theorem>", "abcd"), Row("q", "abc")]
    assert formulas.row_metrics(rows, "combined") == {
        "combined/nr_examples_proof": 2,
        "combined/nr_examples_conjecture": 1,
        "combined/average length": 3,
    }
    assert formulas.row_metrics([], "RL_new")["RL_new/average length"] == 0


def test_how_varied_a_round_is() -> None:
    same = [Problem("theorem a : 1 = 1 := by"), Problem("theorem b : 1 = 1 := by"), Problem("theorem c : P := by")]
    replayed = [
        *tried(same[0], 1, 9, invokes=("x", "y")),
        Record(same[0], "simp", 0, True, 3, 0.0, ("y",)),
        Record(same[1], "rfl", 0, True, 1, 0.0, ("z",)),  # proved in all of its tries: not learned from
    ]
    never_proved = Record(same[2], "no", 0)
    examples = [Example(conjecture(n), Seed(problem("p"), "rfl", lemma)) for n, lemma in zip("abc", "LLM")]
    assert formulas.round_metrics([*replayed, never_proved], replayed, examples) == {
        "monitoring/unique_statement_ratio": 0.5,
        "monitoring/average_unique_proofs": 2.0,
        "monitoring/unique_invokes_in_Pprime": 2,
        "monitoring/unique_invokes_in_proofs": 2,
    }


def test_rates_that_are_reported() -> None:
    one, two, made = problem("one"), problem("two"), conjecture("made")
    records = [*tried(one, 1, 2), *tried(made, 1, 2)]
    state = booked(records, dataset=(one, two))
    assert formulas.cumulative_rate(state, {one.key, two.key}) == 50
    assert formulas.cumulative_rate(state, set()) == 0
    assert formulas.success_histogram([*records, *tried(two, 0, 1)]) == {"0.000": 1, "0.333": 2}
