"""What a run of reinforcement learning writes about itself, and the readers of it. No part of it needs torch.

Files of a run directory, one per rank. All JSONL is only ever appended to; a last line may be torn. Times are seconds
since the epoch.

- `attempts_r<rank>.jsonl`, the log that everything is rebuilt from, and its index: see `attempt_index.py`.
- `trees/<step>_<rank>_<sequence>.json.gz`: search trees of the newest attempts that were chosen, see `trees.py`.
- `timeline_r<rank>.jsonl`, before it `timeline_r<rank>.old.jsonl`: a line for each second, see `timeline.py`:
      {"from": 1760000000.0, "to": 1760000001.0,
       "actors": [[actor, "model", 12.5, 30.1], ...],          # start and length in milliseconds, from `from` on;
       "steps": [[0.0, 98.0, 40.5, 7, 2], ...],                # start, length, rows, states in work, states waiting
       "phases": [["collect", 0.0, 1000.0], ...]}
  Spans are cut at the ends of the line; an actor is idle (searching, or without a task) where it has none.
- `samples_r<rank>.jsonl`, before it `samples_r<rank>.old.jsonl`: states and what the model made of them, `samples.py`:
      {"rank": 0, "step": 3, "sequence": 17, "time": ..., "dataset": "nanolean", "id": "lists_17", "state": "⊢ ...",
       "tactics": [{"tactic": "simp", "logprob": -0.5, "count": 2, "outcome": "applied", "message": ""}, ...],
       "dropped": 1, "value": 3.2, "distribution": [...], "depth": 2}
- `train_samples.jsonl`, before it `train_samples.old.jsonl`: examples that were trained on, `train_samples.py`:
      {"step": 3, "time": ..., "kind": "replay", "tokens": ["intro", " h"], "losses": [null, 0.7], "loss": 0.7}
- `status_r<rank>.json`: what the rank is doing now, written once a second, see `status.py`.
- `events.jsonl`: also `phase` {phase, step}, `server` {address, state, actors} and `warning` {message, logger}.
"""
