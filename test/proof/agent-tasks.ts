import type { Customer, Item, Records } from './agent-records.js';
import type { AgentScript, Step } from './agent-script.js';
import { sentences } from './prose.js';
import type { Random } from './random.js';

/** What a task leaves behind for a customer who comes back. */
export interface Past {
  readonly customer: Customer;
  /** What there is to look up again, one after the other. */
  readonly looks: readonly Step[];
}

interface Desk {
  readonly script: AgentScript;
  readonly records: Records;
  readonly random: Random;
}

export type Task = (desk: Desk) => Past;

/** Identifies the customer and looks at the order. */
function openCase({ script, records }: Desk, wish: string, status: string, more = 0) {
  const customer = records.customer();
  const item = records.item();
  const items = [item, ...Array.from({ length: more }, () => records.item())];
  const orderId = records.orderId();
  script.begin();
  script.user(`Hello, this is ${customer.name}. ${wish} My address is ${customer.email}.`);
  script.look({ name: 'find_user', input: { email: customer.email }, result: customer.id });
  const profile = records.profile(customer, [orderId]);
  const lookAtUser = { name: 'get_user', input: { user_id: customer.id }, result: profile };
  script.look(lookAtUser);
  const order = records.order(orderId, customer, items, status);
  const lookAtOrder = { name: 'get_order', input: { order_id: orderId }, result: order };
  script.look(lookAtOrder);
  return { customer, item, items, orderId, looks: [lookAtOrder, lookAtUser] };
}

function closeCase({ script, random }: Desk): void {
  script.user(`Thank you. ${sentences(random, 2).join(' ')} That was all.`);
  script.say(`You are welcome. ${sentences(random, 2).join(' ')} Have a good evening.`);
}

function confirm({ script, random }: Desk, what: string, change: Step): void {
  script.say(`I found it. ${what} ${sentences(random, 2).join(' ')} Shall I go ahead?`);
  script.user(`Yes, please do. ${sentences(random, 2).join(' ')}`);
  script.look(change);
  script.say(`Done. ${sentences(random, 2).join(' ')} Is there anything else?`);
}

/** An exchange, for which the variants of the product are looked up. */
const exchange: Task = (desk) => {
  const { script, records, random } = desk;
  const wish = `I would like another colour of what I got. ${sentences(random, 2).join(' ')}`;
  const { customer, item: old, items, orderId, looks } = openCase(desk, wish, 'delivered', 1);
  const found = records.sibling(old);
  script.say(
    `Which one do you mean, the ${items.map(({ name }) => name).join(' or the ')}? ${sentences(random, 2).join(' ')}`,
  );
  script.user(`The first one. ${sentences(random, 2).join(' ')}`);
  const shown: readonly Item[] = [old, found];
  script.look({
    name: 'get_product',
    input: { product_id: old.productId },
    result: records.product(shown),
  });
  const input = {
    order_id: orderId,
    item_ids: [old.id],
    new_item_ids: [found.id],
    payment_id: customer.paymentId,
  };
  const result = records.order(orderId, customer, [found, ...items.slice(1)], 'exchange requested');
  confirm(desk, 'The other variant is available.', { name: 'exchange_items', input, result });
  closeCase(desk);
  return { customer, looks };
};

const giveBack: Task = (desk) => {
  const { records, random } = desk;
  const wish = `I want to return one of the things. ${sentences(random, 2).join(' ')}`;
  const { customer, item, items, orderId, looks } = openCase(desk, wish, 'delivered');
  const input = { order_id: orderId, item_ids: [item.id], payment_id: customer.paymentId };
  const result = records.order(orderId, customer, items, 'return requested');
  confirm(desk, `The ${item.name} can go back.`, { name: 'return_items', input, result });
  closeCase(desk);
  return { customer, looks };
};

const cancel: Task = (desk) => {
  const { records, random } = desk;
  const wish = `I ordered something by mistake. ${sentences(random, 2).join(' ')}`;
  const { customer, items, orderId, looks } = openCase(desk, wish, 'pending');
  const input = { order_id: orderId, reason: 'ordered by mistake' };
  const result = records.order(orderId, customer, items, 'cancelled');
  confirm(desk, 'The order is still pending.', { name: 'cancel_order', input, result });
  closeCase(desk);
  return { customer, looks };
};

/** A reservation of which one flight is changed; their states are asked for at once. */
const changeFlight: Task = (desk) => {
  const { script, records, random } = desk;
  const customer = records.customer();
  const code = records.reservation();
  const flights = [records.flight(), records.flight()];
  const better = records.flight();
  script.begin();
  script.user(
    `Good evening, ${customer.name} here, ${customer.email}. ${sentences(random, 2).join(' ')} It is about ${code}.`,
  );
  script.look({ name: 'find_user', input: { email: customer.email }, result: customer.id });
  const record = records.reservationRecord(code, customer, flights);
  const lookAtReservation = { name: 'get_reservation', input: { reservation: code }, result: record };
  script.look(lookAtReservation);
  script.look(
    ...[...flights, better].map((flight) => ({
      name: 'flight_status',
      input: { flight, date: '2031-04-12' },
      result: records.flightRecord(flight),
    })),
  );
  const input = { reservation: code, flights: [flights[0], better], payment_id: customer.paymentId };
  const result = records.reservationRecord(code, customer, [flights[0] ?? '', better]);
  confirm(desk, 'There is a later flight.', { name: 'change_flights', input, result });
  closeCase(desk);
  return { customer, looks: [lookAtReservation] };
};

/** A customer who wants everything looked at: eleven calls, one after the other, for one message. */
const lookAtAll: Task = (desk) => {
  const { script, records, random } = desk;
  const wish = `Please go through all that I have and tell me what is late. ${sentences(random, 2).join(' ')}`;
  const { customer, items, looks } = openCase(desk, wish, 'under way');
  for (const item of items) {
    const result = records.product([item]);
    script.look({ name: 'get_product', input: { product_id: item.productId }, result });
  }
  const [one, two] = [records.flight(), records.flight()];
  for (const flight of [one, two, one, two, one, two, one]) {
    const result = records.flightRecord(flight);
    script.look({ name: 'flight_status', input: { flight, date: '2031-05-02' }, result });
  }
  script.say(`Two things are late. ${sentences(random, 2).join(' ')}`);
  closeCase(desk);
  return { customer, looks };
};

/** Somebody from before asks again, without a number, and goes on asking: the agent needs what it saw long ago. */
export function comeBack({ script, random }: Desk, { customer, looks }: Past, questions: number): void {
  script.begin();
  for (let at = 0; at < questions; at += 1) {
    const opening = at === 0 ? `${customer.name} again, about my case of before.` : 'One thing more.';
    script.user(`${opening} ${sentences(random, 1).join(' ')} What is its state?`);
    const look = looks[at % looks.length];
    if (look !== undefined) script.look(look);
    script.say(`It is as it should be. ${sentences(random, 1).join(' ')}`);
  }
}

export const TASKS: readonly Task[] = [exchange, changeFlight, giveBack, lookAtAll, cancel];
