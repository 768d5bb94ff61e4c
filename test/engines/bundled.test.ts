import { describe, test } from 'vitest';
import { BUNDLED_ENGINES } from '../../src/engines/bundled.js';
import { contextEngineChecks } from '../../src/testing/testing.js';

describe.each([...BUNDLED_ENGINES])('the bundled engine %s', (_name, factory) => {
  for (const { name, run } of contextEngineChecks(factory)) test(name, run);
});
