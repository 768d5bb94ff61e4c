import type { Random } from './random.js';

const FIRST = [
  'mara',
  'jonas',
  'aiko',
  'pedro',
  'selin',
  'owen',
  'tuva',
  'ravi',
  'noor',
  'felix',
  'ines',
  'kofi',
];
const LAST = [
  'lindqvist',
  'okafor',
  'tanaka',
  'moreira',
  'haddad',
  'novak',
  'castel',
  'brandt',
  'iyer',
  'walsh',
];
const STREETS = [
  'Harbour Street',
  'Mill Lane',
  'Old Orchard Road',
  'Station Avenue',
  'Cedar Walk',
  'Quarry Road',
];
const CITIES = ['Portland', 'Duluth', 'Savannah', 'Tucson', 'Madison', 'Boise', 'Albany', 'Fresno'];
const PRODUCTS = [
  'floor lamp',
  'desk lamp',
  'armchair',
  'bookshelf',
  'writing desk',
  'side table',
  'bed frame',
];
const COLOURS = ['black', 'white', 'oak', 'walnut', 'sand', 'moss green', 'night blue'];
const MATERIALS = ['steel', 'linen', 'birch', 'wool', 'glass', 'cotton'];
const NOTES = [
  'The parcel was handed to the carrier in good condition.',
  'The customer asked for delivery after noon.',
  'The driver found nobody and will come again.',
  'The warehouse checked the contents twice.',
  'A neighbour signed for it.',
  'The weight differed a little from what was announced.',
];

export interface Item {
  readonly id: string;
  readonly productId: string;
  readonly name: string;
}

export interface Customer {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly paymentId: string;
}

/** Makes records with ids of which none is part of another. */
export class Records {
  readonly ids: string[] = [];

  constructor(private readonly random: Random) {}

  customer(): Customer {
    const first = this.random.pick(FIRST);
    const last = this.random.pick(LAST);
    const id = this.fresh(() => `${first}_${last}_${this.random.digits(4)}`);
    const kind = this.random.pick(['credit_card', 'gift_card', 'paypal']);
    const paymentId = this.fresh(() => `${kind}_${this.random.digits(7)}`);
    const name = `${capital(first)} ${capital(last)}`;
    return { id, name, email: `${first}.${last}@mail.example`, paymentId };
  }

  item(): Item {
    return {
      ...this.variant(this.fresh(() => `9${this.random.digits(9)}`)),
      name: this.random.pick(PRODUCTS),
    };
  }

  /** Another variant of the same product. */
  sibling({ productId, name }: Item): Item {
    return { ...this.variant(productId), name };
  }

  orderId(): string {
    return this.fresh(() => `#W${this.random.digits(7)}`);
  }

  reservation(): string {
    return this.fresh(() => this.random.letters(6));
  }

  flight(): string {
    return this.fresh(() => `HB${this.random.digits(4)}`);
  }

  profile(customer: Customer, orders: readonly string[]): unknown {
    const [first, last] = customer.name.split(' ');
    return {
      user_id: customer.id,
      name: { first_name: first, last_name: last },
      email: customer.email,
      address: this.address(),
      payment_methods: [{ id: customer.paymentId, brand: this.random.pick(['visa', 'mastercard', 'house']) }],
      preferences: { language: 'en', newsletter: this.random.chance(0.5), remarks: this.notes(8) },
      orders,
    };
  }

  order(id: string, customer: Customer, items: readonly Item[], status: string): unknown {
    return {
      order_id: id,
      user_id: customer.id,
      status,
      address: this.address(),
      items: items.map((item) => ({ ...this.itemFacts(item), options: this.options() })),
      payment_history: [{ type: 'payment', amount: this.price(), payment_id: customer.paymentId }],
      events: this.notes(4).map((note) => ({ at: this.time(), note })),
    };
  }

  product(variants: readonly Item[]): unknown {
    const [first] = variants;
    return {
      name: first?.name,
      product_id: first?.productId,
      description: this.notes(12).join(' '),
      variants: variants.map(({ id }) => ({
        item_id: id,
        options: this.options(),
        available: true,
        price: this.price(),
        delivery: { earliest: this.time().slice(0, 10), carrier_remarks: this.random.pick(NOTES) },
      })),
    };
  }

  reservationRecord(code: string, customer: Customer, flights: readonly string[]): unknown {
    return {
      reservation: code,
      user_id: customer.id,
      cabin: this.random.pick(['economy', 'business']),
      passengers: [{ name: customer.name, born: `19${this.random.digits(2)}-04-1${this.random.digits(1)}` }],
      flights: flights.map((flight) => ({ flight, date: this.time().slice(0, 10), ...this.leg() })),
      payment_history: [{ payment_id: customer.paymentId, amount: this.price() }],
      baggage: { included: 1, paid: this.random.integer(0, 2) },
      remarks: this.notes(12),
      insurance: this.random.chance(0.5),
    };
  }

  flightRecord(flight: string): unknown {
    return {
      flight,
      ...this.leg(),
      status: this.random.pick(['on time', 'late', 'landed', 'boarding']),
      aircraft: {
        type: this.random.pick(['narrow body', 'wide body']),
        seats_left: this.random.integer(0, 40),
      },
      prices: { basic: this.price(), economy: this.price(), business: this.price() },
      remarks: this.notes(7),
    };
  }

  private itemFacts({ id, productId, name }: Item): Record<string, unknown> {
    return { name, product_id: productId, item_id: id, price: this.price() };
  }

  private variant(productId: string): Pick<Item, 'id' | 'productId'> {
    return { productId, id: this.fresh(() => `1${this.random.digits(9)}`) };
  }

  private options(): unknown {
    return { colour: this.random.pick(COLOURS), material: this.random.pick(MATERIALS) };
  }

  private leg(): Record<string, string> {
    const from = this.random.pick(CITIES);
    return {
      from,
      to: this.random.pick(CITIES.filter((city) => city !== from)),
      departs: this.time().slice(11, 16),
    };
  }

  private address(): unknown {
    const street = `${this.random.integer(2, 98)} ${this.random.pick(STREETS)}`;
    return { street, city: this.random.pick(CITIES), country: 'USA', code: this.random.digits(5) };
  }

  private notes(count: number): string[] {
    return Array.from({ length: count }, () => this.random.pick(NOTES));
  }

  private price(): number {
    return this.random.integer(1_900, 64_000) / 100;
  }

  private time(): string {
    const minute = this.random.integer(0, 500_000);
    return new Date(Date.UTC(2031, 0, 1, 0, minute)).toISOString().slice(0, 16);
  }

  private fresh(make: () => string): string {
    for (;;) {
      const id = make();
      if (this.ids.some((known) => known.includes(id) || id.includes(known))) continue;
      this.ids.push(id);
      return id;
    }
  }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
