import { LineCounter, parseDocument } from 'yaml';
import type { SettingProblem } from './problem.js';

export type Mapping = Readonly<Record<string, unknown>>;

export function isMapping(value: unknown): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The mapping that a YAML text is, empty for an empty text, or every place where it is none. The parser's own
 * messages and warnings quote the text, which may hold secrets: only the codes are shown.
 */
export function readYaml(text: string, path: string): { mapping: Mapping } | { problems: SettingProblem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) {
    const places = document.errors.map(({ code, pos }) => {
      const { line, col } = lines.linePos(pos[0]);
      return fault(`${path}, line ${line}, column ${col}`, code.toLowerCase().replaceAll('_', ' '));
    });
    return { problems: places };
  }
  try {
    const value: unknown = document.toJS() ?? {};
    if (isMapping(value)) return { mapping: value };
    return { problems: [fault(path, 'the file must be a mapping of sections')] };
  } catch {
    return { problems: [fault(path, 'an alias without an anchor, or too many aliases')] };
  }
}

function fault(setting: string, what: string): SettingProblem {
  return { setting, value: '', rule: `must be valid YAML: ${what}`, example: 'server: { port: 8787 }' };
}
