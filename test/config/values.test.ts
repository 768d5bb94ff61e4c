import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/load.js';
import { problemsFrom, settingsFrom } from './load-from.js';

const settingsWith = (flag: string, text: string) => settingsFrom({ flags: { [flag]: text } });
const ruleOf = (flag: string, text: string) => problemsFrom({ flags: { [flag]: text } })[0]?.rule;

describe('the upstream', () => {
  it.each([
    ['http://u', 'http://u'],
    ['http://u/', 'http://u'],
    ['http://u/v1', 'http://u'],
    ['http://u/v1/', 'http://u'],
    [' http://u/v1\n', 'http://u'],
    ['http://u/prefix/v1', 'http://u/prefix'],
    ['https://U.example:8443/a/b//', 'https://u.example:8443/a/b'],
    ['http://u/v1/v1', 'http://u/v1'],
    ['http://u/v10', 'http://u/v10'],
    ['http://[::1]:8000', 'http://[::1]:8000'],
  ])('means the same however it is written: %j', (text, url) => {
    expect(settingsWith('upstream', text).upstream.url).toBe(url);
  });

  it.each([
    ['http://u/?a=1', 'query'],
    ['http://u/?', 'query'],
    ['http://u/#x', 'fragment'],
    ['http://u /v1', 'white space'],
    ['http://u\\@evil', 'HTTP'],
    ['u:8000', 'HTTP'],
    ['ws://u', 'HTTP'],
    ['http://u:0', 'port'],
    ['http://u:65536', 'port'],
    ['http://me:hush@u', 'credentials'],
    ['', 'blank'],
  ])('is refused when it is %j', (text, mention) => {
    expect(ruleOf('upstream', text)).toContain(mention);
  });

  it.each([
    ['http://h/v1/chat/completions', 'http://h'],
    ['http://h/v1/chat/completions/', 'http://h'],
    ['http://h/prefix/v1/completions', 'http://h/prefix'],
    ['http://h/chat/completions', 'http://h'],
    ['http://h:8000/v1/models', 'http://h:8000'],
  ])('is refused with the address in front of /v1 when it is the endpoint %j', (text, base) => {
    const problems = problemsFrom({ flags: { upstream: text } });
    expect(problems).toHaveLength(1);
    expect(problems[0]?.rule).toMatch(/^must be the address in front of \/v1/);
    expect(problems[0]?.rule.endsWith(`: ${base}`)).toBe(true);
  });

  it.each(['http://h/v1/account/gateway', 'http://h/models', 'http://h/mycompletions'])(
    'may have a path that only looks like an endpoint: %s',
    (url) => {
      expect(settingsWith('upstream', url).upstream.url).toBe(url);
    },
  );

  it('must be given', () => {
    const loaded = loadSettings({ flags: {}, env: {}, cwd: '/', readFile: () => '' });
    expect(loaded).toMatchObject({
      ok: false,
      problems: [{ setting: '--upstream (or INCONTEXT_UPSTREAM_URL)', example: 'http://127.0.0.1:8000' }],
    });
  });
});

describe('the certificate authorities', () => {
  const env = { INCONTEXT_UPSTREAM_CA: 'ca.pem' };
  const pem = '-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n';

  it('are read from the file', () => {
    expect(settingsFrom({ env, files: { '/srv/ca.pem': pem } }).upstream.ca).toBe(pem);
  });

  it('are refused when the file is missing or holds none', () => {
    expect(problemsFrom({ env })).toMatchObject([{ setting: 'INCONTEXT_UPSTREAM_CA', value: 'ca.pem' }]);
    const other = problemsFrom({ env, files: { '/srv/ca.pem': '-----BEGIN PRIVATE KEY-----hush' } });
    expect(other).toHaveLength(1);
    expect(JSON.stringify(other)).not.toContain('hush');
  });
});

describe('the path prefix', () => {
  it.each([
    ['/llm', '/llm'],
    ['/llm/', '/llm'],
    ['/a/b', '/a/b'],
    ['/', ''],
    ['', ''],
  ])('%j means %j', (text, prefix) => {
    expect(settingsWith('path-prefix', text).server.pathPrefix).toBe(prefix);
  });

  it.each(['llm', '/a?b', '/a#b', '/a b', '//a', 'http://u/llm'])('is refused when it is %j', (text) => {
    expect(ruleOf('path-prefix', text)).toContain('slash');
  });

  it.each([
    ['/v1', 'begin with /v1'],
    ['/v1/', 'begin with /v1'],
    ['/v1/chat/completions', 'begin with /v1'],
    ['/%761', 'begin with /v1'],
    ['/incontext', 'begin with /incontext'],
    ['/incontext/x', 'begin with /incontext'],
    ['/..', '. or ..'],
    ['/.', '. or ..'],
    ['/a/../b', '. or ..'],
    ['/a/%2E%2e/b', '. or ..'],
    ['/a/.', '. or ..'],
    ['//', 'empty part'],
    ['///', 'empty part'],
    ['/a//', 'empty part'],
    ['/a//b', 'empty part'],
    ['/a%', 'encoded character'],
  ])('that would break the proxy is refused: %j', (text, mention) => {
    const problems = problemsFrom({ flags: { 'path-prefix': text } });
    expect(problems).toMatchObject([{ setting: '--path-prefix', example: '/llm' }]);
    expect(problems[0]?.rule).toContain(mention);
  });

  it.each(['/v10', '/incontexts', '/llm/v1', '/a..b', '/...'])('may look like one of those: %j', (text) => {
    expect(settingsWith('path-prefix', text).server.pathPrefix).toBe(text);
  });
});

