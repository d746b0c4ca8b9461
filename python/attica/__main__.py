"""`python3 -m attica VERB ...` is the program; the verb `coordcheck` is of the package for Python."""

import sys

from . import _attica


def main() -> int:
    if sys.argv[1:2] == ["coordcheck"]:
        from .coordinates import main as coordcheck

        return coordcheck(sys.argv[2:])
    return _attica.program(["attica", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
