#!/usr/bin/env bash
# Figures of several runs and tables, and what can be said of any figure.   figure.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
command -v gnuplot >/dev/null || {
  echo "SKIPPED: no gnuplot here" >&2
  exit 77
}
small="--set sweep.alpha=[0.5,1.0,2.0] --set model.sites=20 --set sim.replicates=20 --set plot.formats=[\"svg\"] --quiet"
for rho in 0.3 0.9; do "$program" run gauss-double-descent $small --set model.rho=$rho --name rho-$rho >out 2>err; done
"$program" run gauss-double-descent $small --set model.rho=0.3 --seed 5 --name seed >out 2>err
"$program" run gauss-lambda --set 'sweep.alpha=[0.5]' --set 'sweep.lambda={log=[0.01,1.0],n=4}' --set model.sites=20 \
  --replicates 20 --set 'plot.formats=["svg"]' --name lambda --quiet >out 2>err
low=$(echo runs/rho-0.3-*) high=$(echo runs/rho-0.9-*) seed=$(echo runs/seed-*) lambda=$(echo runs/lambda-*)

# numbers CSV PANEL SERIES KIND WHERE VALUE: x,y of the rows of a figure's data whose column WHERE holds VALUE.
numbers() {
  python3 - "$@" <<'EOF'
import csv, sys
path, panel, series, kind, where, value = sys.argv[1:]
for row in csv.DictReader(open(path, encoding="utf-8")):
    if (row["panel"], row["series"], row["kind"], row[where]) == (panel, series, kind, value):
        print(row["x"], row["y"])
EOF
}
# recorded RUN SERIES KIND LAMBDA: the same of a run's results.csv.
recorded() {
  python3 - "$@" <<'EOF'
import csv, sys
folder, series, kind, value = sys.argv[1:]
for row in csv.DictReader(open(folder + "/results.csv", encoding="utf-8")):
    if (row["series"], row["kind"], row["lambda"]) == (series, kind, value):
        print(row["x"], row["mean"])
EOF
}

# ---------------------------------------------------------------------------------------- runs: told apart by parameters
run 0 figure "$low" "$high" --out two
for file in csv gp svg; do present two/gauss-double-descent.$file; done
says two/gauss-double-descent.svg "ρ"
says two/gauss-double-descent.gp "# run: $(basename "$low")"
says two/gauss-double-descent.gp "# run: $(basename "$high")"
for run in "$low 0.3" "$high 0.9"; do
  set -- $run
  numbers two/gauss-double-descent.csv a test_error sim rho "$2" >drawn
  for value in 0.001 0.1 1; do recorded "$1" test_error sim $value; done >expected
  [ -s expected ] || fail "no numbers recorded in $1"
  same drawn expected
done
cp two/gauss-double-descent.svg first.svg
(cd two && gnuplot gauss-double-descent.gp) || fail "the script does not redraw"
same two/gauss-double-descent.svg first.svg
# Runs of equal parameters are told apart by their names; different studies have panels of their own.
run 0 figure "$low" "$seed" --out names --name mine
says names/mine.csv ",run,"
says names/mine.svg "run = seed"
run 0 figure "$low" "$lambda" --out studies --set 'figure.columns=2' --width full
says studies/gauss-double-descent.csv "gauss-lambda"
run 2 figure "$low" "$low" --out nowhere
says err "expected every run once"
run 2 figure "$low" missing --out nowhere
run 2 figure --out nowhere
absent nowhere

# ------------------------------------------------------------------------------------------------------------- a file
printf '# read off figure 2\nalpha;value\r\n0.5;1.1\r\n2;0.9\r\n' >published.csv
printf 'alpha,mean,sem,n\n0.6,1.0,0.1,12\n1.8,0.8,0.05,12\n' >measured.csv
cat >paper.toml <<EOF
width = "full"
columns = 2
formats = ["svg", "pdf", "png", "tex"]
legend = "inside"
size = 7

