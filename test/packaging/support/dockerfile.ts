import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './paths.js';

export interface Instruction {
  /** In capitals. */
  readonly keyword: string;
  readonly args: string;
}

export interface Stage {
  readonly name: string;
  /** An earlier stage, or an image. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of the Dockerfile, in order. */
export function readStages(): Stage[] {
  const text = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')
    .replace(/^\s*#.*\n/gm, '')
    .replace(/\\\n\s*/g, '');
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, keyword = '', args = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (keyword === '') throw new Error(`not understood: ${line}`);
    const [, from, name] = keyword === 'FROM' ? (/^(\S+) AS (\S+)$/.exec(args) ?? []) : [];
    if (from !== undefined && name !== undefined) stages.push({ name, from, instructions: [] });
    else stages.at(-1)?.instructions.push({ keyword, args });
  }
  return stages;
}

/** What a build of this stage goes through: its own instructions after those of the stages it starts from. */
export function lineage(name: string, stages: readonly Stage[] = readStages()): Instruction[] {
  const stage = stages.find((each) => each.name === name);
  return stage === undefined ? [] : [...lineage(stage.from, stages), ...stage.instructions];
}

/** The last argument of an instruction in this lineage; the last one counts. */
export function last(keyword: string, instructions: readonly Instruction[]): string | undefined {
  return instructions.findLast((each) => each.keyword === keyword)?.args;
}

/** `ENV` or `LABEL`: every name and value. */
export function pairs(keyword: string, instructions: readonly Instruction[]): Record<string, string> {
  const lines = instructions.filter((each) => each.keyword === keyword).map(({ args }) => args);
  const found = lines.flatMap((line) => [...line.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)]);
  return Object.fromEntries(found.map(([, name, value]) => [name, value?.replace(/^"|"$/g, '')]));
}

/** The command of an instruction in exec form; `undefined` for the shell's form, which would swallow signals. */
export function execForm(args: string | undefined): string[] | undefined {
  const json = /\[.*\]$/.exec(args ?? '')?.[0];
  return json === undefined ? undefined : (JSON.parse(json) as string[]);
}

/** Whether a path of the repository reaches a build at all: the last line of .dockerignore that fits decides. */
export function inContext(path: string): boolean {
  const lines = readFileSync(join(ROOT, '.dockerignore'), 'utf8').split('\n');
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#'));
  const fits = (rule: string) => rule === '*' || path === rule || path.startsWith(`${rule}/`);
  return rules.findLast((rule) => fits(rule.replace('!', '')))?.startsWith('!') !== false;
}
