import { expect, test } from 'vitest';
import { inkFor } from '../../src/demo/ink.js';
import { Screen } from '../../src/demo/screen.js';
import { terminalOf } from '../../src/demo/terminal.js';

const TTY = { isTTY: true, columns: 140 };
const UTF8 = { TERM: 'xterm', LANG: 'C.UTF-8' };

test('uses colour, all columns and more than ASCII on a terminal', () => {
  expect(terminalOf(TTY, UTF8, 'linux')).toEqual({ columns: 140, live: true, colour: true, unicode: true });
});

test('is plain ASCII of 80 columns where the output is no terminal, or a dumb one', () => {
  const plain = { columns: 80, live: false, colour: false, unicode: false };
  expect(terminalOf({}, UTF8, 'linux')).toEqual(plain);
  expect(terminalOf(TTY, { ...UTF8, TERM: 'dumb' }, 'linux')).toEqual(plain);
});

test('uses no colour where NO_COLOR is set to anything', () => {
  expect(terminalOf(TTY, { ...UTF8, NO_COLOR: '1' }, 'linux').colour).toBe(false);
  expect(terminalOf(TTY, { ...UTF8, NO_COLOR: '' }, 'linux').colour).toBe(true);
});

test('keeps to ASCII where the locale does not promise UTF-8', () => {
  expect(terminalOf(TTY, { LC_ALL: 'C', LANG: 'en_US.UTF-8' }, 'linux').unicode).toBe(false);
  expect(terminalOf(TTY, {}, 'linux').unicode).toBe(false);
  expect(terminalOf(TTY, {}, 'darwin').unicode).toBe(true);
});

test('writes no escape without colour', () => {
  expect(inkFor({ colour: false, unicode: false }).paint('bad', '400')).toBe('400');
  expect(inkFor({ colour: true, unicode: false }).paint('bad', '400')).toBe('\x1b[31m400\x1b[0m');
});

function recorded() {
  const out: string[] = [];
  const err: string[] = [];
  return { out, err, out_: (text: string) => out.push(text), err_: (text: string) => err.push(text) };
}

test('replaces a hint by what comes next, on a terminal', () => {
  const { out, err, out_, err_ } = recorded();
  const screen = new Screen({ out: out_, err: err_ }, true);
  screen.progress('loading ...');
  screen.say('ready');
  screen.say('row');
  expect(out).toEqual(['loading ...', '\x1b[1A\x1b[2Kready', 'row']);
  expect(err).toEqual([]);
});

test('tells progress on standard error, and no hints, where lines cannot be replaced', () => {
  const { out, err, out_, err_ } = recorded();
  const screen = new Screen({ out: out_, err: err_ }, false);
  screen.progress('loading ...');
  screen.hint('1 ...');
  screen.say('row');
  expect(out).toEqual(['row']);
  expect(err).toEqual(['loading ...']);
});
