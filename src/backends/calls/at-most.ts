/** Maps all items, at most `width` of them at a time. Rejects with the first failure, and starts no more then. */
export async function atMost<T, R>(
  width: number,
  items: readonly T[],
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const at = next;
      next += 1;
      try {
        results[at] = await map(items[at] as T);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}
