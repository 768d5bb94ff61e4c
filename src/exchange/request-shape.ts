import { mediaParts } from '../body/media-parts.js';
import type { RawObject } from '../body/raw-object.js';
import { ENDPOINTS } from './endpoint.js';

const CHAT = '/v1/chat/completions';
const NAMES: ReadonlyMap<string, string> = new Map(ENDPOINTS.map(({ path, name }) => [path, name]));
/** Members that reach the template beside messages and tools. */
const TEMPLATE = [
  'chat_template',
  'chat_template_kwargs',
  'documents',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'output_config',
  'continue_final_message',
  'add_generation_prompt',
  'add_special_tokens',
] as const;
const QUOTE = 0x22;

/**
 * The kind of a request by which its count is compared with the upstream's usage, such as `chat_completions+tools`: of
 * a fixed, small set, with no word of the request. `undefined` where the usage is of something else than one prompt.
 */
export function shapeOf(request: RawObject, path: string = CHAT): string | undefined {
  const name = NAMES.get(path);
  if (name === undefined || !isOfOnePrompt(request, name)) return undefined;
  const isGiven = (member: string): boolean => {
    const raw = request.raw(member);
    return raw !== undefined && raw[0] !== 0x6e;
  };
  const traits = [name];
  if ((request.raw('tools')?.length ?? 0) > EMPTY_LIST && isGiven('tools'))
    traits.push(
      /^(?:"none"|\{\s*"type"\s*:\s*"none")/.test(request.text('tool_choice') ?? '') ? 'tools_none' : 'tools',
    );
  if (mediaParts(request, name === 'responses' ? 'input' : 'messages') > 0) traits.push('media');
  if (TEMPLATE.some(isGiven)) traits.push('template');
  return traits.join('+');
}

const EMPTY_LIST = 2;

/** Several prompts of one completion are reported as a sum, and so are the rounds of tools that the server itself runs. */
function isOfOnePrompt(request: RawObject, name: string): boolean {
  if (name === 'completions')
    return request.raw('prompt')?.[0] === QUOTE || isTokenIds(request.value('prompt'));
  if (name !== 'responses') return true;
  const tools = request.value('tools') ?? [];
  return Array.isArray(tools) && tools.every((tool) => Object(tool).type === 'function');
}

function isTokenIds(prompt: unknown): boolean {
  return Array.isArray(prompt) && prompt.every((id) => typeof id === 'number');
}
