import { dictionary, literal, required, string } from './checks.js';
import type { Check } from './issue.js';
import { isDict, type PythonDict, type PythonValue } from './python-value.js';
import { firstMisfit, type ItemKind, iteratorReport } from './validator-iterator.js';

/** A part with one member besides its type. */
function part(type: string, member: string, check: Check = () => {}): Check {
  return (value, place, issues) => {
    if (!isDict(value)) return dictionary(value, place, issues);
    required(value, check)(value.get(member), [...place, member], issues);
    required(value, literal(type))(value.get('type'), [...place, 'type'], issues);
  };
}

const text = part('text', 'text', string);
const textKind: ItemKind = { name: 'ChatCompletionContentPartTextParam', check: text };
const refusalKind: ItemKind = {
  name: 'ChatCompletionContentPartRefusalParam',
  check: part('refusal', 'refusal', string),
};
const kindsByRole: Readonly<Record<string, readonly ItemKind[]>> = {
  user: [
    textKind,
    { name: 'ChatCompletionContentPartImageParam', check: part('image_url', 'image_url') },
    { name: 'ChatCompletionContentPartInputAudioParam', check: part('input_audio', 'input_audio') },
    { name: 'File', check: part('file', 'file') },
  ],
  assistant: [textKind, refusalKind],
};

/** Parts that a message of any role may have. */
const anyRole: readonly Check[] = [
  text,
  refusalKind.check,
  part('thinking', 'thinking', string),
  part('file', 'file'),
  ...['image_url', 'audio_url', 'video_url', 'input_audio'].map((type) => part(type, type)),
];

/** What the server says of the parts of a message of this role; null where it knows them all. */
export function partsProblem(role: PythonValue, parts: readonly PythonValue[]): string | null {
  if (parts.every((one) => anyRole.some((check) => fits(check, one)))) return null;
  const kinds = kindsByRole[String(role)] ?? [{ check: text }];
  const misfit = firstMisfit(parts, kinds);
  return misfit.length === 0 ? null : iteratorReport(misfit);
}

function fits(check: Check, value: PythonValue): boolean {
  const issues: Parameters<Check>[2] = [];
  check(value, [], issues);
  return issues.length === 0;
}

/** The text of a part that has one: its own, what was thought, or why there is none. */
export function textOfPart(one: PythonDict): string | undefined {
  const member = { text: 'text', refusal: 'refusal', thinking: 'thinking' }[String(one.get('type'))];
  const found = member === undefined ? undefined : one.get(member);
  return typeof found === 'string' ? found : undefined;
}
