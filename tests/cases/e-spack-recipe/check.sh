#!/usr/bin/env bash
# The recipes of conda-forge and Spack require every library whose header is included, and name options and files that exist.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 recipes.py "$project" >out 2>err || fail "$(cat out err)"
# The faults that it is for: a header of no known library, a library that one recipe lacks, an option and a file that are gone.
for folder in core solvers theory sim plots studies sources app packaging; do cp -r "$project/$folder" .; done
cp "$project/CMakeLists.txt" "$project/LICENSE" .
printf '#include <plotlib.h>\n' >>plots/gnuplot.cpp
sed -i '/depends_on("utf8proc")/d; s/ATTICA_BENCH/ATTICA_BENCHES/' packaging/spack/package.py
sed -i '/libarchive/d' packaging/conda/meta.yaml
rm packaging/GPL-3
/usr/bin/python3 recipes.py . >out 2>err && fail "faults go unnoticed"
says out "plots/gnuplot.cpp: <plotlib.h> belongs to no library that the recipes could require"
says out "packaging/spack/package.py: no utf8proc, of <utf8proc.h...>"
says out "packaging/spack/package.py: there is no option ATTICA_BENCHES"
says out "packaging/conda/meta.yaml: no libarchive, of <archive...>"
says out "packaging/conda/meta.yaml: there is no file packaging/GPL-3"
finish
