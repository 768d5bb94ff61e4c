import type { BackendCall } from '../contract.js';

/** Whatever fails in what a server is asked about itself is no failure of the count that wants to know. */
export async function unlessFailed<T>(
  call: BackendCall,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch {
    call.signal.throwIfAborted();
    return undefined;
  }
}
