#!/usr/bin/env bash
# A column of numbers from a German spreadsheet reads as two columns of whole ones, and a header of decimals as a row:
# what can be read in two ways is said. Arrays that are refused come with a conversion that keeps their numbers.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf '1,5\n2,5\n3,25\n' >column.csv
run 0 measure column.csv --json
says err "column.csv: all numbers are whole, in 2 columns; if commas stand for decimal points here, write points"
printf '1.5\n2.5\n3.25\n' >points.csv
run 0 measure points.csv --json
[ ! -s err ] || fail "$(cat err)"
printf '1,50,2,25\n3,50,4,75\n' >pairs.csv
run 0 measure pairs.csv --json
says err "all numbers are whole, in 4 columns"
for matrix in '1,10,2,3\n4,5,6,70\n' '1,0,1,0\n0,1,0,1\n' '1,15,2\n3,45,6\n' '1.0,15,2,25\n3,4,5,6\n'; do
  printf "$matrix" >whole.csv
  run 0 measure whole.csv --json
  [ ! -s err ] || fail "$matrix: $(cat err)"
done
# Names of columns that are decimals, as pandas writes them.
for names in 0.1,0.2,0.3 0.01,0.1,1; do
  printf "$names\n1.7,0.2,0.9\n0.3,1.1,2.5\n" >named.csv
  run 0 measure named.csv --json
  says err "the first line, ${names%%,*} to ${names##*,}, was read as a row of numbers; if it names columns, take it out"
done
# Arrays.
python 0 -c 'import numpy as np
np.save("complex.npy", np.array([[1 + 2j, 3], [4, 5]]))
np.save("record.npy", np.array([(1, 2.5), (3, 4.5)], dtype=[("a", "<f8"), ("<f8", "<f8")]))'
run 2 measure complex.npy
says err "numpy.save(FILE, array.real) or numpy.save(FILE, abs(array))"
run 2 measure record.npy
says err "a structured array"
python 0 -c 'import numpy as np, numpy.lib.recfunctions
np.save("numbers.npy", numpy.lib.recfunctions.structured_to_unstructured(np.load("record.npy")))'
run 0 measure numbers.npy --json
says out '"columns": 2'
finish
