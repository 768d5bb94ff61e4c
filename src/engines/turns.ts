/** Milliseconds of one turn of the event loop for long work, that of all conversations together. */
const SLICE_MS = 4;

const waiting: (() => void)[] = [];
/** When the slice of this turn began; `undefined`: nothing long runs. */
let begun: number | undefined;

/**
 * Lets requests and streams go on where long work has taken its slice of this turn of the event loop. To be awaited
 * between its steps; none of them should take longer than a slice.
 * @throws the signal's reason where it aborted meanwhile.
 */
export async function othersTurn(signal?: AbortSignal): Promise<void> {
  const now = performance.now();
  if (begun === undefined) {
    begun = now;
    setImmediate(nextTurn);
  }
  if (now - begun < SLICE_MS) return;
  await new Promise<void>((resume) => waiting.push(resume));
  signal?.throwIfAborted();
}

/** One at a time goes on: together their slices would be a long wait. */
function nextTurn(): void {
  const resume = waiting.shift();
  begun = resume && performance.now();
  if (resume === undefined) return;
  setImmediate(nextTurn);
  resume();
}
