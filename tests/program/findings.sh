#!/usr/bin/env bash
# Mistakes that were made once: wrong numbers, lost files, injected commands, crashes, silence.   findings.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

small='study = "gauss-lambda"
[model]
sites = 11
[sweep]
alpha = [2.0]
lambda = [0.1, 1.0]
[sim]
replicates = 60
[plot]
formats = ["svg"]
'
printf '%s' "$small" >small.toml
run 0 run small.toml --name whole --quiet --margin 0.3
whole=$(echo "$PWD"/runs/whole-*)
other_study=gauss-double-descent

# One replicate has no error bar, hence no z.
run 3 run small.toml --replicates 1 --seed 9 --name one --quiet
run 0 compare runs/one-* "$whole"
says out "without z: a run with one replicate has no error bar"
grep -q 'reach about' out && fail "z of a single replicate"
run 0 compare runs/one-* "$whole" --json
says out '"z": null'
run 3 check runs/one-*
grep -E '^test_error' out | grep -qE ' 0 +1 ' && fail "the SEM of a single replicate is called 0"
run 3 check runs/one-*
grep -q 'decide' out && fail "one replicate: advice from no error bar"
# Two replicates know little of their own error: z is on the scale of a normal all the same.
for seed in 101 102 103 104; do
  run 3 run small.toml --replicates 2 --seed $seed --name "two$seed" --quiet
  run 0 compare "runs/two$seed-"* "$whole"
  awk '/largest .z/ { exit !($4 + 0 < 4) }' out || fail "seed $seed: $(grep largest out)"
done
# Runs of one seed share their random numbers; runs of different studies share nothing.
run 0 run small.toml --name wide --replicates 61 --quiet --margin 0.3
run 0 compare "$whole" runs/wide-*
says out "both runs have seed"
run 0 run $other_study --set model.sites=11 --set 'sweep.alpha=[2.0]' --set 'sweep.lambda=[1.0]' --replicates 60 --quiet \
  --margin 0.5 --set 'plot.formats=["svg"]' --name other
run 2 compare "$whole" runs/other-*
says err "expected two runs of one study"

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

# The plan names the run that was planned.
run 0 plan small.toml --margin 0.4 --set model.rho=0.5 --set 'sweep.alpha=[4.0]' --seed 7 --quiet
says out "attica run small.toml --set model.rho=0.5 --set 'sweep.alpha=[4.0]' --seed 7 --margin 0.4 --replicates"

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
says out "to decide: run it anew with another --seed and --replicates"
"$program" run small.toml --replicates 20 --name few --resume --quiet >out 2>err
says out "2 looks at these data, at 10, 20 replicates"
run 0 run small.toml --margin 0.5 --name again
says err "has shown the same data already"
says out "margin given after run"
says runs/again-*/check.json '"post_hoc_margin": true'
run 0 run small.toml --margin 5 --seed 77 --name broad --quiet
says out "a relative margin of 5 is 500 % of the theory"

# Text that would break tables, scripts, terminals and job scripts.
run 2 run gauss-lambda --set 'model.covariance="data"' --set 'sweep.file=["a\nb.csv"]' --dry-run
says err "text without control characters"
run 2 slurm small.toml --name $'a\n#SBATCH --wrap=evil\ntouch pwned'
silent out
run 2 slurm small.toml --out $'a\nb'
silent out
run 0 slurm small.toml --name 'two words'
says out "#SBATCH --job-name=two_words"
grep -E '^#SBATCH --output=two_words-%A_%a.log$' out >/dev/null || fail "the log's name"
printf 'study = "\\u001b[31mred"\n' >red.toml
run 2 run red.toml
grep -q $'\x1b' err && fail "escape sequences reach the terminal"
absent pwned

