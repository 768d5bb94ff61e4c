import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { identity, type PythonDict } from './python-value.js';
import type { Script } from './script-schema.js';

const keptRequests = 10_000;
/** A request that is tried again with another cap is the same request. */
const capFields = new Set(['max_tokens', 'max_completion_tokens', 'max_output_tokens']);

/** How often each scripted request came. */
export class Attempts {
  private readonly seen = new LRUCache<string, number>({ max: keptRequests });

  /** The script with that of the current attempt laid over it. */
  choose(script: Script, path: string, request: PythonDict): Script {
    const { attempts } = script;
    if (attempts === undefined) return script;
    const rest = new Map([...request].filter(([name]) => !capFields.has(name)));
    const key = createHash('sha256')
      .update(`${path}\n${identity(rest)}`)
      .digest('base64');
    const before = this.seen.get(key) ?? 0;
    this.seen.set(key, before + 1);
    return { ...script, ...attempts[Math.min(before, attempts.length - 1)] };
  }

  forget(): void {
    this.seen.clear();
  }
}
