import { BUNDLED_ENGINES, NONE } from './bundled.js';
import { copyInstance } from './clone-engine.js';
import type { EngineContext } from './contract.js';
import { checkedSource, type EngineFolder, findEngineFolders, importEngines } from './directory-plugins.js';
import { EngineSettingsError } from './engine-settings-error.js';
import { completeEngine, type EngineSource, isContextEngine } from './engine-shape.js';
import { buildEngine, EngineRegistryError, type RegisteredEngine } from './registration.js';

/** The engines that can be chosen by name: of each name the first. Only what is chosen is built. */
export interface EngineRegistry {
  /**
   * A name that is taken is refused with a warning. `origin` says where it is from, such as `the plugin "./x.js"`.
   * @throws TypeError for what is no engine, and for a blank name.
   */
  register(engine: EngineSource, name: string | undefined, origin: string): void;
  /** Registers the engines of the plugins' folder, without importing them. */
  registerFolders(pluginsDir: string): Promise<void>;
  /** Known without building one: `none`, bundled ones, folders, and what was registered by name. */
  names(): readonly string[];
  /** True where an engine was registered without a name: it may have any. */
  readonly hasNameless: boolean;
  /** Notes where engines were looked for, such as `in the plugins (./x.js)`: an error names it. */
  lookedIn(place: string): void;
  /** What was refused or cannot be used, and is no reason to fail as long as nobody chooses it. */
  readonly warnings: readonly string[];
  /**
   * @throws EngineRegistryError where it is not found, cannot be loaded or built, or has another name.
   * @throws EngineSettingsError where it refuses its settings.
   */
  choose(name: string, context: EngineContext): Promise<RegisteredEngine>;
}

interface Candidate {
  readonly name: string | undefined;
  readonly origin: string;
  sources(): Promise<readonly EngineSource[]>;
}

/** With the bundled engines. */
export function createEngineRegistry(bundled: typeof BUNDLED_ENGINES = BUNDLED_ENGINES): EngineRegistry {
  return new Registry(bundled);
}

class Registry implements EngineRegistry {
  readonly warnings: string[] = [];
  readonly #named = new Map<string, Candidate>();
  readonly #nameless: Candidate[] = [];
  readonly #places: string[] = [];

  constructor(bundled: typeof BUNDLED_ENGINES) {
    this.#named.set(NONE, { name: NONE, origin: 'the proxy', sources: async () => [] });
    for (const [name, factory] of bundled) this.register(factory, name, 'the proxy');
    this.#places.push(`among the bundled (${[...this.#named.keys()].join(', ')})`);
  }

  get hasNameless(): boolean {
    return this.#nameless.length > 0;
  }

  names(): readonly string[] {
    return [...this.#named.keys()];
  }

  register(engine: EngineSource, name: string | undefined, origin: string): void {
    const source = checkedSource(engine);
    if (name !== undefined && (typeof name !== 'string' || name.trim() === '')) {
      throw new TypeError('a context engine needs a name that is not blank');
    }
    this.#add({
      name: name ?? (isContextEngine(source) ? source.name : undefined),
      origin,
      sources: async () => [source],
    });
  }

  lookedIn(place: string): void {
    this.#places.push(place);
  }

  async registerFolders(pluginsDir: string): Promise<void> {
    const folders = await findEngineFolders(pluginsDir);
    if (folders === undefined)
      this.warnings.push(`the folder of context engines ${pluginsDir} cannot be read`);
    const names = folders?.map(({ name }) => name).join(', ') || 'no engine in it';
    this.#places.push(`in the folder ${pluginsDir} (${names})`);
    for (const folder of folders ?? []) this.#addFolder(folder);
  }

  #addFolder(folder: EngineFolder): void {
    const { name, path, fault } = folder;
    if (fault !== undefined)
      this.warnings.push(`the context engine "${name}" cannot be used: ${path} ${fault}`);
    this.#add({ name, origin: `the folder ${path}`, sources: () => importEngines(folder) });
  }

  #add(candidate: Candidate): void {
    const { name, origin } = candidate;
    if (name === undefined) {
      this.#nameless.push(candidate);
      return;
    }
    const first = this.#named.get(name);
    if (first === undefined) this.#named.set(name, candidate);
    else
      this.warnings.push(
        `a second context engine "${name}", of ${origin}, is refused: ${first.origin} has one`,
      );
  }

  async choose(name: string, context: EngineContext): Promise<RegisteredEngine> {
    const candidate = this.#named.get(name);
    if (candidate !== undefined)
      return chosen(await candidate.sources(), { name, origin: candidate.origin, context });
    const failures: string[] = [];
    for (const { origin, sources } of this.#nameless) {
      try {
        return await chosen(await sources(), { name, origin, context });
      } catch (error) {
        if (refusesBlockOf(name, error)) throw error;
        failures.push(error instanceof Error ? error.message : String(error));
      }
    }
    const places = this.#places.join(', ');
    throw new EngineRegistryError(
      [`there is no context engine "${name}": looked ${places}`, ...failures].join('; '),
    );
  }
}

interface Choice {
  readonly name: string;
  readonly origin: string;
  readonly context: EngineContext;
}

/** The first of a candidate's engines that has the name. */
async function chosen(sources: readonly EngineSource[], choice: Choice): Promise<RegisteredEngine> {
  const { name, origin, context } = choice;
  const others: string[] = [];
  for (const source of sources) {
    const prototype = await buildEngine(source, origin, context);
    if (prototype.name === name) return registered(source, prototype, choice);
    others.push(`"${prototype.name}"`);
  }
  throw new EngineRegistryError(
    `the context engine of ${origin} is named ${others.join(' and ')}, not "${name}"`,
  );
}

function registered(
  source: EngineSource,
  prototype: RegisteredEngine['prototype'],
  choice: Choice,
): RegisteredEngine {
  const { name, origin } = choice;
  const instance = isContextEngine(source) ? prototype : undefined;
  return {
    kind: 'engine',
    name,
    origin,
    prototype,
    instance,
    create: async (context) =>
      instance === undefined ? buildEngine(source, origin, context) : completeEngine(copyInstance(instance)),
  };
}

/** An engine registered without a name was meant where it speaks of the settings of that name. */
function refusesBlockOf(name: string, error: unknown): boolean {
  if (!(error instanceof EngineSettingsError)) return false;
  return error.problems.some(({ setting }) => /^engines\.([^.\s]+)/.exec(setting)?.[1] === name);
}
