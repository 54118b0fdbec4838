#!/usr/bin/env bash
# Writes the committed WebAssembly, assembly/NAME.ts to FOLDER/video/process/NAME.wasm: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
mkdir -p "$folder/video/process"
for name in luma colour; do
  ../../node_modules/.bin/asc "assembly/$name.ts" --outFile "$folder/video/process/$name.wasm" \
    -O3 --runtime stub --noAssert --importMemory --enable simd
done
