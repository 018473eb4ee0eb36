"""Files of Lean's external checkers: constants as lines of JSON, written, read strictly, and checked by the kernel."""
