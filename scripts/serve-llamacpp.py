"""Runs llama.cpp's HTTP server inside Python, as the wheel of xllamacpp brings it. Started by serve-llamacpp.sh."""

import argparse
import os
import signal
import threading

import xllamacpp

arguments = argparse.ArgumentParser(prog="serve-llamacpp.sh")
arguments.add_argument("--model", required=True, help=argparse.SUPPRESS)
arguments.add_argument("--port", type=int, default=8081, help="0: any free one")
arguments.add_argument("--ctx", type=int, default=2048, help="tokens of all slots together")
arguments.add_argument("--parallel", type=int, default=1, help="slots, which share the context")
arguments.add_argument("--api-key", default="")
arguments.add_argument("--chat-template-file", default="", help="default: the model's own")
arguments.add_argument("--with-parent", action="store_true", help="end when the starting process does")
given = arguments.parse_args()

parameters = xllamacpp.CommonParams()
parameters.model.path = given.model
parameters.model_alias = {"smollm2-135m-instruct"}
parameters.hostnames = ["127.0.0.1"]
parameters.port = given.port
parameters.n_ctx = given.ctx
parameters.n_parallel = given.parallel
parameters.kv_unified = False
parameters.use_jinja = True
parameters.cpuparams.n_threads = 2
parameters.cpuparams_batch.n_threads = 2
parameters.endpoint_slots = True
parameters.endpoint_props = True
parameters.offline = True
if given.api_key:
    parameters.api_keys = [given.api_key]
if given.chat_template_file:
    with open(given.chat_template_file, encoding="utf-8") as template:
        parameters.chat_template = template.read()

parent = os.getppid()
server = xllamacpp.Server(parameters)
print(f"llama.cpp listening on {server.listening_address}", flush=True)

ended = threading.Event()
for name in (signal.SIGTERM, signal.SIGINT):
    signal.signal(name, lambda *_: ended.set())
while not ended.wait(0.25):
    if given.with_parent and os.getppid() != parent:
        break
# The library's own threads would outlive an ordinary exit.
os._exit(0)
