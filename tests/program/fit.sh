#!/usr/bin/env bash
# `attica fit`: exponents of a run, their verdicts and exit codes.   fit.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Small contexts and few searches; the verdicts on them are the program's, not tested here.
"$program" run bigrams-complexity --seed 1 --replicates 10 --out runs --quiet \
  --set 'sweep.context=[60,120,240,480]' --set 'plot.formats=["svg"]' >out 2>err
case $? in 0 | 1 | 3) ;; *) fail "run: $(cat err)" ;; esac
folder=$(echo runs/bigrams-complexity-*)

# verdict MODE: the word after "bound ...:" of that exponent in ./out.
verdict() { awk -v mode="$1:" '$1 == mode { on = 1 } on && $1 == "bound" { print $3, $4; exit }' out; }

"$program" fit "$folder" >out 2>err
code=$?
for mode in scratch transfer; do
  says out "$mode: samples_to_error against context"
  [ -n "$(verdict $mode)" ] || fail "fit: no verdict on $mode"
done
says out "local slopes"
says out "without the first size"
case "$(verdict scratch) $(verdict transfer)" in
  *violated*) expected=1 ;;
  *undecided*) expected=3 ;;
  *) expected=0 ;;
esac
[ "$code" -eq "$expected" ] || fail "fit: exit code $code where the verdicts say $expected"
"$program" fit "$folder" --json >out 2>err
[ $? -eq "$code" ] || fail "fit --json has another exit code"
one_json out
for word in interval95 local_slopes window_dependent medians censored '"kind": "upper bound"'; do says out "$word"; done

# The same run with samples of a known exponent in their place.
# power P: replicates.csv with samples 100 T^P (1 + replicate/50), none at the cap.
power() {
  awk -F, -v OFS=, -v p="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; print; next }
    $column["series"] == "samples_to_error" { $column["value"] = sprintf("%.17g", 100 * $column["x"] ^ p * (1 + $column["replicate"] / 50)) }
    $column["series"] == "samples_cap" { $column["value"] = 1e15 } { print }' "$original"
}
original=$PWD/original.csv
cp "$folder/replicates.csv" "$original"
power 2 >"$folder/replicates.csv"
run 1 fit "$folder" --accept-edits
says out "violated"
power 0.2 >"$folder/replicates.csv"
run 0 fit "$folder" --accept-edits
says out "holds but vacuous"
cp "$original" "$folder/replicates.csv"

# What has no exponents, or is no run.
run 2 fit nowhere
says err "not a run folder"
run 0 run bigrams-flow --out runs --quiet --set 'sim.steps=[1,10]' --set 'model.context=50' --set 'plot.formats=["svg"]'
run 2 fit runs/bigrams-flow-*
says err "declares no exponents"

# Exponents in swept scalars, beside those in the context; three contexts are needed for the latter.
# Three replicates do not decide what is compared there.
run 3 run bigrams-complexity --seed 1 --replicates 3 --out runs --name swept --quiet --set 'sweep.context=[60]' \
  --set 'sweep.sparsity=[1,2,4]' --set 'sim.l1_scaling="weight"' --set sim.l1=0.02 --set 'plot.formats=["svg"]'
swept=$(echo runs/swept-*)
run 3 fit "$swept"
says out "sparsity (mode=scratch, context=60): samples_to_error against sparsity"
says out "bound 2: undecided (fewer than 4 sizes)"
run 0 fit "$swept" --series samples_to_error --x 1/sparsity
says out "against 1/sparsity"
# The fit and the bound are drawn.
says "$(echo "$folder"/plots/*.csv)" samples_to_error_fit
says "$(echo "$folder"/plots/*.csv)" samples_to_error_bound

# Several sizes at once: known exponents, one of them wrong, a window, alternatives, a poor fit.
awk 'BEGIN { srand(1); print "T,N,replicate,value"
  for (T = 10; T < 200; T *= 2) for (N = 2; N < 20; N *= 2) for (r = 0; r < 12; ++r)
    print T "," N "," r "," T^1.5 / N^0.5 * exp(rand() / 2) }' >cost.csv
