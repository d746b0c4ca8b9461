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

finish
