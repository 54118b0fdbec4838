#!/usr/bin/env bash
# Runs the checks of deploy/ that need Debian packages (docker-compose, prometheus, slurmctld, slurmd, slurm-client,
# munge), and says which it skips.
set -euo pipefail
cd "$(dirname "$0")"
export PATH="$PWD/../node_modules/.bin:$PATH"

# has COMMAND PACKAGE: whether COMMAND is installed.
has() {
  command -v "$1" >/dev/null || { echo "skipped: the checks with $1, which is not installed (Debian package $2)"; return 1; }
}

if has docker-compose docker-compose; then
  for files in 'compose.yaml' 'compose.yaml compose.gpu.yaml' 'compose.yaml compose.two-gpus.yaml' 'compose.yaml compose.secure.yaml' 'compose.yaml compose.two-coordinators.yaml'; do
    (cd docker && docker-compose $(printf -- '-f %s ' $files) config -q)
    echo "valid: $files"
  done
fi

if has promtool prometheus && has prometheus prometheus; then
  promtool check config prometheus/prometheus.yml
  promtool check config prometheus/prometheus.two-coordinators.yml
  # Syntax only, because their token file exists only in the container.
  for name in secure machines; do promtool check config --syntax-only prometheus/prometheus.$name.yml; done
  promtool check rules --lint=all --lint-fatal prometheus/*.rules.yml
  promtool test rules prometheus/rules.test.yml
  node ../scripts/run-tests.mjs --concurrency=1 *.e2e.ts ../test/alerts.e2e.ts
fi

# Debian keeps daemons out of the path of users. With HALOGRID_TEST_SLURM=1 a missing Slurm fails.
if [ -n "${HALOGRID_TEST_SLURM:-}" ] || PATH="$PATH:/usr/sbin" has slurmctld 'slurmctld, with slurmd, slurm-client and munge'; then
  for file in slurm/*.sbatch; do bash -n "$file"; done
  node ../scripts/run-tests.mjs ../test/slurm.e2e.ts
fi
