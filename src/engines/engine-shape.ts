import { ContextEngine, type EngineContext } from './contract.js';

/** What an engine has to bring; what it does not bring of the rest, the base class lends it. */
export type EngineLike = Pick<ContextEngine, 'name' | 'compress'> & Partial<ContextEngine>;

export type EngineClass = new (context: EngineContext) => EngineLike;

/** What a plugin may register: a class, a factory, or one instance to be copied. */
export type EngineSource =
  | EngineClass
  | ((context: EngineContext) => EngineLike | Promise<EngineLike>)
  | EngineLike;

/** Stands in for an engine's own, so that its members can be read. */
class Defaults extends ContextEngine {
  override readonly name = '';
  override compress(): never {
    throw new TypeError('an engine brings its own compress');
  }
}

const DEFAULTS = new Defaults();
const FIELDS = Object.keys(DEFAULTS).filter((key) => key !== 'name');
const METHODS = Object.getOwnPropertyNames(ContextEngine.prototype).filter((key) => key !== 'constructor');
const FREE_HOOKS: readonly string[] = [
  'selectContext',
  'onTurnComplete',
  'shouldCompressPreflight',
  'shouldCompress',
  'catchUp',
  'updateFromResponse',
  'onSessionEnd',
];

/** By its members, not by its class: a plugin may bring a base class of its own, or none. */
export function isContextEngine(value: unknown): value is EngineLike {
  if (typeof value !== 'object' || value === null) return false;
  const name: unknown = Reflect.get(value, 'name');
  return (
    typeof name === 'string' && name.trim() !== '' && typeof Reflect.get(value, 'compress') === 'function'
  );
}

/** True for a class of engines, ours or its own. */
export function isEngineClass(value: unknown): value is EngineClass {
  if (typeof value !== 'function') return false;
  const prototype: unknown = value.prototype;
  return typeof prototype === 'object' && prototype !== null && 'compress' in prototype;
}

/** True for what has to be called with `new`. */
export function isClass(value: unknown): value is EngineClass {
  return isEngineClass(value) || (typeof value === 'function' && /^class\b/.test(String(value)));
}

/**
 * The engine itself, with the defaults of the base class where it lacks a member, so that every hook can be called.
 * @throws TypeError where a member has to be added to an object that is frozen.
 */
export function completeEngine(engine: EngineLike): ContextEngine {
  if (engine instanceof ContextEngine) return engine;
  for (const field of FIELDS) {
    if (Reflect.get(engine, field) === undefined) lend(engine, field, Reflect.get(DEFAULTS, field), true);
  }
  for (const method of METHODS) {
    if (typeof Reflect.get(engine, method) !== 'function') lend(engine, method);
  }
  const foreign = foreignBase(engine);
  for (const hook of FREE_HOOKS) {
    // What another copy of the base class does by default has to cost as little as ours.
    if (foreign !== undefined && Reflect.get(engine, hook) === Reflect.get(foreign, hook)) lend(engine, hook);
  }
  return engine as ContextEngine;
}

function lend(
  engine: EngineLike,
  key: string,
  value: unknown = Reflect.get(ContextEngine.prototype, key),
  enumerable = false,
): void {
  Object.defineProperty(engine, key, { value, enumerable, writable: true, configurable: true });
}

/** The prototype of a ContextEngine that is not this module's. */
function foreignBase(engine: object): object | undefined {
  let prototype: object | null = Object.getPrototypeOf(engine);
  while (prototype !== null) {
    const isBase = prototype.constructor?.name === 'ContextEngine' && !Object.hasOwn(prototype, 'compress');
    if (isBase) return prototype;
    prototype = Object.getPrototypeOf(prototype);
  }
  return undefined;
}
