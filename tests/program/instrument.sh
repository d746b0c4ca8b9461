#!/usr/bin/env bash
# Planning, stopping early, special checks, comparing, citing, completion, manual page, measures.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

study=gauss-double-descent
small="--set model.sites=20 --set sim.data_sets=1 --set sweep.alpha=[0.5,2.0] --set sweep.lambda=[1.0] --set plot.formats=[\"svg\"]"

# plan: a number that a run then confirms.
run 0 plan $study $small --margin 0.1 --json --quiet
one_json out
replicates=$(sed -n 's/^ *"replicates": \([0-9]*\),$/\1/p' out)
[ "${replicates:-0}" -ge 30 ] || fail "plan gave no number of replicates"
run 0 plan $study $small --margin 0.1 --quiet
says out "replicates   $replicates"
run 0 run $study $small --margin 0.1 --replicates "$replicates" --name planned --quiet
says out AGREE
run 2 plan $study $small --power 2
# Of a study that only claims, the claims.
run 0 plan potts-alignment --quiet
says out "of 7 shown by the pilot"
run 2 plan potts-alignment --resolution 0.01 --quiet
says err "compares nothing"

# --until-decided: fewer replicates than the cap, the same verdict from check, no switching of rules on resume.
run 0 run $study $small --margin 0.2 --replicates 1000 --until-decided --name early --quiet
says out "stopped by rule at"
early=$(echo runs/early-*)
used=$(sed -n 's/^ *"replicates": \([0-9]*\),$/\1/p' "$early/run.json")
[ "$used" -lt 1000 ] || fail "--until-decided used all replicates"
cp "$early/check.json" before.json
run 0 check "$early"
says out "would have been detected by the cap of 1000 replicates"
same "$early/check.json" before.json
run 2 run $study $small --margin 0.2 --replicates 1000 --name early --resume --quiet
says err "--until-decided"
cp "$early/results.csv" before.csv
run 0 run $study $small --margin 0.2 --replicates 1000 --until-decided --name early --resume --quiet
same "$early/results.csv" before.csv
run 2 run $study $small --until-decided --replicates 10 --name few
says err "at least 30"
# Its replicates are those of an ordinary run.
run 0 run $study $small --margin 0.2 --replicates "$used" --name ordinary --quiet
cmp -s "$early/replicates.csv" runs/ordinary-*/replicates.csv || fail "stopping early changes replicates"

# What a verdict is worth: resolution, errors planted in the theory, sensitivity, replicates for a resolution.
planned=$(echo runs/planned-*)
run 0 check "$planned"
says out 'in test_error would have been detected'
cp "$planned/check.json" before.json
run 1 check "$planned" --perturb 'test_error*=1.4'
says out 'perturbed theory: test_error*=1.4'
run 1 check "$planned" --perturb model.rho=0.3 --json
one_json out
same "$planned/check.json" before.json
for wrong in nonsense 'no_series*=2' 'test_error*=-1' model.rho=7 model.sitess=3; do run 2 check "$planned" --perturb "$wrong"; done
run 0 check "$planned" --sensitivity
says out 'model.rho'
run 1 run $study $small --margin 0.1 --perturb 'test_error*=1.4' --name wrong --quiet
says out 'perturbed theory'
says "$(echo runs/wrong-*)/report.html" 'The theory is perturbed on purpose'
run 2 run $study $small --perturb 'test_error*=1.4' --shard 1/2 --quiet
run 0 plan $study $small --margin 0.1 --resolution 0.4 --quiet --json
one_json out
run 2 plan $study $small --resolution 0 --quiet

# Nothing is edited in silence.
cp -r "$planned" edited
sed -i 's/1/2/' edited/replicates.csv
for verb in check plot report; do
  run 5 $verb edited
  says err 'replicates.csv changed since the run wrote it'
done
"$program" check edited --accept-edits >out 2>err
says out 'edited after the run: replicates.csv'
run 0 report edited --accept-edits
says edited/report.html 'Edited after the run'
cp -r "$planned" crlf
sed -i 's/$/\r/' crlf/replicates.csv crlf/results.csv
run 0 check crlf
rm -r crlf/manifest.json
run 5 check crlf
says err 'manifest.json'

# check --self-test and --extrapolate.
planned=$(echo runs/planned-*)
run 0 check "$planned" --self-test
says out "the measured error rates agree with the stated ones"
run 0 run potts-alignment --name claims --quiet
run 0 check runs/claims-* --self-test --json  # claims alone
one_json out
run 2 check "$planned" --extrapolate
says err "sweep.sites"
run 0 run $study --set 'sweep.sites=[11,21,41,81]' --set 'sweep.alpha=[2.0]' --set 'sweep.lambda=[1.0]' \
  --set 'theory.order="leading"' --set sim.data_sets=1 --set 'plot.formats=["svg"]' --replicates 400 --name sizes --quiet
