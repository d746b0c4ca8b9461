#!/usr/bin/env bash
# Interrupted, resumed and extended runs give the bytes of an undisturbed one.   resume.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

study=gauss-double-descent
# About a second of work in some dozens of pieces.
options="--set model.sites=60 --set sim.data_sets=1 --set sweep.alpha=[0.3,1.0,2.0,4.0] --set plot.formats=[\"svg\"] --margin 0.5 --quiet"
replicates=300

# attica_run NAME ARGUMENTS...: leaves its exit code in $code.
attica_run() {
  local name=$1
  shift
  "$program" run $study $options --name "$name" "$@" >"$name.out" 2>"$name.err" </dev/null
  code=$?
}
expect() { [ "$code" -eq "$1" ] || fail "$2: exit code $code, expected $1: $(cat "$3.err")"; }
folder() { echo runs/"$1"-????????; }
same_run() {
  same "$(folder "$1")/results.csv" "$(folder "$2")/results.csv"
  same "$(folder "$1")/replicates.csv" "$(folder "$2")/replicates.csv"
}
parts() { find runs/"$1"-*/parts -name '*.part' 2>/dev/null | wc -l; }

# Threads.
for threads in 1 2 7; do
  attica_run "t$threads" --replicates $replicates --threads $threads
  expect 0 "$threads threads" "t$threads"
done
same_run t1 t2
same_run t1 t7

# kill -9 at random moments, then --resume.
RANDOM=20230407
for attempt in 1 2 3 4 5 6; do
  name=killed$attempt
  "$program" run $study $options --name $name --replicates $replicates --threads 2 >/dev/null 2>&1 </dev/null &
  pid=$!
  sleep "0.$((RANDOM % 900 + 100))"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
  attica_run $name --replicates $replicates --threads 2 --resume
  expect 0 "resume after kill -9" $name
  same_run t1 $name
  [ -z "$(find runs/$name-* -name '*.tmp')" ] || fail "temporary files survive: $(find runs/$name-* -name '*.tmp')"
done

# Signals: 75 once something is kept, 130 before; then --resume.
for signal in TERM INT USR1; do
  for pause in 0 0.2 0.5; do
    name=signal$signal$pause
    "$program" run $study $options --name $name --replicates $replicates --threads 1 >$name.out 2>$name.err </dev/null &
    pid=$!
    for _ in $(seq 200); do  # the program is up once its folder is there
      [ -e "$(folder $name)" ] && break
      sleep 0.02
    done
    sleep $pause
    kill -$signal $pid 2>/dev/null
    wait $pid
    code=$?
    case $code in
      0) ;;  # it was faster
      75) [ "$(parts $name)" -gt 0 ] || fail "SIG$signal: exit code 75, nothing kept" ;;
      130) [ "$(parts $name)" -eq 0 ] || fail "SIG$signal: exit code 130 with $(parts $name) pieces kept" ;;
      *) fail "SIG$signal after $pause s: exit code $code" ;;
    esac
    attica_run $name --replicates $replicates --resume
    expect 0 "resume after SIG$signal" $name
    same_run t1 $name
  done
done

# --max-time, of a run that is long enough on this machine to be stopped by it.
for longer in $replicates 3000 30000; do
  rm -rf runs/timed-*
  attica_run timed --replicates $longer --threads 1 --max-time 0.2
  [ $code -ne 0 ] && break
done
expect 75 "--max-time" timed
says timed.err "run again with --resume"
"$program" status "$(folder timed)" >status.out 2>&1 || fail "status of an unfinished run"
says status.out "unfinished"
"$program" check "$(folder timed)" >/dev/null 2>check.err
[ $? -eq 5 ] || fail "check of an unfinished run: expected exit code 5"
says check.err "not finished"
attica_run timed --replicates $longer
expect 5 "an unfinished folder without --resume" timed
# A damaged part is done again.
part=$(find "$(folder timed)/parts" -name '*.part' | head -1)
if [ -n "$part" ]; then
  truncate -s 100 "$part"
  cp "$part" "$(dirname "$part")/.stray.1.0.tmp"
fi
attica_run timed --replicates $longer --resume
expect 0 "resume after --max-time" timed
attica_run undisturbed --replicates $longer
same_run undisturbed timed
[ -z "$part" ] || says "$(folder timed)/log.txt" "damaged part"

# More replicates are added; what is there is kept.
attica_run more --replicates 70
expect 0 "70 replicates" more
attica_run more --replicates $replicates --resume
expect 0 "$replicates replicates" more
same_run t1 more
"$program" status "$(folder more)" --json >status.out
says status.out '"missing": 0'
attica_run more --replicates 70 --resume
expect 0 "fewer replicates again" more
same_run t1 more

# Two runs at once on one folder: the second is refused and names the first.
"$program" run $study $options --name twice --replicates 20000 --threads 1 >/dev/null 2>&1 </dev/null &
pid=$!
for _ in $(seq 1200); do  # its first piece is kept: until then a signal ends it with 130
  [ "$(parts twice)" -gt 0 ] && break
  sleep 0.05
done
attica_run twice --replicates 20000 --resume
expect 5 "two runs on one folder" twice
says twice.err "in use by process $pid "
attica_run twice --replicates 20000 --force
expect 5 "--force on a folder in use" twice
kill -TERM $pid
wait $pid
code=$?
expect 75 "the first of two runs" twice

# Inside a replicate: stopped and killed again and again, it carries on from its last state.
training=("$program" run language-orders --quiet --replicates 1 --threads 1 --set 'plot.formats=["svg"]'
  --set model.pairs=false --set sim.length=1200 --set 'sim.share_steps=[300]' --set sim.share_windows=1000
  --set sim.share_fit_length=10 --set sim.clone_windows=100 --set sim.test_windows=200)
"${training[@]}" --name straight >straight.out 2>straight.err </dev/null
straight=$?
states() { find runs/"$1"-*/parts -name '*.state' 2>/dev/null | wc -l; }
begun=0
for attempt in $(seq 30); do
  "${training[@]}" --name inside --resume >inside.out 2>inside.err </dev/null &
  pid=$!
  for _ in $(seq 200); do
    [ -e "$(folder inside)/theory.json" ] && break
    sleep 0.02
  done
  sleep "$((attempt * 6 / 10)).$((attempt * 6 % 10))"  # longer each time, so that a slow machine ends too
  signal=$([ $((attempt % 3)) -eq 2 ] && echo KILL || echo TERM)  # killed, it has the state of the call before
  kill -$signal $pid 2>/dev/null
  wait $pid
  code=$?
  [ $code -eq "$straight" ] && break
  case $signal-$code in
    TERM-75)
      # On a slow machine it is stopped before its first step, and has a state only if it was begun before.
      grep -q "0 of 1 pieces done and 1 begun" inside.err && begun=$((begun + 1))
      # Stopped after its last step, judging or drawing, it is done: what it was at inside is not needed any more.
      [ "$begun" -eq 0 ] || [ "$(parts inside)" -eq 1 ] || [ "$(states inside)" -eq 1 ] ||
        fail "stopped inside a replicate: $(states inside) states: $(cat inside.err)"
      ;;
    KILL-137 | TERM-130) ;;
    *) fail "SIG$signal inside a replicate: exit code $code: $(cat inside.err)" ;;
  esac
done
[ "$begun" -gt 0 ] || fail "a replicate of seconds was never stopped inside"
[ "$code" -eq "$straight" ] || fail "a replicate that carries on from its state did not end within $attempt calls"
same_run straight inside
[ "$(states inside)" -eq 0 ] || fail "states survive the run"

finish
