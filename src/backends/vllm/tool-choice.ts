import type { RawObject } from '../../body/raw-object.js';
import { CountFailedError } from '../contract.js';

const COUNTED = new Set(['"auto"', '"none"', '"required"', 'null']);

/**
 * `none`, `required` and a named tool render the tools like `auto` does. Any other choice beside tools is
 * none that the server knows, so what it would render is unknown too.
 * @throws CountFailedError `unsupported`
 */
export function refuseUnknownToolChoice(request: RawObject): void {
  const choice = request.text('tool_choice');
  if (choice === undefined || COUNTED.has(choice) || choice.startsWith('{')) return;
  const tools = request.value('tools');
  if (Array.isArray(tools) && tools.length > 0) throw new CountFailedError('unsupported');
}
