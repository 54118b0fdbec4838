#!/usr/bin/env bash
# Writes src/gen from the .proto files: generate.sh [FOLDER], into this package without it. Everything comes from node_modules: no network, no protoc.
set -euo pipefail
cd "$(dirname "$0")"
PATH="$PWD/../../node_modules/.bin:$PATH"
buf lint
buf generate --output "${1:-.}"
