"""Fault campaigns: scripts run, judged and reported."""
