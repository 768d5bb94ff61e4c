import { STATUS_CODES } from 'node:http';

/** A response head as it stands on the wire. */
export function rawHead(status: number, message: string | undefined, fields: readonly string[]): string {
  return `HTTP/1.1 ${status} ${message ?? STATUS_CODES[status] ?? ''}\r\n${fieldLines(fields)}\r\n`;
}

/** Fields, flat, as lines. */
export function fieldLines(fields: readonly string[]): string {
  let lines = '';
  for (let i = 0; i + 1 < fields.length; i += 2) lines += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return lines;
}
