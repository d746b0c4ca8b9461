#!/usr/bin/env bash
# What a run recorded: damaged tables, looks, edited scripts, read-only folders, files found from any folder.   records.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source "$(dirname "${BASH_SOURCE[0]}")/small_run.sh"

# A replicates.csv that is not whole is never judged.
damage() { # damage NAME COMMAND: the table changed by a filter
  rm -rf "$1"
  cp -r "$whole" "$1"
  eval "$2" <"$whole/replicates.csv" >"$1/replicates.csv"
  run 5 check "$1"
  says err damaged
}
damage cut 'head -c 4000'
says err "the last line has no end"
damage unterminated 'head -c -1'
damage missing 'sed 30d'
damage repeated "sed -n 'p;\$p'"
damage again "cat - <(sed -n 2p '$whole/replicates.csv')"
damage half 'head -60'
# The same of a run that was recorded before the number of values was.
damage old 'head -60'
sed -i '/"values":/d' old/run.json
run 5 check old
says err "replicates"

# Reproducing: --until-decided belongs to the command, own data are found from any folder, names are quoted.
run 0 run small.toml --until-decided --replicates 200 --margin 0.3 --name 'early $(touch pwned)' --quiet
grep -qF "attica run config.resolved.toml --name 'early \$(touch pwned)' --until-decided" runs/early*/report.html ||
  fail "the report's command: $(grep -o 'attica run config.resolved.*' runs/early*/report.html)"
mkdir -p data elsewhere
head -60 "$project/data/digits.csv" | cut -d, -f20-27 >data/own.csv
own="--set model.covariance=\"data\" --set model.file=\"data/own.csv\" --set sweep.alpha=[2.0] --set sweep.lambda=[1.0]"
"$program" run gauss-lambda $own --replicates 20 --name own --quiet --set 'plot.formats=["svg"]' >/dev/null 2>&1
cp runs/own-*/config.resolved.toml elsewhere/
(cd elsewhere && "$program" run config.resolved.toml --name own --quiet >/dev/null 2>../err)
same elsewhere/runs/own-*/replicates.csv runs/own-*/replicates.csv

# Looks, and margins that come after the data, are recorded.
run 3 run small.toml --replicates 10 --name few --quiet
says out "undecided: test_error at"
says out "to decide: run it again with another --seed and --replicates"
"$program" run small.toml --replicates 20 --name few --resume --quiet >out 2>err
says out "2 looks at these data, at 10, 20 replicates"
run 0 run small.toml --margin 0.5 --name again
says err "has shown the same data already"
says out "margin given after run"
says runs/again-*/check.json '"post_hoc_margin": true'
run 0 run small.toml --margin 5 --seed 77 --name broad --quiet
says out "a relative margin of 5 is 500 % of the theory"

# Resuming with an edited configuration is another run, and says so.
"$program" run small.toml --replicates 4000 --max-time 0.05 --name part --quiet >/dev/null 2>&1
"$program" run small.toml --replicates 4000 --max-time 0.05 --name part --set model.rho=0.2 --resume >out 2>err
says err "differs in model.rho"

# A closed terminal does not stop what runs under nohup.
nohup "$program" run small.toml --replicates 30000 --name night --quiet >out 2>err </dev/null &
night=$!
for _ in $(seq 1200); do [ -d "$(echo runs/night-*)/parts" ] && break; sleep 0.05; done
kill -HUP $night
wait $night
[ $? -eq 75 ] && fail "nohup is no help against SIGHUP"

# Files of a sweep are found where they lay, from any folder.
mkdir -p tables elsewhere
for name in a b; do
  awk -v s=$name 'BEGIN { srand(s == "a" ? 1 : 2); print "w,x,y,z"; for (i = 0; i < 60; ++i) print rand() "," rand() "," rand() "," rand() }' >tables/$name.csv
