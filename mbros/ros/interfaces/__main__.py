"""`python -m mbros.ros.interfaces`: make sure that every message package the node needs can be imported."""
from __future__ import annotations

import sys

from . import DEFINITIONS, InterfaceError, ensure


def main() -> int:
    try:
        for package in DEFINITIONS:
            module = ensure(package, log=lambda text: print("mbros:", text, flush=True))
            print(f"mbros: {package} is in {module.__path__[0]}")
    except InterfaceError as e:
        print(f"mbros: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
