import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EngineContext } from '../../../src/engines/contract.js';
import { inertServices } from '../../../src/engines/inert-services.js';
import type { LoadedPlugins } from '../../../src/server/load-plugins.js';
import { loadPlugins } from '../../../src/server/load-plugins.js';

/** A folder of an operator's, with a configuration file's folder and a folder of engines in it. */
export class PluginFolder {
  readonly base = mkdtempSync(join(tmpdir(), 'incontext-engines-'));
  readonly pluginsDir = join(this.base, 'engines');

  constructor() {
    mkdirSync(this.pluginsDir);
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.base, path)), { recursive: true });
    writeFileSync(join(this.base, path), text);
  }

  /** A directory plugin that says it has the folder's name. */
  engine(name: string, module: string, manifest = `name: ${name}\ndescription: one\nversion: 1.0\n`): void {
    this.write(`engines/${name}/plugin.yaml`, manifest);
    this.write(`engines/${name}/package.json`, '{ "type": "module" }');
    this.write(`engines/${name}/index.js`, module);
  }

  load(...plugins: string[]): Promise<LoadedPlugins> {
    const context = { engine: 'none', pluginsDir: this.pluginsDir };
    return loadPlugins({ plugins, pluginsBase: this.base, context });
  }

  remove(): void {
    rmSync(this.base, { recursive: true });
  }
}

export function engineContextOf(options?: unknown): EngineContext {
  return {
    options,
    compression: { threshold: 0.75, protectFirstN: 3, protectLastN: 20 },
    services: inertServices(),
  };
}

/** The source of a class of engines without a base class. */
export function classText(name: string, more = ''): string {
  return `export class Engine { name = '${name}'; ${more} compress(messages) { return messages.slice(-1); } }`;
}
