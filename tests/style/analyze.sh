#!/bin/sh
# Static analysis of all sources, two at a time: analyze.sh FLAGS-OF-GCC FLAGS-OF-CLANG [deep]. What the analyzers take
# wrongly is switched off here, in cppcheck.txt and in .clang-tidy, each with the reason; what is no longer found has to go.
cd "$(dirname "$0")/../.." || exit 1
gcc_flags=$1 clang_flags=$2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
sources=$(git ls-files 'common/*.c' 'server/*.c' 'workers/*.c')

# each SUFFIX COMMAND: runs it once for every source ($f), with what it says in a file of its own
each() {
	# shellcheck disable=SC2086
	printf '%s\n' $sources | xargs -P2 -I@ sh -c "f=@; { $2; } >\"$out/\$(echo @ | tr / .).$1\" 2>&1"
}

# GCC 12 does not follow owned pointers that go into a struct through void * (common/config): its leaks are none.
each gcc "gcc $gcc_flags -O1 -fanalyzer -Wno-analyzer-malloc-leak -c -o /dev/null \$f"

# Clang's own analyzer takes ten times as long as all its other checks.
[ "${3:-}" = deep ] && checks= || checks='--checks=-clang-analyzer-*'
each tidy "clang-tidy --quiet $checks \$f -- $clang_flags"

# shellcheck disable=SC2086
cppcheck -q -j2 --std=c17 --enable=warning,performance,portability,information -I. -D_GNU_SOURCE \
	--library=posix,gnu,tests/style/cppcheck.cfg \
	--suppressions-list=tests/style/cppcheck.txt --template='{file}:{line}: {severity}: {message} [{id}]' \
	$sources >"$out/cppcheck" 2>&1

grep -rhE '(error|warning|performance|portability|information): ' "$out" | grep -v missingIncludeSystem | sort -u >"$out/found"
# GCC 12: room in a control message, arrays grown in place, and a check that stands before a copy of a whole struct.
known_all='server/handover.c.*null-dereference server/listeners.c.*double-free workers/resolve.c.*possible-null-dereference'
# Clang's analyzer does not connect a length with its pointer: a buffer with room has memory, a text that is not empty has
# bytes, a list that was cleared has no entries, and the pieces of a body are as long as what was received of it.
[ "${3:-}" = deep ] && known_all="$known_all common/base/buf.h:.*Null common/base/str.h:.*Null common/config/convert.c:.*Null workers/request.c:.*null"
# Nor that getsockname() and getpeername() write the address, and that what is in hand comes first only where it is.
[ "${3:-}" = deep ] && known_all="$known_all server/listeners.c:.*uninitialized server/listeners.c:.*garbage workers/access_log.c:.*garbage workers/dispatch.c:.*null"
for known in $known_all; do
	grep -q "$known" "$out/found" || lost="${lost:-} $known"
	sed -i "\\,$known,d" "$out/found"
done
for known in ${lost:-}; do
	echo "analyze.sh: error: no longer found: $known" >>"$out/found"
done
[ -s "$out/found" ] && cat "$out/found" && exit 1
echo "analyze: ok"
