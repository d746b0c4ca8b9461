"""What the peers share: one BLAS thread, timing, and the line that bench/compare reads.

Import it before numpy, scikit-learn or torch: they read the number of threads and the kind of CPU when they load.
Debian's OpenBLAS does not know recent CPUs and falls back to old kernels; with AVX-512 it is told what it runs on, whatever
the surroundings say: a machine set up for other work may ask for the kernels of an older one.
"""
import os
import statistics
import time

for name in [n for n in os.environ if n.startswith("OPENBLAS_")]:
    del os.environ[name]
if "avx512f" in open("/proc/cpuinfo").read():
    os.environ["OPENBLAS_CORETYPE"] = "SkylakeX"
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ[threads] = "1"


def report(name, iteration, least_runs=5, least_seconds=2.0, parts=1):
    """Prints `name seconds`: the median CPU time of iteration(), times `parts` if it is only that part of one.

    With more than one run, one comes before them to warm up.
    """
    if least_runs > 1:
        iteration()
    times = []
    while len(times) < least_runs or sum(times) < least_seconds:
        start = time.process_time()
        iteration()
        times.append(time.process_time() - start)
    print(f"{name} {parts * statistics.median(times):.6g}", flush=True)
