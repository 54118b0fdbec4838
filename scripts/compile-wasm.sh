#!/usr/bin/env bash
# Writes the committed WebAssembly from its AssemblyScript: compile-wasm.sh [FOLDER]; FOLDER defaults to the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${1:-.}
# Each line: a package, the name of a source in it, and the folder of the package for the module of the same name.
# Warning 112 is about vectors in exports; here only files of the same module exchange them.
while read -r package name folder; do
  mkdir -p "$root/$package/$folder"
  node_modules/.bin/asc "$package/assembly/$name.ts" --outFile "$root/$package/$folder/$name.wasm" \
    -O3 --runtime stub --noAssert --importMemory --enable simd --disableWarning 112 </dev/null
done <<'MODULES'
libs/kernels conv src/conv
libs/kernels glcm src/glcm
libs/kernels lbp src/lbp
libs/kernels ldp src/ldp
libs/search changes src/changes
libs/search scan src/scan
libs/imaging colour src/video/process
libs/imaging luma src/video/process
libs/results histograms src/features
MODULES
