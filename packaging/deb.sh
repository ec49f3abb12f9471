#!/bin/sh
# Usage: packaging/deb.sh TARBALL VERSION DATE: builds the Debian packages out of the tarball, into build/.
set -eu
tarball=$1 version=$2 date=$3
work=build/deb
rm -rf $work && mkdir -p $work
cp "$tarball" "$work/turnpike_$version.orig.tar.gz"
tar -C $work -xzf "$tarball"
source=$work/turnpike-$version
cp -r "$source/packaging/debian" "$source/debian"
# What is new stands in CHANGELOG.md, which the package has as changelog.gz.
{
	printf 'turnpike (%s-1) unstable; urgency=medium\n\n  * Version %s, see changelog.gz.\n' "$version" "$version"
	printf '\n -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' "$source/debian/control")" \
		"$(LC_ALL=C date -u -d "$date" '+%a, %d %b %Y %H:%M:%S +0000')"
} >"$source/debian/changelog"
(cd "$source" && DEB_BUILD_OPTIONS="parallel=${JOBS:-2} nocheck" dpkg-buildpackage -us -uc) >$work/log 2>&1 ||
	{ tail -40 $work/log >&2; exit 1; }
cp $work/turnpike_"$version"-1_*.deb build/
lintian --tag-display-limit 0 --fail-on error,warning $work/turnpike_"$version"-1_*.changes
ls build/turnpike_"$version"-1_*.deb
