/** Where a command writes. Each call is whole lines. */
export interface Streams {
  out(text: string): void;
  err(text: string): void;
}

/** The process's own streams. A reader that has seen enough (`| head`) ends the command quietly. */
export const PROCESS_STREAMS: Streams = { out: lineWriter(process.stdout), err: lineWriter(process.stderr) };

function lineWriter(stream: NodeJS.WriteStream): (text: string) => void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit();
    throw error;
  });
  return (text) => void stream.write(`${text}\n`);
}
