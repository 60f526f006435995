"""A model in motion: steps, logs, recording, rollouts."""
