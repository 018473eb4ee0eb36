import Example.Basic

theorem right : 1 + 1 = 2 := by
  rfl

theorem wrong : 1 + 1 = 3 := by
  rfl