it.each([
  ['0', 0],
  ['65535', 65535],
])('the port may be %s', (text, port) => {
  expect(settingsWith('port', text).server.port).toBe(port);
});

it.each(['-1', '65536', '80.5', 'http'])('the port cannot be %s', (text) => {
  expect(ruleOf('port', text)).toBe('must be an integer from 0 to 65535');
});

it.each([
  ['[::1]', '::1'],
  ['0.0.0.0', '0.0.0.0'],
  ['localhost', 'localhost'],
])('the host may be %s', (text, host) => {
  expect(settingsWith('host', text).server.host).toBe(host);
});

it.each(['localhost:8080', 'http://localhost', 'a b', '-'])('the host cannot be %s', (text) => {
  expect(ruleOf('host', text)).toContain('without a port');
});

it.each([
  ['1000', 1000],
  ['64MiB', 67_108_864],
  ['64 mib', 67_108_864],
  ['10kB', 10_000],
  ['1_0KiB', 10_240],
  ['1GiB', 1_073_741_824],
  ['1gb', 1_000_000_000],
  ['2MB', 2_000_000],
  ['7B', 7],
])('the body limit %j is %d bytes', (text, bytes) => {
  expect(settingsWith('body-limit', text).server.bodyLimit).toBe(bytes);
});

it.each(['0', '-1', '1.5MiB', 'MiB', '1TiB', '1 M', '99999999999999999999'])(
  'the body limit cannot be %j',
  (text) => {
    expect(ruleOf('body-limit', text)).toContain('positive number of bytes');
  },
);

it.each([
  ['credential', { kind: 'credential' }],
  ['none', { kind: 'none' }],
  ['header:X-Tenant', { kind: 'header', name: 'x-tenant' }],
])('the tenant may be %s', (text, tenant) => {
  expect(settingsWith('tenant', text).server.tenant).toEqual(tenant);
});

it.each(['header:', 'header:a b', 'header:x:y', 'everyone'])('the tenant cannot be %j', (text) => {
  expect(ruleOf('tenant', text)).toContain('header:NAME');
});

it.each(['a,,b', 'a,', ',', 'a b', 'clé'])('the keys cannot be %j', (text) => {
  expect(ruleOf('api-keys', text)).toContain('none of them empty');
});

it('keys are separated by commas, white space around them dropped', () => {
  expect(settingsWith('api-keys', ' a , b').server.apiKeys).toEqual(['a', 'b']);
});

it.each(['0', '-0.1', '1.01', 'nan', 'inf', '75%'])('the threshold cannot be %s', (text) => {
  expect(ruleOf('threshold', text)).toContain('greater than 0 and at most 1');
});

it('the threshold may be all of the context', () => {
  expect(settingsWith('threshold', '1').compression.threshold).toBe(1);
});

it.each(['context-length', 'compression-window-tokens', 'min-output-tokens', 'max-output-tokens'])(
  '--%s must be positive',
  (flag) => {
    expect(ruleOf(flag, '0')).toBe('must be a positive integer');
  },
);

it.each(['drain-seconds', 'upstream-headers-timeout-seconds', 'context-timeout-seconds'])(
  '--%s may be 0, and never so long that a timer overflows',
  (flag) => {
    expect(problemsFrom({ flags: { [flag]: '0' } })).toEqual([]);
    expect(ruleOf(flag, '2147484')).toContain('at most 2147483');
  },
);

it('a cache without bounds cannot be asked for', () => {
  expect(ruleOf('tokenizer-cache-entries', '0')).toBe('must be an integer from 1 to 1000000');
});

it.each(['agent\r\nx: y', 'agent 🙂'])('the user agent cannot be %j', (text) => {
  expect(ruleOf('tokenizer-user-agent', text)).toContain('without line breaks');
});

it('the log level counts in any case', () => {
  expect(settingsWith('log-level', ' WARN ').server.logLevel).toBe('warn');
  expect(ruleOf('log-level', 'loud')).toContain('one of fatal, error');
});

it.each([
  ['TRUE', true],
  ['off', false],
  ['1', true],
  ['no', false],
])('a switch may be %s', (text, on) => {
  expect(settingsWith('upstream-insecure', text).upstream.insecure).toBe(on);
});

it('a switch cannot be maybe', () => {
  expect(ruleOf('upstream-insecure', 'maybe')).toBe('must be true or false');
});

it.each([
  ['30d', 30],
  ['7D', 7],
])('conversations may be kept for %s', (text, days) => {
  expect(settingsFrom({ yaml: `sessions: { retention: ${text} }` }).sessions.retentionDays).toBe(days);
});

it('conversations cannot be kept for 2 weeks', () => {
  expect(problemsFrom({ yaml: 'sessions: { retention: 2w }' })[0]?.rule).toContain('days');
});
