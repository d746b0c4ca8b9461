"""attica: does the theory describe the simulation, and how do I know?

    import attica
    c = attica.theory("gauss-double-descent", rho=0.9, alpha=[0.5, 1.5, 3.0])
    r = attica.run("gauss-double-descent", rho=0.9, seed=7)
    j = attica.judge(theory=f, simulate=g, x=[1, 2, 4], margin=0.05)
    t = attica.solve({"unknowns": {"m": "0.5"}, "fixed": {"m": "tanh(b*m)"}, "series": {"m": "m"}}, b=[1.5, 2.0])

`studies()` and `parameters(study)` say what there is. Theory is computed in this process by the functions of the program;
runs are carried out by the program itself. docs/python.md is the guide.
"""

import sys as _sys

try:
    import numpy as _numpy  # noqa: F401
except ImportError as _error:
    raise ImportError(f"attica needs NumPy, which {_sys.executable} does not have (Debian: python3-numpy)") from _error

from ._processor import missing as _missing

if _missing():
    raise ImportError(
        f"attica was built for a processor with {_missing()}, which this one lacks: build it on this machine, "
        "or with -DATTICA_MARCH=x86-64-v3 -DATTICA_NATIVE=OFF"
    )

from ._attica import version as __version__
from .coordinates import CoordinateCheck, coordcheck
from .display import Figure
from .errors import Error
from .explorer import Explorer, explore
from .figures import figure
from .gauss import (
    ar1_covariance,
    arrow_covariance,
    descent,
    equi_covariance,
    kappa,
    ridge_errors,
    site_spectrum,
    spectrum,
)
from .judgement import Judgement, Verdict
from .judging import agreement, judge
from .plotting import style
from .records import find, record, replicates, results
from .runs import Run, open_run, run
from .tables import Rows
from .texts import TextTheory, flow, recursion, solve
from .theories import Curve, Series, Theory, parameters, studies, theory
from .training import Training, TrainingSeries, simulate_training, training
from .verbs import Bibliography, Record, bound, check, cite, compare, fit, map, measure, plan

open = open_run

# Without `map`: `from attica import *` leaves Python's own.
__all__ = [
    "Bibliography",
    "CoordinateCheck",
    "Curve",
    "Error",
    "Explorer",
    "Figure",
    "Judgement",
    "Record",
    "Rows",
    "Run",
    "Series",
    "TextTheory",
    "Theory",
    "Training",
    "TrainingSeries",
    "Verdict",
    "agreement",
    "ar1_covariance",
    "arrow_covariance",
    "bound",
    "check",
    "cite",
    "compare",
    "coordcheck",
    "descent",
    "equi_covariance",
    "explore",
    "figure",
    "find",
    "fit",
    "flow",
    "judge",
    "kappa",
    "measure",
    "open",
    "open_run",
    "parameters",
    "plan",
    "record",
    "recursion",
    "replicates",
    "results",
    "ridge_errors",
    "run",
    "simulate_training",
    "site_spectrum",
    "solve",
    "spectrum",
    "studies",
    "style",
    "theory",
    "training",
]
