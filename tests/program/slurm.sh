#!/usr/bin/env bash
# A queue of its own (munge, slurmctld, slurmd on this machine): the script of `attica slurm` is submitted, stopped at its
# time limit and queued again, one task is killed, shards are merged: the bytes of an undisturbed run. Then two ranks of
# MPI under the queue.   slurm.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for needed in munged slurmctld slurmd sbatch srun scontrol; do
  PATH=$PATH:/usr/sbin command -v $needed >/dev/null || { echo "no $needed: skipped (./dev test --all installs it)"; exit 77; }
done
[ "$(id -u)" -eq 0 ] || { echo "the daemons want root: skipped"; exit 77; }
[ -n "$(ls /sys/fs/cgroup 2>/dev/null)" ] || { echo "slurmd wants /sys/fs/cgroup: skipped"; exit 77; }
PATH=$(dirname "$program"):$PATH:/usr/sbin

daemons=()
stop_daemons() {
  scancel --user=root 2>/dev/null
  for pid in "${daemons[@]}"; do kill "$pid" 2>/dev/null; done
  wait
  rm -rf "$work"
}
trap stop_daemons EXIT

chmod 755 "$work"
mkdir munge state spool
dd if=/dev/urandom bs=1024 count=1 of=munge/key 2>/dev/null
chmod 600 munge/key
munged --foreground --key-file="$work/munge/key" --socket="$work/munge/socket" --log-file="$work/munge/log" \
  --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" >munge/out 2>&1 &
daemons+=($!)
export SLURM_CONF=$work/slurm.conf
# Two processors whatever there are, so that both tasks run at once.
cat >"$SLURM_CONF" <<CONF
ClusterName=attica
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket=$work/munge/socket,cred_expire=5
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPort=46817
SlurmdPort=46818
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
for _ in $(seq 50); do [ -S munge/socket ] && break; sleep 0.1; done
slurmctld -D >slurmctld.log 2>&1 &
daemons+=($!)
slurmd -D >slurmd.log 2>&1 &
daemons+=($!)
for _ in $(seq 100); do sinfo -h -o %T 2>/dev/null | grep -q idle && break; sleep 0.3; done
sinfo -h -o %T | grep -q idle || {
  fail "the queue does not start: $(tail -n 3 munge/out slurmctld.log slurmd.log)"
  finish
}

# finished JOB SECONDS: its last task has ended, in that time.
finished() {
  local end=$((SECONDS + $2))
  while [ -n "$(squeue -h -j "$1" 2>/dev/null)" ]; do
    [ $SECONDS -lt $end ] || { fail "job $1 does not end: $(squeue -j "$1" 2>&1)"; return; }
    sleep 1
  done
}

study=gauss-double-descent
options=(--set model.sites=60 --set 'sweep.alpha=[0.5,2.0]' --set 'plot.formats=["svg"]' --margin 0.5)
# Replicates for some two minutes on one processor.
"$program" run $study "${options[@]}" --replicates 400 --threads 1 --quiet --name measured >/dev/null 2>&1
begin=$(date +%s%N)
"$program" run $study "${options[@]}" --replicates 400 --seed 2 --threads 1 --quiet --name measured2 >/dev/null 2>&1
replicates=$((400 * 120 * 1000 / (($(date +%s%N) - begin) / 1000000 + 1)))

"$program" slurm $study "${options[@]}" --replicates $replicates --name queued --shards 2 --max-time 3m >job.sh ||
  fail "no script"
job=$(sbatch --parsable job.sh) || fail "sbatch refuses the script: $(cat job.sh)"
# One task is killed as by the kernel when memory runs out; what it had stored counts when it is submitted again.
for _ in $(seq 200); do
  [ "$(find runs/queued-*-shard2of2/parts -name '*.part' 2>/dev/null | wc -l)" -gt 0 ] && break
  sleep 0.2
done
pkill -KILL -f -- "--shard 2/2" || fail "no second task to kill"
finished "$job" 600
grep -q "run again with --resume" queued-"${job}"_1.log || fail "the first task was not stopped at its limit: $(cat queued-"${job}"_1.log)"
run 75 merge runs/queued-*-shard?of2
again=$(sbatch --parsable --array=2 job.sh)
finished "$again" 600
"$program" merge runs/queued-*-shard?of2 >out 2>err
case $? in 0 | 1 | 3) ;; *) fail "merge: $(cat err)" ;; esac
"$program" run $study "${options[@]}" --replicates $replicates --name straight --quiet >/dev/null 2>&1
merged=$(find runs -maxdepth 1 -name 'queued-????????')
straight=$(find runs -maxdepth 1 -name 'straight-????????')
for table in results.csv replicates.csv; do same "$merged/$table" "$straight/$table"; done

# Ranks: mpirun takes what the queue gave.
if command -v mpirun >/dev/null; then
  printf '#!/bin/bash\nmpirun --allow-run-as-root -n 2 attica run %s %s --replicates 400 --name ranks --quiet\n' $study \
    "$(printf "'%s' " "${options[@]}")" >ranks.sh
  job=$(sbatch --parsable --ntasks=2 --output=ranks.log ranks.sh)
  finished "$job" 300
  "$program" run $study "${options[@]}" --replicates 400 --name alone --quiet >/dev/null 2>&1
  for table in results.csv replicates.csv; do same runs/ranks-????????/$table runs/alone-????????/$table; done
fi
finish
