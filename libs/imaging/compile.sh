#!/usr/bin/env bash
# Writes the committed WebAssembly, assembly/luma.ts to FOLDER/video/process/luma.wasm: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
mkdir -p "$folder/video/process"
../../node_modules/.bin/asc assembly/luma.ts --outFile "$folder/video/process/luma.wasm" \
  -O3 --runtime stub --noAssert --importMemory --enable simd
