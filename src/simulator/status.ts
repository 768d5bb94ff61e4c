import type { Call } from './call.js';
import type { Instance } from './instance.js';

/** `/health` and `/ping`. */
export function answerHealth(call: Call): void {
  call.empty();
}

/** `GET /version`. */
export function answerVersion(call: Call, instance: Instance): void {
  call.json({ version: `${instance.options.vllm}.0` });
}

/** `GET /load`: generations in flight. */
export function answerLoad(call: Call, instance: Instance): void {
  call.json({ server_load: instance.meters.running });
}

/** `GET /metrics`. */
export function answerMetrics(call: Call, instance: Instance): void {
  const model = instance.options.models[0]?.id ?? '';
  call.respond(200, instance.meters.text(model), 'text/plain; version=1.0.0; charset=utf-8');
}
