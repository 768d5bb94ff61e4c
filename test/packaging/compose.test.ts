import { describe, expect, test } from 'vitest';
import { environmentName, SETTING_NAMES, settingOf } from '../../src/config/table.js';
import { composeFile } from './support/compose.js';
import { lineage, pairs, readStages } from './support/dockerfile.js';
import { PACKAGE } from './support/paths.js';

const { services, volumes } = composeFile();
const { proxy } = services;
const environment = proxy.environment ?? {};
const ours = Object.entries(services).filter(([, { build }]) => build !== undefined);

/** Seconds of a duration such as `20m` or `45s`. */
function secondsOf(duration: string | undefined): number {
  const [, count, unit] = /^(\d+)([sm])$/.exec(duration ?? '') ?? [];
  return Number(count) * (unit === 'm' ? 60 : 1);
}

describe.each(['vllm', 'demo'])('the profile %s', (profile) => {
  const active = Object.entries(services).filter(([, { profiles }]) => profiles.includes(profile));

  test('runs the proxy and one upstream for it', () => {
    expect(active.map(([name]) => name).toSorted()).toEqual(
      ['proxy', profile === 'demo' ? 'simulator' : 'vllm'].toSorted(),
    );
    const upstreams = active.filter(([, { networks }]) => networks?.default?.aliases?.includes('upstream'));
    expect(upstreams).toHaveLength(1);
    const command = upstreams[0]?.[1].command ?? [];
    expect(command[command.indexOf('--port') + 1]).toBe(
      new URL(environment.INCONTEXT_UPSTREAM_URL ?? '').port,
    );
    expect(command[command.indexOf('--host') + 1]).toBe('0.0.0.0');
  });
});

test('one port is published, on loopback only: that of the image', () => {
  const published = Object.values(services).flatMap(({ ports }) => ports ?? []);
  const { INCONTEXT_PORT } = pairs('ENV', lineage('proxy'));
  expect(published).toEqual([`127.0.0.1:$\{PROXY_PORT:-${INCONTEXT_PORT}}:${INCONTEXT_PORT}`]);
});

test('what is built here is of the version of the package, and from a target of the Dockerfile', () => {
  expect(ours.map(([name]) => name)).toEqual(['proxy', 'simulator']);
  for (const [, { build, image }] of ours) {
    expect(image).toMatch(new RegExp(`:${PACKAGE.version.replaceAll('.', '\\.')}$`));
    expect(readStages().map(({ name }) => name)).toContain(build?.target);
  }
});

test('what is built here has a read-only root, no capabilities and gains no privileges', () => {
  for (const [, { read_only, cap_drop, security_opt }] of ours) {
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
});

test('stopping leaves the proxy more time than its drain takes', () => {
  expect(Number(environment.INCONTEXT_DRAIN_SECONDS)).toBeGreaterThan(0);
  expect(secondsOf(proxy.stop_grace_period)).toBeGreaterThan(Number(environment.INCONTEXT_DRAIN_SECONDS));
});

test('the proxy counts as healthy once it is ready, and has the minutes that vLLM needs to start', () => {
  expect(proxy.healthcheck.test.at(-1)).toContain('/incontext/ready');
  expect(secondsOf(proxy.healthcheck.start_period)).toBeGreaterThanOrEqual(600);
});

test('its data lie in a named volume', () => {
  const { INCONTEXT_DATA_DIR } = pairs('ENV', lineage('proxy'));
  expect(proxy.volumes).toEqual([`data:${INCONTEXT_DATA_DIR}`]);
  expect(Object.keys(volumes)).toContain('data');
});

test('no secret stands in it: keys come from the environment', () => {
  const all = Object.values(services).flatMap(({ environment: one }) => Object.entries(one ?? {}));
  const secrets = all.filter(([name]) => /KEY|TOKEN$/.test(name));
  expect(secrets.length).toBeGreaterThan(4);
  expect(secrets.filter(([, value]) => value !== null)).toEqual([]);
});

test('every setting that the environment can give reaches the proxy', () => {
  // The image gives the first three; the next two are files, which would have to be mounted.
  const elsewhere = ['HOST', 'PORT', 'DATA_DIR', 'UPSTREAM_CA', 'PLUGINS_DIR', 'UPSTREAM_INSECURE'];
  const names = SETTING_NAMES.filter(
    (name) => settingOf(name).only === undefined && !elsewhere.includes(name),
  );
  expect(Object.keys(environment).toSorted()).toEqual(names.map(environmentName).toSorted());
});
