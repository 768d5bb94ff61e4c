import { expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/commands.js';
import { EXIT, parseCommand } from '../../src/cli/parse-command.js';

const parse = (line: string) => parseCommand(line === '' ? [] : line.split(' '));

it.each([
  ['serve --upstream http://u --port=0', { name: 'serve', flags: { upstream: 'http://u', port: '0' } }],
  ['serve', { name: 'serve', flags: {} }],
  [
    'check --upstream http://u --json',
    { name: 'check', flags: { upstream: 'http://u' }, json: true, deep: false },
  ],
  ['check --json=false --deep', { name: 'check', flags: {}, json: false, deep: true }],
  ['explain body.json', { name: 'explain', flags: {}, json: false, input: 'body.json' }],
  ['explain - --data /d --json', { name: 'explain', flags: { data: '/d' }, json: true, input: '-' }],
  ['explain -- --odd-name', { name: 'explain', flags: {}, json: false, input: '--odd-name' }],
  ['demo', { name: 'demo', json: false, keep: false }],
  ['demo --json --keep', { name: 'demo', json: true, keep: true }],
  [
    'simulate --port 0 --model a=9 --model b',
    { name: 'simulate', args: ['--port', '0', '--model', 'a=9', '--model', 'b'] },
  ],
  ['--version', { name: 'version' }],
  ['serve --version', { name: 'version' }],
])('reads: %s', (line, command) => {
  expect(parse(line)).toEqual(command);
});

it.each([
  ['--upstream-insecure', 'true'],
  ['--no-upstream-insecure', 'false'],
  ['--upstream-insecure=false', 'false'],
  ['--upstream-insecure --no-upstream-insecure', 'false'],
])('reads a switch from %s', (flags, value) => {
  expect(parse(`serve ${flags}`)).toEqual({ name: 'serve', flags: { 'upstream-insecure': value } });
});

it('takes the last of a flag given twice, and values that begin with a dash or are empty', () => {
  expect(parseCommand(['serve', '--port', '1', '--port=2', '--threshold', '-1', '--host='])).toEqual({
    name: 'serve',
    flags: { port: '2', threshold: '-1', host: '' },
  });
});

it.each([
  ['sreve', 'there is no command sreve; did you mean serve?'],
  ['xyzzyxyzzy', 'there is no command xyzzyxyzzy\n'],
  ['--port 1', 'the first argument must be a command'],
  ['serve --prot 1', 'serve has no flag --prot; did you mean --port?'],
  ['serve --upstream-url http://u', 'serve has no flag --upstream-url; did you mean --upstream?'],
  ['serve --data-dir /d', 'serve has no flag --data-dir; did you mean --data?'],
  ['serve --low-water 1', 'serve has no flag --low-water'],
  ['serve -p 1', 'serve has no flag -p\n'],
  ['serve --json', 'serve has no flag --json'],
  ['serve --no-port', 'serve has no flag --no-port'],
  ['demo --port 1', 'demo has no flag --port'],
  ['serve --host --port 1', '--host needs a value'],
  ['serve --port', '--port needs a value'],
  ['demo --keep=maybe', '--keep takes no value'],
  ['serve file.json', 'serve was given an argument too many'],
  ['explain a b', 'explain was given an argument too many'],
  ['explain --json', 'explain needs a file with a request body, or - for standard input'],
])('is used wrongly by: %s', (line, fault) => {
  const command = parse(line);
  expect(command.name).toBe('usage');
  expect('text' in command && command.text).toContain(fault);
});

it('repeats no value, which may be a secret', () => {
  const lines = [
    'serve --admin-tokne=hush',
    'serve --admin-token x hush',
    'demo --keep=hush',
    'serve --host --hush=hush',
  ];
  for (const line of lines) {
    const command = parse(line);
    expect(command.name).toBe('usage');
    expect('text' in command ? command.text : '').not.toContain('=hush');
    expect('text' in command ? command.text.split(/\s/) : []).not.toContain('hush');
  }
});

it('answers no command with the help, as a wrong use', () => {
  const help = parse('--help');
  expect(help.name).toBe('help');
  expect(parse('')).toEqual({ ...help, name: 'usage' });
  expect(EXIT).toEqual({ ok: 0, failed: 1, usage: 2 });
});

it.each(COMMAND_NAMES)('helps with %s wherever help is asked for', (name) => {
  const help = parse(`${name} --help`);
  expect(help).toMatchObject({
    name: 'help',
    text: expect.stringContaining(`Usage: incontext-proxy ${name} `),
  });
  expect(parse(`${name} -h`)).toEqual(help);
  expect(parse(`help ${name}`)).toEqual(help);
  expect(parse(`${name} --wrong=1 --help`)).toEqual(help);
});
