"""`python3 -m attica VERB ...` is the program."""

import sys

from . import _attica


def main() -> int:
    return _attica.program(["attica", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
