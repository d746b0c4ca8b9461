# Recipe for Spack. Add `url` and a `version(..., sha256=...)` with the first release; until then, in a checkout:
#   spack repo create local && mkdir -p local/packages/attica && cp packaging/spack/package.py local/packages/attica/
#   spack repo add local && spack dev-build attica@main
from spack.package import *


class Attica(CMakePackage):
    """Computes what theory predicts for small attention models, simulates the same models at finite size, and says
    with known error rates whether the two agree."""

    # The sources are BSD-3-Clause; a binary is linked with the GNU Scientific Library.
    license("BSD-3-Clause AND GPL-3.0-or-later")

    version("main", branch="main")

    variant("mpi", default=False, description="Let mpirun farm the work of a run out to many processes")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("eigen@3.4:3")
    depends_on("boost@1.74: +iostreams +filesystem +math")
    depends_on("gsl@2.7:")
    depends_on("ceres-solver@2.1:")
    depends_on("glog")
    depends_on("intel-oneapi-tbb@2021:")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.11:")
    depends_on("tomlplusplus@3.3:")
    depends_on("cli11@2.1:")
    depends_on("openssl")
    depends_on("libarchive")
    depends_on("zlib-api")
    depends_on("random123")
    depends_on("utf8proc")
    depends_on("cpp-httplib")
    depends_on("mpi", when="+mpi")
    depends_on("gnuplot +cairo", type="run")

    conflicts("%gcc@:11", msg="attica is C++20")

    def cmake_args(self):
        return [
            self.define_from_variant("ATTICA_MPI", "mpi"),
            self.define("ATTICA_TESTS", False),
            self.define("ATTICA_BENCH", False),
            # Spack's own compiler wrapper adds -march of the target.
            self.define("ATTICA_NATIVE", False),
        ]
