import { arrayElements, objectMembers, valueKind } from '../../../src/body/members.js';

/** JSON with its keys sorted, and its numbers as they are spelled: equal exactly where the content is. */
export function canonical(bytes: Buffer): string {
  const end = bytes.length;
  const span = { start: 0, end };
  const kind = valueKind(bytes, 0);
  if (kind === 'array') {
    const elements = arrayElements(bytes, span).map((one) => canonical(bytes.subarray(one.start, one.end)));
    return `[${elements.join(',')}]`;
  }
  if (kind === 'object') {
    const members = objectMembers(bytes, span).map(({ key, value }) => {
      return `${JSON.stringify(key)}:${canonical(bytes.subarray(value.start, value.end))}`;
    });
    return `{${members.sort().join(',')}}`;
  }
  const text = bytes.toString('utf8');
  return kind === 'string' ? JSON.stringify(JSON.parse(text)) : text;
}
