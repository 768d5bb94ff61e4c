/** The vLLM generations that were recorded: their limits, clamping and wording differ. */
export type VllmVersion = '0.16' | '0.32';

export const vllmVersions: readonly VllmVersion[] = ['0.16', '0.32'];
