import { StoreError } from './conversation-store.js';

/** Of an exception only its code or its type: messages of SQLite may quote what was being written. */
export function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  return new StoreError(`the store failed: ${failureCode(error)}`);
}

export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : error.name;
}
