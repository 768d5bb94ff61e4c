import type { Sources } from '../config/load.js';
import type { SettingProblem } from '../config/problem.js';
import { flagName, type SettingName, settingOf } from '../config/table.js';

/** What Node tells of an address that cannot be listened on. */
type ListenError = NodeJS.ErrnoException & {
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
};

interface Advice {
  readonly name: 'HOST' | 'PORT';
  readonly rule: string;
  readonly example: string;
}

const LOOPBACK = { name: 'HOST', example: settingOf('HOST').example } as const;
const NOT_HERE: Advice = { ...LOOPBACK, rule: 'must be an address of this machine' };
const UNKNOWN_NAME: Advice = {
  ...LOOPBACK,
  rule: 'must be a name that resolves to an address of this machine',
};

const ADVICE = new Map<string, Advice>([
  [
    'EADDRINUSE',
    { name: 'PORT', rule: 'must be free: something else listens there', example: '0, for any free port' },
  ],
  [
    'EACCES',
    {
      name: 'PORT',
      rule: 'must be a port that this user may listen on: one from 1024 on needs no privilege',
      example: settingOf('PORT').example,
    },
  ],
  ['EADDRNOTAVAIL', NOT_HERE],
  ['EAFNOSUPPORT', NOT_HERE],
  ['EINVAL', NOT_HERE],
  ['ENOTFOUND', UNKNOWN_NAME],
  ['EAI_AGAIN', UNKNOWN_NAME],
]);
const SYSCALLS: readonly (string | undefined)[] = ['listen', 'bind', 'getaddrinfo'];

/**
 * Which setting to change where listening failed; `undefined` for any other error.
 * @param sources as the user wrote the settings; without them the flags are named.
 */
export function listenProblem(error: unknown, sources: Sources | undefined): SettingProblem | undefined {
  if (!isListenError(error)) return undefined;
  const advice = ADVICE.get(error.code ?? '');
  if (advice === undefined) return undefined;
  const host = error.hostname ?? error.address ?? '';
  return {
    setting: writtenAs(advice.name, sources),
    value: advice.name === 'HOST' ? host : `${error.port ?? ''}`,
    rule: `${advice.rule} (${error.code}${advice.name === 'PORT' ? ` on ${host}` : ''})`,
    example: advice.example,
  };
}

function isListenError(error: unknown): error is ListenError {
  return error instanceof Error && 'syscall' in error && SYSCALLS.includes(String(error.syscall));
}

function writtenAs(name: SettingName, sources: Sources | undefined): string {
  const source = sources?.get(name);
  return source === undefined || source.origin === 'default' ? `--${flagName(name)}` : source.writtenAs;
}
