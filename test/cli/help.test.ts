import { expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/commands.js';
import { helpFor, overview } from '../../src/cli/help.js';
import { flagName, SETTING_NAMES, settingOf } from '../../src/config/table.js';

// The simulator words its own help.
const WORDED_HERE = COMMAND_NAMES.filter((name) => name !== 'simulate');

it.each(['', ...WORDED_HERE])('fits in 80 columns: help %s', (name) => {
  const command = COMMAND_NAMES.find((each) => each === name);
  const lines = (command === undefined ? overview() : helpFor(command)).split('\n');
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});

it('names every command', () => {
  for (const name of COMMAND_NAMES) expect(overview()).toMatch(new RegExp(`^ {2}${name} `, 'm'));
});

const ON_THE_COMMAND_LINE = SETTING_NAMES.filter((name) => settingOf(name).only !== 'file');

it.each(['serve', 'check', 'explain'] as const)(
  'explains every setting and its default in the help of %s',
  (command) => {
    const help = helpFor(command);
    for (const name of ON_THE_COMMAND_LINE) {
      const entry = help
        .split(/\n(?= {2}--|\n)/)
        .find((each) => new RegExp(`^ {2}--${flagName(name)}( |\n)`).test(each));
      expect(entry?.replace(/\s+/g, ' ')).toMatch(/(Default: \S.*|Required)\.$/);
    }
    expect(help).toContain('--port N\n      The port to listen on. 0: any free one. Default: 8787.');
    expect(help).not.toContain('--low-water');
  },
);

it('offers no setting where none is taken', () => {
  expect(helpFor('demo')).not.toContain('--upstream');
  expect(helpFor('simulate')).toContain('--model NAME[=LENGTH]');
});
