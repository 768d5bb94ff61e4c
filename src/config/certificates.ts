import { resolve } from 'node:path';
import { errorCode, type FileAccess } from './open-file.js';
import type { SettingProblem } from './problem.js';
import type { RawValue } from './raw-value.js';
import { settingOf } from './table.js';

/** The content of the PEM file that `UPSTREAM_CA` names. */
export function readCertificates(
  given: RawValue | undefined,
  path: string | undefined,
  { readFile, cwd }: FileAccess,
): { pem: string | undefined; problems: SettingProblem[] } {
  if (given === undefined || path === undefined) return { pem: undefined, problems: [] };
  const refuse = (rule: string) => ({
    pem: undefined,
    problems: [{ setting: given.writtenAs, value: path, rule, example: settingOf('UPSTREAM_CA').example }],
  });
  try {
    const pem = readFile(resolve(cwd, path));
    if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(pem)) return { pem, problems: [] };
    return refuse('must name a PEM file with at least one certificate');
  } catch (error) {
    return refuse(`must name a readable PEM file: ${errorCode(error)}`);
  }
}
