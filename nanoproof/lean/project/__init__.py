"""Lake projects for Lean servers: their files (`layout`), and how they are set up and checked (`setup`)."""
