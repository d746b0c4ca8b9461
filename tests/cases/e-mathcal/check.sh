#!/usr/bin/env bash
# A calligraphic letter of a label is one in every format.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
command -v gnuplot >/dev/null || {
  echo "SKIPPED: no gnuplot here" >&2
  exit 77
}
run 0 figure calligraphic.toml --format svg,tex
says figures/calligraphic.svg "ℰ"
says figures/calligraphic.tex '\mathcal{E}'
# Siblings: other alphabets, and letters that are typed as they are.
cat >siblings.toml <<'TOML'
[[panels]]
x.label = "$\\mathcal{D}_{\\mathbb{R}}$ and $f'$"
y.label = "error 𝓛"
layers = [{csv = "c.csv", label = "a"}]
TOML
run 0 figure siblings.toml --format svg,tex
says figures/siblings.svg "𝒟"
says figures/siblings.svg "ℝ"
for word in '\mathcal{D}' '_{\mathbb{R}}' '\mathcal{L}' "\\ensuremath{'}"; do says figures/siblings.tex "$word"; done
for command in mathfrak mathscr hat bar tilde; do
  printf '[[panels]]\ny.label = "$\\\\%s{E}$"\nlayers = [{csv = "c.csv"}]\n' "$command" >bad.toml
  run 2 figure bad.toml
  says err "without '\\$command'"
done
finish
