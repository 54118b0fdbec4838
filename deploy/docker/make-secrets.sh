#!/usr/bin/env bash
# Makes the secrets of compose.secure.yaml in the given folder, or in 'secrets' beside this file: a token for each role,
# and the file of tokens, which holds only their SHA-256s. As root it gives them to the users of the containers.
set -euo pipefail
umask 077
folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
if [ -e "$folder/tokens" ]; then
  echo "$folder/tokens is there already" >&2
  exit 1
fi
for role in submit node read; do
  openssl rand -hex 32 > "$folder/$role-token"
  sum=$(tr -d '\n' < "$folder/$role-token" | sha256sum | cut -d ' ' -f 1)
  echo "$role compose sha256:$sum" >> "$folder/tokens"
done
if [ "$(id -u)" = 0 ]; then
  chown "${HALOGRID_USER:-65532:65532}" "$folder"/{tokens,submit-token,node-token}
  # The image of Prometheus runs as the user nobody.
  chown 65534:65534 "$folder/read-token"
fi
