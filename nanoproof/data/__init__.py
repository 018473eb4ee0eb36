"""Data: catalog and downloads (`sources`), theorem sets (`theorems`), `transitions`, text corpora (`text`), commands.

The readers of single data sets are in a package for each stage: `pretrain`, `midtrain`, `sft`, `rl`, `bench`.
"""