[[panels]]
title = "penalty \$\\\\lambda = 0.1\$"
x = {label = "samples per input \$\\\\alpha\$", scale = "log", low = 0.3, high = 8}
y = {scale = "linear", low = 0, high = 4}
vertical = [1.0]
texts = [{text = "peak", x = 1.1, y = 2.5}]
layers = [
  {run = "runs/rho-0.3", series = "test_error", only = {lambda = 0.1}, label = "\$\\\\rho = {rho}\$", colour = "green", marker = "square"},
  {run = "$high", series = "test_error", only = {lambda = 0.1}, label = "\$\\\\rho\$ = {rho}", line = "dotted", hollow = true},
  {csv = "published.csv", x = "alpha", label = "published", draw = "points"},
  {csv = "measured.csv", x = "alpha", label = "measured"},
]

[[panels]]
residuals = true
layers = [
  {run = "runs/rho-0.3", series = "test_error", only = {lambda = [0.001, 1.0]}},
  {run = "runs/rho-0.9", series = "test_error", only = {lambda = [0.001, 1.0]}},
]
EOF
run 0 figure paper.toml
for format in svg pdf png tex gp csv; do present figures/paper.$format; done
present figures/gnuplot-lua-tikz.sty
for word in published measured "penalty" peak; do says figures/paper.svg "$word"; done
says figures/paper.tex '\ensuremath{\rho}'
says figures/paper.gp "# table: published.csv sha256 $(sha256sum published.csv | cut -d' ' -f1)"
for run in "$low" "$high"; do
  tag=$(basename "$run")
  numbers figures/paper.csv a test_error sim source "$tag" >drawn
  recorded "$run" test_error sim 0.1 >expected
  same drawn expected
  # In the other panel another selection of the same run.
  numbers figures/paper.csv b test_error sim source "$tag [2]" >drawn
  for value in 0.001 1; do recorded "$run" test_error sim $value; done >expected
  same drawn expected
done
numbers figures/paper.csv a y sim source published.csv >drawn
printf '0.5 1.1\n2 0.9\n' >expected
same drawn expected
numbers figures/paper.csv a y sim source measured.csv >drawn
printf '0.6 1\n1.8 0.8\n' >expected
same drawn expected
cp figures/paper.svg first.svg
run 0 figure paper.toml
same figures/paper.svg first.svg
(cd figures && gnuplot paper.gp) || fail "the script does not redraw"
same figures/paper.svg first.svg
if command -v pdflatex >/dev/null && kpsewhich pgf.sty >/dev/null; then
  printf '%s\n' '\documentclass{article}\usepackage[utf8]{inputenc}\usepackage{gnuplot-lua-tikz}\begin{document}' \
    '\input{paper.tex}\end{document}' >figures/document.tex
  (cd figures && pdflatex -interaction=nonstopmode -halt-on-error document.tex >latex.log 2>&1) || fail "LaTeX: $(grep -A3 '^!' figures/latex.log)"
else
  echo "no LaTeX with TikZ here: paper.tex is not set" >&2
fi
# A script that was edited is kept; the last word has the command line.
echo '# mine' >>figures/paper.gp
run 5 figure paper.toml
says err "was edited"
run 0 figure paper.toml --force --format svg --set 'figure.legend="above"' --set 'figure.a.title="other"'
says figures/paper.svg other
says err "paper.pdf' stays as it was drawn before"
# Where nothing is free a legend inside is refused, and data beyond the axes are counted.
run 2 figure paper.toml --set figure.a.y.high=1.9 --set 'figure.a.texts=[]' --set figure.aspect=0.2 --out crowded
says err "every corner has data"
absent crowded
run 0 figure paper.toml --set 'figure.legend="above"' --set figure.a.y.high=1.0 --set 'figure.a.texts=[]' --out beyond --format svg
says beyond/paper.svg "beyond the axes"

