#!/usr/bin/env bash
# A point all of whose replicates failed is a row, a sentence and a mark; means of survivors are marked.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
"$program" run potts-learning --set 'sweep.samples=[3.0,3000.0]' --set 'plot.formats=["svg"]' --replicates 10 --name nc --out runs --quiet >out 2>err </dev/null
nc=$(echo runs/nc-*)
grep -q '^potts-learning,excess_loss,sim,factored,samples,3,,,,0$' "$nc/results.csv" || fail "no row of n = 0: $(grep sim "$nc/results.csv")"
[ "$(grep -c '^potts-learning,excess_loss,factored,samples,3,[0-9]*,$' "$nc/replicates.csv")" -eq 10 ] || fail "failed replicates have no rows"
"$program" check "$nc" >out 2>err </dev/null
says out "no value: excess_loss at model=factored, samples=3: 10 of 10 not converged"
says out "no value: excess_loss at model=general, samples=3: 7 of 10 not converged; the mean is that of the others"
says "$nc/report.html" "Not drawn, as all replicates failed: excess_loss at model=factored, samples=3 (10 of 10)"
says "$nc/report.html" "Open markers: means of the replicates that did not fail; failed: excess_loss at model=general, samples=3 (7 of 10)"
finish
