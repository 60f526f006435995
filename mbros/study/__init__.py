"""Studies of runs: replay and comparison, sweeps, fault campaigns, identification."""
