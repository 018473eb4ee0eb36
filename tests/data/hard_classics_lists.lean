/-
Theorems of the hard benchmark proved by hand: lists, sums, binomial coefficients, functions, induction, logic, trees, relations.
Every theorem stands alone, with the definitions before it. Only the statements go to the benchmark.
-/

theorem sum_split_at (s : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, s f 0 = 0) (hs : ∀ f n, s f (n + 1) = s f n + f n) (f : Nat → Nat) (m n : Nat) : s f (m + n) = s f m + s (fun i => f (m + i)) n := by
  induction n with
  | zero =>
    rw [h0]
    rfl
  | succ n ih =>
    rw [hs]
    rw [← Nat.add_assoc]
    rw [hs]
    rw [ih]
    rw [Nat.add_assoc]

theorem sum_reversed (s : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, s f 0 = 0) (hs : ∀ f n, s f (n + 1) = s f n + f n) (n : Nat) : ∀ f : Nat → Nat, s (fun i => f (n - 1 - i)) n = s f n := by
  have head : ∀ n f, s f (n + 1) = f 0 + s (fun i => f (i + 1)) n := ?_
  · induction n with
    | zero =>
      intro f
      rw [h0, h0]
    | succ n ih =>
      intro f
      rw [head]
      rw [hs f]
      rw [← ih f]
      have e : ∀ i, n + 1 - 1 - (i + 1) = n - 1 - i := by omega
      simp only [e]
      rw [Nat.add_comm]
      rfl
  · intro n f
    induction n with
    | zero => simp [hs, h0]
    | succ n ih => rw [hs, ih, hs, Nat.add_assoc]

theorem sum_exchange (s : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, s f 0 = 0) (hs : ∀ f n, s f (n + 1) = s f n + f n) (f : Nat → Nat → Nat) (m n : Nat) : s (fun i => s (fun j => f i j) m) n = s (fun j => s (fun i => f i j) n) m := by
  induction m with
  | zero =>
    simp only [h0]
    induction n with
    | zero => rw [h0]
    | succ n ih => rw [hs, ih]
  | succ m ih =>
    rw [hs]
    rw [← ih]
    simp only [hs]
    clear ih
    induction n with
    | zero => simp [h0]
    | succ n ih =>
      simp only [hs]
      omega

theorem sum_telescopes_down (s f : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + (f n - f (n + 1))) (hf : ∀ n, f (n + 1) ≤ f n) (n : Nat) : s n = f 0 - f n := by
  have h : s n + f n = f 0 := ?_
  · omega
  · induction n with
    | zero => omega
    | succ n ih =>
      have h1 := hs n
      have h2 := hf n
      omega

theorem cubes_square_of_sum (s t : Nat → Nat) (hs0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + (n + 1) ^ 3) (ht0 : t 0 = 0) (ht : ∀ n, t (n + 1) = t n + (n + 1)) (n : Nat) : s n = t n * t n := by
  have gauss : ∀ k, 2 * t k = k * (k + 1) := ?_
  · induction n with
    | zero => rw [hs0, ht0]
    | succ n ih =>
      have h := gauss n
      rw [hs, ht, ih]
      have h3 : (n + 1) ^ 3 = (n * (n + 1)) * (n + 1) + (n + 1) * (n + 1) := by grind
      rw [h3, ← h]
      grind
  · intro k
    induction k with
    | zero => rw [ht0]
    | succ k ih => grind

theorem sum_mod_of_terms_mod (s t f : Nat → Nat) (m : Nat) (hs0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (ht0 : t 0 = 0) (ht : ∀ n, t (n + 1) = t n + f n % m) (n : Nat) : s n % m = t n % m := by
  induction n with
  | zero => rw [hs0, ht0]
  | succ n ih =>
    rw [hs, ht]
    rw [Nat.add_mod]
    rw [ih]
    rw [← Nat.add_mod]
    rw [Nat.add_mod_mod]

theorem geometric_sum (s : Nat → Nat) (a : Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + (a + 1) ^ n) (n : Nat) : (a + 1) ^ n = a * s n + 1 := by
  induction n with
  | zero => rw [h0]; rfl
  | succ n ih =>
    rw [Nat.pow_succ]
    rw [Nat.mul_add_one]
    rw [hs, Nat.mul_add]
    rw [Nat.mul_comm _ a]
    omega

theorem pascal_zero_above (c : Nat → Nat → Nat) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) (h : n < k) : c n k = 0 := by
  induction n generalizing k with
  | zero =>
    cases k with
    | zero => contradiction
    | succ k => exact h1 k
  | succ n ih =>
    cases k with
    | zero => contradiction
    | succ k =>
      rw [h2, ih k (Nat.lt_of_succ_lt_succ h)]
      rw [ih (k + 1) (Nat.lt_of_succ_lt h)]

theorem pascal_diagonal (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n : Nat) : c n n = 1 := by
  have z : ∀ n k, c n (n + k + 1) = 0 := ?_
  · induction n with
    | zero => exact h0 0
    | succ n ih =>
      rw [h2, ih]
      rw [z n 0]
  · intro n
    induction n with
    | zero =>
      intro k
      exact h1 (0 + k)
    | succ n ih =>
      intro k
      rw [h2]
      rw [Nat.add_right_comm n 1 k]
      rw [ih k, Nat.zero_add]
      exact ih (k + 1)

theorem pascal_second_column (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n : Nat) : 2 * c (n + 1) 2 = n * (n + 1) := by
  have one : ∀ m, c m 1 = m := ?_
  · induction n with
    | zero => simp [h2, h1]
    | succ n ih =>
      rw [h2, one]
      rw [Nat.mul_add, ih]
      grind
  · intro m
    induction m with
    | zero => exact h1 0
    | succ m ih =>
      rw [h2, h0, ih]
      exact Nat.add_comm 1 m

theorem pascal_positive (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) (h : k ≤ n) : 0 < c n k := by
  induction n generalizing k with
  | zero =>
    have hk : k = 0 := by omega
    subst hk
    rw [h0]
    exact Nat.zero_lt_one
  | succ n ih =>
    cases k with
    | zero =>
      rw [h0]
      exact Nat.zero_lt_one
    | succ k =>
      rw [h2]
      apply Nat.add_pos_left
      apply ih
      omega

