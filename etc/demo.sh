#!/bin/bash
# Starts `turnpike simulate` and `turnpike serve` in front of it, in the foreground.  Ctrl-C or
# TERM stops both.  Usage: etc/demo.sh [path of turnpike]
set -u
set -m # a process group each: Ctrl-C reaches this script only, which then stops each of them once
cd "$(dirname "$0")/.." || exit 1
turnpike=${1:-build/turnpike}
front=8080 # as in etc/simulate-demo.yaml
back=9099
pids=()

listening() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

stop() {
	trap '' INT TERM
	for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null; done
	for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null; done
}

start() { # port, command...
	local port=$1
	shift
	"$@" &
	local pid=$!
	pids=("$pid" "${pids[@]}") # the proxy, started last, is stopped first
	for _ in $(seq 200); do
		if ! kill -0 "$pid" 2>/dev/null; then
			echo "'$*' ended before it was ready; its message is above." >&2
			stop
			exit 1
		fi
		listening "$port" && return
		sleep 0.05
	done
	echo "'$*' did not open port $port within 10 seconds." >&2
	stop
	exit 1
}

for port in $front $back; do
	if listening $port; then
		echo "Port $port on 127.0.0.1 is in use by another program: stop that one, then try again." >&2
		exit 1
	fi
done

trap 'stop; exit 0' INT TERM
start $back "$turnpike" simulate --listen "127.0.0.1:$back"
start $front "$turnpike" serve -c etc/simulate-demo.yaml

cat <<'EOF'

Turnpike is on http://127.0.0.1:8080, a simulated provider behind it. Ctrl-C stops both. Two lines to try:

curl -i http://127.0.0.1:8080/v1/chat/completions -H 'Content-Type: application/json' -d '{"model":"sim:503,200;again","messages":[{"role":"user","content":"hello"}]}'

curl -N http://127.0.0.1:8080/v1/responses -H 'Content-Type: application/json' -d '{"model":"sim:429;retry-after=2,slow;every=200ms;tokens=20;again","stream":true,"input":"hello"}'

The first meets a 503 and answers 200 with X-Turnpike-Sends: 2; the second is told to wait two seconds, then streams.
EOF

wait -n
echo "One of the two ended by itself; stopping the other." >&2
stop
exit 1
