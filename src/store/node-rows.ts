import type { NodeRecord } from './conversation-store.js';

/** The columns of a node, in the order of `NODE_COLUMNS`. The last one is JSON of what few messages have. */
export type NodeRow = readonly [
  hash: string,
  parent: string | null,
  content: string,
  depth: number,
  conversation: string,
  uid: string,
  extra: string | null,
];

export const NODE_COLUMNS = ['hash', 'parent', 'content', 'depth', 'conversation', 'uid', 'extra'] as const;

type Extra = Partial<Pick<NodeRecord, 'absorbed' | 'toolCallUids' | 'toolCallUid'>>;

function toRow(node: NodeRecord): NodeRow {
  const { absorbed, toolCallUids, toolCallUid } = node;
  const bare = absorbed.length === 0 && toolCallUids === undefined && toolCallUid === undefined;
  const extra: Extra = { absorbed, toolCallUids, toolCallUid };
  return [
    node.hash,
    node.parent ?? null,
    node.content,
    node.depth,
    node.conversation,
    node.uid,
    bare ? null : JSON.stringify(extra),
  ];
}

function fromRow([hash, parent, content, depth, conversation, uid, json]: NodeRow): NodeRecord {
  const extra = json === null ? {} : (JSON.parse(json) as Extra);
  return {
    hash,
    parent: parent ?? undefined,
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
  return (JSON.parse(packed) as NodeRow[]).map(fromRow);
}
