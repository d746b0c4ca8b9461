#!/usr/bin/env python3
"""Peer of the benchmark ode_decoupled: SciPy's solve_ivp on v' = (mu - v) exp(v^2/2), d = 1000.

mu is log-spaced on 0.01..3, v(0) = 0, 50 log-spaced output times to t = 10. Prints, for each method and
tolerance, the processor time and the true error (largest over components and output times) against the implicit
closed form t(v) = int_0^v exp(-u^2/2) / (mu - u) du, solved by DOP853 at rtol 1e-13.
"""
import sys
import time

import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np
from scipy.integrate import solve_ivp

D = 1000
MU = np.geomspace(0.01, 3, D)
TIMES = np.geomspace(1e-2, 10, 50)


def rhs(t, v):
    return (MU - v) * np.exp(0.5 * v * v)


def solve(method, rtol, atol, **extra):
    return solve_ivp(rhs, (0, TIMES[-1]), np.zeros(D), method=method, t_eval=TIMES, rtol=rtol, atol=atol, **extra).y


def main():
    reference = solve("DOP853", 1e-13, 1e-15)
    rows = []
    for method, extra in [("RK45", {}), ("DOP853", {}), ("RK23", {}), ("LSODA", {"lband": 0, "uband": 0})]:
        for rtol in [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]:
            best = np.inf
            for _ in range(3):
                start = time.process_time()
                y = solve(method, rtol, rtol * 1e-2, **extra)
                best = min(best, time.process_time() - start)
            rows.append((method, rtol, best, np.abs(y - reference).max()))
    print("method,rtol,milliseconds,true_error")
    for method, rtol, seconds, error in rows:
        print(f"{method},{rtol:g},{1e3 * seconds:.3f},{error:.3g}")


if __name__ == "__main__":
    sys.exit(main())
