import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { command, type RunningCommand } from './command.js';

/** An engine as a plugin: all but the head and the last turn becomes one message. */
const PLUGIN = `
export class Scripted {
  name = 'scripted';
  compress(messages) {
    const start = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
    const last = messages.findLastIndex(({ role }) => role === 'user');
    const content = 'summary ' + process.pid + ' of ' + (last - start) + ' messages';
    return [...messages.slice(0, start), { role: 'user', content }, ...messages.slice(last)];
  }
}`;

export interface ProxyProcess extends RunningCommand {
  readonly address: string;
  /** As a crash would: nothing is flushed. */
  kill(): Promise<unknown>;
}

/** The built command with a plugin's engine that tells the process in its summaries. Ends with the test. */
export async function proxyProcess(upstream: string, data: string): Promise<ProxyProcess> {
  writeFileSync(join(data, 'engine.mjs'), PLUGIN);
  const file = { plugins: ['./engine.mjs'], context: { engine: 'scripted' }, compression: { prepare: 0 } };
  writeFileSync(join(data, 'incontext.yaml'), JSON.stringify(file));
  const running = command([
    'serve',
    ...['--upstream', upstream, '--port', '0', '--data', join(data, 'store')],
    ...['--config', join(data, 'incontext.yaml')],
    ...['--min-output-tokens', '256', '--fallback-margin-tokens', '64'],
  ]);
  const kill = () => {
    running.child.kill('SIGKILL');
    return running.ended;
  };
  onTestFinished(() => void kill());
  const address = await running.url();
  for (let i = 0; (await fetch(`${address}/incontext/ready`)).status !== 200; i += 1) {
    if (i > 500) throw new Error('the proxy did not become ready');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { ...running, address, kill };
}
