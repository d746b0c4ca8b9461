#!/usr/bin/env bash
# The program as a user meets it: verbs, options, exit codes, messages.   program.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

study=gauss-double-descent
verbs="demo list show init theory run check plot status"
# A run of a fraction of a second that agrees: few points, the margin wide enough for 100 replicates.
small="--set model.sites=20 --set sim.data_sets=1 --set sweep.alpha=[0.5,2.0] --set sweep.lambda=[1.0] --set plot.formats=[\"svg\"]"
quick="$small --replicates 100 --margin 0.2"

# Help and version.
run 0 --help
for verb in $verbs; do says out "  $verb "; done
run 0 --version
says out "attica "
for verb in $verbs; do
  run 0 "$verb" --help
  says out "--help"
  silent err
done
run 2
run 2 --nonsense
run 2 rnu $study
says err "unknown verb 'rnu'; did you mean 'run'?"
run 2 run
run 2 run $study --nonsense
run 2 run $study --threads 0
run 2 run $study --resume --force
run 2 run $study --max-time soon
says err "'--max-time' = soon"
run 2 run $study --margin nan
says err "'--margin' = nan"
run 2 run $study --margin -1
run 2 run $study --seed ""
run 2 run $study --name a/b
says err "--name"
run 2 run $study --out ""
run 2 plot nowhere -f gif

# Studies and their parameters.
run 0 list
says out "$study"
silent err
run 0 show $study
for word in model.covariance model.lambda_unit sweep.alpha sim.replicates test_error 2304.07235 paper; do says out "$word"; done
run 0 show $study --json
one_json out
run 2 show gauss-double-decent
says err "did you mean '$study'?"
run 0 init $study
cp out template.toml
run 0 init $study --preset demo
cp out demo.toml
run 0 theory template.toml
cp out theory.csv
run 0 theory $study
same out theory.csv
run 0 theory demo.toml
run 2 init $study --preset slow
says err "'--preset' = slow"

# Theory: CSV, JSON, divergence is exit 0 and named.
run 0 theory $study --set 'sweep.alpha=[0.5,1.0,2.0]' --set 'sweep.lambda=[0.0]' --set model.sites=21
[ "$(head -1 out)" = "study,series,kind,lambda,x_name,x,mean,sem,sd,n" ] || fail "header of theory's CSV: $(head -1 out)"
[ "$(grep -c "test_error,theory,0,alpha" out)" -eq 2 ] || fail "the divergent point is in theory's CSV"
run 0 theory $study --set 'sweep.alpha=[0.5,1.0,2.0]' --set 'sweep.lambda=[0.0]' --set model.sites=21 --json
one_json out
silent err
for word in '"study"' '"parameters"' '"model.sites": 21' '"series"' '"x_name": "alpha"' '"diverged"'; do says out "$word"; done
run 2 theory $study --set 'sweep.alpha=[0.01,1.0]'
says err "'sweep.alpha' = 0.01"
run 0 theory $study --set 'sweep.rho=[0.1,0.9]' --set 'sweep.alpha=[1.0]'
says out "series,kind,rho,lambda,"
[ "$("$program" theory $study >/dev/full 2>/dev/null; echo $?)" -eq 5 ] || fail "theory onto a full disk: expected exit code 5"

