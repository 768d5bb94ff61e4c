const [killAt, killAfter] = process.argv.slice(-2).map(Number);
let messages = 0;

/** The N-th message to the store is on its way: so many microseconds later this process is no more. */
export function sent(promise) {
  messages += 1;
  if (messages !== killAt) return promise;
  const until = process.hrtime.bigint() + BigInt(killAfter) * 1000n;
  while (process.hrtime.bigint() < until);
  process.kill(process.pid, 'SIGKILL');
  return promise;
}
