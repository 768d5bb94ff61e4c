import type { Message } from '../../../../src/conversation/message.js';
import { roughly } from './build.js';
import { randomFrom } from './summarisers.js';

const WORDS =
  'the system should first read what was written there and then decide about next steps in order while everyone else waits for results from another team that works on similar things with different tools under pressure of time so we keep going until most of it looks right again after lunch'.split(
    ' ',
  );

/** Prose without a fact in it. */
export function filler(tokens: number, random: () => number): string {
  const sentences: string[] = [];
  while (roughly(sentences.join(' ')) < tokens) {
    const words = Array.from(
      { length: 8 + Math.floor(random() * 10) },
      () => WORDS[Math.floor(random() * WORDS.length)],
    );
    const sentence = words.join(' ');
    sentences.push(`${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`);
  }
  return sentences.join(' ');
}

export interface Planted {
  readonly text: string;
  /** What has to be found again, letter for letter. */
  readonly needle: string;
}

export const PLANTED: readonly Planted[] = [
  { text: 'The project code is HAT101.', needle: 'HAT101' },
  { text: 'Remember that the staging database is db-mercury-7.', needle: 'db-mercury-7' },
  { text: 'My budget is $4,350 in all.', needle: '$4,350' },
  { text: 'The deadline is 2026-03-14.', needle: '2026-03-14' },
  { text: 'Send the report to amelie.brandt@example.org please.', needle: 'amelie.brandt@example.org' },
  { text: 'The order in question is #W1234567.', needle: '#W1234567' },
  { text: 'The config lives in /etc/relay/upstream.toml on that host.', needle: '/etc/relay/upstream.toml' },
  { text: 'The release manager is Priya Raghunathan.', needle: 'Priya Raghunathan' },
  { text: 'We pinned version 4.17.21 of the parser.', needle: '4.17.21' },
  { text: 'The failing commit is 9f3ab27c1d.', needle: '9f3ab27c1d' },
  { text: 'The ticket is open as user_name_1234.', needle: 'user_name_1234' },
  { text: 'The port of the gateway is 48213.', needle: '48213' },
];

/** Sixty turns of prose with two long tool results, and a fact planted in every fourth turn. */
export function chat(seed = 7, turns = 60): Message[] {
  const random = randomFrom(seed);
  const messages: Message[] = [
    { role: 'system', content: `You are a helpful assistant. ${filler(80, random)}` },
  ];
  for (let turn = 0; turn < turns; turn += 1) {
    const fact = turn % 4 === 1 ? (PLANTED[(turn - 1) / 4]?.text ?? '') : '';
    messages.push({ role: 'user', content: `${filler(50, random)} ${fact} ${filler(40, random)}` });
    if (turn === 20 || turn === 40) messages.push(...toolGroup(turn, filler(2750, random)));
    messages.push({ role: 'assistant', content: filler(400, random) });
  }
  return messages;
}

function toolGroup(turn: number, content: string): Message[] {
  const call = {
    id: 'call_0',
    type: 'function',
    function: { name: 'read_file', arguments: `{"path":"docs/part-${turn}.md"}` },
  };
  return [
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_0', content },
  ];
}

const NAMES = [
  'yusuf_rossi',
  'mei_kovacs',
  'liam_thomas',
  'ava_nguyen',
  'noah_patel',
  'emma_kim',
  'olivia_sanchez',
];
const PRODUCTS = [
  'T-Shirt',
  'Laptop',
  'Desk Lamp',
  'Water Bottle',
  'Headphones',
  'Backpack',
  'Smart Watch',
  'Jigsaw Puzzle',
];

