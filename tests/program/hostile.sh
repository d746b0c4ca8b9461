#!/usr/bin/env bash
# What laboratories and clusters do to a run: kills, full disks, damaged files, changed inputs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

study=gauss-double-descent
small="--set model.sites=40 --set sim.data_sets=1 --set sweep.lambda=[1.0] --set plot.formats=[\"svg\"] --threads 2"

run 0 run $study $small --replicates 400 --margin 0.2 --name whole --quiet
whole=$(echo runs/whole-*)

# kill -9 at ten random moments, one after the other on the same folder.
RANDOM=7
for _ in 1 2 3 4 5 6 7 8 9 10; do
  "$program" run $study $small --replicates 400 --margin 0.2 --name whole --out killed --resume --quiet >/dev/null 2>&1 &
  pid=$!
  sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
  kill -9 $pid 2>/dev/null
  wait $pid 2>/dev/null
done
run 0 run $study $small --replicates 400 --margin 0.2 --name whole --out killed --resume --quiet
for file in results.csv replicates.csv theory.json; do cmp -s killed/whole-*/$file "$whole/$file" || fail "kill -9 changed $file"; done

# A full disk: exit 5, a message that says so, and a folder that can be resumed when there is room again.
mkdir disk
if mount -t tmpfs -o size=300k tmpfs disk 2>/dev/null; then
  run 5 run $study $small --replicates 400 --margin 0.2 --name whole --out disk --quiet
  says err "No space left on device"
  mount -o remount,size=50m disk
  run 0 run $study $small --replicates 400 --margin 0.2 --name whole --out disk --resume --quiet
  cmp -s disk/whole-*/results.csv "$whole/results.csv" || fail "a full disk changed results.csv"
  umount disk
else
  echo "full disk: not tested, mounting a small file system needs more rights" >&2
fi

# Damaged and truncated part files are computed again, with a line in the log.
cp -r "$whole" damaged
mkdir -p out5 && mv damaged "out5/$(basename "$whole")"
parts=(out5/whole-*/parts/*.part)
printf 'x' | dd of="${parts[0]}" bs=1 seek=200 conv=notrunc status=none
head -c 100 "${parts[1]}" > cut && cp cut "${parts[1]}"
: > "${parts[2]}"
run 0 run $study $small --replicates 400 --margin 0.2 --name whole --out out5 --resume --quiet
cmp -s out5/whole-*/results.csv "$whole/results.csv" || fail "damaged parts changed results.csv"
[ "$(grep -c 'damaged part' out5/whole-*/log.txt)" -eq 3 ] || fail "the log does not name the damaged parts"

# A run folder nobody may write to (root may: then the folder is a file).
if [ "$(id -u)" -ne 0 ]; then
  mkdir locked && chmod 500 locked
  run 5 run $study $small --replicates 400 --out locked --quiet
else
  : > locked
  run 5 run $study $small --replicates 400 --out locked --quiet
fi
says err locked

# Two runs on one folder: the second is refused and names the first.
"$program" run $study $small --replicates 100000 --name twice --quiet >/dev/null 2>&1 &
first=$!
for _ in $(seq 1200); do [ -e runs/twice-*/run.json ] && break; sleep 0.05; done
run 5 run $study $small --replicates 100000 --name twice --resume --quiet
says err "process $first"
kill -9 $first
wait $first 2>/dev/null

# A changed input file is another run, and the program says so.
head -40 "$project/data/digits.csv" | cut -d, -f3-8 > mine.csv
data="--set sim.data_sets=1 --set model.covariance=\"data\" --set model.file=\"mine.csv\" --set sweep.alpha=[2.0] --set sweep.lambda=[1.0]"
"$program" run $study $data --replicates 10 --name input --set 'plot.formats=["svg"]' >/dev/null 2>&1
sed -i '$d' mine.csv
"$program" run $study $data --replicates 10 --name input --set 'plot.formats=["svg"]' --resume >out 2>err
says err "mine.csv"
says err "changed"
[ "$(ls -d runs/input-* | wc -l)" -eq 2 ] || fail "a changed input did not start another run"

# A clock that goes backwards: times are recorded, never used. (faketime is optional.)
if command -v faketime >/dev/null; then
  "$program" run $study $small --replicates 100 --margin 0.2 --name whole --out past --quiet >/dev/null 2>&1
  faketime '2001-01-01' "$program" run $study $small --replicates 400 --margin 0.2 --name whole --out past --resume --quiet >out 2>err ||
    fail "a clock in the past stopped a resumed run"
  cmp -s past/whole-*/results.csv "$whole/results.csv" || fail "the clock changed results.csv"
fi

# More than memory holds is refused by the size that asks for it.
(ulimit -v 6000000; exec "$program" run gauss-double-descent --set model.sites=90000 --out large) >out 2>err
[ $? -eq 2 ] || fail "a matrix of 65 GB was not refused: $(cat err)"
says err "'model.sites' = 90000"
absent large

finish
