import type { Template } from '@huggingface/jinja';
import { missingPackage } from './optional-packages.js';
import { printer, printerName, printLikePython } from './python-printing.js';
import { isDict, isList, PythonNumber, type PythonValue } from './python-value.js';

/** Compiles and renders chat templates so that numbers and key order come out as under Python. */
export class ChatTemplates {
  private constructor(private readonly compile: (source: string) => Template) {}

  /** @throws MissingPackageError without `@huggingface/jinja` */
  static async load(): Promise<ChatTemplates> {
    const jinja = await import('@huggingface/jinja').catch(missingPackage('@huggingface/jinja'));
    return new ChatTemplates((source) => new jinja.Template(source));
  }

  /**
   * A server's own template, which only ever prints text.
   * @throws SyntaxError for a template that is none
   */
  template(source: string): ChatTemplate {
    return new ChatTemplate(this.compile(source));
  }

  /**
   * A template of unknown making: it may print any value.
   * @throws SyntaxError for a template that is none
   */
  foreignTemplate(source: string): ChatTemplate {
    const template = this.compile(source);
    printLikePython(template);
    return new ChatTemplate(template);
  }
}

export class ChatTemplate {
  constructor(private readonly template: Template) {}

  render(variables: ReadonlyMap<string, PythonValue>): string {
    const numbers = new NumberStandIns(variables);
    const items: Record<string, unknown> = { [printerName]: printer };
    for (const [name, value] of variables) items[name] = toTemplateValue(value, numbers);
    return numbers.restore(this.template.render(items));
  }
}

function toTemplateValue(value: PythonValue, numbers: NumberStandIns): unknown {
  if (value instanceof PythonNumber) return numbers.standIn(value);
  if (isList(value)) return value.map((item) => toTemplateValue(item, numbers));
  if (!isDict(value)) return value;
  const members = new Map([...value].map(([key, item]) => [key, toTemplateValue(item, numbers)]));
  return hasIntegerKey(members) ? inGivenOrder(members) : Object.fromEntries(members);
}

function hasIntegerKey(members: ReadonlyMap<string, unknown>): boolean {
  for (const key of members.keys()) if (/^\d+$/.test(key) || key === '__proto__') return true;
  return false;
}

/** A plain object puts keys such as `7` first; this one lists them as they came. */
function inGivenOrder(members: ReadonlyMap<string, unknown>): object {
  return new Proxy(
    {},
    {
      ownKeys: () => [...members.keys()],
      get: (_target, key) => (typeof key === 'string' ? members.get(key) : undefined),
      getOwnPropertyDescriptor: (_target, key) =>
        typeof key === 'string' && members.has(key)
          ? { value: members.get(key), enumerable: true, configurable: true }
          : undefined,
    },
  );
}

/** Integers that stand for numbers which JavaScript would print otherwise than Python does (`1.0`, `1e+16`). */
class NumberStandIns {
  private readonly spellings: string[] = [];
  private readonly prefix: string;

  constructor(variables: ReadonlyMap<string, PythonValue>) {
    let candidate = 712_345_678;
    while (mentions([...variables.values()], String(candidate))) candidate += 1;
    this.prefix = String(candidate);
  }

  standIn(number: PythonNumber): number {
    if (String(number.value) === number.text && Math.abs(number.value) < 1e15) return number.value;
    this.spellings.push(number.text);
    return Number(`${this.prefix}${String(this.spellings.length - 1).padStart(6, '0')}`);
  }

  restore(rendered: string): string {
    if (this.spellings.length === 0) return rendered;
    return rendered.replace(
      new RegExp(`${this.prefix}(\\d{6})`, 'g'),
      (standIn, index) => this.spellings[Number(index)] ?? standIn,
    );
  }
}

function mentions(value: PythonValue, digits: string): boolean {
  if (typeof value === 'string') return value.includes(digits);
  if (value instanceof PythonNumber) return value.text.includes(digits);
  if (isList(value)) return value.some((item) => mentions(item, digits));
  return isDict(value) && [...value].some(([key, item]) => key.includes(digits) || mentions(item, digits));
}
