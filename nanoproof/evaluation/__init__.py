"""Evaluation of policies on benchmarks: plans, results, summaries and comparisons."""
