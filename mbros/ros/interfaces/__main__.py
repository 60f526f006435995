"""`python -m mbros.ros.interfaces [PACKAGE...]`: make sure that these message packages, or all that the node uses, can be imported."""
from __future__ import annotations

import sys

from . import DEFINITIONS, InterfaceError, ensure


def main() -> int:
    try:
        for package in sys.argv[1:] or DEFINITIONS:
            if package not in DEFINITIONS:
                raise InterfaceError(f"no message package '{package}' is made here; there are {', '.join(DEFINITIONS)}")
            module = ensure(package, log=lambda text: print("mbros:", text, flush=True))
            print(f"mbros: {package} is in {module.__path__[0]}")
    except InterfaceError as e:
        print(f"mbros: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
