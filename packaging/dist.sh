#!/bin/sh
# Usage: packaging/dist.sh NAME DATE TARBALL, in the root of the source. What is in the tarball: the files
# that git knows, or, in an unpacked tarball, all but build/. Its bytes hang on their content alone.
set -eu
name=$1 date=$2 tarball=$3
[ -n "$date" ] || { echo "dist: CHANGELOG.md has no heading of this version with its date" >&2; exit 1; }
mkdir -p "$(dirname "$tarball")"
if [ -e .git ]; then
	git ls-files -z
else
	find . -path ./build -prune -o \( -type f -o -type l \) -printf '%P\0'
fi | LC_ALL=C sort -z >"$tarball.list"
tar --create --no-recursion --format=ustar --transform="flags=r;s|^|$name/|" --mtime="$date 00:00:00Z" \
	--owner=0 --group=0 --numeric-owner --mode='u+rw,go=rX' --file="$tarball.tar" --null --files-from="$tarball.list"
gzip -9n <"$tarball.tar" >"$tarball"
rm "$tarball.list" "$tarball.tar"
sha256sum "$tarball"
