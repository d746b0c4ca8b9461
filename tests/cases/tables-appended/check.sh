#!/usr/bin/env bash
# Tables that were appended to one file, whose headers are comments with the columns in another order or by other names.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
printf 'x,value\n1,2\n2,4\n3,6\n' >theory.csv
refused() { # refused TABLE
  printf "$1" >means.txt
  run 2 judge theory.csv means.txt --margin 5%
  says err "two tables in one file"
}
refused '# x mean sem n\n1 2 0.01 12\n# x sem mean n\n2 0.01 4 12\n'
refused '# x mean sem n\n1 2 0.01 12\n# x mean sd n\n2 4 0.1 12\n'
refused '# x mean sem n\n1 2 0.01 12\n# x mean sem n\n2 4 0.1 12\n'
refused 'x,mean,sem,n\n1,2,0.01,12\n# x, sem, mean, n\n2,0.01,4,12\n'
refused '# x mean sem n\n1 2 0.01 12\n\n# x mean sem replicates\n2 4 0.1 12\n'
printf '# x value\n1 2\n2 4\n# x error\n3 6\n' >theory.txt
run 2 judge theory.txt means.txt --margin 5%
says err "theory.txt:4:1: error: a comment that names columns other than line 1 does"
# Other comments are comments.
for remark in '# the second run' '# high mean of three' '# sem as above' '# mean field theory holds' '#'; do
  printf 'x mean sem n\n1 2 0.01 12\n%s\n2 4 0.01 12\n' "$remark" >means.txt
  run 0 judge theory.csv means.txt --margin 5%
done
finish
