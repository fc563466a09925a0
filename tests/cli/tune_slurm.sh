# wgrun tune --launcher slurm, with a slurmctld and a slurmd of this machine's own on the loopback address: a shard that is
# killed in the middle is submitted again, and measures nothing twice. The cost model is the measure.
for program in slurmctld slurmd sbatch; do
    PATH="$PATH:/usr/sbin" command -v $program >/dev/null || { echo "skipped: no $program (Debian: slurm-wlm)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "skipped: slurmd needs root"; exit 77; }
PATH="$PATH:/usr/sbin"
export WGRUN_CACHE=off SLURM_CONF="$WORK/slurm.conf"
mkdir state spool
chmod 755 "$WORK"
port=$((20000 + $$ % 20000))
cat >slurm.conf <<END
ClusterName=wgrun
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu
ReturnToService=2
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool
SlurmctldPidFile=$WORK/slurmctld.pid
SlurmdPidFile=$WORK/slurmd.pid
SlurmctldLogFile=$WORK/slurmctld.log
SlurmdLogFile=$WORK/slurmd.log
SchedulerParameters=batch_sched_delay=0,sched_interval=1
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$(nproc) Gres=gpu:2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
echo "NodeName=$(hostname -s) Name=gpu Count=2 File=/dev/null,/dev/zero" >gres.conf
slurmctld -D >ctld.txt 2>&1 &
ctld=$!
slurmd -D >d.txt 2>&1 &
slurmd=$!
trap 'kill $slurmd $ctld 2>/dev/null; wait $slurmd $ctld 2>/dev/null; rm -rf "$WORK"' EXIT
code=0
: >out.txt
: >err.txt
for _ in $(seq 200); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.1
done
sinfo -h -o %T 2>/dev/null | grep -q idle || { cat slurmctld.log slurmd.log; bad "Slurm has not started"; }

file s.lua <<'END'
local wg = require "wgrun"
local sizes = {}
for i = 1, 12 do sizes[i] = i end
return wg.tuning { name = "steps", space = { n = sizes }, build = function(options)
  local marked = io.open "killed"
  if marked then marked:close() end
  if options.n == 5 and os.getenv "SLURM_JOB_ID" and not marked then
    io.open("killed", "w"):close() -- its process's parent is the shard's
    os.execute "kill -9 $(cut -d ' ' -f 4 /proc/$PPID/stat)"
  end
  local log = io.open("built.txt", "a")
  log:write(options.n, " ", os.getenv "CUDA_VISIBLE_DEVICES" or "", "\n")
  log:close()
  return wg.kernel("steps", { threads = 32 }, function(k)
    local X = k:param("X", "f32*")
    local v = k:mov(0.0, { type = "f32" })
    for _ = 1, 10 * options.n do v = k:add(v, 1.0) end
    k:st_global_f32(k:element(X, k:special "tid.x"), v)
  end), { grid = { 1 }, args = { wg.zeros("f32", { 32 }) } }
end }
END
tune() { run tune --launcher slurm --shards 3 --jobs 1 --measure model --results r.jsonl --launcher-args "$1" --show 20 s.lua; }
tune --gres=gpu:1
exits 0
out_has '12 measured, 0 skipped'
[ -e killed ] || bad "no shard was killed"
[ "$(wc -l <r.jsonl)" = 12 ] || bad "12 results expected"
# The kernel of a step that has ended is not made again to be measured, only to be known: twice at most.
[ "$(sort built.txt | uniq -c | awk '$1 > 2' | wc -l)" = 0 ] || bad "built again and again: $(sort built.txt | uniq -c)"
grep -q ' [01]$' built.txt || bad "Slurm has given no GPU: $(cat built.txt)"
[ "$(echo r.jsonl*)" = r.jsonl ] || bad "something is left: $(echo r.jsonl*)"
# What a single process finds is the same.
run tune --measure model --results one.jsonl s.lua
cmp -s r.jsonl one.jsonl || bad "the results differ from those of one process"

# A script that fails everywhere ends, and says so.
cp s.lua good.lua
sed -i '1i if os.getenv "SLURM_JOB_ID" then error "not here" end' s.lua
tune ''
exits 1
err_has 'the shards 1, 2, 3 fail; 12 results are in r.jsonl'
grep -q 'not here' r.jsonl.2.log || bad "the log should say why"
