#!/usr/bin/env bash
# Checks that the committed WebAssembly and protocol code match their sources, and that the protocol does not break
# older peers. Changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

bash scripts/compile-wasm.sh "$scratch/wasm"
diff <(git ls-files '*.wasm' | sort | xargs sha256sum) <(cd "$scratch/wasm" && find * -name '*.wasm' | sort | xargs sha256sum)
echo "the committed WebAssembly is what its source compiles to"

bash libs/proto/generate.sh "$scratch/proto"
diff -r libs/proto/src/gen "$scratch/proto/src/gen"
echo "the committed protocol code is what the .proto files say"

main=$(bash scripts/main-commit.sh)
if [ -n "$main" ] && git cat-file -e "$main:libs/proto/buf.yaml" 2>/dev/null; then
  mkdir "$scratch/before"
  git archive "$main" libs/proto | tar -x -C "$scratch/before"
  (cd libs/proto && ../../node_modules/.bin/buf breaking --against "$scratch/before/libs/proto")
  echo "the protocol breaks no peer of main"
else
  echo "skipped: there is no main with .proto files to compare with"
fi
