#!/bin/sh
# Usage: packaging/deb.sh TARBALL VERSION DATE: builds the Debian packages out of the tarball, into build/.
# MAINTAINER and HOMEPAGE (may be empty) come from the Makefile.
set -eu
tarball=$1 version=$2 date=$3
work=build/deb
rm -rf $work && mkdir -p $work
cp "$tarball" "$work/turnpike_$version.orig.tar.gz"
tar -C $work -xzf "$tarball"
source=$work/turnpike-$version
cp -r "$source/packaging/debian" "$source/debian"
if [ -n "$HOMEPAGE" ]; then drop='$^'; else drop='^Homepage:'; fi
sed -i -e "/$drop/d" -e "s|@MAINTAINER@|$MAINTAINER|" -e "s|@HOMEPAGE@|$HOMEPAGE|" "$source/debian/control"
# What is new stands in CHANGELOG.md, which the package has as changelog.gz.
{
	printf 'turnpike (%s-1) unstable; urgency=medium\n\n  * Version %s, see changelog.gz.\n' "$version" "$version"
	printf '\n -- %s  %s\n' "$MAINTAINER" "$(LC_ALL=C date -u -d "$date" '+%a, %d %b %Y %H:%M:%S +0000')"
} >"$source/debian/changelog"
(cd "$source" && DEB_BUILD_OPTIONS="parallel=${JOBS:-2} nocheck" dpkg-buildpackage -us -uc) >$work/log 2>&1 ||
	{ tail -40 $work/log >&2; exit 1; }
rm -f build/turnpike_*.deb
cp $work/turnpike_"$version"-1_*.deb build/
lintian --allow-root --tag-display-limit 0 --fail-on error,warning $work/turnpike_"$version"-1_*.changes
ls build/turnpike_"$version"-1_*.deb
