#!/usr/bin/env bash
# What users bring: tables, programs, formulas, bounds.   own.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cp "$project"/examples/own/* .
svg="--set plot.formats=[\"svg\"]"

# ---------------------------------------------------------------- judge: tables in every dress, and what is wrong with them
printf 'x,value\n1,2\n2,4\n' >theory.csv
printf '\xef\xbb\xbf# measured\r\nx;replicate;value\r\n' >simulation.csv
for r in $(seq 0 39); do printf '1;%d;%s\r\n2;%d;%s\r\n' "$r" "2.0$((r % 7))" "$r" "4.0$((r % 5))"; done >>simulation.csv
run 0 judge theory.csv simulation.csv --margin 5% --out runs --name mine --quiet
says out "AGREE: 2 of 2 points agree"
mine=$(echo runs/mine-*)
for file in run.json theory.json replicates.csv results.csv check.json report.html plots/own.svg config.resolved.toml; do
  present "$mine/$file"
done
run 0 judge theory.csv simulation.csv --margin 0.05 --out runs --name mine --quiet # the same question again
run 0 check "$mine"
run 1 check "$mine" --margin 0.001
run 0 plot "$mine" --format svg
run 0 report "$mine"
run 0 status "$mine"
run 0 compare "$mine" "$mine"
run 0 cite "$mine"
run 0 judge theory.csv simulation.csv --out runs --name bare --json
says out '"verdict": "NONE"'
one_json out
run 0 judge theory.csv simulation.csv --absolute 0.2 --out runs --name absolute --quiet
sed 's/^1,2$/1,3/' theory.csv >wrong.csv
run 1 judge wrong.csv simulation.csv --margin 5% --out runs --name wrong --quiet
says out "disagrees: y at x=1"
printf 'x,mean,sem,n\n1,2.01,0.01,25\n2,4.02,0.03,25\n' >summary.csv
run 0 judge theory.csv summary.csv --margin 5% --out runs --name summary
says err "no guard against heavy tails"
says "$(echo runs/summary-*)/check.json" "no guard against heavy tails"
run 2 fit runs/summary-* --x x
says err "exponents and bounds need replicates"
printf 'alpha\tvalue\n1\t2\n2\t4\n' >named.csv
sed 's/x;rep/alpha;rep/' simulation.csv >named_simulation.csv
run 0 judge named.csv named_simulation.csv --x alpha --margin 5% --out runs --name named --quiet
says "$(echo runs/named-*)/results.csv" ",alpha,"
# The command line, and mistakes by file, line and column.
run 2 judge theory.csv
run 2 judge theory.csv nowhere.csv
says err "nowhere.csv"
run 2 judge theory.csv simulation.csv --margin five
run 2 judge theory.csv simulation.csv --tails fat
# refused TABLE MESSAGE: as a simulation, against theory.csv.
refused() {
  printf "$1" >bad.csv
  run 2 judge theory.csv bad.csv --margin 5% --out refused
  says err "$2"
  absent refused
}
refused 'x,replicate\n1,0\n' "bad.csv:1:3: error: missing column 'value'"
refused 'y,replicate,value\n1,0,2\n' "bad.csv:1:13: error: missing column 'x'"
refused 'x,value\n1,2\n' "missing column 'replicate'"
refused 'x,replicate,value\n1,0,two\n' "bad.csv:2:5: error: value = 'two'"
refused 'x,replicate,value\n1,0\n' "bad.csv:2:1: error: 2 fields, expected 3"
refused 'x,replicate,value\n1,0,2\n1,0,3\n' "bad.csv:3:1: error: series 'y' at x=1, replicate 0, stands in line 2 already"
refused 'x,replicate,value,lambda\n1,0,2,3\n' "bad.csv:1:19: error: column 'lambda' is not in 'theory.csv'"
refused 'x,replicate,value\n7,0,2\n' "nothing can be compared"
refused '\377\376x' "damaged UTF-16"
refused '\377x' "no UTF-8 text"
refused '' "nothing, expected a header"
refused 'x;replicate;value\n1;0;2,5\n' "decimals are written with a point"
printf 'x [ms],value\n1,2\n' >milliseconds.csv
printf 'x [s],replicate,value\n1,0,2\n' >seconds.csv
run 2 judge milliseconds.csv seconds.csv
says err "x in [s], but in [ms]"
# A replicate that failed is a numerical failure.
sed 's/^1;3;.*/1;3;nan/' simulation.csv >failed.csv
run 4 judge theory.csv failed.csv --margin 5% --out runs --name failed --quiet

