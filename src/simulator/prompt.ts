import type { ChatTemplates } from './chat-template.js';
import { readBoolean } from './coercion.js';
import { type Reading, readMessages, readTools } from './conversation.js';
import type { ResolvedOptions } from './options.js';
import { fromPlain, isDict, isList, isTruthy, type PythonDict, type PythonValue } from './python-value.js';
import { badParameter, badRequest, ErrorBelow } from './refusal.js';
import { TurnRenderer } from './turn-renderer.js';

/** Which endpoint asks: the two read some fields differently. */
export type Asker = 'chat' | 'tokenize';

/** Makes a prompt's text of a template's variables. */
interface Renderer {
  render(variables: ReadonlyMap<string, PythonValue>): string;
}

/** Renders chat requests as the recorded servers do. */
export class PromptRenderer {
  private readonly ownTemplate: TurnRenderer;
  private readonly defaults: PythonDict;

  constructor(
    private readonly templates: ChatTemplates,
    templateSource: string,
    private readonly options: ResolvedOptions,
  ) {
    this.ownTemplate = new TurnRenderer(templates.template(templateSource));
    const defaults = fromPlain(options.defaultChatTemplateKwargs);
    this.defaults = isDict(defaults) ? defaults : new Map();
  }

  /** @throws Refusal in the server's own words */
  render(request: PythonDict, asker: Asker, modelName: string): string {
    this.refuseMediaArguments(request);
    const template = this.chooseTemplate(request);
    const addGenerationPrompt = readBoolean(request.get('add_generation_prompt')) ?? true;
    const continueFinal = readBoolean(request.get('continue_final_message')) ?? false;
    const reading: Reading = {
      vllm: this.options.vllm,
      renameReasoningContent: asker === 'chat' && this.options.vllm === '0.32',
      modelName,
    };
    const given = request.get('messages');
    const messages = readMessages(isList(given) ? given : [], reading);
    this.refuseEmpty(messages);
    if (continueFinal && addGenerationPrompt) throw new ErrorBelow(incompatible, incompatible);
    const variables = new Map<string, PythonValue>([
      ...this.templateArguments(request, asker),
      ['messages', messages],
      ['add_generation_prompt', addGenerationPrompt],
    ]);
    const rendered = this.rendered(template, variables);
    return continueFinal ? upToFinalContent(rendered, messages) : rendered;
  }

  /** Whether the answer starts with thinking, for a reasoning parser. */
  thinks(request: PythonDict): boolean {
    return this.templateArguments(request, 'chat').get('enable_thinking') !== false;
  }

  private templateArguments(request: PythonDict, asker: Asker): Map<string, PythonValue> {
    const result = new Map<string, PythonValue>([['tools', this.toolsOf(request, asker)]]);
    const documents = asker === 'chat' ? (request.get('documents') ?? null) : null;
    result.set('documents', null);
    const honoursDefaults = asker === 'chat' || this.options.vllm !== '0.16';
    if (honoursDefaults) for (const [name, value] of this.defaults) result.set(name, value);
    const kwargs = request.get('chat_template_kwargs');
    const effort = request.get('reasoning_effort') ?? null;
    if (asker === 'chat' && effort !== null) {
      result.set('reasoning_effort', effort);
      if (this.options.vllm === '0.32') result.set('enable_thinking', effort !== 'none');
    }
    if (isDict(kwargs)) {
      if (kwargs.has('messages')) throw new ErrorBelow(messagesTwice, messagesTwice);
      for (const [name, value] of kwargs) if (!isUnset(value)) result.set(name, value);
    }
    if (documents !== null) result.set('documents', documents);
    result.delete('chat_template');
    return result;
  }

  private toolsOf(request: PythonDict, asker: Asker): PythonValue {
    const dropped =
      asker === 'chat' &&
      this.options.excludeToolsWhenToolChoiceNone &&
      request.get('tool_choice') === 'none';
    return dropped ? null : readTools(request.get('tools'), this.options.vllm);
  }

  private chooseTemplate(request: PythonDict): Renderer {
    const kwargs = request.get('chat_template_kwargs');
    const inKwargs = isDict(kwargs) ? kwargs.get('chat_template') : undefined;
    const source = inKwargs ?? request.get('chat_template') ?? null;
    if (typeof source !== 'string') return this.ownTemplate;
    if (!this.options.trustRequestChatTemplate) throw badRequest(untrusted);
    try {
      return this.templates.foreignTemplate(source);
    } catch {
      throw new ErrorBelow("unexpected 'end of template'");
    }
  }

  private rendered(template: Renderer, variables: ReadonlyMap<string, PythonValue>): string {
    try {
      return template.render(variables);
    } catch (error) {
      const { message } = error as Error;
      throw new ErrorBelow(message, message);
    }
  }

  private refuseMediaArguments(request: PythonDict): void {
    if (this.options.vllm === '0.16') return;
    for (const [name, use] of Object.entries(mediaUses)) {
      if (isTruthy(request.get(name))) throw badParameter(untrustedMedia(name, use), name);
    }
  }

  private refuseEmpty(messages: readonly PythonValue[]): void {
    if (messages.length > 0) return;
    const old = 'list index out of range';
    throw this.options.vllm === '0.16'
      ? new ErrorBelow(old, old)
      : badRequest('Cannot apply chat template to an empty conversation. Provide at least one message.');
  }
}

/** Values that leave a default as it is. */
function isUnset(value: PythonValue): boolean {
  return value === null || value === 'auto';
}

const untrusted =
  'Chat template is passed with request, but --trust-request-chat-template is not set. Refused request with untrusted chat template.';

const mediaUses = {
  mm_processor_kwargs: 'multimodal preprocessing',
  media_io_kwargs: 'multimodal media loading',
};
const untrustedMedia = (name: string, use: string): string =>
  `Per-request ${name} are disabled by default because they can change ${use} resource usage. Start the server with --trust-request-mm-kwargs only when clients are trusted.`;

const messagesTwice =
  "jinja2.environment.Template.render() got multiple values for keyword argument 'messages'";

const incompatible =
  'continue_final_message and add_generation_prompt are not compatible. Use continue_final_message when you want the model to continue the final message, and add_generation_prompt when you want to add a header that will prompt it to start a new assistant message instead.';

function upToFinalContent(rendered: string, messages: readonly PythonValue[]): string {
  const last = messages.at(-1);
  const content = isDict(last) ? last.get('content') : '';
  const text = typeof content === 'string' ? content.trim() : '';
  const at = rendered.lastIndexOf(text);
  return at < 0 ? rendered : rendered.slice(0, at + text.length);
}
