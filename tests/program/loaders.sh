#!/usr/bin/env bash
# A loader reads a run as it is: every row, words and numbers, empty fields, the verdict.
#   loaders.sh PROGRAM PROJECT_FOLDER python3|Rscript|julia
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v "$3" >/dev/null || {
  echo "SKIPPED: no $3 here" >&2
  exit 77
}
# A study whose points have words as coordinates; two replicates decide nothing.
export PYTHONDONTWRITEBYTECODE=1
run 3 run joma-invariants --replicates 2 --quiet --name "older"
run 3 run joma-invariants --replicates 2 --quiet --name "loaded" --seed 2
# Newer folders that are called otherwise: another name, a shard, a hash of nine digits.
for other in loaded-b-0123abcd loaded-0123abcd-shard1of2 loaded-0123abcde; do
  mkdir "runs/$other" && echo '{}' >"runs/$other/run.json"
done

case $3 in
  python3) cat >script <<'END'
import sys
sys.path.insert(0, sys.argv[1])
import attica
run = attica.find("loaded")
assert attica.find(run) == run
results, replicates, check = attica.results(run), attica.replicates(run), attica.record(run)
sim = [r for r in results if r["kind"] == "sim" and r["attention"] == "softmax"][0]
same = ["series", "attention", "activation", "x_name", "x"]
values = [r["value"] for r in replicates if all(r[k] == sim[k] for k in same)]
assert len(values) == sim["n"] == 2 and abs(sum(values) / 2 - sim["mean"]) <= 1e-12 * abs(sim["mean"])
assert all(r["sem"] is None for r in results if r["kind"] == "theory")
assert attica.record(run, "theory")["predictions"][0]["x_name"] == "step"
print(len(results), len(replicates), check["verdict"], len(check["points"]))
END
    ;;
  Rscript) cat >script <<'END'
source(file.path(commandArgs(TRUE), "attica.R"))
run <- attica_find("loaded")
results <- attica_results(run); replicates <- attica_replicates(run); check <- attica_record(run)
sim <- subset(results, kind == "sim" & attention == "softmax")[1, ]
values <- merge(sim, replicates, by = c("series", "attention", "activation", "x_name", "x"))$value
stopifnot(attica_find(run) == run, length(values) == 2, sim$n == 2, all.equal(mean(values), sim$mean, tolerance = 1e-12),
          is.na(subset(results, kind == "theory")$sem), attica_record(run, "theory")$predictions[[1]]$x_name == "step",
          identical(attica_json('{"a\\"": [1, null], "b": [[2]], "c": {}}'), list("a\"" = c(1, NA), b = list(2), c = list())))
cat(nrow(results), nrow(replicates), check$verdict, length(check$points), "\n")
END
    ;;
  julia) cat >script <<'END'
include(joinpath(ARGS[1], "attica.jl"))
run = Attica.find("loaded")
results, replicates, check = Attica.results(run), Attica.replicates(run), Attica.record(run)
sim = first(r for r in results if r.kind == "sim" && r.attention == "softmax")
same(r) = all(r[k] == sim[k] for k in (:series, :attention, :activation, :x_name, :x))
values = [r.value for r in replicates if same(r)]
@assert Attica.find(run) == run && length(values) == sim.n == 2 && sum(values) / 2 ≈ sim.mean
@assert all(ismissing(r.sem) for r in results if r.kind == "theory")
@assert Attica.record(run, "theory")["predictions"][1]["x_name"] == "step"
println(length(results), " ", length(replicates), " ", check["verdict"], " ", length(check["points"]))
END
    ;;
esac
"$3" script "$project/loaders" >read 2>err || fail "the script failed: $(tail -3 err)"
folder=$(ls -d runs/loaded-* | grep -E '/loaded-[0-9a-f]{8}$' | tail -1)
rows() { echo $(($(wc -l <"$1") - 1)); }
points=$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["points"]))' "$folder/check.json")
expected="$(rows "$folder/results.csv") $(rows "$folder/replicates.csv") INCONCLUSIVE $points"
[ "$(xargs <read)" = "$expected" ] || fail "read '$(cat read)', expected '$expected'"
finish
