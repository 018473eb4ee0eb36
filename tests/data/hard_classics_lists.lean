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

theorem sum_congr_below (s : (Nat → Nat) → Nat → Nat) (h0 : ∀ f, s f 0 = 0) (hs : ∀ f n, s f (n + 1) = s f n + f n) (f g : Nat → Nat) (n : Nat) (h : ∀ i, i < n → f i = g i) : s f n = s g n := by
  induction n with
  | zero => rw [h0, h0]
  | succ n ih =>
    rw [hs, hs]
    rw [h n (Nat.lt_succ_self n)]
    rw [ih]
    intro i hi
    apply h
    exact Nat.lt_succ_of_lt hi

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

theorem sum_divisible (s f : Nat → Nat) (d : Nat) (h0 : s 0 = 0) (hs : ∀ n, s (n + 1) = s n + f n) (n : Nat) (h : ∀ i, i < n → d ∣ f i) : d ∣ s n := by
  induction n with
  | zero =>
    rw [h0]
    exact Nat.dvd_zero d
  | succ n ih =>
    rw [hs]
    apply Nat.dvd_add
    · apply ih
      intro i hi
      exact h i (Nat.lt_succ_of_lt hi)
    · exact h n (Nat.lt_succ_self n)

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

theorem pascal_le_two_pow (c : Nat → Nat → Nat) (h0 : ∀ n, c n 0 = 1) (h1 : ∀ k, c 0 (k + 1) = 0) (h2 : ∀ n k, c (n + 1) (k + 1) = c n k + c n (k + 1)) (n k : Nat) : c n k ≤ 2 ^ n := by
  induction n generalizing k with
  | zero =>
    cases k with
    | zero =>
      rw [h0]
    | succ k =>
      rw [h1]
      exact Nat.zero_le _
  | succ n ih =>
    cases k with
    | zero =>
      rw [h0]
      exact Nat.two_pow_pos (n + 1)
    | succ k =>
      rw [h2, Nat.pow_succ, Nat.mul_two]
      apply Nat.add_le_add
      · exact ih k
      · exact ih (k + 1)

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

theorem foldl_add_accumulator (l : List Nat) (a : Nat) : l.foldl (fun s x => s + x) a = a + l.foldr (fun x s => x + s) 0 := by
  induction l generalizing a with
  | nil => rfl
  | cons x l ih =>
    rw [List.foldl_cons, List.foldr_cons]
    rw [ih]
    rw [Nat.add_assoc]

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

theorem append_inj_of_length_right (α : Type) (a b c d : List α) (hl : b.length = d.length) (h : a ++ b = c ++ d) : b = d := by
  have h0 : (a ++ b).length = (c ++ d).length := by rw [h]
  rw [List.length_append, List.length_append] at h0
  have h1 : a.length = c.length := by omega
  clear h0 hl
  induction a generalizing c with
  | nil =>
    have hc := List.eq_nil_of_length_eq_zero h1.symm
    subst hc
    exact h
  | cons x a ih =>
    cases c with
    | nil => simp at h1
    | cons y c =>
      injection h with h3 h4
      simp at h1
      exact ih c h4 h1

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

theorem append_singleton_injective (α : Type) (l m : List α) (a b : α) (h : l ++ [a] = m ++ [b]) : l = m ∧ a = b := by
  have h1 : (l ++ [a]).reverse = (m ++ [b]).reverse := by rw [h]
  rw [List.reverse_append, List.reverse_append] at h1
  injection h1 with h2 h3
  constructor
  · exact List.reverse_inj.mp h3
  · exact h2

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

theorem map_surjective_of_surjective (α β : Type) (f : α → β) (hf : ∀ y, ∃ x, f x = y) (m : List β) : ∃ l : List α, l.map f = m := by
  induction m with
  | nil => exact ⟨[], rfl⟩
  | cons y m ih =>
    obtain ⟨l, hl⟩ := ih
    obtain ⟨x, hx⟩ := hf y
    exists x :: l
    rw [List.map_cons, hx, hl]