done
"$program" run gauss-lambda --set 'model.covariance="data"' --set 'sweep.file=["tables/a.csv","tables/b.csv"]' --set 'sweep.alpha=[2.0]' \
  --set 'sweep.lambda=[1.0]' --replicates 4 --quiet --name swept --set 'plot.formats=["svg"]' >out 2>err
(cd elsewhere && "$program" rerun ../runs/swept-* >../out 2>../err) || fail "rerun of swept files: $(cat err)"
says out "equal      replicates.csv"

# A run of a user's data is judged again from any folder; data that have changed are named.
"$program" run gauss-flow --set 'model.covariance="data"' --set 'model.file="tables/a.csv"' --set 'sweep.alpha=[2.0]' --set 'sim.times=[1.0]' \
  --replicates 8 --quiet --name flow --set 'plot.formats=["svg"]' >out 2>err
(cd elsewhere && "$program" check ../runs/flow-* >../out 2>../err)
says out "points agree"
printf '1,2,3,4\n' >>tables/a.csv
(cd elsewhere && "$program" check ../runs/flow-* >../out 2>../err)
says err "tables/a.csv' has changed since the run"
flow=$(echo "$PWD"/runs/flow-*)
for text in '{broken' '[]' '{"inputs": {"/": 1}}'; do
  printf '%s' "$text" >"$flow/provenance.json"
  run 5 check "$flow"
  says err 'provenance.json'
done

other_study=gauss-double-descent
# What has no theory shows none; a run that compares nothing is INCONCLUSIVE.
run 3 run $other_study --set model.sites=11 --set 'sweep.alpha=[1.0]' --set 'sweep.lambda=[0.0]' --replicates 4 --quiet --name peak --set 'plot.formats=["svg"]'
run 3 check runs/peak-*
grep '^test_error' out | awk '{ exit !($5 == "0") }' && fail "a theory of 0 where there is none: $(cat out)"

# What an interrupted drawing left is taken away.
mkdir "$whole/plots/.gauss-lambda.999999999"
run 0 plot "$whole"
absent "$whole/plots/.gauss-lambda.999999999"

# A script that was edited is not lost.
sed -i 's/^set key/# mine\nset key/;$!b' "$whole/plots/gauss-lambda.gp"
echo '# mine' >>"$whole/plots/gauss-lambda.gp"
cp "$whole/plots/gauss-lambda.gp" mine.gp
run 5 plot "$whole"
says err "was edited"
run 0 run small.toml --margin 0.3 --name whole --resume
says err "was edited"
same "$whole/plots/gauss-lambda.gp" mine.gp
says "$whole/report.html" "was edited by hand"  # which says so
says "$whole/report.html" "may be of earlier data"
run 0 plot "$whole" --out drawn --style neurips
echo mine >>drawn/gauss-lambda.csv
run 5 plot "$whole" --out drawn
rm drawn/gauss-lambda.csv
run 0 plot "$whole" --out drawn
present drawn/gauss-lambda.svg
same "$whole/plots/gauss-lambda.gp" mine.gp
run 0 plot "$whole" --force
grep -q '^# mine' "$whole/plots/gauss-lambda.gp" && fail "--force did not replace the script"

# Somebody else's run can be judged, not written.
chmod -R a+rX "$work" && chmod -R a-w "$whole"
as_other=()
[ "$(id -u)" -ne 0 ] || as_other=(setpriv --reuid=65534 --regid=65534 --clear-groups)
if [ "$(id -u)" -ne 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$program" 2>/dev/null; then
  "${as_other[@]}" "$program" check "$whole" >out 2>err </dev/null || fail "check of a read-only run: $(cat err)"
  says out "AGREE:"
  says err "cannot be written"
  "${as_other[@]}" "$program" plot "$whole" >out 2>err </dev/null && fail "plot wrote into a read-only run"
  says err "--out DIR"
  mkdir -m 777 open
  "${as_other[@]}" "$program" report "$whole" --out open >out 2>err </dev/null || fail "report elsewhere: $(cat err)"
  present open/report.html
fi
chmod -R u+w "$whole"
finish
