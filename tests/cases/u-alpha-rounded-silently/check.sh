#!/usr/bin/env bash
# A run says at which number of samples a ratio is realised, refuses ratios of one number, and figures take what was asked for.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
descent=(gauss-double-descent --set model.sites=10 --set sweep.lambda=[0.1])
run 2 run "${descent[@]}" --set 'sweep.alpha=[0.5,0.51]' --replicates 10 --out runs
says err "parameter 'sweep.alpha' = 0.51: expected ratios of different numbers of samples M: 0.5 has M = 5 too, N = 9"
absent runs
for verb in run theory; do
  run 2 $verb "${descent[@]}" --set 'sweep.alpha=[0.0001]'
  says err "parameter 'sweep.alpha' = 0.0001: expected alpha N >= 1, at least one sample, N = 9"
done
# The theory of close ratios is no question of samples.
run 0 theory "${descent[@]}" --set 'sweep.alpha=[0.5,0.51]'
"$program" run "${descent[@]}" --set 'sweep.alpha=[0.5,2.0]' --replicates 8 --out runs --name rounded >out 2>err
says err "alpha = 0.5 is run at M = 5, alpha = 0.5556"
grep -q "alpha = 2 " err && fail "a ratio that is realised exactly is said to be rounded"
"$program" run gauss-lambda --set model.sites=40 --set 'sweep.alpha=[0.5,2.0]' --replicates 8 --out runs --name figure >out 2>err
says err "alpha = 0.5 is run at M = 20, alpha = 0.5128"
printf 'panels = [{layers = [{run = "runs/figure", series = "test_error", only = {alpha = 0.5}}]}]\n' >asked.toml
run 0 figure asked.toml
printf 'panels = [{layers = [{run = "runs/figure", series = "test_error", only = {alpha = 0.6}}]}]\n' >other.toml
run 2 figure other.toml
# A default grid whose ratios fall together is run at the different ones.
"$program" run gauss-double-descent --set model.sites=5 --replicates 2 --out runs --name default >out 2>err
says "$(echo runs/default-*/config.resolved.toml)" "alpha = [0.25, 0.5,"
finish
