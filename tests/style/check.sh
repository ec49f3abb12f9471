#!/bin/sh
# The house rules that a machine can check. Each failure names the file; the exit status is their number.
cd "$(dirname "$0")/../.." || exit 1
CC=${CC:-cc}
flags="-std=c17 -D_GNU_SOURCE -I. -Wall -Wextra -include common/base/banned.h $(pkg-config --cflags libevent_core openssl jansson)"
failed=0

fail() {
	echo "check-style: $*" >&2
	failed=$((failed + 1))
}

# common/ is leaf: it knows nothing of the processes that use it, nor of an event loop.
bad=$(grep -rnE '#include *["<](server/|workers/|event2?/|\.\./)' common) && fail "common/ must stay leaf:
$bad"

# Workers know nothing of the master, and the master of a worker only its entry.
bad=$(grep -rnE '#include *"server/' workers) && fail "workers/ must not include server/:
$bad"
bad=$(grep -rnE '#include *"workers/' server | grep -v '"workers/worker.h"') && fail "server/ may include workers/worker.h only:
$bad"

# Each header compiles alone.
for h in $(find common server workers -name '*.h'); do
	# shellcheck disable=SC2086
	echo "#include \"$h\"" | $CC $flags -fsyntax-only -x c - || fail "$h does not compile alone"
done

# Banned functions do not compile.
for call in 'strcpy(a, b)' 'strcat(a, b)' 'sprintf(a, b)' 'strncpy(a, b, 1)' 'strtok(a, b)' 'gets(a)' 'atoi(b)' \
	'gmtime(0)' 'rand()' 'srand(1)'; do
	# shellcheck disable=SC2086
	echo "void f(char *a, const char *b); void f(char *a, const char *b) { (void)a; (void)b; (void)$call; }" |
		$CC $flags -fsyntax-only -x c - 2>/dev/null && fail "$call compiles"
done

# What is written is not put where nothing can be (the file says why).
object=$(mktemp)
# shellcheck disable=SC2046
$CC $(make -s print-flags LTO= CC="$CC") -O2 -c -o "$object" tests/style/written_static.c &&
	nm "$object" | grep -q ' b in_the_middle' || fail "a variable that is written is in read-only memory"
rm -f "$object"

# Layout.
if command -v clang-format >/dev/null; then
	bad=$(git ls-files '*.c' '*.h' | xargs clang-format --dry-run 2>&1 | sed -n 's/^\([^: ]*\):[0-9]*:[0-9]*: .*/\1/p' | sort -u)
	[ -z "$bad" ] || fail "not laid out as .clang-format says:
$bad"
fi

# Each promise of the threat model has its test.
python3 tests/style/promises.py || fail "docs/threat-model.md names tests that are not there"

# Nothing is only half there.
bad=$(grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' common server workers tests/unit tests/e2e/*.py) && fail "unfinished:
$bad"

[ "$failed" -eq 0 ] && echo "style: ok"
exit "$failed"
