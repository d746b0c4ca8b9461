#!/usr/bin/env bash
# Learning curves of runs that were stopped before they could reach a target: nobody knows when they would have.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
curves() { # curves END: y = exp(-step/N) with noise; the first runs of N = 40 end at step END
  awk -v end="$1" 'BEGIN { srand(5); print "N,replicate,step,value"
    for (N = 10; N <= 40; N *= 2) for (r = 0; r < 80; ++r) for (s = 10; s < 200; s += 10) {
      v = exp(-s / N) * (1 + 0.01 * (rand() - 0.5)); if (N < 40 || r > 2 || s <= end) print N "," r "," s "," v } }'
}
reach=(--reach 0.1 --along step)
curves 190 >whole.csv
run 0 bound whole.csv "${reach[@]}" --expression '3*N'
says out "HOLDS: tightest"
curves 80 >early.csv
# y falls to 0.1 at step 92, the bound is 120.
run 3 bound early.csv "${reach[@]}" --expression '3*N'
says out "3 of 80 replicates at N=40, eps=0.1 have no value, and nothing holds of them"
says err "3 never do (3 of them end where others have not reached it yet, and may have come to it later)"
run 3 bound early.csv "${reach[@]}" --expression 'C*N' --constant C
! grep -q "no constant is enough" out || fail "a curve that ended early needs an infinite constant: $(cat out)"
# A curve that was watched beyond the bound and did not get there violates it.
curves 80 >early.csv
run 1 bound early.csv "${reach[@]}" --expression '1.5*N'
says out VIOLATED
# The median of six runs that end at 80 and six that reach it at 92 lies above 80; nothing says that it lies above 190.
awk -F, 'NR == 1 || $2 < 6 && (($1 < 40) || ($3 <= 80)) || $2 >= 74' early.csv >half.csv
"$program" fit half.csv "${reach[@]}" --x N --exponent 1 >out 2>err
says out "40  median above           80"
finish
