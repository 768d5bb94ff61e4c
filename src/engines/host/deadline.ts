/** A hook of an engine did not come back in time. */
export class HookTimeoutError extends Error {
  override readonly name = 'HookTimeoutError';
}

/** What a call gives, or a rejection once its time is over. What it does after that is nobody's concern. */
export async function withinTime<T>(ms: number, call: () => T | Promise<T>): Promise<T> {
  const given = call();
  if (!isPromise(given)) return given;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new HookTimeoutError()), ms);
  });
  try {
    return await Promise.race([given, late]);
  } finally {
    clearTimeout(timer);
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, 'then') === 'function';
}
