import { type Logger, pino } from 'pino';
import type { LogLevel } from '../config/settings.js';

export type Log = Logger;

/**
 * The log: one JSON object a line on standard error. Fields are counts, codes and exception types; never a
 * prompt, a credential or the upstream's address.
 */
export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** The class name of an exception: the only part of one that is safe to write down. */
export function exceptionType(error: unknown): string {
  if (error instanceof Error) return error.name === 'Error' ? error.constructor.name : error.name;
  return typeof error;
}