run 0 fit cost.csv --x T --x N --expect T=1.5 --expect N=-0.5
says out "prediction 1.5 of T: agrees"
says out "prediction -0.5 of N: agrees"
says out "correlation of the exponents of T and N"
run 1 fit cost.csv --x T --x N --expect T=1.2
says out "prediction 1.2 of T: violated"
run 3 fit cost.csv --x T --x N --window T=20:80 --expect T=1.5
says out "fewer than 4 values of T"
run 0 fit cost.csv --x T --x N --correction inverse:T --correction log:N --json
one_json out
for word in '"form": "times exp(c/T)"' '"form": "times (ln N)^c"' covariance p_value without_largest; do says out "$word"; done
run 0 fit cost.csv --x T --window T=20:
says out "exponent of T"
awk -F, 'NR == 1 { print; next } { print $1 "," $2 "," $3 "," $4 * exp(20 / $1) }' cost.csv >corrected.csv
run 3 fit corrected.csv --x T --x N --expect T=1.5 --correction inverse:T
says out "the residuals are larger than the errors of the medians"
awk '/alternative, times exp/ { on = 1 } on && /prediction 1.5 of T: agrees/ { found = 1 } END { exit !found }' out ||
  fail "the corrected form does not find the exponent"
while read -r options; do
  run 2 fit cost.csv $options
done <<'ROWS'
--x T --x T
--x T --x M
--x T --x N --expect M=1
--x T --x N --expect T
--x T --x N --expect T=one
--x T --tolerance 0.2
--x T --x N --window T=5
--x T --x N --window T=9:1
--x T --x N --window T=1e6:
--x T --x N --correction cubic:T
--x T --x N --correction log
--x T --x N --exponent 1
--x T --hold a=1
--x T --collapse T
--x T --collapse N --hold q=1
--x T --collapse N --hold a=1 --start a=2
--x T --collapse N --hold a=1 --hold b=0
--x T --collapse N --correction log:T
ROWS

# Collapse with known exponents, and what has none.
awk 'BEGIN { srand(2); print "x,L,replicate,value"
  for (L = 8; L < 100; L *= 2) for (k = -10; k < 11; ++k) for (r = 0; r < 12; ++r)
    print 0.3 + k * 0.25 / L^0.6 "," L "," r "," (1 + 0.2 * (rand() - 0.5)) / (L^0.25 * (1 + exp(k * 0.25 * L^0.2))) }' >curves.csv
run 0 fit curves.csv --collapse L --hold x_c=0.3 --expect a=0.8 --expect b=0.25 --format svg,png
says out "prediction a = 0.8: agrees"
says out "prediction b = 0.25: agrees"
for file in figures/y-collapse.csv figures/y-collapse.svg figures/y-collapse.png; do present $file; done
run 1 fit curves.csv --collapse L --start x_c=0.25 --expect a=0.5 --name other --out elsewhere --format svg --json
one_json out
says out '"verdict": "violated"'
present elsewhere/other.svg
run 0 fit curves.csv --collapse L --hold x_c=0.3 --window L=8:20 --format svg
says out "weak: fewer than 3 sizes"

# A run of attica's own: the peak of ridge regression is lambda^(-1/2) f((alpha - 1) lambda^(-1/2)).
run 3 run gauss-double-descent --out runs --name peak --quiet --replicates 12 --set model.sites=151 --set model.rho=0.0 \
  --set sim.data_sets=1 --set 'sweep.lambda=[0.0005, 0.001, 0.002, 0.004]' --set 'sweep.alpha={linear=[0.9, 1.1], n=11}' \
  --set 'plot.formats=["svg"]'
run 0 fit runs/peak-* --series test_error --x alpha --collapse 1/lambda --hold x_c=1 --expect a=0.5 --expect b=-0.5 --format svg
says out "prediction a = 0.5: agrees"
says out "prediction b = -0.5: agrees"

finish
