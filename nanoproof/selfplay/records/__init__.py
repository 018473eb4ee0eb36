"""What a run of reinforcement learning writes about itself, and the readers of it. No part of it needs torch."""