# ------------------------------------------------------ what attica's own runs come to, their tables come to again
for study in gauss-lambda gauss-double-descent potts-learning topics-mode-growth joma-bounce bigrams-flow; do
  mkdir "$study"
  settings=$svg
  case $study in # every point has a verdict, whichever it is: few replicates will do
    bigrams-flow) settings="$svg --set sim.steps=[1,10] --set model.context=50" ;;
    gauss-double-descent) settings="$svg --replicates 30" ;;
    potts-learning) settings="$svg --replicates 8" ;;
  esac
  "$program" run $study --out "$study/built" $settings --quiet >out 2>err
  first=$?
  python3 "$project/tests/program/rejudge.py" export "$study"/built/* "$study" || fail "export of $study"
  "$program" run "$study/again.toml" --out "$study/own" --quiet >out 2>err
  [ $? -eq $first ] || fail "$study: exit code $first, from its tables another: $(cat out err)"
  python3 "$project/tests/program/rejudge.py" compare "$study"/built/* "$study"/own/* >out || fail "$study: $(cat out)"
done

# --------------------------------------------------------------------- a formula against a program, through every verb
small="--set sim.replicates=24 --set sweep.alpha=[5.0,8.0] --set model.inputs=10 --set agreement.test_error.relative=0.3 $svg"
run 0 theory formula.toml
says out "own,test_error,theory,alpha,1.5,"
run 0 run formula.toml $small --dry-run
run 0 run formula.toml $small --name whole --quiet
says out "AGREE: 2 of 2 points agree, 0 disagree, 0 inconclusive; 1 of 1 claims hold"
whole=$(echo runs/whole-*)
run 0 run formula.toml $small --name threads --threads 1 --quiet
same "$whole/replicates.csv" "$(echo runs/threads-*)/replicates.csv"
for k in 1 2; do run 0 run formula.toml $small --name parts --shard $k/2 --quiet; done
run 0 merge runs/parts-*-shard*
same "$whole/replicates.csv" "$(echo runs/parts-????????)/replicates.csv"
run 0 run formula.toml $small --set sim.replicates=60 --name early --until-decided --quiet
run 0 plan formula.toml $small --quiet
says out "replicates"
run 75 run formula.toml $small --name resumed --threads 1 --max-time 1 --quiet
run 0 run formula.toml $small --name resumed --resume --quiet
same "$whole/replicates.csv" "$(echo runs/resumed-*)/replicates.csv"
run 0 run formula.toml --set 'model.inputs=10' --set 'sweep.alpha=[3.0,8.0]' --set 'agreement.test_error.relative=0.5' $svg --margin 0.6 --quiet --name margin
# A verb that reads a run never runs its commands: the simulator is gone, and one in its place would leave a trace.
printf 'import pathlib\npathlib.Path("trace").touch()\n' >least_squares.py
run 0 check "$whole"
run 0 plot "$whole" --format svg
run 0 report "$whole"
rm -rf runs/parts-????????
cp "$project"/examples/own/least_squares.py .
absent trace
run 2 run "$whole/config.resolved.toml" --out elsewhere
says err "is a run folder, whose commands are not carried out"
absent trace

# ------------------------------------------------------------------------------------------------------------- bounds
run 1 bound bound.toml $svg --quiet
says out "VIOLATED: first at n=3"
says out "bound union"
says out "HOLDS"
limits=$(echo runs/own-*)
run 1 bound "$limits" --json
one_json out
for word in first_violated slack90 violation_rate90 '"verdict": "VIOLATED"' '"verdict": "HOLDS'; do says out "$word"; done
run 2 bound "$whole"
says err "states no [[bound]]"
sed 's|sqrt(2\*log(n/delta))|sqrt(2*log(n/dleta))|' bound.toml >misspelt.toml
run 2 bound misspelt.toml $svg --quiet --name misspelt --replicates 5
says err "no name 'dleta'"

# ---------------------------------------------------------------------------------------------------------------- fit
{
  echo N,replicate,value
  for n in 10 20 40 80 160; do
    for r in $(seq 0 19); do awk -v n="$n" -v r="$r" 'BEGIN { printf "%d,%d,%.10g\n", n, r, n ^ 1.5 * (1 + (r % 5 - 2) / 50) }'; done
  done
} >power.csv
run 0 fit power.csv --x N --exponent 1.5
says out "prediction 1.5: agrees"
run 1 fit power.csv --x N --exponent 1
run 0 fit power.csv --x N --exponent 2 --upper-bound --json
one_json out
run 0 fit power.csv --x N
run 2 fit power.csv --x M
run 0 fit "$whole" --series test_error --x alpha
run 2 fit "$whole" --series nothing --x alpha

# ---------------------------------------------------------------- own theory, attica's simulation, and the other way round
cat >tail.toml <<'EOF'
study = "own"
x = "samples"
[sweep]
samples = [3000.0, 10000.0]
[theory]
expression = {excess_loss = "9/samples"}
[simulation]
study = "potts-learning"
[agreement.excess_loss]
relative = 0.3
[sim]
replicates = 40
[plot]
formats = ["svg"]
EOF
run 1 run tail.toml --name tail --quiet # 9/M is right for general couplings, and not for factored attention
says out "disagrees: excess_loss at model=factored"
cat >study_theory.toml <<'EOF'
study = "own"
x = "samples"
[model]
couplings = "explicit"
file = "J.csv"
colour_couplings = "explicit"
colour_file = "U.csv"
beta = 0.8
[sweep]
samples = [6000.0]
[theory]
study = "potts-learning"
[simulation]
command = ["python3", "-c", "print('series,model,value\\nexcess_loss,factored,' + str(4.3e-4 + 1e-8 * {replicate}))", "{samples}"]
[agreement.excess_loss]
relative = 0.25
[sim]
replicates = 8
[plot]
formats = ["svg"]
EOF
run 0 run study_theory.toml --name study-theory --quiet
says out "AGREE: 1 of 1 points agree"
# What the theory says besides, without an x, is not drawn on the axes of a curve.
cut -d, -f4 runs/study-theory-*/plots/own.csv >drawn
says drawn excess_loss
if grep -q tail_trace drawn; then fail "a constant of the theory alone is drawn"; fi
if python3 -c 'import torch' 2>/dev/null; then
  run 0 run pytorch.toml $svg --set 'sweep.samples=[20000]' --replicates 80 --quiet
  says out "AGREE: 1 of 1 points agree"
