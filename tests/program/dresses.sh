#!/usr/bin/env bash
# One theory and one simulation in every dress: judge, figure, measure, fit, bound and Python have the same numbers and verdicts, or the
# dress is refused by its name.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
python3 "$project/tests/program/dresses.py" || fail "dresses.py"
read_dresses=(plain.csv semicolons.csv tabs.tsv spaces.txt mark.csv utf16.txt crlf.csv cr.csv blank.csv comments.csv quoted.csv excel.csv
  digits.csv e.csv g.csv float32.csv savetxt.txt savetxt.csv records.json lines.jsonl lists.json columns.json split.json
  plain.csv.gz plain.csv.bz2 plain.csv.xz parts.csv.gz excel.tsv)

# configuration DRESS: study own with a bound.
configuration() {
  printf 'study = "own"\n[theory]\nfile = "theory-%s"\n[simulation]\nfile = "simulation-%s"\n[plot]\nformats = ["svg"]\n' "$1" "$1"
  printf '[[bound]]\nseries = "y"\nexpression = "70/x"\nprobability = 0.9\n'
}

for dress in "${read_dresses[@]}"; do
  configuration "$dress" >own.toml
  run 3 bound own.toml --name "bound-$dress"
  grep -v runs/ out | sed "s/$dress/DRESS/g" >"bound.$dress"
  tail -n +2 runs/bound-"$dress"-*/replicates.csv | sed "s/$dress/DRESS/g" >"replicates.$dress"
  run 0 judge "theory-$dress" "simulation-$dress" --margin 5% --name "judge-$dress"
  grep -v runs/ out | sed "s/$dress/DRESS/g" >"judge.$dress"
  run 0 fit "simulation-$dress" --x x
  sed "s/$dress/DRESS/g" out >"fit.$dress"
  run 0 measure "simulation-$dress"
  sed "s/$dress/DRESS/g" out >"measure.$dress"
  printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "simulation-%s"}]\n' "$dress" >figure.toml
  run 0 figure figure.toml
  sed "s/$dress/DRESS/g" figures/figure.csv >"figure.$dress"
  for what in bound replicates judge fit measure figure; do
    [ -s "$what.$dress" ] || fail "$what of $dress: nothing"
    cmp -s "$what.$dress" "$what.plain.csv" || fail "$what of $dress differs: $(diff "$what.$dress" "$what.plain.csv" | head -4)"
  done
done
says judge.plain.csv "AGREE: 4 of 4 points"

# refused DRESS WORDS: by all, with these words.
refused() {
  run 2 judge theory-plain.csv "simulation-$1" --margin 5%
  says err "$2"
  run 2 judge "theory-$1" simulation-plain.csv --margin 5%
  says err "$2"
  run 2 fit "simulation-$1" --x x
  says err "$2"
  run 2 measure "simulation-$1"
  says err "$2"
  configuration "$1" >own.toml
  run 2 bound own.toml
  says err "$2"
  printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "simulation-%s"}]\n' "$1" >figure.toml
  run 2 figure figure.toml
  says err "$2"
}
refused german.csv "decimals are written with a point"
refused thousands.csv "separators of thousands, decimals with a point"
refused index.csv "the index of a data frame? Write it with index=False"
refused trailing.csv "does the line end with a separator"
refused title.csv "a title above the header"
refused utf16-without-mark.txt "iconv -f UTF-16LE -t UTF-8 FILE"
refused rows.json "orient='records'"
refused schema.json "orient='records'"
refused markdown.md "a Markdown table?"
refused pipes.csv "columns separated by '|'"
refused r.csv "index"
refused r.txt "row.names=FALSE"
refused twice.csv "the header again"
refused blocks.dat "one table a file"
refused behind.csv.gz "bytes behind the end"
refused sum.csv.gz "gzip data: damaged"
run 2 judge theory-plain.csv simulation-array.npy --margin 5%
says err "NumPy .npy file, whose columns have no names"
run 0 measure simulation-array.npy
sed "s/array.npy/DRESS/g" out >measure.npy
cmp -s measure.npy measure.plain.csv || fail "measure of .npy differs: $(diff measure.npy measure.plain.csv | head -4)"

# In Python: data frames, dicts, arrays.
package=$(dirname "$program")/python
if [ -d "$package/attica" ] && python3 -c 'import numpy, pandas' 2>/dev/null; then
  PYTHONPATH="$package" PYTHONDONTWRITEBYTECODE=1 ATTICA_PROGRAM="$program" \
    python3 "$project/tests/program/dresses_python.py" >out 2>err || fail "dresses_python.py: $(tail -3 err)"
  says out "AGREE"
fi
finish
