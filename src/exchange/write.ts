import { editObject } from '../body/edit-object.js';
import type { RawObject } from '../body/raw-object.js';
import type { CapDecision } from '../budget/decide.js';

/** Splices a decision into the request's bytes; without one the same buffer comes back. */
export function writeCap(request: RawObject, cap: CapDecision): Buffer {
  if (cap.kind !== 'set') return request.bytes;
  return editObject(request, {
    set: new Map([[cap.field, String(cap.value)]]),
    drop: new Set(cap.drop),
  });
}
