"""The command `attica` of a wheel: becomes the program that the package brings along. Neither the package nor NumPy is loaded."""

import os
import signal
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path


def _lacking(package: Path) -> str:
    """Instructions of this build that the processor lacks, of which the loader says less."""
    file = next(package.glob("_processor.*"), None)
    if file is None:
        return ""
    spec = spec_from_file_location("_processor", file, loader=ExtensionFileLoader("_processor", str(file)))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.missing()


def main() -> int:
    package = Path(next(iter(find_spec("attica").submodule_search_locations)))
    program = package / "bin" / "attica"
    if sys.argv[1:2] == ["coordcheck"] or not program.exists():
        from attica.__main__ import main as in_python

        return in_python()
    lacking = _lacking(package)
    if lacking:
        print(f"attica: error: this build needs a processor with {lacking}, which this one lacks", file=sys.stderr)
        return 2
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores, and a program it becomes would, too
    # Where there is no /proc, the loader does not know where a program lies, beside which it looks for libraries.
    os.environ.setdefault("LD_ORIGIN_PATH", str(program.parent))
    os.execv(program, ["attica", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
