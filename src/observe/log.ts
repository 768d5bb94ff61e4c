import { type Logger, pino } from 'pino';
import type { LogLevel } from '../config/settings.js';
import { createLogDestination, type LogDestination } from './log-destination.js';

export type Log = Logger;

const STANDARD_ERROR = 2;

/**
 * The log: one JSON object a line on standard error, at most 50 ms late. Fields are counts, codes and exception
 * types; never a prompt, a credential or the upstream's address.
 */
export function createLog(level: LogLevel): Log {
  return pino(
    {
      level,
      base: null,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    standardError(),
  );
}

let shared: LogDestination | undefined;

/** One for all logs of the process: its timer and its listener stay as long as the process. */
function standardError(): LogDestination {
  if (shared === undefined) {
    const destination = createLogDestination(STANDARD_ERROR);
    process.once('exit', () => destination.flushNow());
    shared = destination;
  }
  return shared;
}

let second = 0;
let secondText = '';

/** `,"time":"2026-11-30T12:00:00.000Z"`; the date is formatted once a second. */
function isoTime(): string {
  const now = Date.now();
  const milliseconds = now % 1000;
  if (now - milliseconds !== second) {
    second = now - milliseconds;
    secondText = new Date(second).toISOString().slice(0, -4);
  }
  return `,"time":"${secondText}${String(milliseconds).padStart(3, '0')}Z"`;
}

/** The class name of an exception: the only part of one that is safe to write down. */
export function exceptionType(error: unknown): string {
  if (error instanceof Error) return error.name === 'Error' ? error.constructor.name : error.name;
  return typeof error;
}
