import type { CheckpointRow } from './conversation-store.js';

/** Rows on their way and on disk: their bytes one after the other, and JSON of what belongs to each. */
export interface PackedRows {
  readonly bytes: Uint8Array;
  readonly meta: string;
}

interface RowMeta extends Omit<CheckpointRow, 'bytes'> {
  readonly length: number;
}

/** The bytes are copied once, into memory of their own that a thread can hand to another. */
export function packRows(rows: readonly CheckpointRow[]): PackedRows {
  const bytes = new Uint8Array(rows.reduce((sum, row) => sum + row.bytes.length, 0));
  let offset = 0;
  const meta = rows.map(({ bytes: own, ...rest }): RowMeta => {
    bytes.set(own, offset);
    offset += own.length;
    return { length: own.length, ...rest };
  });
  return { bytes, meta: JSON.stringify(meta) };
}

/** The rows share the memory of `packed`. */
export function unpackRows({ bytes, meta }: PackedRows): CheckpointRow[] {
  let offset = bytes.byteOffset;
  return (JSON.parse(meta) as RowMeta[]).map((row) => {
    const own = Buffer.from(bytes.buffer, offset, row.length);
    offset += row.length;
    return {
      bytes: own,
      uid: row.uid,
      absorbed: row.absorbed,
      toolCallUids: row.toolCallUids,
      toolCallUid: row.toolCallUid,
      mark: row.mark,
    };
  });
}