# ------------------------------------------------------------------------------- insets, and a legend beside wide figures
cat >zoom.toml <<'EOF'
legend = "right"
width = "full"
formats = ["svg", "pdf", "png", "tex"]
[[panels]]
y = {high = 8}
layers = [{run = "runs/rho-0.3", series = "test_error", only = {lambda = 0.1}, label = "test"}]
[panels.inset]
x = {label = "samples"}
layers = [{run = "runs/rho-0.3", series = "train_error", only = {lambda = 0.1}, label = "train"}]
EOF
run 0 figure zoom.toml
for format in svg pdf png tex; do present figures/zoom.$format; done
for word in test train samples; do says figures/zoom.svg "$word"; done
numbers figures/zoom.csv "a inset" train_error sim lambda 0.1 >drawn
recorded "$low" train_error sim 0.1 >expected
[ -s expected ] || fail "no train error recorded"
same drawn expected
cp figures/zoom.svg first.svg
(cd figures && gnuplot zoom.gp) || fail "the script does not redraw"
same figures/zoom.svg first.svg
# An enlarged part of the panel itself, by the command line.
run 0 figure "$low" --out part --format svg --set 'figure.a.inset={x={low=0.8, high=1.25}, corner="top-right"}' --set figure.a.y.high=8
says part/gauss-double-descent.csv "a inset"
run 2 figure "$low" --out nopart --format svg --set 'figure.inset.x.low=0.8' --set 'figure.inset.width=0.9' --set 'figure.inset.height=0.9'
says err "inset of panel (a)"
run 2 figure "$low" --out nopart --set 'figure.inset={corner="middle"}'
says err "one of top-left, top-right, bottom-left, bottom-right"
run 2 figure "$low" --out nopart --set 'figure.inset={place=[0.5, 0.5, 0.6, 0.4]}'
says err "as fractions of the panel's axes"
run 2 figure "$low" --out nopart --set 'figure.inset={place=[0.5, 0.5, 0.4, 0.4], width=0.3}'
says err "one way to say where it stands"
run 2 figure "$low" --out nopart --set 'figure.inset.width=0.3'
says err "low or high of its x or y axis"
absent nopart

# ---------------------------------------------------------------------------- edited and unfinished runs, as check and plot
cp -r "$low" runs/edited-00000000
sed -i 's/^\(gauss-double-descent,test_error.*,0,\)[0-9.]*$/\11.5/' runs/edited-00000000/replicates.csv
run 5 figure runs/edited-00000000 "$high" --out edited
says err "replicates.csv"
absent edited
run 0 figure runs/edited-00000000 "$high" --out edited --accept-edits
says edited/gauss-double-descent.gp "# edited: replicates.csv"
sed 's|runs/rho-0.3|runs/edited|' paper.toml >of_edited.toml
run 5 figure of_edited.toml --out edited2
says err "replicates.csv"

# ------------------------------------------------------------------------------------- files that are wrong, all at once
# wrong MESSAGE SED: paper.toml, changed, is refused before anything is written.
wrong() {
  sed "$2" paper.toml >wrong.toml
  cmp -s wrong.toml paper.toml && fail "sed $2 changes nothing"
  run 2 figure wrong.toml --out refused
  says err "$1"
  absent refused
}
wrong "unknown key 'colr' in panels[0].layers[0]; did you mean 'colour'?" 's/colour = "green"/colr = "green"/'
wrong "wrong.toml:2:11: error: parameter 'columns' = 0: expected 1 to 6" 's/^columns = 2/columns = 0/'
wrong "'panels[0].layers[0].colour' = 'blu': expected #rrggbb, hexadecimal, or one of blue" 's/"green"/"blu"/'
wrong "expected one of circle, square, triangle" 's/marker = "square"/marker = "star"/'
wrong "expected one of solid, dashed, dotted" 's/line = "dotted"/line = "wavy"/'
wrong "expected one of above, below, right, inside, none" 's/^legend = .*/legend = "left"/'
wrong "expected a list of svg, pdf, png, tex" 's/"tex"\]/"gif"]/'
wrong "expected 4 to 40 points" 's/^size = 7/size = 0/'
wrong "expected half, full, or 1 to 40 inches" 's/^width = .*/width = "wide"/'
wrong "'panels[0].x' = 0.3 to 0.2: expected low < high" 's/low = 0.3, high = 8/low = 0.3, high = 0.2/'
wrong "'panels[0].x' = 0: expected positive ends of a logarithmic axis" 's/low = 0.3, high/low = 0, high/'
wrong "expected a positive end of the logarithmic axis" 's/scale = "linear", low = 0/low = 0/'
wrong "expected one of run and csv" 's/csv = "measured.csv"/csv = "measured.csv", run = "runs\/seed"/'
wrong "missing key 'series'" 's/series = "test_error", only = {lambda = 0.1}, label/label/'
wrong "one of bias, " 's/series = "test_error", only = {lambda = 0.1}/series = "tset_error"/'
wrong "'only.lambda' = 0.2: expected one of 0.001, 0.1, 1" 's/lambda = 0.1}/lambda = 0.2}/'
wrong "'only.beta' = 0.1: expected one of the coordinates lambda" 's/lambda = 0.1}/beta = 0.1}/'
wrong "parameter 'label' = {roh}: expected one of" 's/{rho}/{roh}/'
wrong "without '\\frac'" 's/title = .*/title = "$\\\\frac{1}{2}$"/'
wrong "a second '\$'" 's/title = .*/title = "5 $"/'
wrong "the folder of a run" 's|runs/rho-0.3|runs/rho-0.4|'
wrong "a file, next to the figure's file" 's/published.csv/lost.csv/'
wrong "published.csv:2:" 's/x = "alpha", label = "published"/x = "beta", label = "published"/'
wrong "x of the text 'peak'" 's/x = 1.1, y/x = 100, y/'
wrong "text, x and y" 's/{text = "peak", x = 1.1, y = 2.5}/{text = "peak", x = 1.1}/'
wrong "missing key 'panels'" '/panels/,$d'
wrong "unknown key 'titel' in panels[0]" 's/^title/titel/'
wrong "y_coordinate and the kinds heat-map and contours belong together" 's/^residuals = true/kind = "heat-map"/'
wrong "error:" 's/^width = .*/width = [/'
sed 's/^columns = 2/columns = 0/;s/"green"/"blu"/' paper.toml >wrong.toml
run 2 figure wrong.toml --out refused
[ "$(wc -l <err)" -eq 2 ] || fail "not all mistakes at once: $(cat err)"
run 2 figure nowhere.toml
says err "cannot read 'nowhere.toml'"
run 2 figure paper.toml "$low"
says err "one figure's file, or folders of runs"