theorem filter_filter_and (α : Type) (p q : α → Bool) (l : List α) : (l.filter q).filter p = l.filter (fun x => p x && q x) := by
  induction l with
  | nil => rfl
  | cons x l ih =>
    cases hq : q x with
    | true => cases hp : p x <;> simp [List.filter, hp, hq, ih]
    | false => simp [List.filter, hq, ih]

theorem filter_comm (α : Type) (p q : α → Bool) (l : List α) : (l.filter q).filter p = (l.filter p).filter q := by
  induction l with
  | nil => rfl
  | cons x l ih => cases hp : p x <;> cases hq : q x <;> simp [List.filter, hp, hq, ih]

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

theorem take_append_le (α : Type) (l m : List α) (n : Nat) (h : n ≤ l.length) : (l ++ m).take n = l.take n := by
  induction l generalizing n with
  | nil =>
    have hn : n = 0 := Nat.eq_zero_of_le_zero h
    rw [hn, List.take_zero, List.take_zero]
  | cons x l ih =>
    cases n with
    | zero => rw [List.take_zero, List.take_zero]
    | succ n =>
      rw [List.cons_append, List.take_succ_cons, List.take_succ_cons]
      rw [ih n (Nat.le_of_succ_le_succ h)]

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

theorem drop_eq_nil_iff_le (α : Type) (l : List α) (n : Nat) : l.drop n = [] ↔ l.length ≤ n := by
  rw [← List.length_eq_zero_iff]
  rw [List.length_drop]
  rw [Nat.sub_eq_zero_iff_le]

theorem map_take_commutes (α β : Type) (f : α → β) (n : Nat) (l : List α) : (l.take n).map f = (l.map f).take n := by
  induction n generalizing l with
  | zero => rfl
  | succ n ih =>
    cases l with
    | nil => rfl
    | cons x l =>
      rw [List.take_succ_cons, List.map_cons]
      rw [ih, List.map_cons, List.take_succ_cons]

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

theorem reverse_eq_of_append_reverse (α : Type) (l m : List α) (h : l = m ++ l.reverse) : m = [] := by
  have h1 : l.length = (m ++ l.reverse).length := by rw [← h]
  rw [List.length_append, List.length_reverse] at h1
  apply List.eq_nil_of_length_eq_zero
  omega

theorem first_half_of_reversed_halves (α : Type) (l m : List α) (h : l.reverse ++ m.reverse = m ++ l) (h1 : l.length = m.length) : m = l.reverse := by
  have key : ∀ (a b c d : List α), a.length = c.length → a ++ b = c ++ d → a = c := ?_
  · symm
    apply key l.reverse m.reverse m l
    · rw [List.length_reverse, h1]
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

theorem surjective_idempotent_is_identity (α : Type) (f : α → α) (h : ∀ x, f (f x) = f x) (hs : ∀ y, ∃ x, f x = y) (y : α) : f y = y := by
  obtain ⟨x, hx⟩ := hs y
  rw [← hx]
  exact h x

theorem cantor_predicates (α : Type) (f : α → α → Prop) : ∃ P : α → Prop, ∀ a, f a ≠ P := by
  exists fun a => ¬f a a
  intro a h
  have h1 : f a a = ¬f a a := congrFun h a
  have h2 : ¬f a a := fun h3 => (h1 ▸ h3) h3
  exact h2 (h1 ▸ h2)

theorem cantor_bool_sequences (f : Nat → Nat → Bool) : ∃ g : Nat → Bool, ∀ n, f n ≠ g := by
  exists fun n => !f n n
  intro n h
  have h1 : f n n = !f n n := congrFun h n
  cases h2 : f n n with
  | true => simp [h2] at h1
  | false => simp [h2] at h1

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

