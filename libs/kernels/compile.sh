#!/usr/bin/env bash
# Writes the committed WebAssembly from assembly/: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
mkdir -p "$folder/lbp"
../../node_modules/.bin/asc assembly/lbp.ts --outFile "$folder/lbp/lbp.wasm" \
  -O3 --runtime stub --noAssert --importMemory --enable simd
