#!/bin/sh
# Builds every program of this folder into OUT_DIR and prints the path of each; fails where one does not compile.
#
#   build.sh OUT_DIR        environment: NVCC (nvcc), CUDA_ARCH (native), NVCC_FLAGS (more flags, e.g. -maxrregcount=32)
set -eu

[ $# -eq 1 ] || { echo 'usage: build.sh OUT_DIR' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)

# All at once: a compiler each, and as many programs as there are hands.
jobs=''
for source in "$here"/*.cu; do
  program="$out/$(basename "$source" .cu)"
  # shellcheck disable=SC2086  (NVCC_FLAGS is a list of words)
  "${NVCC:-nvcc}" -std=c++17 -O3 -arch="${CUDA_ARCH:-native}" -Xcompiler=-pthread ${NVCC_FLAGS:-} \
    -o "$program" "$source" &
  jobs="$jobs $!:$program"
done
state=0
for job in $jobs; do
  if wait "${job%%:*}"; then echo "${job#*:}"; else state=1; fi
done
exit $state
