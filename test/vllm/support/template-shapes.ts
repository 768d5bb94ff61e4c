import { asked, type Shapes, said, TOOL } from './chat-parts.js';

const HELLO = [said('hello there')];

/** Prints what a request hands to its template besides the messages. */
const PRINTS =
  '{% for m in messages %}{{ m.role }}: {{ m.content }}{% if m.reasoning %} ({{ m.reasoning }}){% endif %}\n{% endfor %}' +
  '{% if documents %}docs: {{ documents | tojson }}\n{% endif %}' +
  '{% if reasoning_effort is defined %}effort: {{ reasoning_effort }}\n{% endif %}' +
  '{% if enable_thinking is defined %}thinking: {{ enable_thinking }}\n{% endif %}' +
  '{% if tools %}tools: {{ tools | tojson }}\n{% endif %}' +
  '{% if custom is defined %}custom: {{ custom | tojson }}\n{% endif %}' +
  '{% if add_generation_prompt %}assistant: {% endif %}';

const printed = (more: object = {}, messages = HELLO): string =>
  asked(messages, { chat_template: PRINTS, ...more });
const TEXT = [{ title: 't', text: 'long doc text here' }];

/** Shapes for a server that takes a request's own template. */
export const TEMPLATE_SHAPES: Shapes = {
  'template: plain': printed(),
  'template: documents': printed({ documents: TEXT }),
  'template: no documents': printed({ documents: [] }),
  'template: documents in kwargs': printed({ chat_template_kwargs: { documents: TEXT } }),
  'template: documents both ways': printed({ documents: TEXT, chat_template_kwargs: { documents: [] } }),
  'template: effort': printed({ reasoning_effort: 'low' }),
  'template: effort none': printed({ reasoning_effort: 'none' }),
  'template: effort in kwargs': printed({ chat_template_kwargs: { reasoning_effort: 'high' } }),
  'template: effort both ways': printed({
    reasoning_effort: 'low',
    chat_template_kwargs: { reasoning_effort: 'high' },
  }),
  'template: thinking': printed({ chat_template_kwargs: { enable_thinking: true } }),
  'template: thinking null': printed({ chat_template_kwargs: { enable_thinking: null } }),
  'template: thinking and effort': printed({
    reasoning_effort: 'none',
    chat_template_kwargs: { enable_thinking: true },
  }),
  'template: custom kwargs': printed({ chat_template_kwargs: { custom: { a: [1, 2.5, 'ü'] } } }),
  'template: thoughts': printed({}, [said('a'), { role: 'assistant', content: 'b', reasoning: 'because' }]),
  'template: thoughts renamed': printed({}, [
    said('a'),
    { role: 'assistant', content: 'b', reasoning_content: 'because' },
  ]),
  'template: a developer': printed({}, [{ role: 'developer', content: 'be brief' }, said('a')]),
  'template: tools': printed({ tools: [TOOL] }),
  'template: tools forbidden': printed({ tools: [TOOL], tool_choice: 'none' }),
  'template: tools demanded': printed({ tools: [TOOL], tool_choice: 'required' }),
  'template: no prompt': printed({ add_generation_prompt: false }),
  'template: in kwargs': asked(HELLO, { chat_template_kwargs: { chat_template: PRINTS } }),
  'template: null': asked(HELLO, { chat_template: null }),
  'template: raises': asked(HELLO, { chat_template: "{{ raise_exception('no such order') }}" }),
};
