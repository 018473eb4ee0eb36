"""Names that Lean's kernel knows without looking at how they are declared.

From the globals of `src/kernel/type_checker.cpp`, `quot.cpp` and `inductive.cpp` of lean4 4.35: numbers are computed
for the operations on `Nat`, a literal of a text stands for `String.ofList` of a list of `Char.ofNat`, `Lean.reduceBool`
and `Lean.reduceNat` run compiled code, and `eagerReduce` changes how an argument is compared.
"""

NAT_OPERATIONS = (
    *("Nat.add", "Nat.sub", "Nat.mul", "Nat.pow", "Nat.gcd", "Nat.mod", "Nat.div", "Nat.log2", "Nat.beq", "Nat.ble"),
    *("Nat.land", "Nat.lor", "Nat.xor", "Nat.shiftLeft", "Nat.shiftRight"),
)
TYPES = ("Nat", "Nat.zero", "Nat.succ", "Bool", "Bool.true", "Bool.false")
QUOTIENTS = ("Quot", "Quot.mk", "Quot.lift", "Quot.ind")
COMPILED = ("Lean.reduceBool", "Lean.reduceNat")
TEXTS = ("String", "String.mk", "String.ofList", "Char", "Char.ofNat")
COMPUTED_NAMES = frozenset((*NAT_OPERATIONS, *TYPES, *QUOTIENTS, *COMPILED))
"""Names by which terms compute. Here one may only declare what this kernel has seen to be what the name says."""
KERNEL_NAMES = COMPUTED_NAMES | {*TEXTS, "eagerReduce"}
"""All of them; the others matter to terms with literals of texts, which this kernel has not, or to time alone."""