else
  echo "no PyTorch here: pytorch.toml is not run" >&2
fi

# ------------------------------------------------------------------------------------------------ programs that misbehave
# misbehaves CODE MESSAGE PYTHON: a simulator of that text.
misbehaves() {
  printf '%s\n' "$3" >bad.py
  cat >bad.toml <<'EOF'
study = "own"
x = "t"
[sweep]
t = [1.0, 2.0]
[theory]
expression = "2*t"
[simulation]
command = ["python3", "bad.py", "{seed}"]
[agreement.y]
relative = 0.1
[sim]
replicates = 3
[plot]
formats = ["svg"]
EOF
  rm -rf runs/bad-*
  run "$1" run bad.toml --name bad --quiet
  [ -z "$2" ] || says err "$2"
}
misbehaves 2 "expected a header" 'print()'
misbehaves 2 "missing column" 'print("hello")'
misbehaves 2 "value = 'rubbish'" 'print("t,value\n1,rubbish")'
misbehaves 2 "too few rows" 'print("t,value\n1,2")'
misbehaves 2 "x = 3, which [sweep] does not have" 'print("t,value\n1,2\n2,4\n3,6")'
misbehaves 2 "no series 'y'" 'print("t,series,value\n1,z,2\n2,z,4")'
misbehaves 4 "exit code 7" 'import sys; sys.exit(7)'
misbehaves 4 "ValueError: no such data" 'raise ValueError("no such data")'
run 0 status "$(echo runs/bad-????????)"
misbehaves 4 "" 'print("t,value\n1,nan\n2,4")'
says "$(echo runs/bad-????????)/run.json" "is not a finite number"
printf 'import time\ntime.sleep(1000)\n' >bad.py
start=$SECONDS
run 75 run bad.toml --name hangs --max-time 2 --quiet
[ $((SECONDS - start)) -lt 60 ] || fail "a hanging simulator was waited for"
run 4 run bad.toml --name hangs --set simulation.max_seconds=0.5 --quiet
says err "took longer than 0.5 s"

# ------------------------------------------------------------------------------------------ configurations that are wrong
# wrong MESSAGE SED: formula.toml, changed.
wrong() {
  sed "$2" formula.toml >wrong.toml
  run 2 run wrong.toml --out refused
  says err "$1"
  absent refused
}
wrong "no name 'nosie'" 's/(alpha\*inputs - 1)/(alpha*nosie - 1)/'
wrong "equality is '=='" 's/test_error > noise^2/test_error = noise/'
wrong "no key '{sed}'" 's/{seed}/{sed}/'
wrong "a '}' for every '{'" 's/{seed}/{seed/'
wrong "did you mean 'relative'" 's/^relative/relatve/'
wrong "did you mean [simulation]" 's/\[simulation\]/[simulatoin]/'
wrong "expected one of file, command, study, expression" 's/^command/file = "theory.csv"\ncommand/'
wrong "a program that can be started" 's/"python3"/"no-such-program"/'
wrong "the name of a built-in study" 's/^expression = {.*/study = "potts-lerning"/'
wrong "existing file" 's/^command.*/file = "nowhere.csv"/'
wrong "expected [sweep] alpha" 's/^alpha = .*/beta = [1.0]/;s/{alpha}/1/'
run 0 init own
cp out template.toml
run 0 run template.toml $svg --quiet --name template
run 0 show own
says out "simulation.command"
run 2 run own
says err "study 'own' is what a configuration says"
run 2 run formula.toml --set model.nosie=3
says err "unknown key 'nosie'"

