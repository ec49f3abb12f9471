#!/bin/sh
# Usage: packaging/rpm.sh TARBALL VERSION DATE: builds the rpm out of the tarball, into build/.
# MAINTAINER and HOMEPAGE (may be empty) come from the Makefile. BUILT: a folder build/ that is up to date already.
set -eu
tarball=$1 version=$2 date=$3
work=$PWD/build/rpm
packager=$MAINTAINER
rm -rf "$work" && mkdir -p "$work/SOURCES" "$work/SPECS"
cp "$tarball" "$work/SOURCES/"
# rpmbuild wants the version and a changelog in the spec; both come from where the source has them.
{
	printf '%%global turnpike_version %s\n' "$version"
	tar -xzOf "$tarball" "turnpike-$version/packaging/rpm/turnpike.spec"
	printf '\n%%changelog\n* %s %s - %s-1\n- Version %s, see CHANGELOG.md.\n' \
		"$(LC_ALL=C date -u -d "$date" '+%a %b %d %Y')" "$packager" "$version" "$version"
} >"$work/SPECS/turnpike.spec"
# Debian's rpm has scripts to compress and strip that need bash for sh, so the two are said here.
finish='gzip -9n %{buildroot}%{_mandir}/man?/* && strip --strip-unneeded %{buildroot}%{_bindir}/turnpike'
# Nor has it the macros of systemd-rpm-macros. And --nodeps: the libraries are there, but not in rpm's own database.
SOURCE_DATE_EPOCH=$(date -u -d "$date" +%s) rpmbuild --define "_topdir $work" --define "_unitdir /usr/lib/systemd/system" --define "_sysusersdir /usr/lib/sysusers.d" \
	--define "_tmpfilesdir /usr/lib/tmpfiles.d" --define "packager $packager" \
	${HOMEPAGE:+--define "homepage $HOMEPAGE"} ${BUILT:+--define "built $BUILT"} \
	--define "__os_install_post $finish" --define "_smp_mflags -j${JOBS:-2}" \
	--nodeps -bb "$work/SPECS/turnpike.spec" >"$work/log" 2>&1 || { tail -40 "$work/log" >&2; exit 1; }
rm -f build/turnpike-*.rpm
find "$work/RPMS" -name "turnpike-$version-*.rpm" -exec cp {} build/ \;
rpmlint --config packaging/rpm/rpmlint.toml "$work"/SPECS/turnpike.spec build/turnpike-"$version"-1.*.rpm
ls build/turnpike-"$version"-1.*.rpm
