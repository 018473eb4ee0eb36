/-
Strong induction on natural numbers, into any sort: `refine Nat.strongRecOn n ?_`.
-/
universe u

@[elab_as_elim] protected def Nat.strongRecOn {motive : Nat → Sort u} (n : Nat)
    (ind : ∀ n, (∀ m, m < n → motive m) → motive n) : motive n :=
  @Nat.rec (fun k => ∀ m, m < k → motive m)
    (fun m h => absurd h (Nat.not_lt_zero m))
    (fun _ ih m h => ind m (fun j hj => ih j (Nat.lt_of_lt_of_le hj (Nat.le_of_lt_succ h))))
    (n + 1) n (Nat.lt_succ_self n)

attribute [irreducible] Nat.strongRecOn
