#!/bin/sh
# Print an interpreter of the version asked for, as in `find_python.sh 3.12`; nothing when there is none.
# A name on PATH may be a shim that leads nowhere, so each is asked for its version first.
version=$1
fits() {
    [ "$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$version" ]
}
for candidate in "python$version" python3 python; do
    if command -v "$candidate" >/dev/null && fits "$candidate"; then
        "$candidate" -c 'import sys; print(sys.executable)'
        exit 0
    fi
done
if command -v pyenv >/dev/null; then
    for candidate in "$(pyenv root)"/versions/"$version".*/bin/python; do
        if [ -x "$candidate" ] && fits "$candidate"; then
            echo "$candidate"
            exit 0
        fi
    done
fi
