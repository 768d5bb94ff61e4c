/** One setting that is refused. */
export interface SettingProblem {
  /** The setting as a user writes it, for example `INCONTEXT_PORT` or `backends.acme.endpoint`. */
  readonly setting: string;
  /** The refused value, secrets masked; `''` where there is none to show. */
  readonly value: string;
  readonly rule: string;
  /** A value that would work. */
  readonly example: string;
}

/** What stands for a secret wherever a value is shown. Of a fixed length, so that it says nothing about it. */
export const MASK = '***';

const LONGEST_SHOWN = 100;

/** A refused value as it may be shown: secrets, and credentials and queries of URLs, masked; cut where it is long. */
export function showRefused(value: unknown, secret: boolean): string {
  if (secret) return MASK;
  const text = hideInUrl(asJson(value));
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}...` : text;
}

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // YAML's aliases can make a value part of itself.
    return 'a value that contains itself';
  }
}

/** Without userinfo and query. Up to the last `@`: a password may hold slashes, the URL's grammar does not find its end. */
function hideInUrl(text: string): string {
  const [, scheme = '', userinfo, rest = text] =
    /^(\W*(?:[a-z][a-z0-9+.-]*:\/+)?)(.*)(?:@|%40)(.*)$/is.exec(text) ?? [];
  if (userinfo === undefined) return hideQuery(text);
  // The `@` may stand in the query: then the rest is some of it.
  return `${scheme}${MASK}@${/[?#]/.test(userinfo) ? MASK : hideQuery(rest)}`;
}

/** A URL as it may be shown: query and fragment, which may hold a key, masked. */
export function hideQuery(url: string): string {
  return url.replace(/([?#]).*?("?)$/s, `$1${MASK}$2`);
}

/** Readable text for all of `problems`, one paragraph each, without a final line break. */
export function formatProblems(problems: readonly SettingProblem[]): string {
  const head = problems.length === 1 ? '1 setting is refused:' : `${problems.length} settings are refused:`;
  return [head, ...problems.map(formatProblem)].join('\n\n');
}

function formatProblem({ setting, value, rule, example }: SettingProblem): string {
  const lines = [`  ${setting}${value === '' ? '' : ` = ${value}`}`, `    ${rule}`];
  if (example !== '') lines.push(`    for example: ${example}`);
  return lines.join('\n');
}
