"""Training: loops and losses of pretraining, midtraining and finetuning, and what RL shares with them."""
