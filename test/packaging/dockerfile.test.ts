import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { execForm, inContext, last, lineage, pairs, readStages } from './support/dockerfile.js';
import { PACKAGE, ROOT } from './support/paths.js';

const stages = readStages();
const copied = stages
  .flatMap(({ instructions }) => instructions)
  .filter(({ keyword, args }) => keyword === 'COPY' && !args.startsWith('--from='))
  .flatMap(({ args }) => args.split(' ').slice(0, -1));

test('a build without a target makes the proxy', () => {
  expect(stages.at(-1)?.name).toBe('proxy');
});

test('every stage starts from one image: Node 24, slim', () => {
  const names = stages.map(({ name }) => name);
  const images = stages.map(({ from }) => from).filter((from) => !names.includes(from));
  expect(images).toEqual(['node:24-slim']);
});

test('what is copied exists, and nothing else of the repository reaches a build', () => {
  expect(copied.length).toBeGreaterThan(5);
  for (const path of copied) {
    expect(existsSync(join(ROOT, path)), path).toBe(true);
    expect(inContext(path.replace(/\/$/, '')), path).toBe(true);
  }
  const listed = readFileSync(join(ROOT, '.dockerignore'), 'utf8').match(/(?<=^!).*$/gm) ?? [];
  expect(listed.toSorted()).toEqual([...new Set(copied)].toSorted());
  for (const path of [
    'data/x',
    '.env',
    '.git/config',
    'node_modules/fastify',
    'dist/cli.js',
    'docker-compose.yml',
  ]) {
    expect(inContext(path), path).toBe(false);
  }
});

test('its labels tell the version and the license of the package', () => {
  expect(pairs('LABEL', lineage('proxy'))).toMatchObject({
    'org.opencontainers.image.title': 'incontext-proxy',
    'org.opencontainers.image.version': PACKAGE.version,
    'org.opencontainers.image.licenses': 'MIT',
  });
});

describe.each(['proxy', 'demo'])('the image %s', (target) => {
  const instructions = lineage(target);

  test('starts without a shell in between, so that SIGTERM arrives', () => {
    expect(execForm(last('ENTRYPOINT', instructions))).toEqual([
      'node',
      '--initial-heap-size=256',
      '/app/dist/cli.js',
    ]);
    expect(execForm(last('CMD', instructions))).toBeDefined();
    expect(last('STOPSIGNAL', instructions)).toBe('SIGTERM');
  });

  test('runs as a user by number that is not root', () => {
    expect(last('USER', instructions)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
  });

  test('listens on every address, at the port it exposes', () => {
    const env = pairs('ENV', instructions);
    expect(env).toMatchObject({ INCONTEXT_HOST: '0.0.0.0', INCONTEXT_PORT: '8787' });
    expect(last('EXPOSE', instructions)).toBe(env.INCONTEXT_PORT);
  });

  test('keeps its data in a volume', () => {
    expect(last('VOLUME', instructions)).toBe('/data');
    expect(pairs('ENV', instructions).INCONTEXT_DATA_DIR).toBe('/data');
  });
});
