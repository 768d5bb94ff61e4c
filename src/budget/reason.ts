/** What was done with a request: the value of `x-incontext-action`, of the log field and of the metric label. */
export const ACTIONS = ['unchanged', 'clamped', 'compressed', 'bypassed', 'pending'] as const;
export type Action = (typeof ACTIONS)[number];

/**
 * Why it was done. One value, spelled the same in the log field `reason`, the metric label and the
 * `x-incontext-reason` header.
 */
export const REASONS = [
  'fits',
  'cap_lowered',
  'cap_inserted',
  'cap_merged',
  'cap_respelled',
  'compression_due',
  'checkpoint_reused',
  'overflow_recovered',
  'clamped_to_context',
  'requires_compression',
  'irreducible',
  'compression_failed',
  'compression_timeout',
  'backend_limit',
  'both_counters_failed',
  'backend_contract_failed',
  'ignored',
  'not_json',
  'body_too_large',
  'encoded_body',
  'model_unknown',
  'window_unknown',
  'window_too_small',
  'bypass',
  'command',
  'internal_error',
] as const;
export type Reason = (typeof REASONS)[number];
