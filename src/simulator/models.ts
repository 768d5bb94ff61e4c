import type { Call } from './call.js';
import { modelRoot } from './conversation.js';
import { type Instance, now } from './instance.js';

/** `GET /v1/models`. */
export function answerModels(call: Call, instance: Instance): void {
  const entries = instance.options.models.flatMap((model) =>
    [model.id, ...(model.aliases ?? [])].map((id) => ({ id, maxModelLen: model.maxModelLen })),
  );
  const created = now();
  const data = entries.map(({ id, maxModelLen }) => ({
    id,
    object: 'model',
    created,
    owned_by: 'vllm',
    root: modelRoot,
    parent: null,
    max_model_len: maxModelLen,
    permission: [permission(`modelperm-${instance.nextId()}`, created)],
  }));
  call.json({ object: 'list', data });
}

function permission(id: string, created: number): object {
  return {
    id,
    object: 'model_permission',
    created,
    allow_create_engine: false,
    allow_sampling: true,
    allow_logprobs: true,
    allow_search_indices: false,
    allow_view: true,
    allow_fine_tuning: false,
    organization: '*',
    group: null,
    is_blocking: false,
  };
}
