"""Builds the module `attica._attica` with CMake, in build/: what is compiled there already is not compiled again.

`python3 setup.py sdist` writes a source distribution (MANIFEST.in says of what), which builds in the same way.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
# ATTICA_BUILD: a build folder of the same sources, to be used in place of one of this folder's own.
BUILD = Path(os.environ.get("ATTICA_BUILD", ROOT / "build")).resolve()
OWN = ROOT / "build"  # what setuptools writes


def pybind11():
    """Where a pybind11 that pip has installed is; nothing for the system's, which CMake finds."""
    try:
        import pybind11

        return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
    except ImportError:
        return []


class CMakeModule(build_ext):
    """The module, by the build that makes the program: the same objects, the same digits."""

    def build_extension(self, extension):
        BUILD.mkdir(parents=True, exist_ok=True)
        module = BUILD / "python" / "attica" / f"_attica{sysconfig.get_config_var('EXT_SUFFIX')}"
        cache = BUILD / "CMakeCache.txt"
        if not (module.exists() and cache.exists()):
            python = Path(sys.executable).resolve()  # of a virtual environment: the one it was made from
            configure = ["cmake", "--preset", "release", "-B", BUILD, "-DATTICA_PYTHON=ON", f"-DPython3_EXECUTABLE={python}"]
            configure += pybind11()
            if not cache.exists():
                configure += ["-DATTICA_TESTS=OFF", "-DATTICA_BENCH=OFF"]
                configure += ["-DATTICA_NATIVE=OFF", "-DATTICA_MARCH=x86-64-v3"]  # a wheel goes to other processors
                configure += ["-DATTICA_MPI=OFF"] if shutil.which("mpicxx") is None else []
                configure += ["-DCMAKE_CXX_COMPILER_LAUNCHER="] if shutil.which("ccache") is None else []
            subprocess.run(configure, cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", BUILD, "--target", "attica_module"], check=True)
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)
        shutil.copy(module.with_name(module.name.replace("_attica", "_processor", 1)), target.parent)


OWN.mkdir(exist_ok=True)
setup(
    version=re.search(r"VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text().split("project(", 1)[1])[1],
    packages=["attica", "attica.data"],
    package_dir={"": "python", "attica": "python/attica", "attica.data": "data"},
    py_modules=["attica_program", "pytest_attica"],
    package_data={"attica": ["py.typed", "*.mplstyle", "*.pyi"], "attica.data": ["*.csv", "*.txt", "*.fa", "README.md", "new/*"]},
    ext_modules=[Extension("attica._attica", [])],
    cmdclass={"build_ext": CMakeModule},
    options={
        "egg_info": {"egg_base": "build"},
        "build": {"build_base": "build/setuptools"},
        "bdist_wheel": {"bdist_dir": "build/setuptools/wheel"},
    },
)
