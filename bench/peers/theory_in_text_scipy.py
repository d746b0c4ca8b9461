#!/usr/bin/env python3
"""Peers of the benchmarks theory_in_text/*: the same curves with SciPy, written by hand.

flow: odeint (LSODA) at 1e-10, and solve_ivp (DOP853). solve: fsolve with vectorised means, each point from the last
one. averages: fsolve with Gauss-Hermite nodes, made once, and with quad. One evaluation each; attica's rows hold a
second one, for the error, which flow_with_error adds to the flow: the same numbers as attica's.
"""
import time

import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np
from scipy.integrate import odeint, quad, solve_ivp
from scipy.optimize import fsolve

TIMES = np.r_[0, 0.1 * np.arange(1, 101)]
S = np.arange(1, 1001) ** -1.5
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def rate(y, t):
    m, q = y
    return (q**-0.5 * (1 - m * m), -2 * q + 2 * m)


def flow_odeint():
    y = odeint(rate, [0.02, 1.0], TIMES, rtol=1e-10, atol=1e-13)
    return y[-1, 0] / np.sqrt(y[-1, 1])


def flow_with_error():
    y = odeint(rate, [0.02, 1.0], TIMES, rtol=1e-10, atol=1e-13)
    rough = odeint(rate, [0.02, 1.0], TIMES, rtol=1e-8, atol=1e-11)
    overlap = y[:, 0] / np.sqrt(y[:, 1])
    error = np.abs(overlap - rough[:, 0] / np.sqrt(rough[:, 1]))
    return overlap[-1], error.max()


def flow_solve_ivp():
    y = solve_ivp(lambda t, y: rate(y, t), (0, 10), [0.02, 1.0], t_eval=TIMES, method="DOP853", rtol=1e-10, atol=1e-13).y
    return y[0, -1] / np.sqrt(y[1, -1])


def solve_fsolve():
    kappa, lam = 1.001, 0.001
    for alpha in 0.1 * np.arange(1, 101):
        kappa = fsolve(lambda k: k - lam - k / alpha * np.mean(S / (S + k)), kappa, xtol=1e-12)[0]
        shrunk = S / (S + kappa)
        error = (kappa**2 * np.mean(S / (S + kappa) ** 2) + 0.3) / (1 - np.mean(shrunk**2) / alpha)
    return error


def averages_fsolve():
    start = np.array([0.9, 0.9])
    for b in (1.6 + 0.02 * np.arange(1, 101))[::-1]:

        def equations(u):
            t = np.tanh(b * u[0] + np.sqrt(u[1]) * NODES)
            return [WEIGHTS @ t - u[0], WEIGHTS @ t**2 - u[1]]

        start = fsolve(equations, start, xtol=1e-12)
    return start[0]


def averages_quad():
    start = np.array([0.9, 0.9])
    for b in (1.6 + 0.02 * np.arange(1, 101))[::-1]:

        def mean(f):
            return quad(lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * f(z), -12, 12, epsabs=1e-11)[0]

        def equations(u):
            field = lambda z: np.tanh(b * u[0] + np.sqrt(u[1]) * z)  # noqa: E731
            return [mean(field) - u[0], mean(lambda z: field(z) ** 2) - u[1]]

        start = fsolve(equations, start, xtol=1e-12)
    return start[0]


def main():
    for name, functions in {"flow": (flow_odeint, flow_solve_ivp), "solve": (solve_fsolve,), "averages": (averages_fsolve, averages_quad)}.items():
        for f in functions[1:]:  # not the fastest one: shown, not compared
            start = time.process_time()
            value = f()
            print(f"theory_in_text/{name} by {f.__name__.split('_', 1)[1]}: {1e3 * (time.process_time() - start):.3g} ms, last value {value:.12g}")
        peer.report(f"theory_in_text/{name}", functions[0])
    peer.report("theory_in_text/flow_with_error", flow_with_error)


if __name__ == "__main__":
    main()
