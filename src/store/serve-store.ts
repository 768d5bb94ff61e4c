import type { MessagePort } from 'node:worker_threads';
import { SqliteStore } from './sqlite-store.js';
import { type AnswerMessage, type CallMessage, OPENED, ownMemory } from './store-calls.js';
import { toStoreError } from './store-failure.js';

/** Opens the store of a folder and answers the calls that come through a port, in their order, until `close`. */
export function serveStore(port: MessagePort, folder: string): void {
  const answer = (id: number, work: () => unknown): boolean => {
    const message = outcome(id, work);
    port.postMessage(message, ownMemory(message.value));
    return message.error === undefined;
  };
  let store: SqliteStore;
  const opened = answer(OPENED, () => {
    store = new SqliteStore(folder);
  });
  if (!opened) {
    port.close();
    return;
  }
  port.on('message', ({ id, method, args }: CallMessage) => {
    const call = (): unknown => (store[method] as (...args: unknown[]) => unknown).apply(store, [...args]);
    answer(id, call);
    if (method === 'close') port.close();
  });
}

function outcome(id: number, work: () => unknown): AnswerMessage {
  try {
    return { id, value: work() };
  } catch (error) {
    return { id, error: toStoreError(error).message };
  }
}