# -------------------------------------------------------------------------------------- plot --set, and [figure] of a run
run 0 plot "$low" --set 'figure.x.label="samples"' --set figure.size=10 --out plotted --format svg
says plotted/gauss-double-descent.svg "samples"
run 2 plot "$low" --set 'figure.x.lable="samples"' --out refused
says err "unknown key 'lable' in figure.x; did you mean 'label'?"
run 2 plot "$low" --set 'figure.f.title="none"' --out refused
says err "expected a to b"
run 2 plot "$low" --set 'x.label="samples"' --out refused
says err "such as figure.x.label"
absent refused
cat >configured.toml <<'EOF'
study = "gauss-double-descent"
[model]
rho = 0.3
sites = 20
[sweep]
alpha = [0.5, 1.0, 2.0]
[sim]
replicates = 20
[plot]
formats = ["svg"]
[figure]
legend = "inside"
key = false
x = {label = "load $\\alpha$"}
a.y.high = 30
a.texts = [{text = "here", x = 1.0, y = 1.0}]
EOF
"$program" run configured.toml --name configured --quiet >out 2>err # so few replicates may decide or not
configured=$(echo runs/configured-*)
[ "${configured##*-}" = "${low##*-}" ] || fail "[figure] changes the hash: $configured, $low"
same "$configured/results.csv" "$low/results.csv"
says "$configured/plots/gauss-double-descent.svg" "load"
says "$configured/config.resolved.toml" "x.label = "
cp "$configured/plots/gauss-double-descent.svg" first.svg
run 0 plot "$configured"
same "$configured/plots/gauss-double-descent.svg" first.svg
run 0 report "$configured"
"$program" run "$configured/config.resolved.toml" --name again --quiet >out 2>err
grep -v '<!-- run:' first.svg >expected
grep -v '<!-- run:' "$(echo runs/again-*)/plots/gauss-double-descent.svg" >drawn
same drawn expected
sed 's/^key = false/kye = false/;s/^legend.*/legend = 3/' configured.toml >wrong.toml
run 2 run wrong.toml --out refused
says err "wrong.toml:13:1: error: unknown key 'kye' in figure;"
says err "wrong.toml:12:1: error: parameter 'figure.legend' = 3"
sed 's/^a.y.high/e.y.high/' configured.toml >wrong.toml
run 2 run wrong.toml --out refused
says err "expected a to b"
absent refused
finish