# Bad input: exit 2, the parameter is named, nothing is written.
printf '1,0.5\n0.4,1\n' >asymmetric.csv
printf '1,2\n2,1\n' >indefinite.csv
printf '1,0,0\n0,1,0\n' >oblong.csv
printf '1,nan\nnan,1\n' >nan.csv
printf 'a,b\n1,2\n3\n' >ragged.csv
: >empty.csv
mkdir folder.csv
bad() {  # bad TEXT ARGUMENTS...
  local text=$1
  shift
  run 2 run $study --out bad "$@"
  says err "$text"
  silent out
  absent bad
  run 2 theory $study "$@"
}
explicit() { bad "'model.file'" --set 'model.covariance="explicit"' --set "model.file=\"$1\""; }
for file in asymmetric indefinite oblong nan ragged empty folder missing; do explicit $file.csv; done
bad "asymmetric.csv" --set 'model.covariance="explicit"' --set 'model.file="asymmetric.csv"'
bad "smallest eigenvalue -" --set 'model.covariance="explicit"' --set 'model.file="indefinite.csv"'
bad "ragged.csv:3:1: error: 1 fields, expected 2" --set 'model.covariance="data"' --set 'model.file="ragged.csv"'
bad "'model.file' = (unset)" --set 'model.covariance="data"'
bad "'nu' = 2" --set 'model.covariance="precision"' --set model.nu=2
bad "'sweep.lambda[0]' = -1" --set 'sweep.lambda=[-1]'
bad "'sweep.lambda' = nan" --set 'sweep.lambda=nan'
bad "'sweep.alpha[1]' = 0" --set 'sweep.alpha=[1,0]'
bad "'sweep.alpha' = -1" --set 'sweep.alpha=-1'
bad "'model.sites' = 1" --set model.sites=1
bad "'model.sites' = 2.5" --set model.sites=2.5
bad "'model.rho' = 1" --set model.rho=1
bad "'model.covariance' = \"ar3\"" --set 'model.covariance="ar3"'
bad "unknown key 'rhoo' in [model]; did you mean 'rho'?" --set model.rhoo=0.1
bad "'sim.replicates' = 0" --replicates 0
bad "'sim.replicates' = 1.5" --replicates 1.5
bad "'sim.seed' = -3" --seed=-3
bad "--set model.rho: error: expected key=value" --set model.rho
bad "'model.nu' has no meaning" --set model.nu=7
run 2 run $study --out bad --set 'check.family="maxt"'
says err "'check.family' = maxt"
absent bad
cat >bad.toml <<'END'
study = "gauss-double-descent"
[model]
rho = 2
[sim]
replicate = 14
END
run 2 run bad.toml --out bad
[ "$(cat err)" = "bad.toml:3:1: error: parameter 'model.rho' = 2: expected -1 < rho < 1
bad.toml:5:1: error: unknown key 'replicate' in [sim]; did you mean 'replicates'? (docs/guide.md#change-parameters)" ] || fail "errors of bad.toml: $(cat err)"
printf 'study = "gauss-double-descent"\n[model]\nnu = 2\ncovariance = "precision"\n' >late.toml
run 2 run late.toml --out bad
says err "late.toml:3:1: error: parameter 'nu' = 2: expected nu > 2 tau = 2"
printf 'study = "gauss-double-descent"\n[sweep]\nalpha = 0.001\n' >small.toml
run 2 theory small.toml
says err "small.toml:3:1: error: parameter 'sweep.alpha' = 0.001"
run 2 run missing.toml
says err "cannot read configuration file 'missing.toml'"
absent bad
absent runs

# A dry run writes nothing.
run 0 run $study $quick --dry-run
says out "pieces"
absent runs
run 0 run $study $quick --dry-run --json
one_json out
absent runs

# AGREE, and the folder of a run.
run 0 run $study $quick --name first
folder=$(echo runs/first-????????)
says out "AGREE"
says out "$folder"
for file in run.json config.toml config.resolved.toml provenance.json theory.json log.txt results.csv replicates.csv \
  check.json plots/$study.svg plots/$study.gp plots/$study.csv; do present "$folder/$file"; done
[ -z "$(find runs -name '*.tmp')" ] || fail "temporary files are left over: $(find runs -name '*.tmp')"
run 0 status "$folder"
says out "complete"
run 0 status "$folder" --json
one_json out
says out '"missing": 0'
run 0 check "$folder"
says out "AGREE"
[ "$(grep -c '^test_error\|^train_error' out)" -eq 4 ] || fail "the table of check has not 4 points"
run 0 check "$folder" --json
one_json out
silent err
same out "$folder/check.json"
# The JSON of a run is what check.json holds, and talk goes to standard error.
run 0 run $study $quick --name second --json
one_json out
same out runs/second-????????/check.json
same "$folder/results.csv" runs/second-????????/results.csv
# The resolved configuration and the kept one describe the same run.
run 0 run "$folder/config.resolved.toml" --name third
same "$folder/replicates.csv" runs/third-????????/replicates.csv
[ "${folder#*-}" = "$(echo runs/third-????????| sed 's/.*-//')" ] || fail "the resolved configuration has another hash"

# Existing folders.
run 5 run $study $quick --name first
says err "--resume"
says err "--force"
run 0 run $study $quick --name first --resume
run 0 run $study $quick --name first --force
present "$folder.old-1/results.csv"
same "$folder/results.csv" "$folder.old-1/results.csv"

# Post hoc margins.
run 0 check "$folder" --margin 0.15
says out "post hoc margin 0.15"
says "$folder/check.json" '"post_hoc_margin": true'
run 2 check "$folder" --margin -1
run 2 check "$folder" --margin inf
run 0 check "$folder" --margin 0.3

# Plots are redrawn from the records.
rm -r "$folder/plots"
run 0 plot "$folder" -f svg,png --style neurips --width full
present "$folder/plots/$study.svg"
present "$folder/plots/$study.png"
absent "$folder/plots/$study.pdf"
run 2 plot "$folder" --style vogue

# INCONCLUSIVE with few replicates, and how many would do.
run 3 run $study $small --replicates 10 --name few
says out "INCONCLUSIVE"
run 3 check runs/few-????????
says out "replicates would decide"

# DISAGREE on standardised digits, with the points and the likely cause.
run 1 run $study --preset demo --set model.standardise=true --set 'sweep.alpha=[0.5,1.0,2.0]' \
  --set sim.data_sets=1 --set 'sweep.lambda=[0.1,1.0]' --set 'plot.formats=["svg"]' --replicates 200 --name digits
says out "DISAGREE"
says out "disagrees: test_error at lambda=0.1, alpha="
says out "likely cause: the data are not Gaussian"
says out "pixel_"
says err "columns without variance are left out"
says runs/digits-????????/check.json '"likely_cause": "the data are not Gaussian'
run 1 check runs/digits-????????
says out "likely cause: the data are not Gaussian"

# A covariance in units in which numbers overflow is refused, with the remedy.
printf '1e300,0\n0,1e300\n' >huge.csv
huge="--set model.covariance=\"explicit\" --set model.file=\"huge.csv\" --set sweep.lambda=[1.0] --set sweep.alpha=[2.0]"
run 2 theory $study $huge
says err "rescale the numbers"
silent out
run 2 run $study --set sweep.lambda=[1e308]
says err "'sweep.lambda' = 1e+308"

# Folders that cannot be written, damaged ones, and what is no run.
: >file
run 5 run $study $quick --out file
run 5 run $study $quick --out file/below
run 2 check nowhere
run 2 check folder.csv
says err "is not a run folder"
cp -r "$folder" damaged
echo '[]' >damaged/run.json
run 5 check damaged
run 5 status damaged
cp "$folder/run.json" damaged/run.json
sed -i 's/"format": 2/"format": 99/' damaged/run.json
run 5 check damaged
says err "format 99"
cp "$folder/run.json" damaged/run.json
rm damaged/config.resolved.toml
run 5 check damaged
cp "$folder/config.resolved.toml" damaged/
echo 'half a li' >>damaged/replicates.csv
run 5 check damaged
says err "damaged"
rm damaged/theory.json
run 5 check damaged

# Names in another encoding than UTF-8 are refused with what to type; files beside the configuration.
mkdir beside
{ printf 'caf\xe9,b,c\n'; seq 1 20 | awk '{ print sin($1) "," cos(3 * $1) "," sin(7 * $1) }'; } >beside/table.csv
printf 'study = "%s"\n[model]\ncovariance = "data"\nfile = "table.csv"\n[sweep]\nalpha = [4.0]\nlambda = 1.0\n' $study >beside/c.toml
run 2 theory beside/c.toml --json
says err "table.csv:1:4"
says err "iconv -f LATIN1 -t UTF-8"
iconv -f LATIN1 -t UTF-8 beside/table.csv >table.utf8 && mv table.utf8 beside/table.csv
run 0 theory beside/c.toml --json
one_json out

# A new study: bad names and what is there already are refused, and nothing is written then.
for name in My a_b a- a--b 1a "" test $study; do
  run 2 new "$name"
  says err "NAME"
done
run 2 new alone --in-tree "$project"
run 2 new my-study --in-tree beside
says err "'--in-tree' = beside"
absent my-study
run 0 new my-study
for file in CMakeLists.txt my-study.cpp README.md; do
  says out "my-study/$file"
  grep -q '@[a-z]*@' my-study/$file && fail "my-study/$file has gaps"
done
echo mine >my-study/README.md
run 5 new my-study
says err "'my-study' exists"
[ "$(cat my-study/README.md)" = mine ] || fail "a file is overwritten"

# Into a checkout: of a family that is there, of a new one, of one whose studies have several first words.
mkdir tree
(cd "$project" && git ls-files -z studies docs | xargs -0 cp --parents -t "$work/tree")
cp -r tree before
for new in gauss-mean:gauss/mean fresh-mean:fresh/mean deep-mean:joma/deep_mean; do
  name=${new%:*} file=${new#*:} space=${name/-/_}
  run 0 new "$name" --in-tree tree
  says "tree/studies/$file.cpp" "namespace attica::$space {"
  says "tree/tests/agreement/${file}_test.cpp" "\"$name\""
  [ "$(grep -cE "^(namespace $space \{ Study study\(\); \}|      \{\"$name\", $space::study\},)$" "tree/studies/${file%/*}/studies.cpp")" -eq 2 ] || fail "$name is not listed"
  run 5 new "$name" --in-tree tree
done
[ "$(grep -cx "  fresh" tree/studies/families.cmake)" -eq 1 ] || fail "a new family is not registered"
present tree/docs/gauss-mean.md
says tree/docs/joma.md "## deep-mean"
[ "$(diff -r before tree | grep -c '^<')" -eq 0 ] || fail "attica new takes something away: $(diff -r before tree)"
echo >tree/studies/potts/studies.cpp
run 2 new potts-mean --in-tree tree
says err "has no list"
absent tree/studies/potts/mean.cpp

# Slips of the hand are told with what was probably meant.
run 2
says err 'Usage: attica'
run 2 run gauss-lambda --thread 2
says err "\`run\` has no option '--thread'; did you mean '--threads'?"
run 2 run gauss-lambda --set model.covariance=data
says err "text in quotes"
finish