# Crashes and hangs.
{ printf 'study = "gauss-lambda"\n[model]\n'; printf 'a.%.0s' $(seq 40000); printf 'a = 1\n'; } >deep.toml
run 2 run deep.toml --dry-run
says err "a key of more than 256 parts"
run 2 run gauss-lambda --dry-run --set "$(printf 'a.%.0s' $(seq 40000))a=1"
"$program" run small.toml --name closed --replicates 5 --quiet <&- >&- 2>&-
code=$?
[ $code -lt 128 ] || fail "all streams closed: exit code $code"
run 2 plot "$whole" --format svg,svg
run 2 run small.toml --set 'plot.formats=["svg","svg"]'
says err "distinct"
run 2 run small.toml --replicates 1000000000 --name endless
says err "pieces of work"
run 0 run small.toml --replicates 1000000000 --dry-run
says out "MORE THAN THERE IS"
run 0 run small.toml --dry-run --json
one_json out
says out '"seconds"'
# A replicate that takes longer than the measurement: from trainings of fewer steps.
for length in 10000000 1000000000; do
  run 0 run bigrams-stability --set 'sweep.rate_ratio=[0.5]' --set sim.length=$length --dry-run --json
  says out '"complete": true'
  sed -n 's/.*"seconds": \([0-9]*\).*/\1/p' out >long-$length
done
# A hundred times the steps; a busy machine measures within a factor of four.
[ "$(cat long-1000000000)" -gt $((25 * $(cat long-10000000))) ] || fail "length does not count in the estimate"
[ "$(cat long-1000000000)" -lt $((400 * $(cat long-10000000) + 400)) ] || fail "length counts too much in the estimate"
# Points that differ: steps go with 1/eta, of which all sixteen together have 32 times as many as 0.01 alone.
for etas in all 0.01; do
  only=()
  [ $etas = all ] || only=(--set "sweep.eta=[$etas]")
  run 0 run gauss-sgd-steady --preset paper --set 'sweep.batch=[16]' "${only[@]}" --dry-run --json --quiet
  sed -n 's/.*"seconds": \([0-9.]*\).*/\1/p' out >eta-$etas
done
awk -v all="$(cat eta-all)" -v one="$(cat eta-0.01)" 'BEGIN { exit !(all > 12 * one && all < 80 * one) }' ||
  fail "sixteen rates take $(cat eta-all) s, one of them $(cat eta-0.01) s"
# Set-up counts as time: 600 sites' theory alone takes longer.
start=$SECONDS
run 75 run gauss-overlaps --set model.sites=1200 --max-time 0.5 --name slow
[ $((SECONDS - start)) -lt 60 ] || fail "--max-time 0.5 took $((SECONDS - start)) s"
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

# Words.
run 0 help run
says out "--until-decided"
run 0 help
run 2 run --foo
says err "\`run\` has no option '--foo'"
"$program" --version >/dev/full 2>err
[ $? -eq 5 ] || fail "--version to a full disk"
run 0 list topics
[ "$(grep -vc '^topics-' out)" -eq 0 ] || fail "list topics: $(cat out)"
run 2 list nowhere
run 0 show topics-two-stage-deep
says out "There is no theory, claims only"
run 0 cite gauss-lambda
grep -q 'note = ' out && fail "cite: a note would be printed in a bibliography"
says out "doi = {10.48550/arXiv.2304.07235}"
printf 'a;b\n1;2\n3;4\n' >semicolon.csv
run 0 measure semicolon.csv
grep -q '^rows *2$' out && grep -q '^columns *2$' out || fail "semicolons: $(cat out)"
printf ',a,b\n0,1,2\n1,3,4\n' >index.csv
run 2 run gauss-lambda --set 'model.covariance="data"' --set 'model.file="index.csv"' --dry-run
says err "index=False"
[ "$(grep -o '/index.csv' err | wc -l)" -eq 1 ] || fail "the path stands there twice: $(cat err)"
printf '3"4",1\n2,2\n' >quote.csv
run 2 measure quote.csv
says err "a quote inside the field"
run 2 run gauss-lambda --set model.sites=60.0 --dry-run
says err "= 60.0: expected an integer"
rm -rf "$whole/parts"
run 0 status "$whole"
says out "its parts were removed"

