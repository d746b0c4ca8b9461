"""Products of matrices by PyTorch: the speed of the BLAS that the peers use."""
import peer

import torch

torch.set_num_threads(1)
for name, kind in (("double", torch.float64), ("float", torch.float32)):
    a, b = torch.randn((2, 512, 512), dtype=kind)
    c = torch.empty_like(a)
    peer.report(f"gemm/{name}", lambda: torch.matmul(a, b, out=c), least_seconds=0.3)
