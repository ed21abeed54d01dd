#!/bin/sh
# Make a virtual environment with a current pip in the folder $1, from the first Python that is new enough.
# PYTHON=... names another.
set -eu

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if ! "$1/bin/python" -m pip --version >/dev/null 2>&1; then
    for python in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11; do
        if new_enough "$python"; then
            break
        fi
    done
    if ! new_enough "$python"; then
        echo "Python 3.11 or newer is needed. Name one: make PYTHON=/path/to/python" >&2
        exit 1
    fi
    # Some systems ship pip but not what venv needs to copy it.
    if ! "$python" -m venv "$1" 2>/dev/null; then
        "$python" -m venv --clear --without-pip "$1"
        "$python" -m pip --python "$1" install --quiet pip
    fi
fi
# Dependency groups need pip 25.1.
"$1/bin/python" -m pip install --quiet 'pip>=25.1'
