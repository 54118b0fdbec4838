#!/bin/sh
# Builds programs of this folder, all unless some are named, into OUT_DIR and prints the path of each; fails where one does
# not compile.
#
#   build.sh OUT_DIR [PROGRAM…]        environment: NVCC (nvcc), CUDA_ARCH (native), NVCC_FLAGS (more flags, e.g. -maxrregcount=32)
#
# nvjpeg/nvjpeg-frames is none of all: it needs a library that not every toolkit has, by NVCC_FLAGS=-lnvjpeg.
set -eu

[ $# -ge 1 ] || { echo 'usage: build.sh OUT_DIR [PROGRAM…]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(cd "$here" && ls ./*.cu | sed 's|^./||; s|\.cu$||')

# All at once: a compiler each, and as many programs as there are hands.
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
