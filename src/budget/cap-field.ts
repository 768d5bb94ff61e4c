/** The names of an output cap, in the order in which ties are broken (design, section 5). */
export const CAP_FIELDS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;
export type CapField = (typeof CAP_FIELDS)[number];
