"""Products of matrices by NumPy: the speed of the BLAS that the peers use."""
import peer

import numpy as np

for name, kind in (("double", np.float64), ("float", np.float32)):
    a, b = np.random.default_rng(1).standard_normal((2, 512, 512)).astype(kind)
    c = np.empty_like(a)
    peer.report(f"gemm/{name}", lambda: np.matmul(a, b, out=c), least_seconds=0.3)
