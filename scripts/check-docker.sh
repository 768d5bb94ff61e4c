#!/usr/bin/env bash
# Has the real docker compose read docker-compose.yml, for each of its profiles. No Docker engine is needed; where compose
# is missing it is built from its Go module, once, in some minutes.
set -euo pipefail
cd "$(dirname "$0")/.."

if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
else
  built="$PWD/node_modules/.cache/incontext/docker-compose"
  [ -x "$built" ] || scripts/build-compose.sh "$built"
  compose=("$built")
fi
"${compose[@]}" version

# What a developer's own environment and .env say must not decide the outcome.
config() { env -i HOME="$HOME" PATH="$PATH" "${compose[@]}" --env-file /dev/null "$@"; }

faulty=$(mktemp)
trap 'rm -f "$faulty"' EXIT
sed 's/stop_grace_period/stop_grace_periods/' docker-compose.yml >"$faulty"
if config --file "$faulty" --profile vllm config --quiet 2>/dev/null; then
  echo "check-docker: a planted fault was not found" >&2
  exit 1
fi

services() { config --profile "$1" config --services | sort | xargs; }
expect() {
  local found
  found=$(services "$1")
  if [ "$found" != "$2" ]; then
    echo "check-docker: profile $1 has the services '$found', not '$2'" >&2
    exit 1
  fi
  config --profile "$1" config --quiet
  echo "profile $1: $found"
}
expect vllm 'proxy vllm'
expect demo 'proxy simulator'