/** A customer-service agent: long tool loops, the same few call ids over and over, records full of ids. */
export function service(
  seed: number,
  tokens: number,
  customers = Number.POSITIVE_INFINITY,
  prose = 0,
): Message[] {
  // Over and over the same few customers: their records do not change between two reads.
  let random = randomFrom(seed);
  let served = 0;
  const digits = (length: number) =>
    String(Math.floor(10 ** (length - 1) + random() * 9 * 10 ** (length - 1)));
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const messages: Message[] = [{ role: 'system', content: `You are a retail agent. ${filler(700, random)}` }];
  let loop: Message[] = [];
  while (roughly(messages) < tokens) {
    random = randomFrom(seed + 1000 * (customers === Number.POSITIVE_INFINITY ? served : served % customers));
    served += 1;
    const user = `${pick(NAMES)}_${digits(4)}`;
    const orders = Array.from({ length: 2 + Math.floor(random() * 3) }, () => `#W${digits(7)}`);
    messages.push({
      role: 'user',
      content: `Hi, I am ${user} and want to change orders ${orders.join(' and ')}. ${filler(30, random)}`,
    });
    loop = [];
    const step = (name: string, args: object, result: unknown) => {
      const id = `call_${loop.length % 3}`;
      const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
      loop.push({
        role: 'assistant',
        content: random() < 0.3 ? filler(20, random) : null,
        tool_calls: [call],
      });
      loop.push({
        role: 'tool',
        tool_call_id: id,
        content: typeof result === 'string' ? result : JSON.stringify(result),
      });
    };
    step(
      'get_user_details',
      { user_id: user },
      {
        user_id: user,
        email: `${user.replace('_', '.')}@example.com`,
        address: { address1: `${digits(3)} Elm Street`, city: 'Fort Worth', zip: digits(5) },
        ...(prose > 0 ? { note: filler(prose, random) } : {}),
        payment_methods: {
          [`credit_card_${digits(7)}`]: { source: 'credit_card', brand: 'visa', last_four: digits(4) },
        },
        orders,
      },
    );
    for (const order of orders) {
      step(
        'get_order_details',
        { order_id: order },
        {
          order_id: order,
          user_id: user,
          status: pick(['pending', 'delivered', 'processed']),
          ...(prose > 0 ? { note: filler(prose, random) } : {}),
          items: Array.from({ length: 1 + Math.floor(random() * (prose > 0 ? 2 : 4)) }, () => ({
            name: pick(PRODUCTS),
            product_id: digits(10),
            item_id: digits(10),
            price: Number((random() * 900 + 20).toFixed(2)),
            options: { color: pick(['red', 'blue', 'black']), size: pick(['S', 'M', 'L']) },
          })),
          fulfillments: [{ tracking_id: [digits(12)], item_ids: [] }],
        },
      );
    }
    const variants = Object.fromEntries(
      Array.from({ length: (prose > 0 ? 1 : 3) + Math.floor(random() * (prose > 0 ? 3 : 6)) }, () => {
        const id = digits(10);
        return [
          id,
          {
            item_id: id,
            options: { color: pick(['red', 'blue', 'black']), size: pick(['S', 'M']) },
            available: random() < 0.5,
            price: Number((random() * 300 + 20).toFixed(2)),
          },
        ];
      }),
    );
    if (random() < 0.7)
      step(
        'get_product_details',
        { product_id: digits(10) },
        { name: pick(PRODUCTS), product_id: digits(10), variants },
      );
    for (const order of orders.slice(0, 2))
      step('modify_pending_order', { order_id: order, user_id: user }, `Order ${order} was changed.`);
    messages.push(...loop.slice(0, 22), { role: 'assistant', content: `Done. ${filler(60, random)}` });
    messages.push({ role: 'user', content: `Thanks, and what of ${pick(orders)}? ${filler(20, random)}` });
    messages.push({ role: 'assistant', content: filler(80, random) });
  }
  return messages;
}

/** What a record can be found by. */
const RECORD_ID = /#W\d{7}|\b[a-z]+_[a-z]+_\d{4}\b|\bcredit_card_\d{7}\b|\b\d{10,12}\b/g;

export function recordIds(messages: readonly Message[]): ReadonlySet<string> {
  const text = messages.map(
    ({ content, tool_calls }) => `${JSON.stringify(content)} ${JSON.stringify(tool_calls) ?? ''}`,
  );
  return new Set(text.join('\n').match(RECORD_ID) ?? []);
}
