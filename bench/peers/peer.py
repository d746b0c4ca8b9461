"""What the peers share: the set-up of one BLAS thread, timing, and the line that bench/compare reads.

Import it before numpy, scikit-learn or torch: the number of threads and the kind of CPU are read when those load.
Debian's OpenBLAS misreads recent CPUs and falls back to kernels of 2004; with AVX-512 it is told what it runs on.
"""
import os
import statistics
import time

if "avx512f" in open("/proc/cpuinfo").read():
    os.environ.setdefault("OPENBLAS_CORETYPE", "SkylakeX")
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")


def report(name, iteration, least_runs=5, least_seconds=2.0):
    """Prints `name seconds`: the median time of iteration(), after one call to warm up."""
    if least_runs > 1:
        iteration()
    times = []
    while len(times) < least_runs or sum(times) < least_seconds:
        start = time.process_time()
        iteration()
        times.append(time.process_time() - start)
    print(f"{name} {statistics.median(times):.6g}", flush=True)
