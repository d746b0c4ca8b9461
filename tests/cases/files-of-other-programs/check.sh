#!/usr/bin/env bash
# What other programs write is read with the values that it has, or refused by its name; nothing of it is left out unsaid.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"

# A first row with the minus sign of typography, or a word for a missing value, is a row and no header.
for first in '−1,2' '–1,2' 'NA,2' '?,2' '<1,2' '$5,2'; do
  printf '%s\n3,4\n5,6\n' "$first" > matrix.csv
  run 2 measure matrix.csv
  says err "matrix.csv:1:1"
  says err "neither a number nor the name of a column"
done

# Matrix Market: with '#' for '%' its coordinates would be read as rows.
printf '%%%%MatrixMarket matrix coordinate real general\n3 3 2\n1 1 5.0\n3 2 1.5\n' > matrix.mtx
run 2 measure matrix.mtx
says err "a Matrix Market file"

# Every array of a .npz, whatever letters its name has.
python 0 -c 'import numpy as np; np.savez("weights.npz", **{"poids_é": np.eye(2), "b": 2 * np.eye(3)})'
run 0 measure weights.npz --json
says out "weights.npz:poids_é"
says out "weights.npz:b"
LC_ALL=C run 0 measure 'weights.npz:poids_é'

# Topics: a byte-order mark, quotes, 1.0 for 1 and words for none make no topic of their own.
printf '1,0.2,0.5,0.1,3\n0,1,0.3,2,0.7\n2,0.1,1,0.4,0.2\n' > vectors.csv
printf '0\n0\n1\n1\n-\n' > topics.txt
run 0 measure vectors.csv --topics topics.txt --json
says out '"topics": 2'
mv out plain.out
for topics in '\xef\xbb\xbf0\n0\n1\n1\n-\n' '0\r\n0\r\n1\r\n1\r\n-\r\n' '0\r0\r1\r1\r-\r' '0.0\n0\n1.0\n1\nnan\n' \
  '"0"\n"0"\n"1"\n"1"\n\n' 'a;0\nb;0\nc;1\nd;1\ne;NA\n'; do
  printf "$topics" > other.txt
  run 0 measure vectors.csv --topics other.txt --json
  same out plain.out
done
iconv -f UTF-8 -t UTF-16 topics.txt > other.txt
run 0 measure vectors.csv --topics other.txt --json
same out plain.out

# A study says of its file of numbers what measure says: the index of a data frame would be one of its sites.
printf 'id,a,b\n0,1,2\n1,2,3.5\n2,2.5,4\n3,5,1\n4,1,1\n' > index.csv
run 0 theory gauss-lambda --set 'model.covariance="data"' --set 'model.file="index.csv"' --set 'sweep.lambda=[0.1]' \
  --set 'sweep.alpha=[2.0]'
says err "the first column, 'id', counts the rows, 0 to 4"
printf '0,1\n2,0.5\n0.5,1\n' > covariance.csv
run 0 theory gauss-lambda --set 'model.covariance="explicit"' --set 'model.file="covariance.csv"' \
  --set 'sweep.lambda=[0.1]' --set 'sweep.alpha=[2.0]'
says err "the first line, 0 to 1, was read as names of columns"

# A truth value is no number; the message says how it is written.
printf 'x,value\n1,0.5\n' > theory.csv
printf 'x,replicate,value\n1,0,True\n1,1,False\n' > truth.csv
run 2 judge theory.csv truth.csv --margin 5%
says err "truth.csv:2:5"
says err "a truth value is written 1 or 0"

# Two tables in one file, the second without a header: said.
printf 'x,mean,sem,n\n1,0.5,0.001,10\n\n#: name: Table 2\n2,0.7,0.001,10\n' > hep.csv
printf 'x,value\n1,0.5\n2,0.7\n' > theory2.csv
run 0 judge theory2.csv hep.csv --margin 5%
says err "hep.csv:4: the rows above and below this comment were read as one table"

# Rows that begin with '#': their number is said.
printf 'run,x,replicate,value\n1,1,0,2\n#1,1,1,2.1\n#2,1,2,1.9\n' > runs.csv
printf 'run,x,value\n1,1,2\n' > of_run.csv
run 3 judge of_run.csv runs.csv --margin 50%
says err "runs.csv:3: 2 lines that begin with '#' have as many fields as a row"

# The number of replicates stands in the table already.
printf 'x,mean,sem,n\n1,0.5,0.001,10\n' > summary.csv
run 2 judge theory.csv summary.csv --margin 5% --n 10
says err "leave out --n"

# A file whose name begins with a dash, and the advice.
cp summary.csv ./-s.csv
run 2 judge theory.csv -s.csv --margin 5%
says err "written './-s.csv'"
run 0 judge theory.csv ./-s.csv --margin 5%

# A key of [model] with the name of x would never be used; a text is no number of a formula.
cat > x.toml <<'END'
x = "t"
[model]
t = 3.0
[sweep]
t = [1.0, 2.0]
[theory.expression]
y = "2*t"
[simulation.expression]
y = "2*t"
END
run 2 theory x.toml
says err "'t' is x here"
sed -e 's/^t = 3.0/k = "3"/; s/"2\*t"/"k*t"/' x.toml > text.toml
run 2 theory text.toml
says err "parameter 'model.k' is the text \"3\": expected a number"
sed 's/"k\*t"/"kk*t"/' text.toml > unknown.toml
run 2 theory unknown.toml
says err "no name 'kk'"

# A data frame's groups come in any order (polars); the line of a figure runs along x.
printf 'x,value\n3,2\n1,3\n2,4\n' > groups.csv
printf 'formats = ["svg"]\nname = "groups"\n[[panels]]\nlayers = [{csv = "groups.csv"}]\n' > groups.toml
run 0 figure groups.toml
[ "$(grep '^a,' figures/groups.csv | cut -d, -f6 | tr '\n' ' ')" = '1 2 3 ' ] || fail "$(cat figures/groups.csv)"

# YAML of HEPData.
printf 'independent_variables:\n- header: {name: X}\n  values: [{value: 1}]\n' > hepdata.yaml
run 2 judge theory.csv hepdata.yaml --margin 5%
says err "YAML"

# Replicates that never got there leave a mean, a constant and an interval without a limit: null, and not an error.
{
  echo d,replicate,value
  for r in $(seq 0 39); do
    [ "$r" -lt 20 ] && echo "1,$r,inf" || echo "1,$r,2"
    echo "2,$r,4"
  done
} > needed.csv
run 1 bound needed.csv --expression 'C*d' --constant C --probability 0.9 --json
says out '"value": null'
run 1 bound needed.csv --expression '3*d' --probability 0.9 --json
says out '"mean": null'
finish
