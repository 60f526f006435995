"""How fast mbros is, beside Pinocchio and MuJoCo, measured interleaved in one process: `python -m benchmarks`."""
