/** Where a command writes. Each call is whole lines. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

/** The process's own streams. */
export const PROCESS_STREAMS: Streams = {
  out: (text) => void process.stdout.write(`${text}\n`),
  err: (text) => void process.stderr.write(`${text}\n`),
};
