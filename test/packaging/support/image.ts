import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { execForm, type Instruction, inContext, last, lineage, pairs, readStages } from './dockerfile.js';
import { freshFolder } from './fresh-folder.js';
import { ROOT } from './paths.js';
import { installEnvironment } from './prebuilt.js';
import { cleanEnvironment, type Outcome, run, runOk } from './run.js';

/** What the Dockerfile makes, in a folder in place of an image. */
export interface Image {
  readonly root: string;
  readonly user: string;
  /** Runs a command as a container of this image would. */
  run(command: readonly string[], env?: Record<string, string>): Promise<Outcome>;
  /** Starts what the image starts. */
  start(cmd?: readonly string[], env?: Record<string, string>): ChildProcess;
}

/** Follows the Dockerfile without an engine: each stage is a folder, and its commands run there. */
export class Builder {
  readonly #folder = freshFolder();
  readonly #environment = installEnvironment(this.#folder);
  readonly #stages = readStages();
  readonly #built = new Map<string, Promise<string>>();

  constructor() {
    chmodSync(this.#folder, 0o755);
  }

  async image(name: string): Promise<Image> {
    const root = await this.#stage(name);
    mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
    copyFileSync(process.execPath, join(root, 'usr/local/bin/node'));
    await runOk(['chmod', '-R', 'a-w,a+rX', root], { cwd: this.#folder });
    const instructions = lineage(name, this.#stages);
    const data = last('VOLUME', instructions);
    await runOk(['chmod', 'u+w', join(root, data ?? '')], { cwd: this.#folder });
    return container(root, instructions);
  }

  async remove(): Promise<void> {
    await runOk(['chmod', '-R', 'u+w', this.#folder], { cwd: tmpdir() });
    rmSync(this.#folder, { recursive: true });
  }

  #stage(name: string): Promise<string> {
    const built = this.#built.get(name) ?? this.#build(name);
    this.#built.set(name, built);
    return built;
  }

  async #build(name: string): Promise<string> {
    const stage = this.#stages.find((each) => each.name === name);
    if (stage === undefined) throw new Error(`no stage ${name}`);
    // Like an engine: what does not wait for each other is built side by side.
    const sources = stage.instructions.map(({ args }) => /^--from=(\S+)/.exec(args)?.[1]);
    await Promise.all(sources.filter((each) => each !== undefined).map((each) => this.#stage(each)));
    const root = join(this.#folder, name);
    mkdirSync(root, { recursive: true });
    if (this.#stages.some((each) => each.name === stage.from)) {
      await runOk(['cp', '-a', `${await this.#stage(stage.from)}/.`, root], { cwd: root });
    }
    const workdir = join(root, last('WORKDIR', lineage(name, this.#stages)) ?? '');
    mkdirSync(workdir, { recursive: true });
    for (const { keyword, args } of stage.instructions) {
      if (keyword === 'COPY') await this.#copy(args, root, workdir);
      // What npm has in its cache is not asked for again.
      const env = { ...this.#environment, npm_config_prefer_offline: 'true' };
      if (keyword === 'RUN') await runOk(['sh', '-c', below(root, args)], { cwd: workdir, env });
    }
    return root;
  }

  async #copy(args: string, root: string, workdir: string): Promise<void> {
    const [, stage, rest = ''] = /^(?:--from=(\S+) )?(.*)$/.exec(args) ?? [];
    const from = stage === undefined ? ROOT : await this.#stage(stage);
    const words = rest.split(' ');
    const target = words.pop() ?? '';
    const to = target.startsWith('/') ? join(root, target) : resolve(workdir, target);
    for (const source of words) {
      const path = join(from, source);
      const into = target.endsWith('/') && basename(target) !== basename(source);
      const there = into || target === './' ? join(to, basename(source)) : to;
      mkdirSync(dirname(there), { recursive: true });
      // Links will do between stages: what is copied there is not written to any more.
      if (stage !== undefined)
        await runOk(['cp', '-al', path.replace(/\/$/, ''), there.replace(/\/$/, '')], { cwd: from });
      else cpSync(path, there, { recursive: true, filter: (each) => inContext(relative(ROOT, each)) });
    }
  }
}

/** A command whose absolute paths are those of the image. Only root may give files away. */
function below(root: string, command: string): string {
  const inside = command.replace(/(?<= )\/(?=\w)/g, `${root}/`);
  return process.getuid?.() === 0 ? inside : inside.replace(/ -[og] \d+/g, '');
}

function container(root: string, instructions: readonly Instruction[]): Image {
  const user = last('USER', instructions) ?? '0:0';
  const [uid, gid] = user.split(':').map(Number);
  const inside = (word: string) => (word.startsWith('/') ? join(root, word) : word);
  const options = (env: Record<string, string>) => ({
    cwd: join(root, last('WORKDIR', instructions) ?? ''),
    env: {
      PATH: `${root}/usr/local/bin:${cleanEnvironment().PATH}`,
      ...Object.fromEntries(
        Object.entries(pairs('ENV', instructions)).map(([name, value]) => [name, inside(value)]),
      ),
      ...env,
    },
    ...(process.getuid?.() === 0 ? { uid, gid } : {}),
  });
  return {
    root,
    user,
    run: (command, env = {}) => run(command.map(inside), options(env)),
    start: (cmd = execForm(last('CMD', instructions)) ?? [], env = {}) => {
      const [file = '', ...args] = [...(execForm(last('ENTRYPOINT', instructions)) ?? []), ...cmd];
      return spawn(file, args.map(inside), { stdio: ['ignore', 'pipe', 'pipe'], ...options(env) });
    },
  };
}
