"""`python -m mbros`: the same as `mbros`."""
import sys

from mbros.cli import main

if __name__ == "__main__":
    sys.exit(main())