# Resuming with an edited configuration is another run, and says so.
"$program" run small.toml --replicates 4000 --max-time 0.05 --name part --quiet >/dev/null 2>&1
"$program" run small.toml --replicates 4000 --max-time 0.05 --name part --set model.rho=0.2 --resume >out 2>err
says err "differs in model.rho"

# Completion knows presets and keys.
run 0 completion bash
bash -c '. ./out; COMP_WORDS=(attica run gauss-lambda --preset ""); COMP_CWORD=4; _attica; echo "${COMPREPLY[*]}"' >words 2>/dev/null
says words "paper"
bash -c '. ./out; COMP_WORDS=(attica run gauss-lambda --set model.r); COMP_CWORD=4; _attica; echo "${COMPREPLY[*]}"' >words 2>/dev/null
says words "model.rho="

# Without gnuplot the data and the script of the figure are there; with SOURCE_DATE_EPOCH a PDF has the same bytes twice.
mkdir bin
for tool in sh bash cat; do ln -s "$(command -v $tool)" bin/; done
PATH=$PWD/bin "$program" run small.toml --name bare --margin 0.3 --seed 5 >out 2>err </dev/null || fail "no gnuplot: $(cat err)"
says err "gnuplot was not found"
present runs/bare-*/plots/gauss-lambda.gp
present runs/bare-*/plots/gauss-lambda.csv
for k in 1 2; do
  SOURCE_DATE_EPOCH=86400 "$program" plot runs/wide-* --format pdf --out epoch$k >/dev/null 2>err || fail "$(cat err)"
  sleep 1
done
same epoch1/gauss-lambda.pdf epoch2/gauss-lambda.pdf
grep -aq '(D:19700102000000Z' epoch1/gauss-lambda.pdf || fail "the PDF's date is not SOURCE_DATE_EPOCH"

# A closed terminal does not stop what runs under nohup.
nohup "$program" run small.toml --replicates 30000 --name night --quiet >out 2>err </dev/null &
night=$!
for _ in $(seq 100); do [ -d "$(echo runs/night-*)/parts" ] && break; sleep 0.05; done
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

# Claims that read a run's data are judged again from any folder; data that have changed are told.
"$program" run gauss-flow --set 'model.covariance="data"' --set 'model.file="tables/a.csv"' --set 'sweep.alpha=[2.0]' --set 'sim.times=[1.0]' \
  --replicates 8 --quiet --name flow --set 'plot.formats=["svg"]' >out 2>err
(cd elsewhere && "$program" check ../runs/flow-* >../out 2>../err)
says out "claim contours"
printf '1,2,3,4\n' >>tables/a.csv
(cd elsewhere && "$program" check ../runs/flow-* >../out 2>../err)
says err "tables/a.csv' has changed since the run"
flow=$(echo "$PWD"/runs/flow-*)
for text in '{broken' '[]' '{"inputs": {"/": 1}}'; do
  printf '%s' "$text" >"$flow/provenance.json"
  run 5 check "$flow"
  says err 'provenance.json'
done

# A mistyped number in the first line does not make it a header.
printf '3x4,1\n2,2\n4,5\n' >slip.csv
run 2 measure slip.csv
says err "'3x4' is neither a number nor the name of a column"

# Names of files do not reach the terminal raw, in whatever is printed.
printf '1,2\n3,4\n' >$'red\e[31m.csv'
run 0 measure $'red\e[31m.csv'
says out '\x1b[31m'
run 0 run small.toml --margin 0.3 --name red --out $'out\e[31m' --quiet
run 0 status $'out\e[31m'/red-*
grep -q $'\e' out && fail "a raw escape character"

# What has no theory shows none.
run 0 run $other_study --set model.sites=11 --set 'sweep.alpha=[1.0]' --set 'sweep.lambda=[0.0]' --replicates 4 --quiet --name peak --set 'plot.formats=["svg"]'
run 0 check runs/peak-*
grep '^test_error' out | awk '{ exit !($5 == "0") }' && fail "a theory of 0 where there is none: $(cat out)"
finish
