/** Where a command writes. Each call is whole lines. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

/**
 * The process's own streams. A reader of standard output that has seen enough (`| head`) ends the command quietly;
 * what cannot be written otherwise is lost, and no reason to stop serving.
 */
export const PROCESS_STREAMS: Streams = {
  out: lineWriter(process.stdout, ({ code }) => {
    if (code === 'EPIPE') process.exit();
  }),
  err: lineWriter(process.stderr, () => {}),
};

function lineWriter(
  stream: NodeJS.WriteStream,
  onError: (error: NodeJS.ErrnoException) => void,
): (text: string) => void {
  stream.on('error', onError);
  return (text) => {
    try {
      stream.write(`${text}\n`);
    } catch (error) {
      // Files and devices are written synchronously, and Node throws what happens there.
      onError(error as NodeJS.ErrnoException);
    }
  };
}
