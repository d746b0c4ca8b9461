#!/usr/bin/env bash
# Two units of one quantity are refused wherever a header states them: coordinates, errors, columns that are replicates,
# tolerances, layers of one pair of axes, and what a program prints against a table.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,1\n2,0.5\n' >plain.csv
{
  echo 'x,width [um],replicate,value'
  for r in 0 1 2 3 4 5 6 7 8 9; do printf '1,1,%d,1.00%d\n2,1,%d,0.500%d\n' "$r" "$r" "$r" "$r"; done
} >widths.csv
printf 'x,width [nm],value\n1,1,1\n2,1,0.5\n' >theory.csv
run 2 judge theory.csv widths.csv --margin 10%
says err "'width' in [um], but in [nm] in 'theory.csv'"
sed 's/ \[nm\]/ [um]/' theory.csv >same.csv
run 0 judge same.csv widths.csv --margin 10% --independent --name same
sed 's/ \[nm\]//' theory.csv >unstated.csv
run 0 judge unstated.csv widths.csv --margin 10% --independent --name unstated

# A standard error of 3 mm is none of 3 m.
for column in sem sd; do
  printf 'x,mean [m],%s [mm],n\n1,1,3,12\n2,0.5,3,12\n' "$column" >measured.csv
  run 2 judge plain.csv measured.csv --margin 5%
  says err "measured.csv:1:12: error: column '$column' in [mm], but 'mean' in [m]; expected one unit"
done
printf 'x,a [m],b [mm]\n1,1,1000\n2,0.5,500\n' >wide.csv
run 2 judge plain.csv wide.csv --value a --value b --margin 5%
says err "column 'b' in [mm], but 'a' in [m]"
printf 'x,value [m],finite_size [mm]\n1,1,3\n2,0.5,3\n' >tolerance.csv
run 2 judge tolerance.csv widths.csv --margin 5%
says err "column 'finite_size' in [mm], but 'value' in [m]"
run 2 fit wide.csv --x x --value a --value b
says err "expected one unit"

# Layers of one panel; in panels of their own they may have other units.
printf 't [s],value [m]\n1,2\n2,3\n' >seconds.csv
printf 't [ms],value [m]\n1000,2\n2000,3\n' >milliseconds.csv
printf 't [s],value [mm]\n1,2000\n2,3000\n' >millimetres.csv
for other in milliseconds millimetres; do
  cat >figure.toml <<END_OF_FIGURE
formats = ["svg"]
[[panels]]
layers = [{csv = "seconds.csv", x = "t"}, {csv = "$other.csv", x = "t"}]
END_OF_FIGURE
  run 2 figure figure.toml
  says err "of the same axes"
done
printf 'formats = ["svg"]\n[[panels]]\nlayers = [{csv = "seconds.csv", x = "t"}]\n[[panels]]\nlayers = [{csv = "milliseconds.csv", x = "t"}]\n' >figure.toml
run 0 figure figure.toml

# A table of theory, and a program.
cat >own.toml <<'END_OF_CARD'
x = "t"
[theory]
file = "seconds.csv"
[simulation]
command = ["awk", "BEGIN {{print \"t [UNIT],value\\n1,\" 2 + {seed} / 1e22; print \"2,3\"}}"]
[agreement.y]
relative = 0.1
[sim]
replicates = 8
END_OF_CARD
sed 's/UNIT/ms/' own.toml >other.toml
run 2 run other.toml --quiet
says err "x in [ms], but in [s] in"
sed 's/UNIT/s/' own.toml >same.toml
run 3 run same.toml --quiet
finish