# ---------------------------------------------------------------- a published curve; errors that a theory's values share
run 0 run published.toml --out runs --name published --quiet $svg
says out "8 of 8 points agree"
printf 'x,value\n1,2\n2,4\n' >theory.csv
printf 'x,replicate,value\n' >simulation.csv
for r in $(seq 0 39); do printf '1,%d,%s\n2,%d,%s\n' "$r" "2.0$((r % 7))" "$r" "4.0$((r % 5))"; done >>simulation.csv
# covariance NAME TEXT: a run of theory.csv and simulation.csv (two points) with that covariance in NAME.csv.
covariance() {
  printf "$2" >"$1.csv"
  printf 'study = "own"\n[theory]\nfile = "theory.csv"\ncovariance = "%s.csv"\n[simulation]\nfile = "simulation.csv"\n[agreement.y]\nrelative = 0.05\n' "$1" >"$1.toml"
}
covariance diagonal '0.0001,0\n0,0.0004\n'
run 0 run diagonal.toml --out runs --name diagonal --quiet $svg
# Uncorrelated errors are those of the column numerical_error, at the 99 % quantile of two independent values.
python3 - <<'PYTHON'
from statistics import NormalDist
c = NormalDist().inv_cdf(1 - (1 - 0.99 ** 0.5) / 2)
print("x,value,numerical_error", f"1,2,{c * 0.01!r}", f"2,4,{c * 0.02!r}", sep="\n", file=open("column.csv", "w"))
PYTHON
printf 'study = "own"\n[theory]\nfile = "column.csv"\n[simulation]\nfile = "simulation.csv"\n[agreement.y]\nrelative = 0.05\n' >column.toml
run 0 run column.toml --out runs --name column --quiet $svg
python3 - runs/diagonal-*/check.json runs/column-*/check.json <<'PYTHON' || fail "a diagonal covariance is not numerical_error"
import json, sys
a, b = (json.load(open(f))["points"] for f in sys.argv[1:])
same = lambda x, y: abs(x - y) <= 1e-9 * abs(y) if isinstance(x, float) and isinstance(y, float) else x == y
assert len(a) == len(b) == 2
for p, q in zip(a, b):
    assert p["verdict"] == q["verdict"] and same(p["margin"], q["margin"]), (p, q)
PYTHON
covariance shared '0.0001,0.0002\n0.0002,0.0004\n'
run 0 run shared.toml --out runs --name shared --quiet $svg
python3 - runs/shared-*/check.json runs/diagonal-*/check.json <<'PYTHON' || fail "an error that two values share has no narrower band"
import json, sys
a, b = (json.load(open(f))["points"] for f in sys.argv[1:])
for p, q, t in zip(a, b, (0.1, 0.2)):
    ratio = (p["margin"] - t) / (q["margin"] - t)
    assert abs(ratio - 2.5758 / 2.8062) < 0.01, ratio
PYTHON
for bad in '1,0\n' '1,2\n2,1\n' '1,0.5\n0.4,1\n' '1,x\n0,1\n'; do
  covariance bad "$bad"
  run 2 run bad.toml --out refused
  says err covariance
done
printf 'study = "own"\n[theory]\nexpression = "x"\ncovariance = "shared.csv"\n[simulation]\nfile = "simulation.csv"\n' >bad.toml
run 2 run bad.toml --out refused
says err "theory.file"

# ---------------------------------------------------------------- a bound on a built-in study
printf 'study = "potts-learning"\n[sim]\nreplicates = 20\n[[bound]]\nname = "generous"\nseries = "excess_loss"\nexpression = "1000/samples"\nprobability = 0.8\n[plot]\nformats = ["svg"]\n' >builtin.toml
run 0 bound builtin.toml --out runs --name builtin --quiet
says out "HOLDS BUT LOOSE"
says "$(echo runs/builtin-*/plots/*.csv)" "bound generous"
run 0 bound "$(echo runs/builtin-*)"
run 2 run builtin.toml --out refused --set 'bound.generous.series="loss"'
says err "bound.generous.series"
run 2 run builtin.toml --out refused --set 'bound.generous.expression="1/("'
says err "bound.generous.expression"
run 2 run builtin.toml --out refused --set 'bound.generous.probabilty=0.5'
says err "did you mean"

finish
