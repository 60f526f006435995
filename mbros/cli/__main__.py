"""`python -m mbros.cli`: the same as `mbros`."""
from __future__ import annotations

import sys

from mbros.cli import main

if __name__ == "__main__":
    sys.exit(main())
