import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { type ChatTemplate, ChatTemplates } from '../../src/simulator/chat-template.js';
import { fromPlain, type PythonValue } from '../../src/simulator/python-value.js';
import { loadQwen } from '../../src/simulator/tokenizer.js';
import { TurnRenderer } from '../../src/simulator/turn-renderer.js';

let template: ChatTemplate;

beforeAll(async () => {
  const [templates, { chatTemplate }] = await Promise.all([ChatTemplates.load(), loadQwen()]);
  template = templates.template(chatTemplate);
});

const content = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.constantFrom(
    '',
    '\n',
    '<think>\nwhy\n</think>\n\nso',
    '</think>',
    '<tool_response>\nx\n</tool_response>',
    '<tool_response>',
    '712345678000000',
  ),
);
const toolCalls = fc.array(
  fc.record({
    function: fc.record({
      name: content,
      arguments: fc.oneof(content, fc.dictionary(fc.string(), fc.double())),
    }),
  }),
  { maxLength: 2 },
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'system', 'tool', 'wizard'), content }),
  fc.record(
    { role: fc.constant('assistant'), content, reasoning_content: content, tool_calls: toolCalls },
    { requiredKeys: ['role', 'content'] },
  ),
);
const request = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 12 }),
  tools: fc.constantFrom(null, [{ type: 'function', function: { name: 'look', parameters: { '7': 1.5 } } }]),
  add_generation_prompt: fc.boolean(),
  enable_thinking: fc.boolean(),
});

function variablesOf(plain: object): Map<string, PythonValue> {
  return new Map(Object.entries(plain).map(([name, value]) => [name, fromPlain(value)]));
}

test('turn by turn gives the same text as the whole template at once', () => {
  const byTurns = new TurnRenderer(template);
  fc.assert(
    fc.property(request, (plain) => {
      const variables = variablesOf(plain);
      const whole = template.render(variables);
      expect(byTurns.render(variables)).toBe(whole);
      expect(byTurns.render(variables)).toBe(whole);
    }),
    { numRuns: 300 },
  );
});
