import { headLength, type Message } from '../../../src/conversation/message.js';
import {
  type CompressOptions,
  ContextEngine,
  type EngineContext,
  IrreducibleError,
} from '../../../src/engines/contract.js';

/** Asks the model for a summary of all but the last turn; keeps every promise. */
export class GoodEngine extends ContextEngine {
  override readonly name: string = 'good';
  constructor(readonly context: EngineContext) {
    super();
  }

  override async compress(messages: Message[], { signal }: CompressOptions): Promise<Message[]> {
    const head = headLength(messages);
    const last = messages.findLastIndex(({ role }) => role === 'user');
    if (last <= head) throw new IrreducibleError('one turn');
    const summary = await this.summary(signal);
    return [...messages.slice(0, head), ...summary, ...messages.slice(last)];
  }

  protected async summary(signal: AbortSignal | undefined): Promise<Message[]> {
    const ask = [{ role: 'user', content: 'Summarise.' }];
    const { text } = await this.context.services.complete(ask, { maxTokens: 100, signal });
    return [
      { role: 'user', content: 'What was before?', _engine_mark: { kind: 'summary' } },
      { role: 'assistant', content: text, message_uid: 'f'.repeat(32) },
    ];
  }
}
