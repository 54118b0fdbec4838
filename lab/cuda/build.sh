#!/bin/sh
# Builds programs of this folder into OUT_DIR, all unless some are named, and prints the path of each. Fails if one does
# not compile.
#
#   build.sh OUT_DIR [PROGRAM…]
#
# Environment: NVCC (nvcc), CUDA_ARCH (native), NVCC_FLAGS (more flags, such as -maxrregcount=32). nvjpeg/nvjpeg-frames
# must be named, because it needs a library that not every toolkit has: NVCC_FLAGS=-lnvjpeg.
set -eu

[ $# -ge 1 ] || { echo 'usage: build.sh OUT_DIR [PROGRAM…]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cu | sed 's|^./||; s|\.cu$||')

# All at once, a compiler each.
jobs=''
for name in "$@"; do
  program="$out/$(basename "$name")"
  # shellcheck disable=SC2086  (NVCC_FLAGS is a list of words)
  "${NVCC:-nvcc}" -std=c++17 -O3 -arch="${CUDA_ARCH:-native}" -Xcompiler=-pthread ${NVCC_FLAGS:-} \
    -o "$program" "$here/$name.cu" &
  jobs="$jobs $!:$program"
done
state=0
for job in $jobs; do
  if wait "${job%%:*}"; then echo "${job#*:}"; else state=1; fi
done
exit $state
