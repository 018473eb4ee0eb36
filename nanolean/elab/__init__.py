"""Elaboration, from syntax to terms: name resolution, implicit arguments, operators, postponed parts."""
