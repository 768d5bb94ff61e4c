import type { NodeRecord } from './conversation-store.js';

/** A node without its place, which a path tells; `extra` is JSON of what few messages have. */
export type PathRow = readonly [content: string, conversation: string, uid: string, extra: string | null];

/** A whole node. */
export type NodeRow = readonly [...PathRow, hash: string, parent: string | null, depth: number];

type Extra = Partial<Pick<NodeRecord, 'absorbed' | 'toolCallUids' | 'toolCallUid'>>;
type Place = Pick<NodeRecord, 'hash' | 'parent' | 'depth'>;

function toRow(node: NodeRecord): NodeRow {
  const { absorbed, toolCallUids, toolCallUid } = node;
  const bare = absorbed.length === 0 && toolCallUids === undefined && toolCallUid === undefined;
  const extra: Extra = { absorbed, toolCallUids, toolCallUid };
  return [
    node.content,
    node.conversation,
    node.uid,
    bare ? null : JSON.stringify(extra),
    node.hash,
    node.parent ?? null,
    node.depth,
  ];
}

function fromRow([content, conversation, uid, json]: PathRow, { hash, parent, depth }: Place): NodeRecord {
  const extra = json === null ? {} : (JSON.parse(json) as Extra);
  return {
    hash,
    parent,
    content,
    depth,
    conversation,
    uid,
    absorbed: extra.absorbed ?? [],
    toolCallUids: extra.toolCallUids,
    toolCallUid: extra.toolCallUid,
  };
}

/** One text is cheaper to hand to another thread than thousands of objects. */
export function packNodes(nodes: readonly NodeRecord[]): string {
  return JSON.stringify(nodes.map(toRow));
}

export function unpackNodes(packed: string): NodeRecord[] {
  return (JSON.parse(packed) as NodeRow[]).map(([content, conversation, uid, extra, hash, parent, depth]) =>
    fromRow([content, conversation, uid, extra], { hash, parent: parent ?? undefined, depth }),
  );
}

/** The nodes of a path, packed from the deepest one upwards. */
export function unpackPath(packed: string, hashes: readonly string[]): NodeRecord[] {
  return (JSON.parse(packed) as PathRow[])
    .reverse()
    .map((row, depth) => fromRow(row, { hash: hashes[depth] ?? '', parent: hashes[depth - 1], depth }));
}
