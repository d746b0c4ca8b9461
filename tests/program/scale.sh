#!/usr/bin/env bash
# Shards, job scripts and several processes give the bytes of one process.   scale.sh PROGRAM PROJECT_FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

study=gauss-double-descent
options=(--set model.sites=60 --set sim.data_sets=1 --set 'sweep.alpha=[0.3,1.0,2.0,4.0]' --set 'plot.formats=["svg"]' --margin 0.5
  --replicates 200)
folder() { echo runs/"$1"-????????; }
same_run() {
  same "$(folder one)/results.csv" "$(folder "$1")/results.csv"
  same "$(folder one)/replicates.csv" "$(folder "$1")/replicates.csv"
}
run 0 run $study "${options[@]}" --name one --quiet

# Shards, in any order; a merge of some says what is missing, the merge of all is the run.
for index in 3 1 2; do
  run 0 run $study "${options[@]}" --name parts --quiet --shard $index/3
  says out "shard $index of 3 is done"
done
run 2 run $study "${options[@]}" --shard 1/4000 --dry-run
says err 'the run has no more pieces'
run 5 check runs/parts-*-shard2of3
says err 'attica merge'
run 75 merge runs/parts-*-shard1of3/ runs/parts-*-shard3of3
says err 'merge the other shards too'
run 0 merge runs/parts-*-shard*of3 --json
one_json out
same_run parts
same "$(folder one)/theory.json" "$(folder parts)/theory.json"

# A damaged part is not believed.
run 0 run $study "${options[@]}" --name hurt --quiet --shard 1/2
run 0 run $study "${options[@]}" --name hurt --quiet --shard 2/2
part=$(find runs/hurt-*-shard1of2/parts -name '*.part' | sort | head -n 1)
sed -i 's/finished/finishex/' "$part"
run 75 merge runs/hurt-*-shard?of2
says err 'damaged'
run 0 run $study "${options[@]}" --name hurt --quiet --resume
same_run hurt

# Parts of different runs are not joined.
run 0 run $study "${options[@]}" --seed 2 --name other --quiet --shard 2/2
run 2 merge runs/hurt-*-shard1of2 runs/other-*-shard2of2
says err 'not parts of one run: hash'
run 2 merge runs
says err 'not a run folder'
for shard in 0/3 4/3 1 1/x 1/3/2 -1/3; do
  run 2 run $study --shard=$shard
  says err '--shard'
done
run 2 run $study "${options[@]}" --shard 1/100000
says err 'has no more pieces'
run 2 run $study --shard 1/2 --until-decided

# The job script, with a scheduler made of a loop.
run 2 slurm $study "${options[@]}" --max-time 2m
says err 'a task is stopped two minutes before'
run 0 slurm $study "${options[@]}" --name job --shards 3 --max-time 2h --threads 2
cp out job.sh
says job.sh '#SBATCH --time=2:00:00'
says job.sh '#SBATCH --array=1-3'
mkdir bin
ln -s "$program" bin/attica
printf '#!/bin/sh\nexec "$@"\n' >bin/srun
chmod +x bin/srun
for task in 1 2 3; do
  PATH=$work/bin:$PATH SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=1 bash job.sh >/dev/null 2>err || {
    fail "job.sh, task $task: $(cat err)"
  }
done
merge=$(sed -n 's/^#   \(attica merge\)/\1/p' job.sh)
PATH=$work/bin:$PATH bash -c "$merge" >/dev/null 2>err || fail "$merge: $(cat err)"
same_run job

# Several processes.
if ! grep -q 'MPI [0-9]' <("$program" doctor) || ! command -v mpirun >/dev/null; then
  echo "no MPI: not tested" >&2
  finish
  exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpi() { timeout 120 mpirun --oversubscribe --mca btl_vader_single_copy_mechanism none "$@" >out 2>err </dev/null; }
for ranks in 1 2 4; do
  mpi -n $ranks "$program" run $study "${options[@]}" --name ranks$ranks --quiet || fail "$ranks ranks: $(cat err)"
  [ "$(grep -c AGREE out)" -eq 1 ] || fail "$ranks ranks do not speak with one voice: $(cat out)"
  same_run ranks$ranks
done
mpi -n 3 "$program" run $study --set model.sites=-1
[ "$(grep -c "model.sites" err)" -eq 1 ] || fail "bad input with 3 ranks: $(cat err)"

# A rank that dies takes the others down; what was stored is kept, and --resume carries on. The run is as long as this
# machine needs it to be, to be caught at work.
hurt=
for replicates in 400 1600 6400; do
  longer=(--set model.sites=150 --set sim.data_sets=1 --set 'sweep.alpha=[0.5,2.0]' --set 'plot.formats=["svg"]' --margin 0.5
    --replicates $replicates)
  mpi -n 3 "$program" run $study "${longer[@]}" --name killed$replicates --quiet &
  job=$!
  for _ in $(seq 500); do
    [ "$(find runs/killed$replicates-*/parts -name '*.part' 2>/dev/null | wc -l)" -gt 1 ] && break
    sleep 0.02
  done
  # The last of the processes that run the program itself, by what /proc says of them.
  victim=
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/exe")" = "$(readlink -f "$program")" ] && grep -qz killed "$process/cmdline" &&
      victim=${process#/proc/}
  done 2>/dev/null
  [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null && hurt=$replicates
  wait $job || break
  hurt=
done
[ -n "$hurt" ] || fail "no rank could be killed at work"
run 0 run $study "${longer[@]}" --name killed$hurt --quiet --resume
run 0 run $study "${longer[@]}" --name whole --quiet
same "$(folder killed$hurt)/replicates.csv" "$(folder whole)/replicates.csv"

# Out of time: a checkpoint, from which another number of ranks carries on.
mpi -n 3 "$program" run $study "${longer[@]}" --name timed --quiet --max-time 0.3
code=$?
[ $code -eq 75 ] || [ $code -eq 0 ] || fail "--max-time with 3 ranks: exit code $code: $(cat err)"
mpi -n 2 "$program" run $study "${longer[@]}" --name timed --quiet --resume || fail "resume by 2 ranks: $(cat err)"
same "$(folder timed)/replicates.csv" "$(folder whole)/replicates.csv"
finish
