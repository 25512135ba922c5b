#!/usr/bin/env bash
# A program or a shared library was built with what cmake/build.cmake calls hardening: check_hardening.sh FILE
set -euo pipefail
file=$1
failed=0
expect() { # expect "what" PATTERN readelf's options
    local what=$1 pattern=$2
    shift 2
    readelf -W "$@" "$file" | grep -E "$pattern" > /dev/null || {
        echo "$file: expected $what"
        failed=1
    }
}
expect "a position-independent file" 'Type: +DYN' -h
expect "relocations that are read-only after loading" 'GNU_RELRO' -l
expect "all relocations at loading" 'FLAGS_1.* NOW' -d
expect "a stack that is not executable" 'GNU_STACK .* RW ' -l
expect "the stack protector" '__stack_chk_fail' --dyn-syms
expect "checked copies (_FORTIFY_SOURCE)" '__(memcpy|snprintf|vsnprintf|strcpy|memset)_chk' --dyn-syms
exit $failed
