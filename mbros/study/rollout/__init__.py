"""Rollouts: many robots at once."""
