#!/usr/bin/env bash
# Builds docker compose from its Go module, for machines without Docker's own packages: minutes, and only Go is needed.
#   scripts/build-compose.sh TARGET
set -euo pipefail

if [ $# -ne 1 ]; then
  echo "usage: $0 TARGET" >&2
  exit 2
fi
target=$(realpath -m "$1")
version=v2.40.3

work=$(mktemp -d)
# Go writes its modules read-only.
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT

cd "$work"
go mod init compose-download >/dev/null 2>&1
go mod download -json "github.com/docker/compose/v2@$version" >module.json
module=$(node -p 'JSON.parse(require("node:fs").readFileSync("module.json", "utf8")).Dir')

# Built in its own folder, where its go.mod and its replacements hold.
cp -r "$module" source
chmod -R u+w source
mkdir -p "$(dirname "$target")"
cd source
go build -o "$target" ./cmd
