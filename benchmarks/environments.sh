#!/bin/sh
# The environments of `make bench` in the folder $1: one for this project and one for each peer, whose versions of
# shared packages differ.
set -eu

for name in own mcpz stateless sdk fastmcp; do
    stamp="$1/$name/.set-up"
    asked="benchmarks/requirements/$name.txt"
    if [ ! -e "$stamp" ] || [ "$asked" -nt "$stamp" ] || [ pyproject.toml -nt "$stamp" ]; then
        sh tools/venv.sh "$1/$name"
        "$1/$name/bin/python" -m pip install --quiet -r "$asked" -r benchmarks/requirements/servers.txt
        touch "$stamp"
    fi
done
