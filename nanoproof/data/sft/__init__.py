"""Transitions for supervised finetuning."""
