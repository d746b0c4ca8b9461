"""Tests of the package for Python: ctest sets PYTHONPATH to build/python and ATTICA_PROGRAM to the program."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def program():
    """Calls the program and returns the finished process."""
    path = os.environ.get("ATTICA_PROGRAM", str(ROOT / "build" / "attica"))

    def call(*arguments, cwd=None):
        return subprocess.run([path, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=cwd)

    return call
