const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Resolves at the next SIGTERM or SIGINT. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      for (const signal of SIGNALS) process.off(signal, stop);
      resolve();
    };
    for (const signal of SIGNALS) process.on(signal, stop);
  });
}

/** The first and the second SIGTERM or SIGINT from now on. */
export interface TwoSignals {
  readonly first: Promise<void>;
  readonly second: Promise<void>;
}

export function untilSignals(): TwoSignals {
  const first = untilSignal();
  return { first, second: first.then(untilSignal) };
}
