#!/usr/bin/env python3
"""Error rates of attica.testing: PYTHONPATH=build/python tests/reliability/assert_agrees.py [RUNS].

Every run is one comparison as a test suite makes it. A correct theory may fail in at most 1 % of them, one that is off by the
margin may pass in at most 5 %; a bias of 2 % of the standard deviation with a margin of 0.5 % is to be found by 96 000 replicates
in 95 % of runs. Exit code 1 where a rate is beyond its promise by more than chance allows.
"""

import math
import statistics
import sys
import time

import numpy as np
from attica.testing import FAILS, PASSES, decided

LAWS = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "exponential": lambda rng, n: rng.standard_exponential(n) - 1,
    "lognormal": lambda rng, n: (rng.lognormal(0, 0.5, n) - math.exp(0.125)) / math.exp(0.125) / math.sqrt(math.exp(0.25) - 1),
}


def verdicts(runs, law, difference, margin, points, replicates, first=0):
    """How often each verdict comes, of runs whose theory is off by `difference` standard deviations."""
    counts = {"AGREE": 0, "DISAGREE": 0, "INCONCLUSIVE": 0}
    for seed in range(first, first + runs):
        found = decided(
            theory=lambda x: 1.0, simulate=lambda x, rng, n: 1 + difference + LAWS[law](rng, n),
            x=list(range(points)), margin=None, absolute=margin, seconds=1e6, replicates=replicates, seed=seed,
        )
        counts[str(found.verdict)] += 1
    return counts


def above(count, runs, promise):
    """Whether a share is above its promise at one in a thousand (Wilson's bound)."""
    z = statistics.NormalDist().inv_cdf(0.999)
    p = count / runs
    low = (p + z * z / 2 / runs - z * math.sqrt(p * (1 - p) / runs + z * z / 4 / runs**2)) / (1 + z * z / runs)
    return low > promise


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    failed = False
    print(f"{'law':<12}{'off by':>8}{'margin':>8}{'points':>7}{'cap':>7}{'runs':>8}  {'DISAGREE':>9}{'AGREE':>9}  promise     seconds")
    for law in LAWS:
        for difference, margin, points, cap in (
            (0.0, 0.5, 1, 480), (0.0, 0.05, 1, 480), (0.5, 0.5, 1, 480), (0.02, 0.02, 1, 480), (0.02, 0.02, 5, 480),
        ):
            begin = time.time()
            counts = verdicts(runs, law, difference, margin, points, cap)
            wrong = [above(counts["DISAGREE"], runs, FAILS)]
            if difference >= margin:
                wrong.append(above(counts["AGREE"], runs, PASSES))
            failed |= any(wrong)
            print(f"{law:<12}{difference:>8}{margin:>8}{points:>7}{cap:>7}{runs:>8}  {counts['DISAGREE'] / runs:>9.4%}"
                  f"{counts['AGREE'] / runs:>9.3%}  {'BROKEN' if any(wrong) else 'kept':<9}{time.time() - begin:>9.0f}", flush=True)
    tries = max(20, runs // 20)
    found = verdicts(tries, "normal", 0.02, 0.005, 1, 96000)["DISAGREE"]
    failed |= above(tries - found, tries, 0.05)
    print(f"bias of 2 % of sigma, margin 0.5 %, 96000 replicates: found in {found} of {tries} runs")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
