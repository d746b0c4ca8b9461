"""The recipes of conda-forge and Spack beside the sources: every library whose header is included is required, every option
that they set and every file that they name exists.

    recipes.py PROJECT
"""
import pathlib
import re
import sys

# Where a header comes from, by its beginning: package of CMake, conda-forge, Spack.
LIBRARIES = {
    "Eigen/": ("Eigen3", "eigen", "eigen"),
    "unsupported/Eigen/": ("Eigen3", "eigen", "eigen"),
    "boost/": ("Boost", "libboost-devel", "boost"),
    "gnuplot-iostream.h": ("GnuplotIostream", None, None),  # a copy lies in third_party
    "gsl/": ("GSL", "gsl", "gsl"),
    "ceres/": ("Ceres", "ceres-solver", "ceres-solver"),
    "glog/": ("Ceres", "glog", "glog"),  # Ceres writes its log by it
    "tbb/": ("TBB", "tbb-devel", "intel-oneapi-tbb"),
    "fmt/": ("fmt", "fmt", "fmt"),
    "nlohmann/": ("nlohmann_json", "nlohmann_json", "nlohmann-json"),
    "toml++/": ("tomlplusplus", "tomlplusplus", "tomlplusplus"),
    "CLI/": ("CLI11", "cli11", "cli11"),
    "openssl/": ("OpenSSL", "openssl", "openssl"),
    "archive": ("LibArchive", "libarchive", "libarchive"),
    "zlib.h": ("ZLIB", "zlib", "zlib-api"),
    "Random123/": ("Random123", "random123", "random123"),
    "utf8proc.h": ("Utf8proc", "libutf8proc", "utf8proc"),
    "httplib.h": ("CppHttplib", "cpp-httplib", "cpp-httplib"),
    "catch2/": (None, None, None),  # of a header for users' own tests
    "mpi.h": ("MPI", None, "mpi"),  # an option, which the recipe of conda-forge leaves off
}
# Of the C library, the compiler and the systems that core/platform.cpp names.
SYSTEM = re.compile(r"^(sys|netinet|arpa|mach|mach-o)/|^(ctype|dlfcn|errno|fcntl|glob|malloc|math|poll|pthread|signal|stdint|stdio|"
                    r"locale|stdlib|string|termios|time|unistd|xlocale|crt_externs|immintrin)\.h$")
FOLDERS = ("core", "solvers", "theory", "sim", "plots", "studies", "sources", "app")


def main():
    root = pathlib.Path(sys.argv[1])
    conda = (root / "packaging/conda/meta.yaml").read_text()
    spack = (root / "packaging/spack/package.py").read_text()
    lists = [root / "CMakeLists.txt"] + [root / folder / "CMakeLists.txt" for folder in FOLDERS]
    cmake = "\n".join(file.read_text() for file in lists if file.exists())
    host = set(re.findall(r"^    - ([\w-]+)", conda[conda.index("\n  host:"):conda.index("\n  run:")], re.M))
    depends = set(re.findall(r'depends_on\("([\w-]+)', spack))
    wrong = []

    included = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            for header in re.findall(r"^\s*#\s*include <([^>]+)>", path.read_text(errors="replace"), re.M):
                included.setdefault(header, path.relative_to(root))
    used = set()
    for header, path in sorted(included.items()):
        library = next((start for start in LIBRARIES if header.startswith(start)), None)
        if library:
            used.add(library)
        elif not SYSTEM.search(header) and not re.fullmatch(r"[a-z_]+", header):  # <vector>: the standard library's
            wrong.append(f"{path}: <{header}> belongs to no library that the recipes could require")
    for library in sorted(used):
        package, of_conda, of_spack = LIBRARIES[library]
        if package and not re.search(rf"find_package\({package}\b", cmake):
            wrong.append(f"CMake does not look for {package}, whose <{library}...> is included")
        if of_conda and of_conda not in host:
            wrong.append(f"packaging/conda/meta.yaml: no {of_conda}, of <{library}...>")
        if of_spack and of_spack not in depends:
            wrong.append(f"packaging/spack/package.py: no {of_spack}, of <{library}...>")
    known = {entry[0] for entry in LIBRARIES.values()}
    for package in re.findall(r"find_package\((\w+)[^)]*REQUIRED", cmake):
        if package not in known and package not in ("Catch2", "Python3"):
            wrong.append(f"CMake requires {package}, which is not in this list")

    options = set(re.findall(r"^(?:option|set)\((ATTICA_\w+)", cmake, re.M))
    for name, text in ("packaging/conda/meta.yaml", conda), ("packaging/spack/package.py", spack):
        for option in re.findall(r'(?:-D|define\(|define_from_variant\(|")"?(ATTICA_\w+)', text):
            if option not in options:
                wrong.append(f"{name}: there is no option {option}")
    if "gnuplot" not in re.findall(r"^    - ([\w-]+)", conda[conda.index("\n  run:"):], re.M) or "gnuplot" not in depends:
        wrong.append("a recipe does not require gnuplot, which draws")
    files = re.findall(r"^    - (\S+)$", conda[conda.index("license_file:"):], re.M)
    for file in files:
        if not (root / file).exists():
            wrong.append(f"packaging/conda/meta.yaml: there is no file {file}")
    if len(files) < 2:
        wrong.append("packaging/conda/meta.yaml: license_file names fewer texts than licences")
    compile(spack, "package.py", "exec")
    print("\n".join(wrong))
    print(f"{len(included)} headers of {len(used)} libraries", file=sys.stderr)
    sys.exit(1 if wrong else 0)


main()
