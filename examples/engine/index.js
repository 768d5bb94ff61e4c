// A context engine that drops the oldest turns of a conversation and leaves a note in their place.

/** @import { CompressOptions, EngineContext, Message, PluginContext } from 'incontext-proxy' */

const NOTE = [
  { role: 'user', content: 'Earlier turns of this conversation were left out to save space.' },
  { role: 'assistant', content: 'I go on from here.' },
];

/** @param {PluginContext} context */
export function register({ registerContextEngine, errors }) {
  registerContextEngine((context) => new SlidingWindow(context, errors), 'sliding-window');
}

export class SlidingWindow {
  name = 'sliding-window';

  /** @param {EngineContext} context @param {PluginContext['errors']} errors */
  constructor({ options, compression, services }, errors) {
    const { keep_turns: keepTurns = 1 } = Object(options);
    if (!Number.isInteger(keepTurns) || keepTurns < 1) {
      const rule = 'must be an integer of at least 1';
      const problem = {
        setting: 'engines.sliding-window.keep_turns',
        value: String(keepTurns),
        rule,
        example: '4',
      };
      throw new errors.EngineSettingsError([problem]);
    }
    this.keepTurns = keepTurns;
    this.threshold = compression.threshold;
    this.services = services;
    this.errors = errors;
  }

  /** @param {Message[]} messages @param {CompressOptions} options */
  compress(messages, { currentTokens, targetTokens = this.thresholdTokens, force }) {
    const size = (list) => this.services.estimateTokens(list) - this.services.estimateTokens([]);
    const { head, turns } = split(messages);
    let excess = (currentTokens ?? size(messages)) + size(NOTE) - targetTokens;
    if (force) excess = Math.max(1, excess);
    let dropped = 0;
    for (; excess > 0 && dropped < turns.length - this.keepTurns; dropped += 1)
      excess -= size(turns[dropped]);
    if (dropped === 0) throw new this.errors.IrreducibleError('only turns that are kept are left');
    return [...head, ...NOTE, ...turns.slice(dropped).flat()];
  }
}

/** What comes before the first question, and the turns: each a question and all that follows it, tool calls too. */
function split(messages) {
  const starts = messages.flatMap(({ role }, index) => (role === 'user' ? [index] : []));
  const turns = starts.map((start, turn) => messages.slice(start, starts[turn + 1]));
  return { head: messages.slice(0, starts[0] ?? messages.length), turns };
}
