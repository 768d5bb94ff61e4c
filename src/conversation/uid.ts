const UID = /^[0-9a-f]{32}$/;

/** True for an id as we mint them. Any other that a client sends is not taken for one. */
export function isUid(value: unknown): value is string {
  return typeof value === 'string' && UID.test(value);
}