theorem iterate_add (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (m n x : Nat) : g (m + n) x = g m (g n x) := by
  induction n generalizing x with
  | zero => rw [h0, Nat.add_zero]
  | succ n ih =>
    rw [← Nat.add_assoc]
    rw [hs]
    rw [ih]
    rw [hs]

theorem iterate_shift (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (n x : Nat) : g (n + 1) x = f (g n x) := by
  induction n generalizing x with
  | zero => rw [hs, h0, h0]
  | succ n ih =>
    rw [hs]
    rw [ih]
    rw [← hs]

theorem iterate_commutes (f k : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (h : ∀ x, k (f x) = f (k x)) (n x : Nat) : k (g n x) = g n (k x) := by
  induction n generalizing x with
  | zero => rw [h0, h0]
  | succ n ih =>
    rw [hs]
    rw [ih]
    rw [h]
    rw [← hs]

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

theorem iterate_injective (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (hf : ∀ x y, f x = f y → x = y) (n x y : Nat) (h : g n x = g n y) : x = y := by
  induction n generalizing x y with
  | zero => rw [← h0 x, h, h0]
  | succ n ih =>
    apply hf
    apply ih
    rw [← hs, ← hs]
    exact h

theorem iterate_grows (f : Nat → Nat) (g : Nat → Nat → Nat) (h0 : ∀ x, g 0 x = x) (hs : ∀ n x, g (n + 1) x = g n (f x)) (hf : ∀ x, x < f x) (n x : Nat) : x + n ≤ g n x := by
  induction n generalizing x with
  | zero =>
    rw [h0]
    exact Nat.le_refl x
  | succ n ih =>
    rw [hs]
    have h1 := ih (f x)
    have h2 := hf x
    omega

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

theorem induction_by_three_starts (P : Nat → Prop) (h0 : P 0) (h1 : P 1) (h2 : P 2) (h : ∀ n, P n → P (n + 3)) (n : Nat) : P n := by
  have h3 : P n ∧ P (n + 1) ∧ P (n + 2) := ?_
  · exact h3.1
  · induction n with
    | zero => exact ⟨h0, h1, h2⟩
    | succ n ih =>
      obtain ⟨ha, hb, hc⟩ := ih
      exact ⟨hb, hc, h n ha⟩

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

inductive PermA : List Nat → List Nat → Prop where
  | nil : PermA [] []
  | cons (x : Nat) (l m : List Nat) (h : PermA l m) : PermA (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermA (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermA k l) (h2 : PermA l m) : PermA k m

theorem perm_symmetric (l m : List Nat) (h : PermA l m) : PermA m l := by
  induction h with
  | nil => exact PermA.nil
  | cons x l m h ih => exact PermA.cons x m l ih
  | swap x y l => exact PermA.swap y x l
  | trans k l m h1 h2 ih1 ih2 => exact PermA.trans m l k ih2 ih1

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

theorem sublists_members (p : List Nat → List (List Nat)) (h0 : p [] = [[]]) (h1 : ∀ x l, p (x :: l) = p l ++ (p l).map (fun s => x :: s)) (l s : List Nat) (h : s ∈ p l) (z : Nat) (hz : z ∈ s) : z ∈ l := by
  induction l generalizing s with
  | nil =>
    rw [h0, List.mem_singleton] at h
    rw [h] at hz
    exact hz
  | cons x l ih =>
    rw [h1, List.mem_append, List.mem_map] at h
    rcases h with h2 | ⟨t, h2, h3⟩
    · exact List.mem_cons_of_mem x (ih s h2 hz)
    · rw [← h3] at hz
      rcases List.mem_cons.mp hz with h4 | h4
      · rw [h4]
        exact List.mem_cons_self
      · exact List.mem_cons_of_mem x (ih t h2 h4)

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

inductive SubE : List Nat → List Nat → Prop where
  | nil : SubE [] []
  | skip (x : Nat) (l m : List Nat) (h : SubE l m) : SubE l (x :: m)
  | keep (x : Nat) (l m : List Nat) (h : SubE l m) : SubE (x :: l) (x :: m)

theorem take_is_sublist (l : List Nat) (n : Nat) : SubE (l.take n) l := by
  have hn : ∀ k, SubE [] k := ?_
  · induction l generalizing n with
    | nil =>
      rw [List.take_nil]
      exact SubE.nil
    | cons x l ih =>
      cases n with
      | zero => exact hn (x :: l)
      | succ n =>
        rw [List.take_succ_cons]
        exact SubE.keep x (l.take n) l (ih n)
  · intro k
    induction k with
    | nil => exact SubE.nil
    | cons x k ih => exact SubE.skip x [] k ih

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

theorem map_flatten (j : List (List Nat) → List Nat) (h0 : j [] = []) (h1 : ∀ l L, j (l :: L) = l ++ j L) (f : Nat → Nat) (L : List (List Nat)) : (j L).map f = j (L.map (List.map f)) := by
  induction L with
  | nil =>
    rw [h0, List.map_nil, List.map_nil]
    exact h0.symm
  | cons l L ih =>
    rw [h1, List.map_append]
    rw [ih, List.map_cons, h1]

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

theorem list_maximum_bound (l : List Nat) (x : Nat) (h : x ∈ l) : x ≤ l.foldr max 0 := by
  induction l with
  | nil => exact absurd h List.not_mem_nil
  | cons y l ih =>
    rw [List.foldr_cons]
    rcases List.mem_cons.mp h with h1 | h1
    · rw [h1]
      exact Nat.le_max_left y _
    · exact Nat.le_trans (ih h1) (Nat.le_max_right y _)

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

inductive PermH : List Nat → List Nat → Prop where
  | refl (l : List Nat) : PermH l l
  | cons (x : Nat) (l m : List Nat) (h : PermH l m) : PermH (x :: l) (x :: m)
  | swap (x y : Nat) (l : List Nat) : PermH (x :: y :: l) (y :: x :: l)
  | trans (k l m : List Nat) (h1 : PermH k l) (h2 : PermH l m) : PermH k m

theorem perm_map (f : Nat → Nat) (l m : List Nat) (h : PermH l m) : PermH (l.map f) (m.map f) ∧ l.length = m.length := by
  induction h with
  | refl l => exact ⟨PermH.refl (l.map f), rfl⟩
  | cons x l m h ih =>
    constructor
    · exact PermH.cons (f x) (l.map f) (m.map f) ih.1
    · rw [List.length_cons, ih.2, List.length_cons]
  | swap x y l => exact ⟨PermH.swap (f x) (f y) (l.map f), rfl⟩
  | trans k l m h1 h2 ih1 ih2 =>
    constructor
    · exact PermH.trans _ _ _ ih1.1 ih2.1
    · rw [ih1.2, ih2.2]

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

def insertB (x : Nat) : List Nat → List Nat
  | [] => [x]
  | y :: l => if x ≤ y then x :: y :: l else y :: insertB x l

theorem insertion_sort_length (l : List Nat) : (l.foldr insertB []).length = l.length := by
  have h : ∀ x k, (insertB x k).length = k.length + 1 := ?_
  · induction l with
    | nil => rfl
    | cons x l ih => rw [List.foldr_cons, h, ih, List.length_cons]
  · intro x k
    induction k with
    | nil => rfl
    | cons y k ih =>
      rw [insertB]
      split
      · rfl
      · rw [List.length_cons, ih, List.length_cons]

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

inductive SortedB : List Nat → Prop where
  | nil : SortedB []
  | one (x : Nat) : SortedB [x]
  | cons (x y : Nat) (l : List Nat) (h : x ≤ y) (h1 : SortedB (y :: l)) : SortedB (x :: y :: l)

theorem sorted_map_of_monotone (f : Nat → Nat) (hf : ∀ x y, x ≤ y → f x ≤ f y) (l : List Nat) (h : SortedB l) : SortedB (l.map f) := by
  induction h with
  | nil => exact SortedB.nil
  | one x => exact SortedB.one (f x)
  | cons x y l hxy hl ih =>
    rw [List.map_cons, List.map_cons]
    apply SortedB.cons
    · exact hf x y hxy
    · exact ih

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

def zipA (f : Nat → Nat → Nat) : List Nat → List Nat → List Nat
  | [], _ => []
  | _ :: _, [] => []
  | x :: l, y :: m => f x y :: zipA f l m

theorem zip_with_comm (f : Nat → Nat → Nat) (hf : ∀ x y, f x y = f y x) (l m : List Nat) : zipA f l m = zipA f m l := by
  induction l generalizing m with
  | nil => cases m <;> rfl
  | cons x l ih =>
    cases m with
    | nil => rfl
    | cons y m => rw [zipA, zipA, ih, hf]

def zipB (f : Nat → Nat → Nat) : List Nat → List Nat → List Nat
  | [], _ => []
  | _ :: _, [] => []
  | x :: l, y :: m => f x y :: zipB f l m

theorem zip_with_length (f : Nat → Nat → Nat) (l m : List Nat) : (zipB f l m).length = min l.length m.length := by
  induction l generalizing m with
  | nil => rw [zipB, List.length_nil, Nat.zero_min]
  | cons x l ih =>
    cases m with
    | nil => rw [zipB, List.length_nil, Nat.min_zero]
    | cons y m =>
      rw [zipB, List.length_cons, ih]
      rw [List.length_cons, List.length_cons]
      rw [Nat.add_min_add_right]

def zipC (f : Nat → Nat → Nat) : List Nat → List Nat → List Nat
  | [], _ => []
  | _ :: _, [] => []
  | x :: l, y :: m => f x y :: zipC f l m

theorem zip_with_append (f : Nat → Nat → Nat) (a b c d : List Nat) (h : a.length = c.length) : zipC f (a ++ b) (c ++ d) = zipC f a c ++ zipC f b d := by
  induction a generalizing c with
  | nil =>
    have hc := List.eq_nil_of_length_eq_zero h.symm
    subst hc
    rfl
  | cons x a ih =>
    cases c with
    | nil => simp at h
    | cons y c =>
      simp at h
      rw [List.cons_append, List.cons_append, zipC, zipC]
      rw [ih c h, List.cons_append]

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

inductive TreeD where
  | leaf : TreeD
  | node (l r : TreeD) : TreeD

def TreeD.nodes : TreeD → Nat
  | .leaf => 0
  | .node l r => l.nodes + r.nodes + 1

def TreeD.height : TreeD → Nat
  | .leaf => 0
  | .node l r => max l.height r.height + 1

theorem tree_height_le_nodes (t : TreeD) : t.height ≤ t.nodes := by
  induction t with
  | leaf => exact Nat.le_refl 0
  | node l r ihl ihr =>
    rw [TreeD.nodes, TreeD.height]
    apply Nat.succ_le_succ
    apply Nat.max_le_of_le_of_le
    · exact Nat.le_add_right_of_le ihl
    · exact Nat.le_trans ihr (Nat.le_add_left _ _)

inductive TreeE where
  | leaf : TreeE
  | node (l r : TreeE) : TreeE

def TreeE.mirror : TreeE → TreeE
  | .leaf => .leaf
  | .node l r => .node r.mirror l.mirror

theorem tree_mirror_injective (s t : TreeE) (h : s.mirror = t.mirror) : s = t := by
  have h1 : ∀ u : TreeE, u.mirror.mirror = u := ?_
  · rw [← h1 s, h, h1]
  · intro u
    induction u with
    | leaf => rfl
    | node l r ihl ihr => rw [TreeE.mirror, TreeE.mirror, ihl, ihr]

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

inductive TreeG where
  | tip (x : Nat) : TreeG
  | fork (l r : TreeG) : TreeG

def TreeG.tips : TreeG → List Nat
  | .tip x => [x]
  | .fork l r => l.tips ++ r.tips

def TreeG.least : TreeG → Nat
  | .tip x => x
  | .fork l r => min l.least r.least

theorem tree_least_is_lower_bound (t : TreeG) (x : Nat) (h : x ∈ t.tips) : t.least ≤ x := by
  induction t with
  | tip y =>
    rw [List.eq_of_mem_singleton h]
    exact Nat.le_refl y
  | fork l r ihl ihr =>
    rw [TreeG.least]
    rcases List.mem_append.mp h with h1 | h1
    · exact Nat.le_trans (Nat.min_le_left _ _) (ihl h1)
    · exact Nat.le_trans (Nat.min_le_right _ _) (ihr h1)

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
