#!/bin/sh
# Each target for SECONDS: run.sh SECONDS TARGET... What it finds stays in build/fuzz/found/TARGET; the last
# line tells the CPU seconds that it had.
set -u
seconds=$1
shift
failed=0
for n in "$@"; do
	found=build/fuzz/found/$n
	mkdir -p "$found"
	dictionary=
	[ -f "tests/fuzz/dict/$n.dict" ] && dictionary=-dict=tests/fuzz/dict/$n.dict
	# shellcheck disable=SC2086
	python3 - "$n" "build/fuzz/fuzz_$n" -max_total_time="$seconds" -timeout=20 -verbosity=0 -print_final_stats=1 $dictionary \
		-artifact_prefix="$found/" "$found" "tests/fuzz/corpus/$n" <<'PY' || failed=1
import resource, subprocess, sys
run = subprocess.run(sys.argv[2:], capture_output=True, text=True, errors="replace")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
runs = [line.split()[-1] for line in run.stderr.splitlines() if "number_of_executed_units" in line]
print(f"{sys.argv[1]}: {used.ru_utime + used.ru_stime:.0f} CPU s, {runs[0] if runs else '?'} runs", flush=True)
if run.returncode != 0:
    print(run.stderr[-8000:])
sys.exit(run.returncode != 0)
PY
done
exit $failed