run 0 check runs/sizes-* --extrapolate --margin 0.02
says out "AGREE: extrapolated limits"
run 0 check runs/sizes-* --extrapolate --margin 0.02 --json
one_json out
# Series whose margin is all finite size have one of the limit, or none and are told; a wrong limit is found where no size shows it.
masked="run masked-spectrum --set sweep.dimension=[30,60,120,240] --set sweep.alpha=[2.0] --set sim.bins=10 --replicates 300 --quiet"
svg='plot.formats=["svg"]'
run 0 $masked --set "$svg" --name limit
run 0 check runs/limit-* --extrapolate
says out "margin 0.02 abs: AGREE"
says out "AGREE: extrapolated limits"
run 1 $masked --set "$svg" --name wrong-limit --perturb 'moment3*=1.04'
run 1 check runs/wrong-limit-* --extrapolate
says out "DISAGREE: extrapolated limits"
run 1 $masked --set "$svg" --name wrong-density --perturb 'density*=1.1'
run 1 check runs/wrong-density-* --extrapolate
[ "$(grep -c '^moment.*: DISAGREE' out)" -eq 0 ] || fail "a limit disagrees that was not planted: $(cat out)"
run 3 run icl-diversity --set 'sweep.dimension=[4,6,8]' --set 'sweep.kappa=[1.0]' --replicates 8 --set "$svg" --name small-sizes --quiet
run 3 check runs/small-sizes-* --extrapolate
says out "margin 0.05: INCONCLUSIVE"
# A study of one's own that states no margin: what the built-in theory allows for is all finite size.
printf 'study = "own"\nx = "kappa"\n[theory]\nstudy = "icl-diversity"\n[simulation]\nstudy = "icl-diversity"\n' >same.toml
run 3 run same.toml --set 'sweep.dimension=[4,6,8]' --set 'sweep.kappa=[1.0]' --replicates 8 --set "$svg" --name marginless --quiet
run 0 check runs/marginless-* --extrapolate
says out "NONE; no margin without finite size: reported, not judged"

# What is read back is judged as it was: a table's columns have one order, the points of a study several.
run 3 run potts-loss --replicates 2 --set sim.length=40 --set sim.starts=1 --set 'plot.formats=["svg"]' --name orders --quiet
cp runs/orders-*/check.json before
run 3 check runs/orders-*
same before runs/orders-*/check.json

# compare, cite, config, doctor, report.
run 0 compare "$planned" "$early" --json
one_json out
run 0 compare "$planned" "$planned"
says out "parameters that differ: 0"
says out "of which 0 differ"
run 0 cite $study
says out "@misc{rende2024mapping,"
says out "@software{attica,"
run 0 cite "$planned"
run 0 config show $study --set model.rho=0.5
says out "rho = 0.5"
cp out resolved.toml
run 0 config show resolved.toml
same out resolved.toml
run 0 config keys $study
says out "model.covariance"
run 2 config shw $study
run 0 doctor --json
one_json out
rm "$planned/report.html"
run 0 report "$planned"
present "$planned/report.html"
says "$planned/report.html" "AGREE"
grep -Eq '(src|href)="(https?:)?//' "$planned/report.html" && fail "the report refers to the network"
# What a figure draws beside its points and no verdict knows is said beneath it, and only that.
grep -q "but not compared" "$planned/report.html" && fail "the report leaves out points that are compared"
run 3 run masked-transfer --quiet --name weak --replicates 20 --set model.dimension=100 --set 'sweep.alpha=[0.05,4.0]' \
  --set 'sweep.labels=[10,30]' --set 'plot.formats=["svg"]'
says "$(echo runs/weak-*)/report.html" \
  "Drawn, but not compared: feature_risk at alpha = 0.05 (2 points); gain at alpha = 0.05 (2 points). Reason: features learnt below 1.3 of the threshold"

# A run that says it is older than manifests has one all the same.
cp -r "$planned" older
sed -i 's/"format": 2/"format": 1/' older/run.json
sed -i '2s/[0-9]$/7/' older/replicates.csv
run 5 check older
says err "changed since the run wrote"

# completion and manual page come from the verbs' own table.
run 0 completion bash
bash -n out || fail "the completion script does not parse"
says out "--until-decided"
run 0 completion zsh
run 0 completion fish
if command -v fish >/dev/null; then fish -n out || fail "the completion script for fish does not parse"; fi
says out "complete -c attica"
run 0 man
for verb in demo list show init theory run check plan plot report status compare cite config measure doctor; do
  says out ".SS \"$verb"
done

# measure: an identity, a rank-one matrix, rows that are distributions.
printf '1,0\n0,1\n' > identity.csv
printf '0.5,0.5\n0.25,0.75\n' > rows.csv
run 0 measure identity.csv rows.csv --json
says out '"stable_rank": 2.0'
says out '"attention_entropy"'
says out '"participation": 0.5625'
says out '"shared": 0.5'
# Layers at step 0 next to theory: tokens and attention are counted apart.
printf '2,0,0\n0,2,0\n0,0,2\n' > tokens.csv
shape=(--set model.context=64 --set model.dimension=256 --set model.heads=4)
run 0 measure tokens.csv rows.csv --against init-propagation "${shape[@]}" --set 'sweep.beta=[1.5]' --json
python3 - out <<'PYTHON' || fail "measure --against: $(cat out)"
import json, sys
tokens, attention = json.load(open(sys.argv[1]))
assert tokens["block"] == attention["block"] == 1 and tokens["distance"] == 1 and "distance" not in attention
assert abs(tokens["off_distance"] - (1 / tokens["theory_distance"] - 1)) < 1e-12 and tokens["deviations_distance"] > 0
assert abs(attention["off_shared"] - (attention["shared"] / attention["theory_shared"] - 1)) < 1e-12
PYTHON
run 2 measure tokens.csv --against init-propagation "${shape[@]}" --set 'sweep.beta=[1.5,0.5]'
says err "sweep.beta=[1.5]"
run 2 measure tokens.csv --against gauss-lambda
says err "init-propagation"
run 2 measure nowhere.npy
says err nowhere.npy
printf '1,x\n' > bad.csv
run 2 measure bad.csv

finish
