import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder } from './fresh-folder.js';
import { ROOT } from './paths.js';
import { installEnvironment } from './prebuilt.js';
import { type Outcome, run, runOk } from './run.js';

/** A folder of a user's with the package installed. */
export interface Installed {
  readonly folder: string;
  /** Runs the command as a user would who installed it there. */
  npx(...args: string[]): Promise<Outcome>;
}

/** Folders to install the package into, from the archive that would be published. */
export class Consumers {
  readonly #folder = freshFolder();
  #archive = '';

  get archive(): string {
    return this.#archive;
  }

  /** Packs what was built. */
  async pack(): Promise<{ readonly path: string; readonly size: number }[]> {
    const pack = ['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', this.#folder];
    const [packed] = JSON.parse(await runOk(pack, { cwd: ROOT })) as [
      { filename: string; files: { path: string; size: number }[] },
    ];
    this.#archive = join(this.#folder, packed.filename);
    return packed.files;
  }

  async install(name: string, ...flags: string[]): Promise<Installed> {
    const folder = join(this.#folder, name);
    mkdirSync(folder);
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    const install = [
      'npm',
      'install',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--engine-strict=false',
    ];
    const env = installEnvironment(this.#folder);
    await runOk([...install, ...flags, this.#archive], { cwd: folder, env });
    return { folder, npx: (...args) => run(['npx', 'incontext-proxy', ...args], { cwd: folder }) };
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}
