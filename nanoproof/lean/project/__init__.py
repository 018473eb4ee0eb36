"""Lake projects for Lean servers: write one (`layout`), set it up (`steps`, `runner`), say what is there (`report`)."""
