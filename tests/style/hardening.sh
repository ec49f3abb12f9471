#!/bin/sh
# Is the daemon linked as hardened as the Makefile means it to be? hardening.sh FILE
file=$1
failed=0

want() { # WHAT PATTERN TEXT
	echo "$3" | grep -q "$2" || {
		echo "check-hardening: $file: no $1" >&2
		failed=1
	}
}

header=$(readelf -h "$file") segments=$(readelf -lW "$file") dynamic=$(readelf -d "$file") symbols=$(readelf -sW --dyn-syms "$file")
want "position independent executable" 'Type:.*DYN' "$header"
want "RELRO" GNU_RELRO "$segments"
want "immediate binding" 'BIND_NOW\|FLAGS.*NOW' "$dynamic"
want "stack protector" __stack_chk_fail "$symbols"
want "FORTIFY_SOURCE" '__\(memcpy\|snprintf\|vsnprintf\|read\)_chk' "$symbols"
echo "$segments" | grep 'GNU_STACK' | grep -q 'RWE' && echo "check-hardening: $file: executable stack" >&2 && failed=1
if echo "$header" | grep -q 'X86-64'; then
	entry=$(objdump -d --no-show-raw-insn "$file" --disassemble=main | grep -c endbr64)
	[ "$entry" -gt 0 ] || { echo "check-hardening: $file: no landing pads of CET" >&2; failed=1; }
fi
[ "$failed" -eq 0 ] && echo "hardening: ok"
exit "$failed"
