#!/usr/bin/env bash
# What a refusal recommends is what helps: it is typed here, and then the file is read.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,0.5\n' >theory.csv
replicates() { for r in 0 1 2 3 4 5 6 7 8 9; do printf "$1" "$r" "$r"; done; }
{ echo x,replicate,value; replicates '1,%d,1.00%d\n'; replicates '2,%d,0.500%d\n'; } >plain.csv

# Decimal commas between commas are no names of rows.
sed '2,$s/\./,/' plain.csv >german.csv
run 2 judge theory.csv german.csv --margin 10%
says err "4 fields, expected 3 as in the header; decimals are written with a point"
sed '2,$s/,\([0-9]*\)$/.\1/' german.csv >mended.csv
run 0 judge theory.csv mended.csv --margin 10% --independent --name mended
{ sed -n 1p plain.csv; sed -n '2,$s/^/"a",/p' plain.csv; } >rows.csv
run 2 judge theory.csv rows.csv --margin 10%
says err "row.names=FALSE"

# The apostrophe by which a spreadsheet marks text.
sed "2,\$s/,\([0-9.]*\)$/,'\1/" plain.csv >apostrophe.csv
run 2 judge theory.csv apostrophe.csv --margin 10%
says err "take the apostrophe out"
tr -d "'" <apostrophe.csv >mended.csv
run 0 judge theory.csv mended.csv --margin 10% --independent --name mended

# A column named twice, and one of a standard deviation.
printf 'x,a,b\n1,1,1\n2,0.5,0.5\n' >wide.csv
run 2 judge theory.csv wide.csv --value a --value a --margin 10%
says err "parameter '--value' = a: expected each column once"
printf 'x,mean,std,n\n1,1,0.01,12\n2,0.5,0.01,12\n' >std.csv
run 2 judge theory.csv std.csv --margin 10%
says err "'sd' (of replicates; --sd NAME)"
run 0 judge theory.csv std.csv --margin 10% --sd std

# --match is not recommended to who has given it.
{ echo x,replicate,value; replicates '1,%d,1.0%d\n'; replicates '1.05,%d,1.0%d\n'; } >near.csv
run 3 judge theory.csv near.csv --margin 10% --match 0.1 --independent --name near
says out "y at x=1.05: the nearest x of the theory is 1, within --match 0.1, but another x is as near"

# Lightning's metrics.csv: rows in which another metric was logged.
{ echo x,replicate,value; replicates '1,%d,\n1,%d,1.01\n'; replicates '2,%d,\n2,%d,0.501\n'; } >lightning.csv
run 2 judge theory.csv lightning.csv --margin 10%
says err "one of the two has no value: if another quantity was logged there, leave such rows out (pandas: D.dropna())"
grep -v ',$' lightning.csv >mended.csv
run 3 judge theory.csv mended.csv --margin 10% --name lightning
says out "all 10 replicates are 1.01"

# Names of runs are numbered.
sed '2,$s/,\([0-9]\),/,run-\1,/' plain.csv >runs.csv
run 2 judge theory.csv runs.csv --margin 10%
says err "replicate = 'run-0': expected a whole number from 0 to 2^53 (pandas numbers names: D['replicate'].factorize()[0])"
python 0 -c 'import pandas
D = pandas.read_csv("runs.csv")
D["replicate"] = D["replicate"].factorize()[0]
D.to_csv("mended.csv", index=False)'
run 0 judge theory.csv mended.csv --margin 10% --independent --name runs

# A word is no number; a program's log is no table.
sed 's/1\.000/none/' plain.csv >word.csv
run 2 judge theory.csv word.csv --margin 10%
says err "value = 'none': expected a number, nan or nothing"
sed 's/none/nan/' word.csv >mended.csv
run 4 judge theory.csv mended.csv --margin 10% --name word
{ echo starting; cat plain.csv; } >log.csv
run 2 judge theory.csv log.csv --margin 10%
if grep -q "did you mean" err; then fail "$(cat err)"; fi

