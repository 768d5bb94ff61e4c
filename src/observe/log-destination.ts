import { fstatSync, write, writeSync } from 'node:fs';
import { Socket } from 'node:net';

const FLUSH_MS = 50;
const FLUSH_LENGTH = 4096;
const MOST_WAITING = 1_048_576;

/** Writes text somewhere, without waiting for it, and says when it is done or lost. */
type Sink = (text: string, done: () => void) => void;

/** Where pino writes its lines. */
export interface LogDestination {
  write(line: string): void;
  /** Writes what is waiting, as far as it can be written at once. For the process's end. */
  flushNow(): void;
}

/**
 * Writes log lines to a file descriptor in batches, at most 50 ms late. Nothing here ever waits: what a full disk or
 * a pipe that nobody reads does not take is lost, and the number of lost lines is logged once there is room.
 */
export function createLogDestination(descriptor: number, sink: Sink = sinkOf(descriptor)): LogDestination {
  let waiting = '';
  let lost = 0;
  let isWriting = false;
  const flush = () => {
    if (isWriting || waiting === '') return;
    const text = lost === 0 ? waiting : `${waiting}${lostLine(lost)}`;
    waiting = '';
    lost = 0;
    isWriting = true;
    sink(text, () => {
      isWriting = false;
      if (waiting.length > FLUSH_LENGTH) flush();
    });
  };
  setInterval(flush, FLUSH_MS).unref();
  return {
    write(line) {
      if (waiting.length > MOST_WAITING) {
        lost += 1;
        return;
      }
      waiting += line;
      if (waiting.length > FLUSH_LENGTH) flush();
    },
    flushNow() {
      // Behind a write to a disk that has not come back this one would wait for ever; a pipe refuses at once.
      if (waiting === '' || (isWriting && !isPipe(descriptor))) return;
      try {
        writeSync(descriptor, waiting);
      } catch {
        // Lost: there is nowhere to say so.
      }
      waiting = '';
    },
  };
}

function lostLine(count: number): string {
  return `{"level":"warn","time":"${new Date().toISOString()}","lost":${count},"msg":"log lines were lost"}\n`;
}

function sinkOf(descriptor: number): Sink {
  if (isPipe(descriptor)) {
    // libuv's own stream does not block; `fs.write` would hold a thread for as long as nobody reads.
    const socket = new Socket({ fd: descriptor, readable: false, writable: true });
    socket.on('error', () => {});
    socket.unref();
    return (text, done) => void socket.write(text, done);
  }
  return (text, done) => write(descriptor, text, () => done());
}

function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}