theorem pascal_symmetry (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (hd : ∀ n, c n n = 1) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (a b : Nat) : c (a + b) a = c (a + b) b := by
  induction a generalizing b with
  | zero =>
    rw [h0, Nat.zero_add, hd]
  | succ a iha =>
    induction b with
    | zero => rw [h0, Nat.add_zero, hd]
    | succ b ihb =>
      have e : a + 1 + (b + 1) = (a + (b + 1)) + 1 := by omega
      have e2 : a + (b + 1) = a + 1 + b := by omega
      rw [e, h2, h2]
      rw [iha (b + 1), e2, ihb]
      exact Nat.add_comm _ _

theorem pascal_absorption (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) : (k + 1) * c (n + 1) (k + 1) = (n + 1) * c n k := by
  induction n generalizing k with
  | zero =>
    rw [h2, h1]
    cases k with
    | zero => rw [h0]
    | succ k => rw [h1, Nat.mul_zero, Nat.mul_zero]
  | succ n ih =>
    cases k with
    | zero =>
      have h := ih 0
      rw [h0] at h
      rw [h2, h0]
      omega
    | succ k =>
      have ha := ih k
      have hb := ih (k + 1)
      rw [h2 (n + 1), h2 n k]
      rw [Nat.mul_add, hb]
      rw [h2 n k] at ha
      grind

theorem pascal_row_sum_two_pow (r : Nat → Nat → Nat) (h0 : ∀ m, r 0 (m + 1) = 1) (h1 : ∀ n, r n 0 = 0) (h2 : ∀ n m, r (n + 1) (m + 1) = r n m + r n (m + 1)) (n m : Nat) : r n (n + m + 1) = 2 ^ n := by
  induction n generalizing m with
  | zero => exact h0 (0 + m)
  | succ n ih =>
    rw [h2]
    have e : n + 1 + m = n + m + 1 := by omega
    rw [e]
    rw [ih m]
    have e2 := ih (m + 1)
    rw [← Nat.add_assoc] at e2
    rw [e2, Nat.pow_succ, Nat.mul_two]

theorem binomial_times_factorials (c : Nat → Nat → Nat) (f : Nat → Nat) (h0 : ∀ n, c n 0 = 1) (hd : ∀ n, c n n = 1) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (f0 : f 0 = 1) (fs : ∀ n, f (n + 1) = (n + 1) * f n) (a b : Nat) : c (a + b) a * (f a * f b) = f (a + b) := by
  induction a generalizing b with
  | zero => rw [h0, f0, Nat.zero_add, Nat.one_mul, Nat.one_mul]
  | succ a iha =>
    induction b with
    | zero => rw [Nat.add_zero, hd, f0, Nat.mul_one, Nat.one_mul]
    | succ b ihb =>
      have h1 := iha (b + 1)
      have e : a + 1 + (b + 1) = (a + (b + 1)) + 1 := by omega
      have e2 : a + (b + 1) = a + 1 + b := by omega
      rw [← e2] at ihb
      rw [e, h2, fs (a + (b + 1)), Nat.add_mul]
      have p1 : c (a + (b + 1)) a * (f (a + 1) * f (b + 1)) = (a + 1) * f (a + (b + 1)) := by rw [← h1, fs a]; grind
      have p2 : c (a + (b + 1)) (a + 1) * (f (a + 1) * f (b + 1)) = (b + 1) * f (a + (b + 1)) := by rw [← ihb, fs b]; grind
      rw [p1, p2]
      grind

theorem sum_of_factorials (s f : Nat → Nat) (f0 : f 0 = 1) (fs : ∀ n, f (n + 1) = (n + 1) * f n) (s0 : s 0 = 0) (ss : ∀ n, s (n + 1) = s n + n * f n) (n : Nat) : s n = f n - 1 := by
  have h : s n + 1 = f n := ?_
  · omega
  · induction n with
    | zero => rw [s0, f0]
    | succ n ih =>
      rw [ss, fs, Nat.add_one_mul, ← ih]
      omega

theorem factorial_dvd_factorial (f : Nat → Nat) (fs : ∀ n, f (n + 1) = (n + 1) * f n) (m n : Nat) (h : m ≤ n) : f m ∣ f n := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  clear h
  induction k with
  | zero => exact Nat.dvd_refl (f m)
  | succ k ih =>
    rw [← Nat.add_assoc, fs]
    exact Nat.dvd_mul_left_of_dvd ih (m + k + 1)

theorem reverse_by_accumulator (α : Type) (r : List α → List α → List α) (h0 : ∀ a, r [] a = a) (h1 : ∀ x l a, r (x :: l) a = r l (x :: a)) (l : List α) : r l [] = l.reverse := by
  have h : ∀ k a, r k a = k.reverse ++ a := ?_
  · rw [h, List.append_nil]
  · intro k
    induction k with
    | nil =>
      intro a
      exact h0 a
    | cons x k ih =>
      intro a
      rw [h1, ih]
      rw [List.reverse_cons, List.append_assoc]
      rfl

theorem foldl_eq_foldr_of_monoid (α : Type) (f : α → α → α) (e : α) (ha : ∀ x y z, f (f x y) z = f x (f y z)) (hl : ∀ x, f e x = x) (hr : ∀ x, f x e = x) (l : List α) : l.foldl f e = l.foldr f e := by
  have h : ∀ (k : List α) (a : α), k.foldl f a = f a (k.foldr f e) := ?_
  · rw [h, hl]
  · intro k
    induction k with
    | nil =>
      intro a
      exact (hr a).symm
    | cons x k ih =>
      intro a
      rw [List.foldl_cons, List.foldr_cons]
      rw [ih, ha]

theorem foldr_reverse_of_comm (α : Type) (f : α → Nat → Nat) (h : ∀ x y n, f x (f y n) = f y (f x n)) (l : List α) (n : Nat) : l.reverse.foldr f n = l.foldr f n := by
  have step : ∀ (k : List α) (x : α) (m : Nat), k.foldr f (f x m) = f x (k.foldr f m) := ?_
  · induction l with
    | nil => rfl
    | cons x l ih =>
      rw [List.reverse_cons, List.foldr_append]
      rw [List.foldr_cons, List.foldr_nil]
      rw [step, List.foldr_cons, ih]
  · intro k x m
    induction k with
    | nil => rfl
    | cons y k ih => rw [List.foldr_cons, ih, h, List.foldr_cons]

theorem append_eq_self_left (α : Type) (l m : List α) (h : l ++ m = m) : l = [] := by
  apply List.eq_nil_of_length_eq_zero
  have h1 : (l ++ m).length = m.length := by rw [h]
  rw [List.length_append] at h1
  omega

theorem append_self_injective (α : Type) (l m : List α) (h : l ++ l = m ++ m) : l = m := by
  have h1 : ∀ (a b c d : List α), a.length = c.length → a ++ b = c ++ d → a = c := ?_
  · apply h1 l l m m
    · have h2 : (l ++ l).length = (m ++ m).length := by rw [h]
      rw [List.length_append, List.length_append] at h2
      omega
    · exact h
  · intro a b
    induction a with
    | nil =>
      intro c d hl e
      exact (List.eq_nil_of_length_eq_zero hl.symm).symm
    | cons x a ih =>
      intro c d hl e
      cases c with
      | nil => simp at hl
      | cons y c =>
        simp at hl
        injection e with e1 e2
        rw [e1, ih c d hl e2]

theorem append_inj_of_length_left (α : Type) (a b c d : List α) (hl : a.length = c.length) (h : a ++ b = c ++ d) : a = c ∧ b = d := by
  induction a generalizing c with
  | nil =>
    have hc := List.eq_nil_of_length_eq_zero hl.symm
    subst hc
    exact ⟨rfl, h⟩
  | cons x a ih =>
    cases c with
    | nil => simp at hl
    | cons y c =>
      injection h with h1 h2
      simp at hl
      obtain ⟨h3, h4⟩ := ih c hl h2
      exact ⟨by rw [h1, h3], h4⟩

theorem cons_eq_append_singleton (α : Type) (a : α) (l : List α) (h : a :: l = l ++ [a]) : ∀ x, x ∈ l → x = a := by
  intro x hx
  induction l with
  | nil => exact absurd hx List.not_mem_nil
  | cons y l ih =>
    rw [List.cons_append] at h
    injection h with h1 h2
    subst h1
    rcases List.mem_cons.mp hx with h3 | h3
    · exact h3
    · exact ih h2 h3

theorem levi_lemma (α : Type) (a b c d : List α) (h : a ++ b = c ++ d) : ∃ t, (c = a ++ t ∧ b = t ++ d) ∨ (a = c ++ t ∧ d = t ++ b) := by
  induction a generalizing c with
  | nil => exact ⟨c, Or.inl ⟨rfl, h⟩⟩
  | cons x a ih =>
    cases c with
    | nil => exact ⟨x :: a, Or.inr ⟨rfl, h.symm⟩⟩
    | cons y c =>
      injection h with h1 h2
      subst h1
      obtain ⟨t, ht | ht⟩ := ih c h2
      · exact ⟨t, Or.inl ⟨by rw [ht.1, List.cons_append], ht.2⟩⟩
      · exact ⟨t, Or.inr ⟨by rw [ht.1, List.cons_append], ht.2⟩⟩

theorem exists_last_of_ne_nil (α : Type) (l : List α) (h : l ≠ []) : ∃ m a, l = m ++ [a] := by
  have h1 : l.reverse ≠ [] := by simp [h]
  obtain ⟨a, m, e⟩ := List.exists_cons_of_ne_nil h1
  exists m.reverse, a
  rw [List.reverse_eq_iff] at e
  rw [e, List.reverse_cons]

theorem list_induction_from_the_end (α : Type) (P : List α → Prop) (h0 : P []) (h1 : ∀ l a, P l → P (l ++ [a])) (l : List α) : P l := by
  have h : ∀ k : List α, P k.reverse := ?_
  · rw [← List.reverse_reverse l]
    exact h l.reverse
  · intro k
    induction k with
    | nil => exact h0
    | cons x k ih =>
      rw [List.reverse_cons]
      exact h1 k.reverse x ih

theorem map_injective_of_injective (α β : Type) (f : α → β) (hf : ∀ x y, f x = f y → x = y) (l m : List α) (h : l.map f = m.map f) : l = m := by
  induction l generalizing m with
  | nil => exact (List.map_eq_nil_iff.mp h.symm).symm
  | cons x l ih =>
    cases m with
    | nil => contradiction
    | cons y m =>
      rw [List.map_cons, List.map_cons] at h
      injection h with h1 h2
      rw [hf x y h1, ih m h2]

theorem filter_filter_and (α : Type) (p q : α → Bool) (l : List α) : (l.filter q).filter p = l.filter (fun x => p x && q x) := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    cases hq : q x with
    | true => cases hp : p x <;> simp [List.filter, hp, hq, ih]
    | false => simp [List.filter, hq, ih]

theorem filter_partition_length (α : Type) (p : α → Bool) (l : List α) : (l.filter p).length + (l.filter (fun x => !p x)).length = l.length := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    cases hp : p x with
    | true =>
      simp [List.filter, hp]
      omega
    | false =>
      simp [List.filter, hp]
      omega

theorem filter_reverse (α : Type) (p : α → Bool) (l : List α) : l.reverse.filter p = (l.filter p).reverse := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    rw [List.reverse_cons, List.filter_append, ih]
    cases hp : p x with
    | true => simp [List.filter, hp]
    | false => simp [List.filter, hp]

theorem filter_eq_self_of_all (α : Type) (p : α → Bool) (l : List α) (h : (l.filter p).length = l.length) : ∀ x, x ∈ l → p x = true := by
  induction l with
  | nil =>
    intro x hx
    exact absurd hx List.not_mem_nil
  | cons y l ih =>
    intro x hx
    have hle := List.length_filter_le p l
    by_cases hp : p y = true
    · rw [List.filter_cons_of_pos hp] at h
      simp at h
      rcases List.mem_cons.mp hx with h1 | h1
      · rw [h1, hp]
      · exact ih h x h1
    · rw [List.filter_cons_of_neg hp] at h
      simp at h
      omega

theorem filter_map_commute (α β : Type) (f : α → β) (p : β → Bool) (l : List α) : (l.map f).filter p = (l.filter (fun x => p (f x))).map f := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    rw [List.map_cons]
    cases hp : p (f x) with
    | true =>
      rw [List.filter_cons_of_pos hp, ih]
      simp [List.filter, hp]
    | false =>
      simp [List.filter, hp]
      exact ih

theorem drop_drop_add (α : Type) (i j : Nat) (l : List α) : (l.drop i).drop j = l.drop (i + j) := by
  induction i generalizing l with
  | zero => rw [List.drop_zero, Nat.zero_add]
  | succ i ih =>
    cases l with
    | nil => simp
    | cons x l =>
      rw [Nat.add_right_comm, List.drop_succ_cons, List.drop_succ_cons]
      exact ih l

theorem drop_append_length_add (α : Type) (l m : List α) (i : Nat) : (l ++ m).drop (l.length + i) = m.drop i := by
  induction l with
  | nil => rw [List.nil_append, List.length_nil, Nat.zero_add]
  | cons x l ih =>
    rw [List.length_cons, Nat.add_right_comm]
    rw [List.cons_append, List.drop_succ_cons]
    exact ih

theorem take_reverse (α : Type) (l : List α) (i : Nat) (h : i ≤ l.length) : l.reverse.take i = (l.drop (l.length - i)).reverse := by
  have e : l.reverse = (l.drop (l.length - i)).reverse ++ (l.take (l.length - i)).reverse := by rw [← List.reverse_append, List.take_append_drop]
  have hl : (l.drop (l.length - i)).reverse.length = i := by simp; omega
  have key : ∀ a b : List α, (a ++ b).take a.length = a := ?_
  · have h1 := key (l.drop (l.length - i)).reverse (l.take (l.length - i)).reverse
    rw [← e, hl] at h1
    exact h1
  · intro a b
    induction a with
    | nil => simp
    | cons x a ih => simp [ih]

theorem take_drop_swap (α : Type) (i j : Nat) (l : List α) : (l.drop i).take j = (l.take (i + j)).drop i := by
  induction i generalizing l with
  | zero => rw [List.drop_zero, Nat.zero_add, List.drop_zero]
  | succ i ih =>
    cases l with
    | nil => simp
    | cons x l =>
      rw [Nat.add_right_comm, List.take_succ_cons]
      rw [List.drop_succ_cons, List.drop_succ_cons]
      exact ih l

theorem all_equal_is_replicate (α : Type) (a : α) (l : List α) (h : ∀ x, x ∈ l → x = a) : l = List.replicate l.length a := by
  induction l with
  | nil => rfl
  | cons y l ih =>
    have h1 := h y List.mem_cons_self
    rw [List.length_cons, List.replicate_succ, h1]
    rw [← ih]
    intro x hx
    exact h x (List.mem_cons_of_mem y hx)

theorem first_occurrence_splits (l : List Nat) (a : Nat) (h : a ∈ l) : ∃ s t, l = s ++ a :: t ∧ a ∉ s := by
  induction l with
  | nil => exact absurd h List.not_mem_nil
  | cons x l ih =>
    by_cases hx : a = x
    · exact ⟨[], l, by rw [hx]; rfl, List.not_mem_nil⟩
    · obtain ⟨s, t, hs, ht⟩ := ih ((List.mem_cons.mp h).resolve_left hx)
      exact ⟨x :: s, t, by rw [hs]; rfl, List.not_mem_cons_of_ne_of_not_mem hx ht⟩

theorem injective_of_steps (f : Nat → Nat) (h : ∀ n, f n < f (n + 1)) (a b : Nat) (hab : f a = f b) : a = b := by
  have mono : ∀ k m, f m < f (m + k + 1) := ?_
  · rcases Nat.lt_trichotomy a b with h1 | h1 | h1
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_lt h1
      exact absurd hab (Nat.ne_of_lt (mono k a))
    · exact h1
    · obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_lt h1
      exact absurd hab.symm (Nat.ne_of_lt (mono k b))
  · intro k m
    induction k with
    | zero => exact h m
    | succ k ih => exact Nat.lt_trans ih (h (m + k + 1))

theorem imo_1977_identity (f : Nat → Nat) (h : ∀ n, f (f n) < f (n + 1)) (n : Nat) : f n = n := by
  have a : ∀ n m, n ≤ m → n ≤ f m := ?_
  · have b : ∀ m, f m < f (m + 1) := fun m => Nat.lt_of_le_of_lt (a (f m) (f m) (Nat.le_refl (f m))) (h m)
    have c : ∀ k m, f m ≤ f (m + k) := ?_
    · have h1 := a n n (Nat.le_refl n)
      have h2 := h n
      apply Nat.le_antisymm ?_ h1
      apply Nat.le_of_not_lt
      intro h3
      obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_lt h3
      have h4 := c k (n + 1)
      have e : n + 1 + k = f n := by omega
      rw [e] at h4
      omega
    · intro k m
      induction k with
      | zero => exact Nat.le_refl (f m)
      | succ k ih => exact Nat.le_trans ih (Nat.le_of_lt (b (m + k)))
  · intro n
    induction n with
    | zero =>
      intro m hm
      exact Nat.zero_le (f m)
    | succ n ih =>
      intro m hm
      cases m with
      | zero => omega
      | succ m =>
        have h1 := ih m (by omega)
        have h2 := ih (f m) h1
        have h3 := h m
        omega

theorem no_infinite_descent (f : Nat → Nat) (h : ∀ n, f (n + 1) < f n) : False := by
  have h1 : ∀ n, f n + n ≤ f 0 := ?_
  · have h2 := h1 (f 0 + 1)
    omega
  · intro n
    induction n with
    | zero => exact Nat.le_refl (f 0)
    | succ n ih =>
      have h2 := h n
      omega

theorem decreasing_sequence_pauses (f : Nat → Nat) (h : ∀ n, f (n + 1) ≤ f n) : ∃ n, f (n + 1) = f n := by
  apply Classical.byContradiction
  intro hn
  have h1 : ∀ n, f n + n ≤ f 0 := ?_
  · have h2 := h1 (f 0 + 1)
    omega
  · intro n
    induction n with
    | zero => exact Nat.le_refl (f 0)
    | succ n ih =>
      have h2 := h n
      have h3 : f (n + 1) ≠ f n := fun e => hn ⟨n, e⟩
      omega

theorem decreasing_sequence_becomes_constant (f : Nat → Nat) (h : ∀ m n, m ≤ n → f n ≤ f m) : ∃ k, ∀ n, k ≤ n → f n = f k := by
  have key : ∀ b k, f k ≤ b → ∃ k, ∀ n, k ≤ n → f n = f k := ?_
  · exact key (f 0) 0 (Nat.le_refl (f 0))
  · intro b
    induction b with
    | zero =>
      intro k hk
      exists k
      intro n hn
      have h1 := h k n hn
      omega
    | succ b ih =>
      intro k hk
      by_cases hc : ∃ n, k ≤ n ∧ f n < f k
      · obtain ⟨n, h1, h2⟩ := hc
        apply ih n
        omega
      · exists k
        intro n hn
        apply Nat.le_antisymm (h k n hn)
        apply Nat.le_of_not_lt
        intro h1
        exact hc ⟨n, hn, h1⟩

theorem monotone_involution_is_identity (f : Nat → Nat) (hm : ∀ x y, x ≤ y → f x ≤ f y) (h : ∀ x, f (f x) = x) (x : Nat) : f x = x := by
  rcases Nat.le_total (f x) x with h1 | h1
  · have h2 := hm (f x) x h1
    rw [h] at h2
    exact Nat.le_antisymm h1 h2
  · have h2 := hm x (f x) h1
    rw [h] at h2
    exact Nat.le_antisymm h2 h1

theorem monotone_period_three_is_identity (f : Nat → Nat) (hm : ∀ x y, x ≤ y → f x ≤ f y) (h : ∀ x, f (f (f x)) = x) (x : Nat) : f x = x := by
  rcases Nat.le_total (f x) x with h1 | h1
  · have h2 := hm (f x) x h1
    have h3 := hm (f (f x)) (f x) h2
    rw [h] at h3
    exact Nat.le_antisymm h1 (Nat.le_trans h3 h2)
  · have h2 := hm x (f x) h1
    have h3 := hm (f x) (f (f x)) h2
    rw [h] at h3
    exact Nat.le_antisymm (Nat.le_trans h2 h3) h1

theorem cantor_predicates (α : Type) (f : α → α → Prop) : ∃ P : α → Prop, ∀ a, f a ≠ P := by
  exists fun a => ¬f a a
  intro a h
  have h1 : f a a = ¬f a a := congrFun h a
  have h2 : ¬f a a := fun h3 => (h1 ▸ h3) h3
  exact h2 (h1 ▸ h2)

theorem lawvere_fixed_point (α β : Type) (f : α → α → β) (hf : ∀ g, ∃ a, f a = g) (t : β → β) : ∃ b, t b = b := by
  obtain ⟨a, ha⟩ := hf (fun x => t (f x x))
  exists f a a
  have h : f a a = t (f a a) := congrFun ha a
  exact h.symm

theorem knaster_tarski_least (F : (Nat → Prop) → Nat → Prop) (hF : ∀ P Q : Nat → Prop, (∀ x, P x → Q x) → ∀ x, F P x → F Q x) : ∃ P : Nat → Prop, ∀ x, P x ↔ F P x := by
  exists fun x => ∀ Q : Nat → Prop, (∀ y, F Q y → Q y) → Q x
  have h : ∀ x, F (fun x => ∀ Q : Nat → Prop, (∀ y, F Q y → Q y) → Q x) x → ∀ Q : Nat → Prop, (∀ y, F Q y → Q y) → Q x := ?_
  · intro x
    constructor
    · intro hx
      apply hx
      intro y
      exact hF _ _ h y
    · exact h x
  · intro x hx Q hQ
    apply hQ
    apply hF _ Q ?_ x hx
    intro y hy
    exact hy Q hQ

theorem iterate_period_remainder (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (ha : ∀ m n x, g (m + n) x = g m (g n x)) (p x : Nat) (h : g p x = x) (n : Nat) : g n x = g (n % p) x := by
  have hk : ∀ k, g (p * k) x = x := ?_
  · have e := Nat.mod_add_div n p
    rw [← e]
    rw [ha]
    rw [hk]
    rw [e]
  · intro k
    induction k with
    | zero => exact h0 x
    | succ k ih => rw [Nat.mul_succ, ha, h, ih]

theorem cauchy_forward_backward (P : Nat → Prop) (h1 : P 1) (h2 : ∀ n, P n → P (2 * n)) (h3 : ∀ n, P (n + 1) → P n) (n : Nat) : P n := by
  have down : ∀ k m, P (m + k) → P m := ?_
  · have up : ∀ k, P (2 ^ k) := ?_
    · have h4 : n < 2 ^ n := Nat.lt_pow_self (by decide)
      obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_lt h4
      apply down (k + 1)
      rw [← Nat.add_assoc, ← hk]
      exact up n
    · intro k
      induction k with
      | zero => exact h1
      | succ k ih =>
        rw [Nat.pow_succ, Nat.mul_comm]
        exact h2 (2 ^ k) ih
  · intro k
    induction k with
    | zero =>
      intro m hm
      exact hm
    | succ k ih =>
      intro m hm
      exact ih m (h3 (m + k) hm)

theorem binary_induction (P : Nat → Prop) (h0 : P 0) (h1 : ∀ n, P n → P (2 * n)) (h2 : ∀ n, P n → P (2 * n + 1)) (n : Nat) : P n := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases hn : n = 0
    · rw [hn]
      exact h0
    · have hk := ih (n / 2) (by omega)
      rcases Nat.mod_two_eq_zero_or_one n with h | h
      · have e : n = 2 * (n / 2) := by omega
        rw [e]
        exact h1 (n / 2) hk
      · have e : n = 2 * (n / 2) + 1 := by omega
        rw [e]
        exact h2 (n / 2) hk

theorem well_ordering (P : Nat → Prop) (n : Nat) (h : P n) : ∃ m, P m ∧ ∀ k, k < m → ¬P k := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases hk : ∃ k, k < n ∧ P k
    · obtain ⟨k, h1, h2⟩ := hk
      exact ih k h1 h2
    · exists n
      constructor
      · exact h
      · intro k h1 h2
        exact hk ⟨k, h1, h2⟩

theorem unbounded_split (P Q : Nat → Prop) (h : ∀ n, ∃ m, n ≤ m ∧ (P m ∨ Q m)) : (∀ n, ∃ m, n ≤ m ∧ P m) ∨ (∀ n, ∃ m, n ≤ m ∧ Q m) := by
  by_cases hp : ∀ n, ∃ m, n ≤ m ∧ P m
  · left
    exact hp
  · right
    intro n
    rw [Classical.not_forall] at hp
    obtain ⟨b, hb⟩ := hp
    obtain ⟨m, h1, h2⟩ := h (b + n)
    exists m
    rcases h2 with h3 | h3
    · exact absurd ⟨m, by omega, h3⟩ hb
    · exact ⟨by omega, h3⟩

theorem coins_three_five (n : Nat) (h : 8 ≤ n) : ∃ a b, n = 3 * a + 5 * b := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  clear h
  have h3 : ∃ a, k = 3 * a ∨ k = 3 * a + 1 ∨ k = 3 * a + 2 := ⟨k / 3, by omega⟩
  obtain ⟨a, ha⟩ := h3
  rcases ha with h | h | h
  · exact ⟨a + 1, 1, by omega⟩
  · exact ⟨a + 3, 0, by omega⟩
  · exact ⟨a, 2, by omega⟩

theorem coins_four_seven (n : Nat) : ∃ a b, n + 18 = 4 * a + 7 * b := by
  induction n with
  | zero => exact ⟨1, 2, rfl⟩
  | succ n ih =>
    obtain ⟨a, b, h⟩ := ih
    by_cases hb : 0 < b
    · exact ⟨a + 2, b - 1, by omega⟩
    · exact ⟨a - 5, b + 3, by omega⟩

theorem between_powers_of_two (n : Nat) (h : 0 < n) : ∃ k, 2 ^ k ≤ n ∧ n < 2 ^ (k + 1) := by
  induction n with
  | zero => contradiction
  | succ n ih =>
    by_cases hn : n = 0
    · subst hn
      exact ⟨0, by decide⟩
    · obtain ⟨k, h1, h2⟩ := ih (by omega)
      have e : 2 ^ (k + 2) = 2 ^ (k + 1) * 2 := Nat.pow_succ
      by_cases hk : n + 1 < 2 ^ (k + 1)
      · exact ⟨k, by omega, hk⟩
      · exact ⟨k + 1, by omega, by omega⟩

theorem integer_square_root (n : Nat) : ∃ k, k * k ≤ n ∧ n < (k + 1) * (k + 1) := by
  induction n with
  | zero => exact ⟨0, by decide⟩
  | succ n ih =>
    obtain ⟨k, h1, h2⟩ := ih
    by_cases hk : n + 1 < (k + 1) * (k + 1)
    · exact ⟨k, Nat.le_succ_of_le h1, hk⟩
    · have h3 : (k + 1) * (k + 1) < (k + 2) * (k + 2) := Nat.mul_self_lt_mul_self (Nat.lt_succ_self (k + 1))
      exact ⟨k + 1, by omega, by omega⟩

inductive PermB : List Nat → List Nat → Prop where
  | nil : PermB [] []
  | cons (x : Nat) (l m : List Nat) (h : PermB l m) : PermB (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermB (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermB k l) (h2 : PermB l m) : PermB k m

theorem perm_same_length_and_members (l m : List Nat) (h : PermB l m) : l.length = m.length ∧ ∀ x, x ∈ l ↔ x ∈ m := by
  induction h with
  | nil => simp
  | cons x l m h ih => simp [ih.1, ih.2]
  | swap x y l =>
    constructor
    · rfl
    · intro z
      simp only [List.mem_cons]
      rw [← or_assoc, ← or_assoc, or_comm (a := z = x)]
  | trans k l m h1 h2 ih1 ih2 =>
    constructor
    · rw [ih1.1, ih2.1]
    · intro x
      rw [ih1.2, ih2.2]

inductive PermC : List Nat → List Nat → Prop where
  | nil : PermC [] []
  | cons (x : Nat) (l m : List Nat) (h : PermC l m) : PermC (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermC (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermC k l) (h2 : PermC l m) : PermC k m

theorem perm_append_right (k l m : List Nat) (h : PermC k l) : PermC (k ++ m) (l ++ m) := by
  induction h with
  | nil =>
    rw [List.nil_append]
    induction m with
    | nil => exact PermC.nil
    | cons x m ih => exact PermC.cons x m m ih
  | cons x k l h ih => exact PermC.cons x (k ++ m) (l ++ m) ih
  | swap x y l => exact PermC.swap x y (l ++ m)
  | trans k l n h1 h2 ih1 ih2 => exact PermC.trans (k ++ m) (l ++ m) (n ++ m) ih1 ih2

inductive PermE : List Nat → List Nat → Prop where
  | nil : PermE [] []
  | cons (x : Nat) (l m : List Nat) (h : PermE l m) : PermE (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermE (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermE k l) (h2 : PermE l m) : PermE k m

theorem perm_filter (p : Nat → Bool) (l m : List Nat) (h : PermE l m) : PermE (l.filter p) (m.filter p) := by
  have refl : ∀ k, PermE k k := ?_
  · induction h with
    | nil => exact PermE.nil
    | cons x l m h ih =>
      cases hx : p x with
      | true => simp [List.filter, hx, PermE.cons, ih]
      | false =>
        simp [List.filter, hx]
        exact ih
    | swap x y l =>
      cases hx : p x <;> cases hy : p y <;> simp [List.filter, hx, hy, refl, PermE.swap]
    | trans k l m h1 h2 ih1 ih2 => exact PermE.trans _ _ _ ih1 ih2
  · intro k
    induction k with
    | nil => exact PermE.nil
    | cons x k ih => exact PermE.cons x k k ih

theorem sorted_head_is_minimum (S : List Nat → Prop) (s2 : ∀ x y l, S (x :: y :: l) ↔ x ≤ y ∧ S (y :: l)) (x : Nat) (l : List Nat) (h : S (x :: l)) (z : Nat) (hz : z ∈ l) : x ≤ z := by
  induction l generalizing x with
  | nil => exact absurd hz List.not_mem_nil
  | cons y l ih =>
    rw [s2] at h
    obtain ⟨h1, h2⟩ := h
    rcases List.mem_cons.mp hz with h3 | h3
    · rw [h3]
      exact h1
    · exact Nat.le_trans h1 (ih y h2 h3)

theorem sorted_append_left (S : List Nat → Prop) (s0 : S []) (s1 : ∀ x, S [x]) (s2 : ∀ x y l, S (x :: y :: l) ↔ x ≤ y ∧ S (y :: l)) (l m : List Nat) (h : S (l ++ m)) : S l := by
  induction l with
  | nil => exact s0
  | cons x l ih =>
    cases l with
    | nil => exact s1 x
    | cons y l =>
      rw [s2]
      rw [List.cons_append, List.cons_append, s2] at h
      exact ⟨h.1, ih h.2⟩

theorem count_in_reverse (c : List Nat → Nat) (a : Nat) (h0 : c [] = 0) (h1 : ∀ x l, c (x :: l) = (if x = a then 1 else 0) + c l) (l : List Nat) : c l.reverse = c l := by
  have h : ∀ k m, c (k ++ m) = c k + c m := ?_
  · induction l with
    | nil => rfl
    | cons x l ih =>
      rw [List.reverse_cons, h, ih, h1, h1, h0]
      exact Nat.add_comm _ _
  · intro k m
    induction k with
    | nil => rw [List.nil_append, h0, Nat.zero_add]
    | cons x k ih => rw [List.cons_append, h1, h1, ih, Nat.add_assoc]

theorem count_equal_length_all_same (c : List Nat → Nat) (a : Nat) (h0 : c [] = 0) (h1 : ∀ x l, c (x :: l) = (if x = a then 1 else 0) + c l) (l : List Nat) (h : c l = l.length) : ∀ x, x ∈ l → x = a := by
  have hle : ∀ k, c k ≤ k.length := ?_
  · induction l with
    | nil =>
      intro x hx
      exact absurd hx List.not_mem_nil
    | cons y l ih =>
      intro x hx
      have h2 := hle l
      rw [h1, List.length_cons] at h
      by_cases hy : y = a
      · rw [if_pos hy] at h
        rcases List.mem_cons.mp hx with h3 | h3
        · rw [h3, hy]
        · exact ih (by omega) x h3
      · rw [if_neg hy] at h
        omega
  · intro k
    induction k with
    | nil =>
      rw [h0]
      exact Nat.zero_le _
    | cons y k ih =>
      rw [h1, List.length_cons]
      split
      · omega
      · omega

inductive SubA : List Nat → List Nat → Prop where
  | nil : SubA [] []
  | skip (x : Nat) (l m : List Nat) (h : SubA l m) : SubA l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : SubA l m) : SubA (x :: l) (x :: m)

theorem sublist_transitive (k l m : List Nat) (h1 : SubA k l) (h2 : SubA l m) : SubA k m := by
  induction h2 generalizing k with
  | nil => exact h1
  | skip x l m h ih => exact SubA.skip x k m (ih k h1)
  | keep x l m h ih =>
    cases h1 with
    | skip _ _ _ h3 => exact SubA.skip x k m (ih k h3)
    | keep _ k _ h3 => exact SubA.keep x k m (ih k h3)

inductive SubB : List Nat → List Nat → Prop where
  | nil : SubB [] []
  | skip (x : Nat) (l m : List Nat) (h : SubB l m) : SubB l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : SubB l m) : SubB (x :: l) (x :: m)

theorem sublist_of_equal_length (l m : List Nat) (h : SubB l m) (hl : l.length = m.length) : l = m := by
  have hle : ∀ a b, SubB a b → a.length ≤ b.length := ?_
  · induction h with
    | nil => rfl
    | skip x l m h ih =>
      have h1 := hle l m h
      rw [List.length_cons] at hl
      omega
    | keep x l m h ih =>
      rw [List.length_cons, List.length_cons] at hl
      rw [ih (by omega)]
  · intro a b h
    induction h with
    | nil => exact Nat.le_refl 0
    | skip x a b h ih => exact Nat.le_succ_of_le ih
    | keep x a b h ih => exact Nat.succ_le_succ ih

inductive SubC : List Nat → List Nat → Prop where
  | nil : SubC [] []
  | skip (x : Nat) (l m : List Nat) (h : SubC l m) : SubC l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : SubC l m) : SubC (x :: l) (x :: m)

theorem sublist_reverse (l m : List Nat) (h : SubC l m) : SubC l.reverse m.reverse := by
  have ap : ∀ a b c d, SubC a b → SubC c d → SubC (a ++ c) (b ++ d) := ?_
  · induction h with
    | nil => exact SubC.nil
    | skip x l m h ih =>
      rw [List.reverse_cons, ← List.append_nil l.reverse]
      exact ap _ _ _ _ ih (SubC.skip x [] [] SubC.nil)
    | keep x l m h ih =>
      rw [List.reverse_cons, List.reverse_cons]
      exact ap _ _ _ _ ih (SubC.keep x [] [] SubC.nil)
  · intro a b c d h1 h2
    induction h1 with
    | nil => exact h2
    | skip x a b h ih => exact SubC.skip x (a ++ c) (b ++ d) ih
    | keep x a b h ih => exact SubC.keep x (a ++ c) (b ++ d) ih

inductive SubD : List Nat → List Nat → Prop where
  | nil : SubD [] []
  | skip (x : Nat) (l m : List Nat) (h : SubD l m) : SubD l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : SubD l m) : SubD (x :: l) (x :: m)

theorem filter_sublist_of_implication (p q : Nat → Bool) (h : ∀ x, p x = true → q x = true) (l : List Nat) : SubD (l.filter p) (l.filter q) := by
  induction l with
  | nil => exact SubD.nil
  | cons x l ih =>
    by_cases hp : p x = true
    · rw [List.filter_cons_of_pos hp, List.filter_cons_of_pos (h x hp)]
      exact SubD.keep x _ _ ih
    · rw [List.filter_cons_of_neg hp]
      by_cases hq : q x = true
      · rw [List.filter_cons_of_pos hq]
        exact SubD.skip x _ _ ih
      · rw [List.filter_cons_of_neg hq]
        exact ih

theorem flatten_of_reversed_pieces (j : List (List Nat) → List Nat) (h0 : j [] = []) (h1 : ∀ l L, j (l :: L) = l ++ j L) (L : List (List Nat)) : j (L.map List.reverse).reverse = (j L).reverse := by
  have h : ∀ K M, j (K ++ M) = j K ++ j M := ?_
  · induction L with
    | nil => simp [h0]
    | cons l L ih =>
      rw [List.map_cons, List.reverse_cons, h, ih]
      rw [h1, h1, h0, List.append_nil, List.reverse_append]
  · intro K M
    induction K with
    | nil => rw [List.nil_append, h0, List.nil_append]
    | cons l K ih => rw [List.cons_append, h1, h1, ih, List.append_assoc]

theorem member_of_flatten (j : List (List Nat) → List Nat) (h0 : j [] = []) (h1 : ∀ l L, j (l :: L) = l ++ j L) (L : List (List Nat)) (x : Nat) : x ∈ j L ↔ ∃ l, l ∈ L ∧ x ∈ l := by
  induction L with
  | nil => simp [h0]
  | cons l L ih =>
    rw [h1, List.mem_append, ih]
    constructor
    · intro h
      rcases h with h | ⟨m, hm, hx⟩
      · exact ⟨l, List.mem_cons_self, h⟩
      · exact ⟨m, List.mem_cons_of_mem l hm, hx⟩
    · intro h
      obtain ⟨m, hm, hx⟩ := h
      rcases List.mem_cons.mp hm with e | e
      · left
        rw [← e]
        exact hx
      · right
        exact ⟨m, e, hx⟩

theorem list_maximum_is_member (l : List Nat) (h : l ≠ []) : l.foldr max 0 ∈ l := by
  induction l with
  | nil => exact absurd rfl h
  | cons x l ih =>
    rw [List.foldr_cons]
    rcases Nat.le_total x (l.foldr max 0) with h1 | h1
    · rw [Nat.max_eq_right h1]
      cases l with
      | nil =>
        have h2 : x = 0 := Nat.eq_zero_of_le_zero h1
        rw [h2]
        exact List.mem_cons_self
      | cons y l =>
        apply List.mem_cons_of_mem
        exact ih (List.cons_ne_nil y l)
    · rw [Nat.max_eq_left h1]
      exact List.mem_cons_self

theorem list_sum_exceeds_some_element (s : List Nat → Nat) (h0 : s [] = 0) (h1 : ∀ x l, s (x :: l) = x + s l) (k : Nat) (l : List Nat) (h : k * l.length < s l) : ∃ x, x ∈ l ∧ k < x := by
  induction l with
  | nil =>
    rw [h0] at h
    exact absurd h (Nat.not_lt_zero _)
  | cons y l ih =>
    by_cases hy : k < y
    · exact ⟨y, List.mem_cons_self, hy⟩
    · rw [h1, List.length_cons, Nat.mul_add_one] at h
      obtain ⟨x, hx, hk⟩ := ih (by omega)
      exact ⟨x, List.mem_cons_of_mem y hx, hk⟩

theorem length_of_interleaving (w : List Nat → List Nat → List Nat) (h0 : ∀ m, w [] m = m) (h1 : ∀ x l m, w (x :: l) m = x :: w m l) (l m : List Nat) : (w l m).length = l.length + m.length := by
  have h : ∀ (n : Nat) (l m : List Nat), l.length + m.length = n → (w l m).length = n := ?_
  · exact h (l.length + m.length) l m rfl
  · intro n
    induction n with
    | zero =>
      intro l m e
      have hl : l = [] := List.eq_nil_of_length_eq_zero (by omega)
      subst hl
      rw [h0, ← e, List.length_nil, Nat.zero_add]
    | succ n ih =>
      intro l m e
      cases l with
      | nil => rw [h0, ← e, List.length_nil, Nat.zero_add]
      | cons x l =>
        rw [List.length_cons] at e
        rw [h1, List.length_cons, ih m l (by omega)]

inductive PermF : List Nat → List Nat → Prop where
  | refl (l : List Nat) : PermF l l
  | cons (x : Nat) (l m : List Nat) (h : PermF l m) : PermF (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermF (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermF k l) (h2 : PermF l m) : PermF k m

theorem perm_append_comm (l m : List Nat) : PermF (l ++ m) (m ++ l) := by
  have mid : ∀ x l m, PermF (x :: (l ++ m)) (l ++ x :: m) := ?_
  · induction l with
    | nil =>
      rw [List.append_nil]
      exact PermF.refl m
    | cons x l ih =>
      apply PermF.trans _ (x :: (m ++ l))
      · exact PermF.cons x (l ++ m) (m ++ l) ih
      · exact mid x m l
  · intro x l m
    induction l with
    | nil => exact PermF.refl (x :: m)
    | cons y l ih =>
      apply PermF.trans _ (y :: x :: (l ++ m))
      · exact PermF.swap x y (l ++ m)
      · exact PermF.cons y (x :: (l ++ m)) (l ++ x :: m) ih

inductive PermG : List Nat → List Nat → Prop where
  | refl (l : List Nat) : PermG l l
  | cons (x : Nat) (l m : List Nat) (h : PermG l m) : PermG (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermG (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermG k l) (h2 : PermG l m) : PermG k m

theorem perm_reverse (l : List Nat) : PermG l l.reverse := by
  have last : ∀ x l, PermG (x :: l) (l ++ [x]) := ?_
  · induction l with
    | nil => exact PermG.refl []
    | cons x l ih =>
      rw [List.reverse_cons]
      apply PermG.trans _ (x :: l.reverse)
      · exact PermG.cons x l l.reverse ih
      · exact last x l.reverse
  · intro x l
    induction l with
    | nil => exact PermG.refl [x]
    | cons y l ih =>
      apply PermG.trans _ (y :: x :: l)
      · exact PermG.swap x y l
      · exact PermG.cons y (x :: l) (l ++ [x]) ih

def insertA (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: insertA x l

inductive PermI : List Nat → List Nat → Prop where
  | refl (l : List Nat) : PermI l l
  | cons (x : Nat) (l m : List Nat) (h : PermI l m) : PermI (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermI (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermI k l) (h2 : PermI l m) : PermI k m

theorem insertion_sort_permutes (l : List Nat) : PermI l (l.foldr insertA []) := by
  have step : ∀ x k, PermI (x :: k) (insertA x k) := ?_
  · induction l with
    | nil => exact PermI.refl []
    | cons x l ih =>
      rw [List.foldr_cons]
      apply PermI.trans _ (x :: l.foldr insertA [])
      · exact PermI.cons x l _ ih
      · exact step x _
  · intro x k
    induction k with
    | nil => exact PermI.refl [x]
    | cons y k ih =>
      rw [insertA]
      split
      · exact PermI.refl (x :: y :: k)
      · apply PermI.trans _ (y :: x :: k)
        · exact PermI.swap x y k
        · exact PermI.cons y (x :: k) (insertA x k) ih

def insertC (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: insertC x l

theorem insertion_sort_members (z : Nat) (l : List Nat) : z ∈ l.foldr insertC [] ↔ z ∈ l := by
  have h : ∀ x k, z ∈ insertC x k ↔ z = x ∨ z ∈ k := ?_
  · induction l with
    | nil => rfl
    | cons x l ih => rw [List.foldr_cons, h, ih, List.mem_cons]
  · intro x k
    induction k with
    | nil => exact List.mem_cons
    | cons y k ih =>
      rw [insertC]
      split
      · exact List.mem_cons
      · rw [List.mem_cons, ih, List.mem_cons]
        rw [← or_assoc, ← or_assoc, or_comm (a := z = y)]

def insertD (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: insertD x l

inductive SortedA : List Nat → Prop where
  | nil : SortedA []
  | one (x : Nat) : SortedA [x]
  | cons (x y : Nat) (l : List Nat) (h : x ≤ y) (h1 : SortedA (y :: l)) : SortedA (x :: y :: l)

theorem insertion_sort_sorts (l : List Nat) : SortedA (l.foldr insertD []) := by
  have step : ∀ x k, SortedA k → SortedA (insertD x k) := ?_
  · induction l with
    | nil => exact SortedA.nil
    | cons x l ih =>
      rw [List.foldr_cons]
      exact step x _ ih
  · intro x k h
    induction h with
    | nil => exact SortedA.one x
    | one y =>
      rw [insertD]
      split
      · exact SortedA.cons x y [] (by assumption) (SortedA.one y)
      · exact SortedA.cons y x [] (by omega) (SortedA.one x)
    | cons y z k hyz hk ih =>
      rw [insertD]
      split
      · exact SortedA.cons x y _ (by assumption) (SortedA.cons y z k hyz hk)
      · rw [insertD] at ih ⊢
        by_cases hx : x ≤ z
        · rw [if_pos hx] at ih ⊢
          exact SortedA.cons y x _ (by omega) ih
        · rw [if_neg hx] at ih ⊢
          exact SortedA.cons y z _ hyz ih

inductive SortedC : List Nat → Prop where
  | nil : SortedC []
  | one (x : Nat) : SortedC [x]
  | cons (x y : Nat) (l : List Nat) (h : x ≤ y) (h1 : SortedC (y :: l)) : SortedC (x :: y :: l)

theorem sorted_iff_head_minimal (x : Nat) (l : List Nat) : SortedC (x :: l) ↔ SortedC l ∧ ∀ z, z ∈ l → x ≤ z := by
  constructor
  · induction l generalizing x with
    | nil => exact fun _ => ⟨SortedC.nil, by simp⟩
    | cons y l ih =>
      intro h
      cases h with
      | cons _ _ _ hxy hl =>
        constructor
        · exact hl
        · intro z hz
          rcases List.mem_cons.mp hz with h1 | h1
          · rw [h1]
            exact hxy
          · exact Nat.le_trans hxy ((ih y hl).2 z h1)
  · intro h
    cases l with
    | nil => exact SortedC.one x
    | cons y l => exact SortedC.cons x y l (h.2 y List.mem_cons_self) h.1

inductive TreeB where
  | leaf : TreeB
  | node (l : TreeB) (x : Nat) (r : TreeB) : TreeB

def TreeB.flat : TreeB → List Nat
  | .leaf => []
  | .node l x r => l.flat ++ x :: r.flat

def TreeB.flatAcc : TreeB → List Nat → List Nat
  | .leaf, a => a
  | .node l x r, a => l.flatAcc (x :: r.flatAcc a)

theorem tree_flatten_by_accumulator (t : TreeB) : t.flatAcc [] = t.flat := by
  have h : ∀ (s : TreeB) (a : List Nat), s.flatAcc a = s.flat ++ a := ?_
  · rw [h, List.append_nil]
  · intro s
    induction s with
    | leaf =>
      intro a
      rfl
    | node l x r ihl ihr =>
      intro a
      rw [TreeB.flatAcc, TreeB.flat, ihl, ihr]
      rw [List.append_assoc, List.cons_append]

inductive TreeC where
  | leaf : TreeC
  | node (l r : TreeC) : TreeC

def TreeC.nodes : TreeC → Nat
  | .leaf => 0
  | .node l r => l.nodes + r.nodes + 1

def TreeC.height : TreeC → Nat
  | .leaf => 0
  | .node l r => max l.height r.height + 1

theorem tree_nodes_lt_two_pow_height (t : TreeC) : t.nodes + 1 ≤ 2 ^ t.height := by
  induction t with
  | leaf => exact Nat.le_refl 1
  | node l r ihl ihr =>
    rw [TreeC.nodes, TreeC.height]
    rw [Nat.pow_succ, Nat.mul_two]
    have h1 : 2 ^ l.height ≤ 2 ^ max l.height r.height := Nat.pow_le_pow_right (by decide) (Nat.le_max_left _ _)
    have h2 : 2 ^ r.height ≤ 2 ^ max l.height r.height := Nat.pow_le_pow_right (by decide) (Nat.le_max_right _ _)
    omega

inductive TreeF where
  | leaf : TreeF
  | node (l r : TreeF) : TreeF

def TreeF.graft (s : TreeF) : TreeF → TreeF
  | .leaf => s
  | .node l r => .node (TreeF.graft s l) (TreeF.graft s r)

def TreeF.leaves : TreeF → Nat
  | .leaf => 1
  | .node l r => l.leaves + r.leaves

theorem tree_graft_leaves_and_assoc (s t u : TreeF) : TreeF.graft (TreeF.graft s t) u = TreeF.graft s (TreeF.graft t u) ∧ (TreeF.graft s t).leaves = s.leaves * t.leaves := by
  constructor
  · induction u with
    | leaf => rfl
    | node l r ihl ihr => rw [TreeF.graft, ihl, ihr, TreeF.graft, TreeF.graft]
  · induction t with
    | leaf => rw [TreeF.graft, TreeF.leaves, Nat.mul_one]
    | node l r ihl ihr => rw [TreeF.graft, TreeF.leaves, ihl, ihr, TreeF.leaves, Nat.mul_add]

inductive TreeH where
  | tip (x : Nat) : TreeH
  | fork (l r : TreeH) : TreeH

def TreeH.tips : TreeH → List Nat
  | .tip x => [x]
  | .fork l r => l.tips ++ r.tips

theorem every_nonempty_list_has_a_tree (l : List Nat) (h : l ≠ []) : ∃ t : TreeH, t.tips = l := by
  induction l with
  | nil => exact absurd rfl h
  | cons x l ih =>
    cases l with
    | nil => exact ⟨TreeH.tip x, rfl⟩
    | cons y l =>
      obtain ⟨t, ht⟩ := ih (List.cons_ne_nil y l)
      exists TreeH.fork (TreeH.tip x) t
      rw [TreeH.tips, ht]
      rfl

inductive StarA (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : StarA R x x
  | head (x y z : Nat) (h : R x y) (h1 : StarA R y z) : StarA R x z

def JoinA (R : Nat → Nat → Prop) (y z : Nat) : Prop := ∃ w, StarA R y w ∧ StarA R z w

theorem newman_lemma (R : Nat → Nat → Prop) (wf : ∀ P : Nat → Prop, (∀ x, (∀ y, R x y → P y) → P x) → ∀ x, P x) (lc : ∀ x y z, R x y → R x z → JoinA R y z) (a : Nat) : ∀ b c, StarA R a b → StarA R a c → JoinA R b c := by
  have tr : ∀ a b c, StarA R a b → StarA R b c → StarA R a c := ?_
  · apply wf (fun x => ∀ y z, StarA R x y → StarA R x z → JoinA R y z)
    intro x ih y z hy hz
    cases hy with
    | refl => exact ⟨z, hz, StarA.refl z⟩
    | head x y1 y h1 h2 =>
      cases hz with
      | refl => exact ⟨y, StarA.refl y, StarA.head _ y1 y h1 h2⟩
      | head x z1 z h3 h4 =>
        obtain ⟨w, hw1, hw2⟩ := lc _ y1 z1 h1 h3
        obtain ⟨u, hu1, hu2⟩ := ih y1 h1 y w h2 hw1
        obtain ⟨v, hv1, hv2⟩ := ih z1 h3 z u h4 (tr z1 w u hw2 hu2)
        exact ⟨v, tr y u v hu1 hv2, hv1⟩
  · intro a b c h h1
    induction h with
    | refl a => exact h1
    | head a d b h2 h3 ih => exact StarA.head a d c h2 (ih h1)

inductive StarB (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : StarB R x x
  | head (x y z : Nat) (h : R x y) (h1 : StarB R y z) : StarB R x z

theorem strip_lemma (R : Nat → Nat → Prop) (d : ∀ x y z, R x y → R x z → ∃ w, R y w ∧ R z w) (x y z : Nat) (h : StarB R x y) (h1 : R x z) : ∃ w, R y w ∧ StarB R z w := by
  induction h generalizing z with
  | refl x => exact ⟨z, h1, StarB.refl z⟩
  | head x u y hu hy ih =>
    obtain ⟨v, hv1, hv2⟩ := d x u z hu h1
    obtain ⟨w, hw1, hw2⟩ := ih v hv1
    exact ⟨w, hw1, StarB.head z v w hv2 hw2⟩

inductive StarC (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : StarC R x x
  | head (x y z : Nat) (h : R x y) (h1 : StarC R y z) : StarC R x z

theorem diamond_implies_confluence (R : Nat → Nat → Prop) (d : ∀ x y z, R x y → R x z → ∃ w, R y w ∧ R z w) (x y z : Nat) (h : StarC R x y) (h1 : StarC R x z) : ∃ w, StarC R y w ∧ StarC R z w := by
  have strip : ∀ a b c, StarC R a b → R a c → ∃ w, R b w ∧ StarC R c w := ?_
  · induction h1 generalizing y with
    | refl x => exact ⟨y, StarC.refl y, h⟩
    | head x u z hu hz ih =>
      obtain ⟨v, hv1, hv2⟩ := strip x y u h hu
      obtain ⟨w, hw1, hw2⟩ := ih v hv2
      exact ⟨w, StarC.head y v w hv1 hw1, hw2⟩
  · intro a b c hab hac
    induction hab generalizing c with
    | refl a => exact ⟨c, hac, StarC.refl c⟩
    | head a u b hu hb ih =>
      obtain ⟨v, hv1, hv2⟩ := d a u c hu hac
      obtain ⟨w, hw1, hw2⟩ := ih v hv1
      exact ⟨w, hw1, StarC.head c v w hv2 hw2⟩

inductive StarD (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : StarD R x x
  | head (x y z : Nat) (h : R x y) (h1 : StarD R y z) : StarD R x z

theorem joinable_normal_forms_are_equal (R : Nat → Nat → Prop) (y z : Nat) (h : ∃ w, StarD R y w ∧ StarD R z w) (hy : ∀ w, ¬R y w) (hz : ∀ w, ¬R z w) : y = z := by
  have stuck : ∀ a b, (∀ w, ¬R a w) → StarD R a b → a = b := ?_
  · obtain ⟨w, hw1, hw2⟩ := h
    rw [stuck y w hy hw1, stuck z w hz hw2]
  · intro a b ha h
    cases h with
    | refl => rfl
    | head a u b hu _ => exact absurd hu (ha u)

inductive StarE (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | refl (x : Nat) : StarE R x x
  | head (x y z : Nat) (h : R x y) (h1 : StarE R y z) : StarE R x z

theorem star_of_symmetric_is_symmetric (R : Nat → Nat → Prop) (hs : ∀ x y, R x y → R y x) (x y : Nat) (h : StarE R x y) : StarE R y x := by
  have last : ∀ a b c, StarE R a b → R b c → StarE R a c := ?_
  · induction h with
    | refl x => exact StarE.refl x
    | head x u y hu hy ih => exact last y u x ih (hs x u hu)
  · intro a b c hab hbc
    induction hab with
    | refl a => exact StarE.head a c c hbc (StarE.refl c)
    | head a u b hu hb ih => exact StarE.head a u c hu (ih hbc)

inductive ClosA (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | base (x y : Nat) (h : R x y) : ClosA R x y
  | head (x y z : Nat) (h : R x y) (h1 : ClosA R y z) : ClosA R x z

theorem transitive_closure_idempotent (R : Nat → Nat → Prop) (x y : Nat) (h : ClosA (ClosA R) x y) : ClosA R x y := by
  have tr : ∀ a b c, ClosA R a b → ClosA R b c → ClosA R a c := ?_
  · induction h with
    | base x y h => exact h
    | head x u y hu hy ih => exact tr x u y hu ih
  · intro a b c hab hbc
    induction hab with
    | base a b h => exact ClosA.head a b c h hbc
    | head a u b hu hb ih => exact ClosA.head a u c hu (ih hbc)

inductive ClosB (R : Nat → Nat → Prop) : Nat → Nat → Prop where
  | base (x y : Nat) (h : R x y) : ClosB R x y
  | head (x y z : Nat) (h : R x y) (h1 : ClosB R y z) : ClosB R x z

theorem transitive_closure_of_successor (x y : Nat) : ClosB (fun a b => b = a + 1) x y ↔ x < y := by
  constructor
  · intro h
    induction h with
    | base x y h => omega
    | head x u y hu hy ih => omega
  · intro h
    obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_lt h
    clear h
    induction k generalizing x with
    | zero =>
      apply ClosB.base
      rfl
    | succ k ih =>
      apply ClosB.head x (x + 1)
      · rfl
      · have e : x + (k + 1) + 1 = x + 1 + k + 1 := by omega
        rw [e]
        exact ih (x + 1)

theorem well_founded_no_descending_sequence (α : Type) (R : α → α → Prop) (wf : ∀ P : α → Prop, (∀ x, (∀ y, R y x → P y) → P x) → ∀ x, P x) (f : Nat → α) (h : ∀ n, R (f (n + 1)) (f n)) : False := by
  have key : ∀ x, ∀ n, f n ≠ x := ?_
  · exact key (f 0) 0 rfl
  · apply wf (fun x => ∀ n, f n ≠ x)
    intro x ih n hn
    apply ih (f (n + 1)) ?_ (n + 1) rfl
    rw [← hn]
    exact h n

theorem well_founded_asymmetric (α : Type) (R : α → α → Prop) (wf : ∀ P : α → Prop, (∀ x, (∀ y, R y x → P y) → P x) → ∀ x, P x) (x y : α) (h1 : R x y) (h2 : R y x) : False := by
  have key : ∀ a, a ≠ x ∧ a ≠ y := ?_
  · exact (key x).1 rfl
  · apply wf (fun a => a ≠ x ∧ a ≠ y)
    intro a ih
    constructor
    · intro e
      rw [e] at ih
      exact (ih y h2).2 rfl
    · intro e
      rw [e] at ih
      exact (ih x h1).1 rfl

theorem well_founded_minimal_element (α : Type) (R : α → α → Prop) (wf : ∀ P : α → Prop, (∀ x, (∀ y, R y x → P y) → P x) → ∀ x, P x) (Q : α → Prop) (a : α) (h : Q a) : ∃ m, Q m ∧ ∀ y, R y m → ¬Q y := by
  apply Classical.byContradiction
  intro hn
  apply wf (fun x => ¬Q x) ?_ a h
  intro x ih hx
  exact hn ⟨x, hx, ih⟩

theorem induction_by_measure (α : Type) (m : α → Nat) (P : α → Prop) (h : ∀ x, (∀ y, m y < m x → P y) → P x) (x : α) : P x := by
  have key : ∀ n y, m y < n → P y := ?_
  · exact key (m x + 1) x (Nat.lt_succ_self (m x))
  · intro n
    induction n with
    | zero =>
      intro y hy
      exact absurd hy (Nat.not_lt_zero (m y))
    | succ n ih =>
      intro y hy
      apply h
      intro z hz
      apply ih
      omega

theorem lexicographic_induction (P : Nat → Nat → Prop) (h : ∀ a b, (∀ c d, c < a → P c d) → (∀ d, d < b → P a d) → P a b) (a b : Nat) : P a b := by
  induction a using Nat.strongRecOn generalizing b with
  | ind a iha =>
    induction b using Nat.strongRecOn with
    | ind b ihb =>
      apply h
      · intro c d hc
        exact iha c hc d
      · intro d hd
        exact ihb d hd

theorem galois_connection_triple (f g : Nat → Nat) (h : ∀ x y, f x ≤ y ↔ x ≤ g y) (x : Nat) : f (g (f x)) = f x := by
  have up : ∀ x, x ≤ g (f x) := fun x => (h x (f x)).mp (Nat.le_refl (f x))
  apply Nat.le_antisymm
  · rw [h]
  · rw [h]
    exact Nat.le_trans (up x) (up (g (f x)))

theorem galois_connection_preserves_max (f g : Nat → Nat) (h : ∀ x y, f x ≤ y ↔ x ≤ g y) (a b : Nat) : f (max a b) = max (f a) (f b) := by
  have mono : ∀ x y, x ≤ y → f x ≤ f y := ?_
  · apply Nat.le_antisymm
    · rw [h]
      apply Nat.max_le_of_le_of_le
      · rw [← h]
        exact Nat.le_max_left _ _
      · rw [← h]
        exact Nat.le_max_right _ _
    · apply Nat.max_le_of_le_of_le
      · exact mono a _ (Nat.le_max_left a b)
      · exact mono b _ (Nat.le_max_right a b)
  · intro x y hxy
    rw [h]
    exact Nat.le_trans hxy ((h y (f y)).mp (Nat.le_refl (f y)))

theorem monotone_map_preserves_max (f : Nat → Nat) (h : ∀ x y, x ≤ y → f x ≤ f y) (a b c : Nat) : f (max a (max b c)) = max (f a) (max (f b) (f c)) := by
  have two : ∀ x y, f (max x y) = max (f x) (f y) := ?_
  · rw [two, two]
  · intro x y
    rcases Nat.le_total x y with h1 | h1
    · rw [Nat.max_eq_right h1, Nat.max_eq_right (h x y h1)]
    · rw [Nat.max_eq_left h1, Nat.max_eq_left (h y x h1)]

theorem drinker_paradox (α : Type) (a : α) (P : α → Prop) : ∃ x, P x → ∀ y, P y := by
  by_cases h : ∃ x, ¬P x
  · obtain ⟨x, hx⟩ := h
    exists x
    intro h1
    exact absurd h1 hx
  · exists a
    intro _ y
    apply Classical.byContradiction
    intro hy
    exact h ⟨y, hy⟩

theorem independence_of_premise (α : Type) (a : α) (p : Prop) (Q : α → Prop) (h : p → ∃ x, Q x) : ∃ x, p → Q x := by
  by_cases hp : p
  · obtain ⟨x, hx⟩ := h hp
    exact ⟨x, fun _ => hx⟩
  · exact ⟨a, fun h1 => absurd h1 hp⟩

theorem exists_forall_imp_iff (α : Type) (a : α) (P Q : α → Prop) : (∃ x, ∀ y, P x → Q y) ↔ ((∀ x, P x) → ∀ y, Q y) := by
  constructor
  · intro h h1 y
    obtain ⟨x, hx⟩ := h
    exact hx y (h1 x)
  · intro h
    by_cases h1 : ∀ x, P x
    · exact ⟨a, fun y _ => h h1 y⟩
    · rw [Classical.not_forall] at h1
      obtain ⟨x, hx⟩ := h1
      exact ⟨x, fun y h2 => absurd h2 hx⟩

theorem no_set_of_unreturned_loves (α : Type) (R : α → α → Prop) : ¬∃ x, ∀ y, R x y ↔ ¬∃ z, R y z ∧ R z y := by
  intro h
  obtain ⟨x, hx⟩ := h
  have h1 : ¬R x x := fun h2 => (hx x).mp h2 ⟨x, h2, h2⟩
  apply h1
  rw [hx]
  intro h2
  obtain ⟨z, h3, h4⟩ := h2
  exact (hx z).mp h3 ⟨x, h4, h3⟩

theorem surjection_has_right_inverse (α β : Type) (f : α → β) (h : ∀ y, ∃ x, f x = y) : ∃ g : β → α, (∀ y, f (g y) = y) ∧ ∀ y z, g y = g z → y = z := by
  obtain ⟨g, hg⟩ := Classical.axiomOfChoice h
  exists g
  constructor
  · exact hg
  · intro y z e
    rw [← hg y, e, hg]

theorem injection_has_left_inverse (α β : Type) (a : α) (f : α → β) (h : ∀ x y, f x = f y → x = y) : ∃ g : β → α, ∀ x, g (f x) = x := by
  have h1 : ∀ y, ∃ x, ∀ z, f z = y → z = x := ?_
  · obtain ⟨g, hg⟩ := Classical.axiomOfChoice h1
    exists g
    intro x
    exact (hg (f x) x rfl).symm
  · intro y
    by_cases hy : ∃ x, f x = y
    · obtain ⟨x, hx⟩ := hy
      exists x
      intro z hz
      exact h z x (by rw [hz, hx])
    · exact ⟨a, fun z hz => absurd ⟨z, hz⟩ hy⟩

theorem unbounded_set_has_increasing_sequence (P : Nat → Prop) (h : ∀ n, ∃ m, n < m ∧ P m) : ∃ f : Nat → Nat, ∀ n, f n < f (n + 1) ∧ P (f n) := by
  obtain ⟨g, hg⟩ := Classical.axiomOfChoice h
  exists fun n => Nat.rec (g 0) (fun _ x => g x) n
  intro n
  constructor
  · exact (hg _).1
  · cases n with
    | zero => exact (hg 0).2
    | succ n => exact (hg _).2

theorem bool_function_thrice (f : Bool → Bool) (b : Bool) : f (f (f b)) = f b := by
  cases ht : f true with
  | true => cases hf : f false <;> cases b <;> simp [ht, hf]
  | false => cases hf : f false <;> cases b <;> simp [ht, hf]

theorem bool_injective_is_surjective (f : Bool → Bool) (h : ∀ x y, f x = f y → x = y) (b : Bool) : ∃ x, f x = b := by
  by_cases h1 : f true = b
  · exact ⟨true, h1⟩
  · exists false
    have h2 : f true ≠ f false := fun e => absurd (h true false e) (by decide)
    cases ht : f true <;> cases hf : f false <;> cases b <;> simp_all

theorem equivalence_class_equality (α : Type) (R : α → α → Prop) (hr : ∀ x, R x x) (hs : ∀ x y, R x y → R y x) (ht : ∀ x y z, R x y → R y z → R x z) (x y : α) : R x = R y ↔ R x y := by
  constructor
  · intro h
    rw [h]
    exact hr y
  · intro h
    funext z
    apply propext
    constructor
    · intro h1
      exact ht y x z (hs x y h) h1
    · intro h1
      exact ht x y z h h1

theorem pigeonhole_principle (f : Nat → Nat) (n : Nat) (h : ∀ i, i ≤ n → f i < n) : ∃ i j, i < j ∧ j ≤ n ∧ f i = f j := by
  induction n generalizing f with
  | zero => exact absurd (h 0 (Nat.le_refl 0)) (Nat.not_lt_zero (f 0))
  | succ n ih =>
    by_cases hc : ∃ i, i ≤ n ∧ f i = f (n + 1)
    · obtain ⟨i, hi, e⟩ := hc
      exact ⟨i, n + 1, by omega, by omega, e⟩
    · have hne : ∀ i, i ≤ n → f i ≠ f (n + 1) := fun i hi e => hc ⟨i, hi, e⟩
      have h2 := h (n + 1) (Nat.le_refl (n + 1))
      obtain ⟨i, j, hij, hj, e⟩ := ih (fun i => if f i = n then f (n + 1) else f i) ?_
      · have hi2 := hne i (by omega)
        have hj2 := hne j hj
        exact ⟨i, j, hij, by omega, by grind⟩
      · intro i hi
        have h3 := h i (by omega)
        have h4 := hne i hi
        grind

theorem no_bounded_injection (f : Nat → Nat) (b : Nat) (hf : ∀ x y, f x = f y → x = y) (h : ∀ n, f n < b) : False := by
  induction b generalizing f with
  | zero => exact absurd (h 0) (Nat.not_lt_zero (f 0))
  | succ b ih =>
    by_cases hk : ∃ k, f k = b
    · obtain ⟨k, hk⟩ := hk
      apply ih (fun n => f (n + k + 1))
      · intro x y e
        have h1 := hf _ _ e
        omega
      · intro n
        apply Nat.lt_of_le_of_ne (Nat.le_of_lt_succ (h (n + k + 1)))
        intro e
        have h1 := hf (n + k + 1) k (by rw [e, hk])
        omega
    · apply ih f hf
      intro n
      apply Nat.lt_of_le_of_ne (Nat.le_of_lt_succ (h n))
      intro e
      exact hk ⟨n, e⟩

theorem two_of_three_days_agree (c : Nat → Bool) (n : Nat) : ∃ i j, n ≤ i ∧ i < j ∧ j ≤ n + 2 ∧ c i = c j := by
  by_cases h1 : c n = c (n + 1)
  · exact ⟨n, n + 1, by omega, by omega, by omega, h1⟩
  · by_cases h2 : c (n + 1) = c (n + 2)
    · exact ⟨n + 1, n + 2, by omega, by omega, by omega, h2⟩
    · exists n, n + 2
      cases ha : c n <;> cases hb : c (n + 1) <;> cases hd : c (n + 2) <;> simp_all

theorem infinite_color_class (c : Nat → Bool) : ∃ b, ∀ n, ∃ m, n ≤ m ∧ c m = b := by
  by_cases h : ∀ n, ∃ m, n ≤ m ∧ c m = true
  · exact ⟨true, h⟩
  · rw [Classical.not_forall] at h
    obtain ⟨k, hk⟩ := h
    exists false
    intro n
    exists n + k
    constructor
    · exact Nat.le_add_right n k
    · apply (Bool.not_eq_true _).mp
      intro h1
      exact hk ⟨n + k, Nat.le_add_left k n, h1⟩

inductive EvenA : Nat → Prop where
  | zero : EvenA 0
  | add_two (n : Nat) (h : EvenA n) : EvenA (n + 2)

theorem even_iff_double (n : Nat) : EvenA n ↔ ∃ k, n = k + k := by
  constructor
  · intro h
    induction h with
    | zero => exact ⟨0, rfl⟩
    | add_two n h ih =>
      obtain ⟨k, hk⟩ := ih
      exact ⟨k + 1, by omega⟩
  · intro h
    obtain ⟨k, rfl⟩ := h
    induction k with
    | zero => exact EvenA.zero
    | succ k ih =>
      have e : k + 1 + (k + 1) = k + k + 2 := by omega
      rw [e]
      exact EvenA.add_two (k + k) ih

inductive EvenB : Nat → Prop where
  | zero : EvenB 0
  | add_two (n : Nat) (h : EvenB n) : EvenB (n + 2)

theorem even_cancel (m n : Nat) (h : EvenB (m + n)) (hm : EvenB m) : EvenB n := by
  induction hm with
  | zero =>
    rw [Nat.zero_add] at h
    exact h
  | add_two m hm ih =>
    apply ih
    have e : m + 2 + n = m + n + 2 := by omega
    rw [e] at h
    cases h with
    | add_two _ h1 => exact h1

inductive EvenC : Nat → Prop where
  | zero : EvenC 0
  | add_two (n : Nat) (h : EvenC n) : EvenC (n + 2)

theorem even_of_even_square (n : Nat) (h : EvenC (n * n)) : EvenC n := by
  have h1 : ∀ m, EvenC m → m % 2 = 0 := ?_
  · have h2 : ∀ k, EvenC (2 * k) := ?_
    · have h3 := h1 (n * n) h
      rw [Nat.mul_mod] at h3
      rcases Nat.mod_two_eq_zero_or_one n with h4 | h4
      · have e : n = 2 * (n / 2) := by omega
        rw [e]
        exact h2 (n / 2)
      · rw [h4] at h3
        contradiction
    · intro k
      induction k with
      | zero => exact EvenC.zero
      | succ k ih => exact EvenC.add_two (2 * k) ih
  · intro m hm
    induction hm with
    | zero => rfl
    | add_two m hm ih => omega

inductive EvenD : Nat → Prop where
  | zero : EvenD 0
  | add_two (n : Nat) (h : EvenD n) : EvenD (n + 2)

theorem product_of_even (m n : Nat) (h : EvenD m) : EvenD (m * n) := by
  have add : ∀ a b, EvenD a → EvenD b → EvenD (a + b) := ?_
  · induction n with
    | zero => exact EvenD.zero
    | succ n ih =>
      rw [Nat.mul_succ]
      exact add (m * n) m ih h
  · intro a b ha hb
    induction hb with
    | zero => exact ha
    | add_two b hb ih => exact EvenD.add_two (a + b) ih

inductive EvenE : Nat → Prop where
  | zero : EvenE 0
  | add_two (n : Nat) (h : EvenE n) : EvenE (n + 2)

theorem even_not_both_neighbours (n : Nat) : (EvenE n ∨ EvenE (n + 1)) ∧ ¬(EvenE n ∧ EvenE (n + 1)) := by
  induction n with
  | zero =>
    constructor
    · left
      exact EvenE.zero
    · intro h
      cases h.2
  | succ n ih =>
    obtain ⟨h1, h2⟩ := ih
    constructor
    · rcases h1 with h3 | h3
      · right
        exact EvenE.add_two n h3
      · left
        exact h3
    · intro h3
      apply h2
      constructor
      · cases h3.2 with
        | add_two _ h4 => exact h4
      · exact h3.1

inductive BinA where
  | one : BinA
  | bit0 (b : BinA) : BinA
  | bit1 (b : BinA) : BinA

def BinA.val : BinA → Nat
  | .one => 1
  | .bit0 b => 2 * b.val
  | .bit1 b => 2 * b.val + 1

theorem every_positive_number_is_binary (n : Nat) (h : 0 < n) : ∃ b : BinA, b.val = n := by
  induction n using Nat.strongRecOn with
  | ind n ih =>
    by_cases h1 : n = 1
    · exact ⟨BinA.one, h1.symm⟩
    · obtain ⟨b, hb⟩ := ih (n / 2) (by omega) (by omega)
      rcases Nat.mod_two_eq_zero_or_one n with h2 | h2
      · exact ⟨BinA.bit0 b, by rw [BinA.val]; omega⟩
      · exact ⟨BinA.bit1 b, by rw [BinA.val]; omega⟩

inductive BinB where
  | one : BinB
  | bit0 (b : BinB) : BinB
  | bit1 (b : BinB) : BinB

def BinB.val : BinB → Nat
  | .one => 1
  | .bit0 b => 2 * b.val
  | .bit1 b => 2 * b.val + 1

theorem binary_numerals_are_unique (a b : BinB) (h : a.val = b.val) : a = b := by
  have pos : ∀ c : BinB, 0 < c.val := ?_
  · induction a generalizing b with
    | one =>
      cases b with
      | one => rfl
      | bit0 b =>
        rw [BinB.val, BinB.val] at h
        omega
      | bit1 b =>
        have h1 := pos b
        rw [BinB.val, BinB.val] at h
        omega
    | bit0 a ih =>
      cases b with
      | one =>
        rw [BinB.val, BinB.val] at h
        omega
      | bit0 b =>
        rw [BinB.val, BinB.val] at h
        rw [ih b (by omega)]
      | bit1 b =>
        rw [BinB.val, BinB.val] at h
        omega
    | bit1 a ih =>
      cases b with
      | one =>
        have h1 := pos a
        rw [BinB.val, BinB.val] at h
        omega
      | bit0 b =>
        rw [BinB.val, BinB.val] at h
        omega
      | bit1 b =>
        rw [BinB.val, BinB.val] at h
        rw [ih b (by omega)]
  · intro c
    induction c with
    | one => exact Nat.zero_lt_one
    | bit0 c ih =>
      rw [BinB.val]
      omega
    | bit1 c ih => exact Nat.zero_lt_succ _

inductive NumA where
  | zero : NumA
  | succ (n : NumA) : NumA

def NumA.add (m : NumA) : NumA → NumA
  | .zero => m
  | .succ n => .succ (NumA.add m n)

theorem unary_addition_comm (m n : NumA) : m.add n = n.add m := by
  have h0 : ∀ k, NumA.add .zero k = k := ?_
  · have hs : ∀ j k, NumA.add (.succ j) k = .succ (NumA.add j k) := ?_
    · induction n with
      | zero =>
        rw [h0]
        rfl
      | succ n ih => rw [NumA.add, hs, ih]
    · intro j k
      induction k with
      | zero => rfl
      | succ k ih => rw [NumA.add, ih, NumA.add]
  · intro k
    induction k with
    | zero => rfl
    | succ k ih => rw [NumA.add, ih]

inductive ExprA where
  | lit (n : Nat) : ExprA
  | plus (a b : ExprA) : ExprA

def ExprA.eval : ExprA → Nat
  | .lit n => n
  | .plus a b => a.eval + b.eval

inductive CodeA where
  | push (n : Nat) : CodeA
  | add : CodeA

def CodeA.step : CodeA → List Nat → List Nat
  | .push n, s => n :: s
  | .add, x :: y :: s => (y + x) :: s
  | .add, s => s

def ExprA.code : ExprA → List CodeA
  | .lit n => [.push n]
  | .plus a b => a.code ++ b.code ++ [.add]

theorem compiler_is_correct (e : ExprA) : e.code.foldl (fun s c => CodeA.step c s) [] = [e.eval] := by
  have h : ∀ (a : ExprA) (s : List Nat), a.code.foldl (fun s c => CodeA.step c s) s = a.eval :: s := ?_
  · exact h e []
  · intro a
    induction a with
    | lit n =>
      intro s
      rfl
    | plus a b iha ihb =>
      intro s
      rw [ExprA.code, List.foldl_append, List.foldl_append]
      rw [iha, ihb]
      rfl

inductive ExprB where
  | lit (n : Nat) : ExprB
  | plus (a b : ExprB) : ExprB

def ExprB.eval : ExprB → Nat
  | .lit n => n
  | .plus a b => a.eval + b.eval

def ExprB.leaves : ExprB → List Nat
  | .lit n => [n]
  | .plus a b => a.leaves ++ b.leaves

theorem value_is_sum_of_leaves (e : ExprB) : e.eval = e.leaves.foldr (fun x s => x + s) 0 := by
  have h : ∀ (l : List Nat) (k : Nat), l.foldr (fun x s => x + s) k = l.foldr (fun x s => x + s) 0 + k := ?_
  · induction e with
    | lit n => rfl
    | plus a b iha ihb =>
      rw [ExprB.eval, ExprB.leaves, List.foldr_append]
      rw [h, iha, ihb]
  · intro l k
    induction l with
    | nil => exact (Nat.zero_add k).symm
    | cons x l ih => rw [List.foldr_cons, ih, List.foldr_cons, Nat.add_assoc]

inductive NodupA : List Nat → Prop where
  | nil : NodupA []
  | cons (x : Nat) (l : List Nat) (h : x ∉ l) (h1 : NodupA l) : NodupA (x :: l)

theorem nodup_sublist_length (l m : List Nat) (hl : NodupA l) (h : ∀ x, x ∈ l → x ∈ m) : l.length ≤ m.length := by
  induction hl generalizing m with
  | nil => exact Nat.zero_le m.length
  | cons x l hx hl ih =>
    obtain ⟨s, t, rfl⟩ := List.append_of_mem (h x List.mem_cons_self)
    have h1 := ih (s ++ t) ?_
    · rw [List.length_append] at h1 ⊢
      rw [List.length_cons, List.length_cons]
      omega
    · intro y hy
      have h2 := h y (List.mem_cons_of_mem x hy)
      rw [List.mem_append, List.mem_cons] at h2
      rw [List.mem_append]
      rcases h2 with h3 | h3 | h3
      · exact Or.inl h3
      · rw [h3] at hy
        exact absurd hy hx
      · exact Or.inr h3

inductive NodupB : List Nat → Prop where
  | nil : NodupB []
  | cons (x : Nat) (l : List Nat) (h : x ∉ l) (h1 : NodupB l) : NodupB (x :: l)

theorem nodup_map_of_injective (f : Nat → Nat) (hf : ∀ x y, f x = f y → x = y) (l : List Nat) (h : NodupB l) : NodupB (l.map f) := by
  induction h with
  | nil => exact NodupB.nil
  | cons x l hx hl ih =>
    apply NodupB.cons
    · intro h1
      obtain ⟨y, hy, e⟩ := List.exists_of_mem_map h1
      rw [hf y x e] at hy
      exact hx hy
    · exact ih

inductive NodupC : List Nat → Prop where
  | nil : NodupC []
  | cons (x : Nat) (l : List Nat) (h : x ∉ l) (h1 : NodupC l) : NodupC (x :: l)

theorem nodup_append_disjoint (l m : List Nat) (h : NodupC (l ++ m)) : NodupC l ∧ ∀ x, x ∈ l → x ∉ m := by
  induction l with
  | nil => exact ⟨NodupC.nil, fun x hx => absurd hx List.not_mem_nil⟩
  | cons y l ih =>
    cases h with
    | cons _ _ hy hl =>
      obtain ⟨h1, h2⟩ := ih hl
      rw [List.mem_append, not_or] at hy
      constructor
      · exact NodupC.cons y l hy.1 h1
      · intro x hx
        rcases List.mem_cons.mp hx with e | e
        · rw [e]
          exact hy.2
        · exact h2 x e

inductive PalA : List Nat → Prop where
  | nil : PalA []
  | one (x : Nat) : PalA [x]
  | wrap (x : Nat) (l : List Nat) (h : PalA l) : PalA (x :: (l ++ [x]))

theorem palindrome_from_reverse (n : Nat) (l : List Nat) (hn : l.length ≤ n) (h : l.reverse = l) : PalA l := by
  induction n using Nat.strongRecOn generalizing l with
  | ind n ih =>
    cases l with
    | nil => exact PalA.nil
    | cons x l =>
      rw [List.reverse_cons] at h
      cases hr : l.reverse with
      | nil =>
        rw [List.reverse_eq_nil_iff.mp hr]
        exact PalA.one x
      | cons y k =>
        rw [hr] at h
        injection h with h1 h2
        rw [← h2]
        apply PalA.wrap
        have hk : k.reverse = k := ?_
        · have hl : k.length + 1 = l.length := by rw [← h2, List.length_append]; rfl
          rw [List.length_cons] at hn
          exact ih k.length (by omega) k (Nat.le_refl k.length) hk
        · rw [← h2, List.reverse_append] at hr
          injection hr with h3 h4

theorem horner_scheme_append (b : Nat) (l : List Nat) (a : Nat) : l.foldl (fun s d => s * b + d) a = a * b ^ l.length + l.foldl (fun s d => s * b + d) 0 := by
  induction l generalizing a with
  | nil => exact (Nat.mul_one a).symm
  | cons d l ih =>
    rw [List.foldl_cons, List.foldl_cons]
    rw [ih, ih (0 * b + d)]
    rw [List.length_cons, Nat.pow_succ]
    grind

theorem prefix_antisymmetric (α : Type) (l m s t : List α) (h1 : l ++ s = m) (h2 : m ++ t = l) : l = m := by
  have h3 : (l ++ s).length = m.length := by rw [h1]
  have h4 : (m ++ t).length = l.length := by rw [h2]
  rw [List.length_append] at h3 h4
  have h5 : s = [] := List.eq_nil_of_length_eq_zero (by omega)
  rw [h5, List.append_nil] at h1
  exact h1

theorem fold_cons_is_reverse (α : Type) (l : List α) : l.foldl (fun a x => x :: a) [] = l.reverse := by
  have h : ∀ k a : List α, k.foldl (fun a x => x :: a) a = k.reverse ++ a := ?_
  · rw [h, List.append_nil]
  · intro k
    induction k with
    | nil =>
      intro a
      rfl
    | cons x k ih =>
      intro a
      rw [List.foldl_cons, ih, List.reverse_cons, List.append_assoc]
      rfl

inductive NumC where
  | zero : NumC
  | succ (n : NumC) : NumC

def NumC.add (m : NumC) : NumC → NumC
  | .zero => m
  | .succ n => .succ (NumC.add m n)

def NumC.mul (m : NumC) : NumC → NumC
  | .zero => .zero
  | .succ n => NumC.add (NumC.mul m n) m

theorem unary_mul_add (a b c : NumC) : NumC.mul a (NumC.add b c) = NumC.add (NumC.mul a b) (NumC.mul a c) := by
  have assoc : ∀ x y z, NumC.add (NumC.add x y) z = NumC.add x (NumC.add y z) := ?_
  · induction c with
    | zero => rfl
    | succ c ih => rw [NumC.add, NumC.mul, ih, assoc, NumC.mul]
  · intro x y z
    induction z with
    | zero => rfl
    | succ z ih => rw [NumC.add, ih, NumC.add, NumC.add]

inductive NumD where
  | zero : NumD
  | succ (n : NumD) : NumD

def NumD.add (m : NumD) : NumD → NumD
  | .zero => m
  | .succ n => .succ (NumD.add m n)

def NumD.mul (m : NumD) : NumD → NumD
  | .zero => .zero
  | .succ n => NumD.add (NumD.mul m n) m

theorem unary_multiplication_comm (hc : ∀ a b, NumD.add a b = NumD.add b a) (ha : ∀ a b c, NumD.add (NumD.add a b) c = NumD.add a (NumD.add b c)) (m n : NumD) : NumD.mul m n = NumD.mul n m := by
  have h0 : ∀ k, NumD.mul .zero k = .zero := ?_
  · have hs : ∀ j k, NumD.mul (.succ j) k = NumD.add (NumD.mul j k) k := ?_
    · induction n with
      | zero =>
        rw [h0]
        rfl
      | succ n ih => rw [NumD.mul, hs, ih]
    · intro j k
      induction k with
      | zero => rfl
      | succ k ih =>
        rw [NumD.mul, ih, NumD.mul]
        rw [NumD.add, NumD.add, ha, ha, hc k j]
  · intro k
    induction k with
    | zero => rfl
    | succ k ih =>
      rw [NumD.mul, ih]
      rfl

theorem sum_of_pairs (s : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, s f 0 = 0) (hs : ∀ f n, s f (n + 1) = s f n + f n) (f : Nat → Nat) (n : Nat) : s f (2 * n) = s (fun i => f i + f (n + i)) n := by
  have split : ∀ m k, s f (m + k) = s f m + s (fun i => f (m + i)) k := ?_
  · have lin : ∀ (g h : Nat → Nat) (k : Nat), s (fun i => g i + h i) k = s g k + s h k := ?_
    · rw [Nat.two_mul, split, lin f]
    · intro g h k
      induction k with
      | zero => rw [h0, h0, h0]
      | succ k ih => rw [hs, hs, hs, ih, Nat.add_add_add_comm]
  · intro m k
    induction k with
    | zero =>
      rw [h0]
      rfl
    | succ k ih => rw [← Nat.add_assoc, hs, ih, hs, Nat.add_assoc]

theorem sum_of_increasing_bound (s f : Nat → Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (hf : ∀ a b, a ≤ b → f a ≤ f b) (n : Nat) : n * f 0 ≤ s n ∧ s (n + 1) ≤ (n + 1) * f n := by
  constructor
  · induction n with
    | zero =>
      rw [Nat.zero_mul]
      exact Nat.zero_le (s 0)
    | succ n ih =>
      rw [hs, Nat.add_one_mul]
      exact Nat.add_le_add ih (hf 0 n (Nat.zero_le n))
  · induction n with
    | zero =>
      rw [hs, h0]
      omega
    | succ n ih =>
      rw [hs, Nat.add_one_mul (n + 1)]
      apply Nat.add_le_add_right
      apply Nat.le_trans ih
      exact Nat.mul_le_mul_left (n + 1) (hf n (n + 1) (Nat.le_succ n))

theorem iterate_multiple (t : (Nat → Nat) → Nat → Nat → Nat) (h0 : ∀ f x, t f 0 x = x) (hs : ∀ f n x, t f (n + 1) x = t f n (f x)) (f : Nat → Nat) (m n x : Nat) : t f (m * n) x = t (t f m) n x := by
  have add : ∀ a b x, t f (a + b) x = t f b (t f a x) := ?_
  · induction n generalizing x with
    | zero => rw [Nat.mul_zero, h0, h0]
    | succ n ih => rw [Nat.mul_succ, Nat.add_comm, add, ih, hs]
  · intro a b x
    induction a generalizing x with
    | zero => rw [Nat.zero_add, h0]
    | succ a ih => rw [Nat.add_right_comm, hs, ih, hs]

theorem unique_fixed_point_of_iterate (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (n x : Nat) (h : g n x = x) (hu : ∀ y, g n y = y → y = x) : f x = x := by
  have comm : ∀ k y, f (g k y) = g k (f y) := ?_
  · apply hu
    rw [← comm, h]
  · intro k
    induction k with
    | zero =>
      intro y
      rw [h0, h0]
    | succ k ih =>
      intro y
      rw [hs, ih, hs]

theorem injective_preperiodic_is_periodic (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = f (g n x)) (hf : ∀ x y, f x = f y → x = y) (m k x : Nat) (h : g (k + m) x = g m x) : g k x = x := by
  induction m with
  | zero =>
    rw [h0] at h
    exact h
  | succ m ih =>
    apply ih
    apply hf
    rw [← hs, ← hs]
    exact h

theorem same_recurrence_same_sequence (f g : Nat → Nat) (hf : ∀ n, f (n + 2) = f (n + 1) + 2 * f n) (hg : ∀ n, g (n + 2) = g (n + 1) + 2 * g n) (h0 : f 0 = g 0) (h1 : f 1 = g 1) : f = g := by
  have h : ∀ n, f n = g n ∧ f (n + 1) = g (n + 1) := ?_
  · funext n
    exact (h n).1
  · intro n
    induction n with
    | zero => exact ⟨h0, h1⟩
    | succ n ih =>
      constructor
      · exact ih.2
      · rw [hf, hg, ih.1, ih.2]

theorem fibonacci_addition_law (f : Nat → Nat) (f0 : f 0 = 0) (f1 : f 1 = 1) (hf : ∀ n, f (n + 2) = f n + f (n + 1)) (m n : Nat) : f (m + n + 1) = f m * f n + f (m + 1) * f (n + 1) := by
  induction n generalizing m with
  | zero => rw [f0, f1, Nat.mul_zero, Nat.zero_add, Nat.mul_one, Nat.add_zero]
  | succ n ih =>
    have h := ih (m + 1)
    have e : m + 1 + n + 1 = m + (n + 1) + 1 := by omega
    rw [e, hf m] at h
    rw [h, hf n]
    grind

theorem fibonacci_below_powers_of_two (f : Nat → Nat) (f0 : f 0 = 0) (f1 : f 1 = 1) (hf : ∀ n, f (n + 2) = f n + f (n + 1)) (n : Nat) : f n < 2 ^ n := by
  have h : f n < 2 ^ n ∧ f (n + 1) < 2 ^ (n + 1) := ?_
  · exact h.1
  · induction n with
    | zero =>
      rw [f0, f1]
      decide
    | succ n ih =>
      have e : 2 ^ (n + 2) = 2 ^ (n + 1) * 2 := Nat.pow_succ
      have e1 : 2 ^ (n + 1) = 2 ^ n * 2 := Nat.pow_succ
      have h1 := hf n
      constructor
      · exact ih.2
      · rw [h1]
        omega

theorem ackermann_second_row (a : Nat → Nat → Nat) (h0 : ∀ n, a 0 n = n + 1) (h1 : ∀ m, a (m + 1) 0 = a m 1) (h2 : ∀ m n, a (m + 1) (n + 1) = a m (a (m + 1) n)) (n : Nat) : a 2 n = 2 * n + 3 := by
  have one : ∀ k, a 1 k = k + 2 := ?_
  · induction n with
    | zero => rw [h1, one]
    | succ n ih =>
      rw [h2, one, ih]
      omega
  · intro k
    induction k with
    | zero => rw [h1, h0]
    | succ k ih => rw [h2, h0, ih]

theorem ackermann_exceeds_argument (a : Nat → Nat → Nat) (h0 : ∀ n, a 0 n = n + 1) (h1 : ∀ m, a (m + 1) 0 = a m 1) (h2 : ∀ m n, a (m + 1) (n + 1) = a m (a (m + 1) n)) (m n : Nat) : n < a m n := by
  induction m generalizing n with
  | zero =>
    rw [h0]
    exact Nat.lt_succ_self n
  | succ m ihm =>
    induction n with
    | zero =>
      rw [h1]
      exact Nat.lt_trans Nat.zero_lt_one (ihm 1)
    | succ n ihn =>
      rw [h2]
      have h := ihm (a (m + 1) n)
      omega

theorem mccarthy_ninety_one (f : Nat → Nat) (h1 : ∀ n, 100 < n → f n = n - 10) (h2 : ∀ n, n ≤ 100 → f n = f (f (n + 11))) (n : Nat) (h : n ≤ 100) : f n = 91 := by
  have key : ∀ k n, n + k = 100 → f n = 91 := ?_
  · exact key (100 - n) n (by omega)
  · intro k
    induction k using Nat.strongRecOn with
    | ind k ih =>
      intro n hn
      rw [h2 n (by omega)]
      by_cases h3 : 90 ≤ n
      · rw [h1 (n + 11) (by omega)]
        by_cases h4 : n = 100
        · subst h4
          exact h1 101 (by decide)
        · exact ih (k - 1) (by omega) (n + 11 - 10) (by omega)
      · rw [ih (k - 11) (by omega) (n + 11) (by omega)]
        exact ih 9 (by omega) 91 rfl

theorem additive_functions_are_linear (f : Nat → Nat) (h : ∀ x y, f (x + y) = f x + f y) (n : Nat) : f n = n * f 1 := by
  have h0 : f 0 = 0 := ?_
  · induction n with
    | zero => rw [h0, Nat.zero_mul]
    | succ n ih => rw [h, ih, Nat.add_one_mul]
  · have h1 := h 0 0
    omega

theorem subadditive_bound (f : Nat → Nat) (h : ∀ x y, f (x + y) ≤ f x + f y) (m n : Nat) : f (m * (n + 1)) ≤ (n + 1) * f m := by
  induction n with
  | zero =>
    rw [Nat.zero_add, Nat.mul_one, Nat.one_mul]
  | succ n ih =>
    rw [Nat.mul_add_one, Nat.add_one_mul (n + 1)]
    apply Nat.le_trans (h (m * (n + 1)) m)
    exact Nat.add_le_add_right ih (f m)

theorem no_square_root_of_successor (f : Nat → Nat) (h : ∀ n, f (f n) = n + 1) : False := by
  have h1 : ∀ n, f (n + 1) = f n + 1 := ?_
  · have h2 : ∀ n, f n = f 0 + n := ?_
    · have h3 := h2 (f 0)
      rw [h] at h3
      omega
    · intro n
      induction n with
      | zero => rfl
      | succ n ih => rw [h1, ih, Nat.add_assoc]
  · intro n
    rw [← h n, h]

theorem functional_equation_identity (f : Nat → Nat) (h : ∀ m n, f (m + f n) = n + m) (n : Nat) : f n = n := by
  have h1 : ∀ k, f (f k) = k := ?_
  · have h2 : ∀ m, f m = f 0 + m := ?_
    · have h3 := h2 (f 0)
      rw [h1] at h3
      rw [h2 n]
      omega
    · intro m
      have h4 := h m (f 0)
      rw [h1, Nat.add_zero] at h4
      exact h4
  · intro k
    have h5 := h 0 k
    rw [Nat.zero_add] at h5
    exact h5

theorem josephus_closed_form (j : Nat → Nat) (h1 : j 1 = 1) (he : ∀ n, 0 < n → j (2 * n) + 1 = 2 * j n) (ho : ∀ n, 0 < n → j (2 * n + 1) = 2 * j n + 1) (k m : Nat) (h : m < 2 ^ k) : j (2 ^ k + m) = 2 * m + 1 := by
  induction k generalizing m with
  | zero =>
    have hm : m = 0 := by omega
    rw [hm]
    exact h1
  | succ k ih =>
    have hp := Nat.two_pow_pos k
    rw [Nat.pow_succ] at h ⊢
    have h2 := ih (m / 2) (by omega)
    rcases Nat.mod_two_eq_zero_or_one m with hm | hm
    · have h3 := he (2 ^ k + m / 2) (by omega)
      have e : 2 * (2 ^ k + m / 2) = 2 ^ k * 2 + m := by omega
      rw [e] at h3
      omega
    · have h3 := ho (2 ^ k + m / 2) (by omega)
      have e : 2 * (2 ^ k + m / 2) + 1 = 2 ^ k * 2 + m := by omega
      rw [e] at h3
      omega

theorem stirling_two_blocks (s : Nat → Nat → Nat) (h0 : s 0 0 = 1) (h1 : ∀ n, s (n + 1) 0 = 0) (h2 : ∀ k, s 0 (k + 1) = 0) (h3 : ∀ n k, s (n + 1) (k + 1) = (k + 1) * s n (k + 1) + s n k) (n : Nat) : s (n + 1) 2 + 1 = 2 ^ n := by
  have one : ∀ m, s (m + 1) 1 = 1 := ?_
  · induction n with
    | zero => rw [h3, h2, h2]
    | succ n ih =>
      rw [h3, one, Nat.pow_succ]
      omega
  · intro m
    induction m with
    | zero => rw [h3, h2, h0]
    | succ m ih => rw [h3, ih, h1]

theorem descent_reaches_zero (f : Nat → Nat) (h : ∀ n, f n = 0 ∨ f (n + 1) < f n) : ∃ n, n ≤ f 0 ∧ f n = 0 := by
  apply Classical.byContradiction
  intro hn
  have h1 : ∀ n, n ≤ f 0 → f n + n ≤ f 0 := ?_
  · have h2 := h1 (f 0) (Nat.le_refl (f 0))
    exact hn ⟨f 0, Nat.le_refl (f 0), by omega⟩
  · intro n
    induction n with
    | zero =>
      intro _
      exact Nat.le_refl (f 0)
    | succ n ih =>
      intro h2
      rcases h n with h3 | h3
      · exact absurd ⟨n, by omega, h3⟩ hn
      · have h4 := ih (by omega)
        omega

theorem color_change_exists (c : Nat → Bool) (m n : Nat) (hm : c m = false) (hn : c n = true) (h : m ≤ n) : ∃ i, m ≤ i ∧ i < n ∧ c i = false ∧ c (i + 1) = true := by
  obtain ⟨k, rfl⟩ := Nat.exists_eq_add_of_le h
  induction k with
  | zero =>
    rw [Nat.add_zero, hm] at hn
    contradiction
  | succ k ih =>
    cases hc : c (m + k) with
    | false => exact ⟨m + k, by omega, by omega, hc, hn⟩
    | true =>
      obtain ⟨i, h1, h2, h3⟩ := ih hc (by omega)
      exact ⟨i, h1, by omega, h3⟩

theorem map_of_append_splits (α β : Type) (f : α → β) (l : List α) (m n : List β) (h : l.map f = m ++ n) : ∃ a b, l = a ++ b ∧ a.map f = m ∧ b.map f = n := by
  induction m generalizing l with
  | nil => exact ⟨[], l, rfl, rfl, h⟩
  | cons y m ih =>
    cases l with
    | nil => contradiction
    | cons x l =>
      injection h with h1 h2
      obtain ⟨a, b, e1, e2, e3⟩ := ih l h2
      exists x :: a, b
      rw [e1, List.map_cons, h1, e2]
      exact ⟨rfl, rfl, e3⟩

theorem filter_head_splits (α : Type) (p : α → Bool) (l m : List α) (a : α) (h : l.filter p = a :: m) : ∃ s t, l = s ++ a :: t ∧ s.filter p = [] ∧ t.filter p = m := by
  induction l with
  | nil => contradiction
  | cons x l ih =>
    by_cases hx : p x = true
    · rw [List.filter_cons_of_pos hx] at h
      injection h with h1 h2
      exact ⟨[], l, by rw [h1]; rfl, rfl, h2⟩
    · rw [List.filter_cons_of_neg hx] at h
      obtain ⟨s, t, e1, e2, e3⟩ := ih h
      exists x :: s, t
      rw [e1, List.filter_cons_of_neg hx]
      exact ⟨rfl, e2, e3⟩

theorem equal_of_equal_prefixes (α : Type) (l m : List α) (h : ∀ n, l.take n = m.take n) : l = m := by
  have big : ∀ (k : List α) (n : Nat), k.length ≤ n → k.take n = k := ?_
  · have h1 := h (l.length + m.length)
    rw [big l _ (Nat.le_add_right _ _), big m _ (Nat.le_add_left _ _)] at h1
    exact h1
  · intro k n hk
    have h2 := List.take_append_drop n k
    have h3 : k.drop n = [] := List.eq_nil_of_length_eq_zero (by rw [List.length_drop]; omega)
    rw [h3, List.append_nil] at h2
    exact h2

theorem list_commuting_with_singleton (α : Type) (a : α) (l : List α) (h : a :: l = l ++ [a]) : l = List.replicate l.length a := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    rw [List.cons_append] at h
    injection h with h1 h2
    rw [← h1] at h2
    rw [List.length_cons, List.replicate_succ]
    rw [← ih h2, h1]

inductive PermJ : List Nat → List Nat → Prop where
  | refl (l : List Nat) : PermJ l l
  | cons (x : Nat) (l m : List Nat) (h : PermJ l m) : PermJ (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermJ (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermJ k l) (h2 : PermJ l m) : PermJ k m

theorem perm_of_partition (p : Nat → Bool) (l : List Nat) : PermJ l (l.filter p ++ l.filter (fun x => !p x)) := by
  have mid : ∀ x l m, PermJ (x :: (l ++ m)) (l ++ x :: m) := ?_
  · induction l with
    | nil => exact PermJ.refl []
    | cons x l ih =>
      cases hp : p x with
      | true =>
        simp [List.filter, hp]
        exact PermJ.cons x l _ ih
      | false =>
        simp [List.filter, hp]
        apply PermJ.trans _ _ _ (PermJ.cons x l _ ih)
        exact mid x _ _
  · intro x l m
    induction l with
    | nil => exact PermJ.refl (x :: m)
    | cons y l ih =>
      apply PermJ.trans _ (y :: x :: (l ++ m))
      · exact PermJ.swap x y (l ++ m)
      · exact PermJ.cons y _ _ ih

inductive TreeI where
  | leaf : TreeI
  | node (l : TreeI) (x : Nat) (r : TreeI) : TreeI

def TreeI.flat : TreeI → List Nat
  | .leaf => []
  | .node l x r => l.flat ++ x :: r.flat

def TreeI.insert (y : Nat) : TreeI → TreeI
  | .leaf => .node .leaf y .leaf
  | .node l x r => if y ≤ x then .node (TreeI.insert y l) x r else .node l x (TreeI.insert y r)

theorem search_tree_insert_members (y z : Nat) (t : TreeI) : z ∈ (TreeI.insert y t).flat ↔ z = y ∨ z ∈ t.flat := by
  induction t with
  | leaf => simp [TreeI.insert, TreeI.flat]
  | node l x r ihl ihr =>
    rw [TreeI.insert]
    split
    · rw [TreeI.flat, List.mem_append, ihl]
      rw [TreeI.flat, List.mem_append, or_assoc]
    · rw [TreeI.flat, TreeI.flat, List.mem_append, List.mem_append]
      rw [List.mem_cons, List.mem_cons, ihr]
      grind

def findA (p : Nat → Bool) : List Nat → Option Nat
  | [] => none
  | x :: l => if p x = true then some x else findA p l

theorem find_none_iff_all_false (p : Nat → Bool) (l : List Nat) : findA p l = none ↔ ∀ x, x ∈ l → p x = false := by
  induction l with
  | nil => simp [findA]
  | cons y l ih =>
    rw [findA]
    split
    · constructor
      · intro h
        contradiction
      · intro h
        have h1 := h y List.mem_cons_self
        simp_all
    · rw [ih, List.forall_mem_cons]
      simp_all

def findB (p : Nat → Bool) : List Nat → Option Nat
  | [] => none
  | x :: l => if p x = true then some x else findB p l

theorem find_append (p : Nat → Bool) (l m : List Nat) (h : findB p (l ++ m) = none) : findB p (m ++ l) = none := by
  have ap : ∀ a b, findB p (a ++ b) = none ↔ findB p a = none ∧ findB p b = none := ?_
  · rw [ap] at h ⊢
    exact ⟨h.2, h.1⟩
  · intro a b
    induction a with
    | nil => simp [findB]
    | cons x a ih =>
      rw [List.cons_append, findB, findB]
      split
      · simp
      · exact ih

inductive ExprC where
  | lit (n : Nat) : ExprC
  | plus (a b : ExprC) : ExprC

inductive ExprC.Eval : ExprC → Nat → Prop where
  | lit (n : Nat) : ExprC.Eval (.lit n) n
  | plus (a b : ExprC) (m n : Nat) (h1 : ExprC.Eval a m) (h2 : ExprC.Eval b n) : ExprC.Eval (.plus a b) (m + n)

theorem evaluation_is_deterministic (e : ExprC) (m n : Nat) (h1 : ExprC.Eval e m) (h2 : ExprC.Eval e n) : m = n := by
  induction h1 generalizing n with
  | lit k =>
    cases h2 with
    | lit _ => rfl
  | plus a b i j ha hb iha ihb =>
    cases h2 with
    | plus _ _ k l hc hd => rw [iha k hc, ihb l hd]

theorem running_maximum_of_function (f : Nat → Nat) (n : Nat) : ∃ m, m ≤ n ∧ ∀ k, k ≤ n → f k ≤ f m := by
  induction n with
  | zero => exact ⟨0, Nat.le_refl 0, fun k hk => by rw [Nat.eq_zero_of_le_zero hk]⟩
  | succ n ih =>
    obtain ⟨m, hm, h⟩ := ih
    rcases Nat.le_total (f (n + 1)) (f m) with h1 | h1
    · exists m
      constructor
      · exact Nat.le_succ_of_le hm
      · intro k hk
        rcases Nat.of_le_succ hk with h2 | h2
        · exact h k h2
        · rw [h2]
          exact h1
    · exists n + 1
      constructor
      · exact Nat.le_refl (n + 1)
      · intro k hk
        rcases Nat.of_le_succ hk with h2 | h2
        · exact Nat.le_trans (h k h2) h1
        · rw [h2]

inductive SortedD : List Nat → Prop where
  | nil : SortedD []
  | cons (x : Nat) (l : List Nat) (h : ∀ z, z ∈ l → x ≤ z) (h1 : SortedD l) : SortedD (x :: l)

def countD (a : Nat) : List Nat → Nat
  | [] => 0
  | x :: l => (if x = a then 1 else 0) + countD a l

theorem sorted_lists_with_equal_counts (l m : List Nat) (hl : SortedD l) (hm : SortedD m) (h : ∀ a, countD a l = countD a m) : l = m := by
  have pos : ∀ a k, a ∈ k ↔ 0 < countD a k := ?_
  · induction hl generalizing m with
    | nil =>
      cases m with
      | nil => rfl
      | cons y m =>
        have h1 := (pos y (y :: m)).mp List.mem_cons_self
        rw [← h y] at h1
        exact absurd h1 (Nat.lt_irrefl 0)
    | cons x l hx hl ih =>
      cases hm with
      | nil =>
        have h1 := (pos x (x :: l)).mp List.mem_cons_self
        rw [h x] at h1
        exact absurd h1 (Nat.lt_irrefl 0)
      | cons y m hy hm =>
        have h1 : x ∈ y :: m := (pos x _).mpr (by rw [← h x]; exact (pos x _).mp List.mem_cons_self)
        have h2 : y ∈ x :: l := (pos y _).mpr (by rw [h y]; exact (pos y _).mp List.mem_cons_self)
        have e : x = y := ?_
        · rw [e]
          rw [ih m hm]
          intro a
          have h3 := h a
          rw [countD, countD, e] at h3
          exact Nat.add_left_cancel h3
        · rcases List.mem_cons.mp h1 with h4 | h4
          · exact h4
          · rcases List.mem_cons.mp h2 with h5 | h5
            · exact h5.symm
            · exact Nat.le_antisymm (hx y h5) (hy x h4)
  · intro a k
    induction k with
    | nil => simp [countD]
    | cons x k ih =>
      rw [countD, List.mem_cons, ih]
      by_cases hx : x = a
      · simp [hx]
        omega
      · simp [hx]
        omega

theorem cauchy_schwarz_for_sums (a b p q r : Nat → Nat) (p0 : p 0 = 0) (q0 : q 0 = 0) (r0 : r 0 = 0) (ps : ∀ n, p (n + 1) = p n + a n * a n) (qs : ∀ n, q (n + 1) = q n + b n * b n) (rs : ∀ n, r (n + 1) = r n + a n * b n) (n : Nat) : r n * r n ≤ p n * q n := by
  have amgm : ∀ x y : Nat, 4 * (x * y) ≤ (x + y) * (x + y) := ?_
  · induction n with
    | zero => rw [r0, p0, Nat.zero_mul, Nat.zero_mul]
    | succ n ih =>
      rw [rs, ps, qs]
      have h : 2 * (r n * (a n * b n)) ≤ p n * (b n * b n) + q n * (a n * a n) := ?_
      · have e1 : (r n + a n * b n) * (r n + a n * b n) = r n * r n + 2 * (r n * (a n * b n)) + a n * b n * (a n * b n) := by grind
        have e2 : (p n + a n * a n) * (q n + b n * b n) = p n * q n + (p n * (b n * b n) + q n * (a n * a n)) + a n * b n * (a n * b n) := by grind
        rw [e1, e2]
        omega
      · rw [← Nat.mul_self_le_mul_self_iff]
        apply Nat.le_trans ?_ (amgm _ _)
        have e3 : 2 * (r n * (a n * b n)) * (2 * (r n * (a n * b n))) = r n * r n * (4 * (a n * b n * (a n * b n))) := by grind
        have e4 : 4 * (p n * (b n * b n) * (q n * (a n * a n))) = p n * q n * (4 * (a n * b n * (a n * b n))) := by ac_rfl
        rw [e3, e4]
        exact Nat.mul_le_mul_right _ ih
  · intro x y
    rcases Nat.le_total x y with h | h
    · obtain ⟨d, rfl⟩ := Nat.exists_eq_add_of_le h
      have e : (x + (x + d)) * (x + (x + d)) = 4 * (x * (x + d)) + d * d := by grind
      rw [e]
      exact Nat.le_add_right _ _
    · obtain ⟨d, rfl⟩ := Nat.exists_eq_add_of_le h
      have e : (y + d + y) * (y + d + y) = 4 * ((y + d) * y) + d * d := by grind
      rw [e]
      exact Nat.le_add_right _ _

theorem number_of_color_changes_parity (c : Nat → Bool) (d : Nat → Nat) (h0 : d 0 = 0) (h : ∀ n, d (n + 1) = d n + if c n = c (n + 1) then 0 else 1) (n : Nat) : c 0 = c n ↔ d n % 2 = 0 := by
  induction n with
  | zero => rw [h0]; simp
  | succ n ih =>
    rw [h]
    cases ha : c 0 <;> cases hb : c n <;> cases hc : c (n + 1) <;> simp [ha, hb] at ih <;> simp <;> omega

def sumA (f : Nat → Nat) : Nat → Nat
  | 0 => 0
  | n + 1 => sumA f n + f n

theorem handshake_lemma (e : Nat → Nat → Nat) (he : ∀ i j, e i j = e j i) (hz : ∀ i, e i i = 0) (n : Nat) : sumA (fun i => sumA (fun j => e i j) n) n % 2 = 0 := by
  have lin : ∀ (f g : Nat → Nat) (k : Nat), sumA (fun i => f i + g i) k = sumA f k + sumA g k := ?_
  · induction n with
    | zero => simp [sumA]
    | succ n ih =>
      simp only [sumA]
      rw [lin, hz]
      have sym : (fun i => e i n) = (fun j => e n j) := funext (fun i => he i n)
      rw [sym]
      omega
  · intro f g k
    induction k with
    | zero => rfl
    | succ k ih => rw [sumA, sumA, sumA, ih, Nat.add_add_add_comm]

inductive TreeJ where
  | leaf : TreeJ
  | node (l : TreeJ) (x : Nat) (r : TreeJ) : TreeJ

def TreeJ.insert (y : Nat) : TreeJ → TreeJ
  | .leaf => .node .leaf y .leaf
  | .node l x r => if y ≤ x then .node (TreeJ.insert y l) x r else .node l x (TreeJ.insert y r)

inductive TreeJ.Search : TreeJ → Nat → Nat → Prop where
  | leaf (a b : Nat) : TreeJ.Search .leaf a b
  | node (l r : TreeJ) (a x b : Nat) (ha : a ≤ x) (hb : x ≤ b) (hl : TreeJ.Search l a x) (hr : TreeJ.Search r x b) : TreeJ.Search (.node l x r) a b

theorem insert_keeps_search_tree (t : TreeJ) (a b y : Nat) (h : TreeJ.Search t a b) (ha : a ≤ y) (hb : y ≤ b) : TreeJ.Search (TreeJ.insert y t) a b := by
  induction h with
  | leaf a b =>
    apply TreeJ.Search.node
    · exact ha
    · exact hb
    · exact TreeJ.Search.leaf a y
    · exact TreeJ.Search.leaf y b
  | node l r a x b h1 h2 hl hr ihl ihr =>
    rw [TreeJ.insert]
    split
    · apply TreeJ.Search.node _ _ _ _ _ h1 h2 ?_ hr
      exact ihl ha (by assumption)
    · apply TreeJ.Search.node _ _ _ _ _ h1 h2 hl
      exact ihr (by omega) hb

theorem cantor_pairing_injective (t : Nat → Nat) (h : ∀ n, t (n + 1) = t n + n + 1) (a b c d : Nat) (e : t (a + b) + b = t (c + d) + d) : a = c ∧ b = d := by
  have up : ∀ m k, t m + m < t (m + k + 1) := ?_
  · rcases Nat.lt_trichotomy (a + b) (c + d) with h1 | h1 | h1
    · obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_lt h1
      have h2 := up (a + b) k
      rw [← hk] at h2
      omega
    · rw [h1] at e
      omega
    · obtain ⟨k, hk⟩ := Nat.exists_eq_add_of_lt h1
      have h2 := up (c + d) k
      rw [← hk] at h2
      omega
  · intro m k
    induction k with
    | zero =>
      rw [Nat.add_zero, h]
      omega
    | succ k ih =>
      have h3 := h (m + k + 1)
      rw [← Nat.add_assoc]
      omega

theorem triangular_decomposition (t : Nat → Nat) (h0 : t 0 = 0) (h : ∀ n, t (n + 1) = t n + n + 1) (n : Nat) : ∃ k r, r ≤ k ∧ n = t k + r := by
  induction n with
  | zero => exact ⟨0, 0, Nat.le_refl 0, h0.symm⟩
  | succ n ih =>
    obtain ⟨k, r, hr, e⟩ := ih
    rcases Nat.lt_or_eq_of_le hr with h1 | h1
    · exact ⟨k, r + 1, h1, by omega⟩
    · have h2 := h k
      exact ⟨k + 1, 0, Nat.zero_le _, by omega⟩

theorem some_later_value_is_not_smaller (f : Nat → Nat) (k : Nat) : ∃ i j, k ≤ i ∧ i < j ∧ f i ≤ f j := by
  apply Classical.byContradiction
  intro hn
  have h : ∀ n, f (k + n) + n ≤ f k := ?_
  · have h1 := h (f k + 1)
    omega
  · intro n
    induction n with
    | zero => exact Nat.le_refl (f k)
    | succ n ih =>
      have h2 : ¬f (k + n) ≤ f (k + n + 1) := fun h3 => hn ⟨k + n, k + n + 1, by omega, by omega, h3⟩
      have e : k + (n + 1) = k + n + 1 := rfl
      rw [e]
      omega

theorem dickson_lemma_in_the_plane (f g : Nat → Nat) : ∃ i j, i < j ∧ f i ≤ f j ∧ g i ≤ g j := by
  have tail : ∀ v n, f n ≤ v → ∃ i, n ≤ i ∧ ∀ j, i ≤ j → f i ≤ f j := ?_
  · have least : ∀ v i, g i ≤ v → (∀ j, i ≤ j → f i ≤ f j) → ∃ m, (∀ j, m ≤ j → f m ≤ f j) ∧ ∀ k, (∀ j, k ≤ j → f k ≤ f j) → g m ≤ g k := ?_
    · obtain ⟨i, _, hi⟩ := tail (f 0) 0 (Nat.le_refl (f 0))
      obtain ⟨m, hm, hg⟩ := least (g i) i (Nat.le_refl (g i)) hi
      obtain ⟨k, hk, hf⟩ := tail (f (m + 1)) (m + 1) (Nat.le_refl _)
      exact ⟨m, k, hk, hm k (by omega), hg k hf⟩
    · intro v
      induction v with
      | zero =>
        intro i hi h
        exact ⟨i, h, fun k _ => Nat.le_trans hi (Nat.zero_le (g k))⟩
      | succ v ih =>
        intro i hi h
        by_cases hc : ∃ k, (∀ j, k ≤ j → f k ≤ f j) ∧ g k < g i
        · obtain ⟨k, h1, h2⟩ := hc
          exact ih k (by omega) h1
        · exact ⟨i, h, fun k hk => Nat.le_of_not_lt (fun h3 => hc ⟨k, hk, h3⟩)⟩
  · intro v
    induction v with
    | zero =>
      intro n hn
      exact ⟨n, Nat.le_refl n, fun j _ => Nat.le_trans hn (Nat.zero_le (f j))⟩
    | succ v ih =>
      intro n hn
      by_cases hc : ∃ k, n ≤ k ∧ f k < f n
      · obtain ⟨k, h1, h2⟩ := hc
        obtain ⟨i, h3, h4⟩ := ih k (by omega)
        exact ⟨i, Nat.le_trans h1 h3, h4⟩
      · exact ⟨n, Nat.le_refl n, fun j hj => Nat.le_of_not_lt (fun h3 => hc ⟨j, hj, h3⟩)⟩