# A size of 0 has no power law; sizes that are left out by --window are.
awk 'BEGIN { srand(5); print "n,replicate,value"; for (r = 0; r < 10; ++r) print "0," r ",1"
  for (n = 4; n < 200; n *= 2) for (r = 0; r < 10; ++r) print n "," r "," exp(0.1 * rand()) / n }' >sizes.csv
run 2 fit sizes.csv --x n --exponent -1
says err "'sizes.csv': n = 0, expected sizes > 0"
says err "--expect n=-1 in place of --exponent, and --window n=LOW:"
run 0 fit sizes.csv --x n --expect n=-1 --window n=1:
run 2 fit sizes.csv --x n --floor
says err "power laws are; --window n=LOW:"
run 0 fit sizes.csv --x n --floor --window n=1:
# Values that a learning curve lacks are counted.
awk 'BEGIN { print "n,replicate,step,value"; for (n = 8; n < 300; n *= 2) for (r = 0; r < 10; ++r)
  for (s = 1; s < 5000; s *= 3) print n "," r "," s "," (s == 27 ? "" : n * (1 + 0.01 * r) / s) }' >curves.csv
run 0 fit curves.csv --x n --reach 1 --along step
says err "60 values that are missing or infinite were left out of the curves"

# A formula's names: x of a table without it is none.
awk 'BEGIN { print "d,replicate,value"; for (d = 4; d < 40; d *= 2) for (r = 0; r < 40; ++r) print d "," r "," 2 * d }' >needed.csv
run 2 bound needed.csv --expression '3*e' --probability 0.9
says err "known are delta, d"
run 2 bound needed.csv --expression '3*d + none' --probability 0.9

# Values whose squares no double holds are no failures of a program; the smallest ones have an end, too.
awk 'BEGIN { print "x,replicate,value"; for (r = 0; r < 40; ++r) print "1," r "," (1 + 0.001 * (r % 3)) "e200" }' >large.csv
printf 'x,value\n1,1e200\n' >large_theory.csv
run 3 judge large_theory.csv large.csv --margin 5% --independent
says out "40 of 40 replicates failed, 40 of them beyond 1e+150: choose another unit"
sed 's/e200/e-320/' large.csv >small.csv
sed 's/e200/e-320/' large_theory.csv >small_theory.csv
timeout 60 "$program" judge small_theory.csv small.csv --margin 5% --independent >out 2>err </dev/null
[ $? -le 3 ] || fail "numbers of 1e-320: $(cat err)"

# Truth values of a table with gaps.
printf 'x,value,compared\n1,1,1.0\n2,9,0.0\n' >flags.csv
run 0 judge flags.csv plain.csv --margin 10% --independent --name flags
says out "1 not compared"

# Texts in a list of JSON.
printf '[{"text": "one two one three"},\n {"text": "two one three two"}]\n' >texts.json
run 2 theory bigrams-boosting --set 'model.instance="text"' --set 'model.unit="word"' --set 'model.file="texts.json"'
says err "jq -r '.[].text' FILE"
printf '{"text": "one two one three"}\n{"text": "two one three two"}\n' >texts.jsonl
run 2 theory bigrams-boosting --set 'model.instance="text"' --set 'model.unit="word"' --set 'model.file="texts.jsonl"'
says err "jq -r .text FILE"

python 0 - <<'END_OF_PYTHON' || fail "$(cat err)"
import attica
import numpy as np

values = np.array([1, 0.5])[:, None] * (1 + 0.01 * np.random.default_rng(1).normal(size=(2, 12)))
judge = dict(theory=[1, 0.5], x=[1, 2], margin=0.1, out=None, independent=True)
of_matrix, of_array = (attica.judge(simulate=v, **judge).points.column("mean") for v in (np.matrix(values), values))
assert list(of_matrix) == list(of_array), of_matrix
try:
    attica.training(lambda theta, weights: theta, start=[np.nan, 0.0], rate=0.1, batch=2, steps=[0, 1])
    raise SystemExit("a start of nan")
except attica.Error as error:
    assert "'start' has nan at place 0" in str(error), error
END_OF_PYTHON
finish
