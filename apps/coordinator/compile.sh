#!/usr/bin/env bash
# Writes the committed WebAssembly, assembly/frames.ts to FOLDER/ledger/frames.wasm: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
mkdir -p "$folder/ledger"
../../node_modules/.bin/asc assembly/frames.ts --outFile "$folder/ledger/frames.wasm" \
  -O3 --runtime stub --noAssert --importMemory --enable simd
