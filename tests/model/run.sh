#!/bin/bash
# Explores the model of the ledger, then models with one rule taken away, in each of which an error must be found.
# Folder to build in: $1. Less than a minute; MODEL_TIME bounds each step (seconds).
set -eu
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1"
limit=${MODEL_TIME:-60}

build() { # NAME MODEL-FLAGS...
	local name=$1
	shift
	mkdir -p "$name"
	(cd "$name" && spin -a "$@" "$here/ledger.pml" && gcc -w -O1 -DSAFETY -DMEMLIM=3000 -o pan pan.c)
}

report() { # NAME: what the verifier said
	sed -n 's/^ *\([0-9]*\) states, stored.*/\1 states/p; s/.*\(errors: [0-9]*\).*/\1/p; s/^pan:.*\(assertion violated.*\)/\1/p' \
		"$1/said" | tr '\n' ' '
}

holds() { # NAME MODEL-FLAGS...: every interleaving, no error
	build "$@"
	(cd "$1" && timeout "$limit" ./pan -m200000 > said) || true
	echo "$1: $(report "$1")"
	grep -q 'errors: 0' "$1/said" && ! grep -qE 'too small|not completed|out of memory' "$1/said"
}

fails() { # NAME MODEL-FLAGS...: an error must be found
	build "$@"
	(cd "$1" && timeout "$limit" ./pan -m200000 > said) || true
	echo "without $1: $(report "$1")"
	grep -qE 'assertion violated' "$1/said"
}

holds "all rules" -DTURNS=2 -DKILLS=1
holds "one send" -DTURNS=2 -DKILLS=1 -DLIMIT=1
fails "counting insertions" -DTURNS=2 -DKILLS=1 -DBREAK=1
fails "a swap to take a record" -DTURNS=3 -DKILLS=1 -DBREAK=2
fails "refusing what the dead left open" -DTURNS=2 -DKILLS=1 -DBREAK=3
fails "asking whether a send is open" -DTURNS=2 -DKILLS=1 -DBREAK=4
fails "charging first" -DTURNS=2 -DKILLS=1 -DBREAK=5
fails "numbered possessions" -DTURNS=2 -DKILLS=1 -DBREAK=6
