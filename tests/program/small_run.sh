# A small configuration, small.toml, and a run of it, $whole; sourced after common.sh.

small='study = "gauss-lambda"
[model]
sites = 11
[sweep]
alpha = [2.0]
lambda = [0.1, 1.0]
[sim]
replicates = 60
[plot]
formats = ["svg"]
'
printf '%s' "$small" >small.toml
run 0 run small.toml --name whole --quiet --margin 0.3
whole=$(echo "$PWD"/runs/whole-*)
