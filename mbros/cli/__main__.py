"""`python -m mbros.cli`: the same as `mbros`."""
import sys

from mbros.cli import main

if __name__ == "__main__":
    sys.exit(main())
