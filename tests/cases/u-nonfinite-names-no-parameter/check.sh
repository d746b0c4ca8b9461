#!/usr/bin/env bash
# Where numbers end, a run gives numbers, or its last line names a parameter of the study and the point; internal names never appear.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
# ended ARGUMENTS...: any of the exit codes of a run; of a refusal and of a failure the message must name the key $key.
ended() {
  "$program" "$@" --replicates 2 --threads 1 --max-time 3 --out runs --name "n$((++number))" >out 2>err </dev/null
  local code=$?
  case $code in
    0 | 1 | 3 | 75) ;;
    2 | 4) says err "$key" ;;
    *) fail "attica $*: exit code $code" ;;
  esac
  [ "$code" -ne 4 ] || grep -q "[ (]at " err || fail "no point: $(cat err)"
  ! grep -q "non-finite\|internal error" err || fail "attica $*: $(cat err)"
}
number=0
key=sweep.lambda
ended run potts-peak --set 'sweep.lambda=[1e300]'
ended run potts-peak --set 'sweep.lambda=[1e-300]'
ended run icl-double-descent --set 'sweep.lambda=[1e300]'
key=beta
ended run potts-learning --set model.beta=1e300
ended run potts-couplings --set model.beta=-1e300
key=sim.held_out
ended run potts-alignment --set 'model.file="align.a2m"'
finish
