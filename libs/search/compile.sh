#!/usr/bin/env bash
# Writes the committed WebAssembly, assembly/NAME.ts to FOLDER/NAME/NAME.wasm: compile.sh [FOLDER], src without it.
set -euo pipefail
cd "$(dirname "$0")"
folder=${1:-src}
for source in assembly/*.ts; do
  name=$(basename "$source" .ts)
  mkdir -p "$folder/$name"
  ../../node_modules/.bin/asc "$source" --outFile "$folder/$name/$name.wasm" \
    -O3 --runtime stub --noAssert --importMemory --enable simd
done
