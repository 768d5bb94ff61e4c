import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const proof: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'proof',
    include: ['test/proof/**/*.proof.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 180_000,
    maxWorkers: 1,
    fileParallelism: false,
    sequence: { groupOrder: 2 },
  },
};

const vllm: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'vllm',
    include: ['test/vllm/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 120_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
};

const clients: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'clients',
    include: ['test/clients/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 180_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
};

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**'],
      reporter: ['text-summary', 'json-summary'],
      reportOnFailure: true,
    },
    projects: [
      {
        extends: true,
        test: {
          name: 'promises',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.timing.test.ts', 'test/llamacpp/**', 'test/clients/python/**'],
          globalSetup: ['test/support/global-setup.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'timing',
          include: ['test/**/*.timing.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
      // A real model on a real server, started for these tests alone: scripts/serve-llamacpp.sh.
      {
        extends: true,
        test: {
          name: 'llamacpp',
          include: ['test/llamacpp/**/*.test.ts'],
          globalSetup: ['test/llamacpp/support/global-setup.ts'],
          testTimeout: 120_000,
          maxWorkers: 1,
          fileParallelism: false,
          sequence: { groupOrder: 3 },
        },
      },
      // The tests of `promises` in test/vllm, against a real server: npm run test:vllm
      ...(process.env.INCONTEXT_TEST_VLLM === undefined ? [] : [vllm]),
      // Those of `promises` in test/clients, and those in Python: npm run test:clients
      ...(process.env.INCONTEXT_TEST_CLIENTS === undefined ? [] : [clients]),
      // Three minutes of long conversations; alone by npm run test:proof
      proof,
    ],
  },
});
