#!/usr/bin/env bash
# Writes the committed WebAssembly, assembly/histograms.ts to FOLDER/features/histograms.wasm: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
mkdir -p "$folder/features"
../../node_modules/.bin/asc assembly/histograms.ts --outFile "$folder/features/histograms.wasm" \
  -O3 --runtime stub --noAssert --importMemory --enable simd
