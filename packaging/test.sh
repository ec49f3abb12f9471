#!/bin/sh
# Usage: packaging/test.sh TARBALL VERSION DATE: both packages for the tests, built when the source has changed.
# The rpm takes over what was compiled for the Debian package: `make rpm` compiles by itself.
set -eu
tarball=$1 version=$2 date=$3
stamp=build/packaging/built
now="$(sha256sum <"$tarball") $MAINTAINER $HOMEPAGE"
if [ "$(cat $stamp 2>/dev/null)" = "$now" ] && ls build/turnpike_"$version"-1_*.deb build/turnpike-"$version"-1.*.rpm; then
	exit 0
fi >/dev/null
mkdir -p build/packaging && rm -f $stamp
packaging/deb.sh "$tarball" "$version" "$date"
BUILT="$PWD/build/deb/turnpike-$version/build" packaging/rpm.sh "$tarball" "$version" "$date"
printf '%s\n' "$now" >$stamp
