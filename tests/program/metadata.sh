#!/usr/bin/env bash
# What archives and reviewers read agrees with the program: versions, titles, licences, files that are named.
#   metadata.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$project" || exit 1

version=$("$program" --version | sed -E 's/attica ([^ ]*).*/\1/')
says CITATION.cff "version: $version"
says codemeta.json "\"version\": \"$version\""
says .zenodo.json "\"version\": \"$version\""
says packaging/conda/meta.yaml "set version = \"$version\""
says packaging/README.md "attica_${version}_amd64.deb"
for file in CITATION.cff codemeta.json .zenodo.json; do says $file BSD-3-Clause; done
for file in packaging/conda/meta.yaml packaging/spack/package.py packaging/copyright; do says $file GPL-3.0-or-later; done
if command -v python3 >/dev/null; then
  for file in codemeta.json .zenodo.json CMakePresets.json; do
    python3 -m json.tool "$file" >/dev/null || fail "$file is not valid JSON"
  done
  python3 -m py_compile packaging/spack/package.py || fail "the Spack recipe does not parse"
  rm -rf packaging/spack/__pycache__
fi
# "More than N studies" is true, and N the last full ten.
studies=$("$program" list | wc -l)
for file in README.md docs/glossary.md docs/release.md paper/paper.md; do
  number=$(tr '\n|' '  ' <"$file" | grep -oE 'more than [0-9]+ +(built-in +studies|studies|are built in)' | grep -oE '[0-9]+' | head -1)
  [ "${number:-0}" -lt "$studies" ] && [ $((${number:-0} + 10)) -ge "$studies" ] ||
    fail "$file: more than '${number:-?}' studies; attica has $studies"
done
# Every citation of the paper has its entry, and the paper has the journal's sections.
grep -oE '@[a-z]+[0-9]{4}' paper/paper.md | sort -u | while read -r key; do
  grep -q "{${key#@}," paper/paper.bib || echo "$key"
done >"$work/missing"
silent "$work/missing"
for section in Summary 'Statement of need' 'State of the field' Acknowledgements References; do says paper/paper.md "# $section"; done
# Local links of the pages that no site is built from.
for page in SUPPORT.md ROADMAP.md CODE_OF_CONDUCT.md packaging/README.md; do
  grep -oE '\]\([^)#]+' "$page" | cut -c3- | while read -r link; do
    [ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
  done
done >"$work/broken"
silent "$work/broken"
# A dependency of the build is one of the packages' recipes, too.
for name in gsl ceres tbb fmt tomlplusplus cli11 openssl libarchive random123 utf8proc cpp-httplib boost eigen; do
  grep -qi "$name" packaging/conda/meta.yaml || fail "packaging/conda/meta.yaml lacks $name"
  grep -qi "$name" packaging/spack/package.py || fail "packaging/spack/package.py lacks $name"
done
finish
