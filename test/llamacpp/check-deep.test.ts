import { expect } from 'vitest';
import { command } from '../support/command.js';
import { realTest, SERVER } from './support/real-server.js';

/** A slot is too small for the defaults. */
const SMALL = ['--engine', 'none', '--min-output-tokens', '256', '--fallback-margin-tokens', '64'];

realTest('check --deep finds no difference, and takes the refusal of an image for no failure', async () => {
  const started = command(['check', '--deep', '--upstream', SERVER, '--backend', 'llamacpp', ...SMALL]);
  const code = await started.ended;
  expect(started.stdout().trimEnd().split('\n').at(-1)).toBe('deep: 30 exact, 1 refused');
  expect(code).toBe(0);
});
