import type { Random } from './random.js';

const SUBJECTS = [
  'the billing worker',
  'our import job',
  'the nightly export',
  'the message queue',
  'the read replica',
  'the load balancer',
  'that deployment',
  'the cache in front of search',
  'the scheduler',
  'the audit trail',
  'the mobile client',
  'the on-call engineer',
];
const VERBS = [
  'keeps retrying after',
  'was slower than',
  'depends on',
  'no longer blocks',
  'should be moved behind',
  'writes twice as much as',
  'has to be restarted before',
  'waits for',
  'was measured against',
  'shares its disk with',
];
const ENDS = [
  'because nobody has looked at the limits since spring',
  'and we would like to know why before the next release',
  'although the dashboards looked calm at that time',
  'which is what the support team complained about last week',
  'so that the second step can run without a lock',
  'while the old machines are still in the rack',
  'and that should be written down in the runbook',
  'unless the numbers of the trial run say otherwise',
  'which makes the morning report late now and then',
  'and the fix must not touch the public interface',
];
const OPENINGS = ['', '', '', 'As far as I can see, ', 'In short, ', 'On the other hand, ', 'After that, '];

/** A sentence of everyday work, without a number or a name. */
export function sentence(random: Random): string {
  const first = random.pick(SUBJECTS);
  const second = random.pick(SUBJECTS.filter((subject) => subject !== first));
  const text = `${random.pick(OPENINGS)}${first} ${random.pick(VERBS)} ${second}, ${random.pick(ENDS)}.`;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** So many sentences; one is about 24 tokens. */
export function sentences(random: Random, count: number): string[] {
  return Array.from({ length: count }, () => sentence(random));
}

/** Sentences in paragraphs, with a list where they are many. */
export function answerText(random: Random, count: number): string {
  const all = sentences(random, count);
  if (count < 6) return all.join(' ');
  const list = all.slice(2, -2).map((one) => `- ${one}`);
  return [all.slice(0, 2).join(' '), '', ...list, '', all.slice(-2).join(' ')].join('\n');
}

/** Lines of a log with times, durations and, now and then, the id of a request; one is about 40 tokens. */
export function logLines(random: Random, count: number): string[] {
  let second = random.integer(0, 40_000);
  return Array.from({ length: count }, () => {
    second += random.integer(1, 9);
    const at = new Date(second * 1000).toISOString().slice(11, 19);
    const level = random.pick(['info', 'info', 'info', 'warn', 'error']);
    const request = random.chance(0.3) ? ` request=req-${random.hex(6)}` : '';
    return `${at} ${level} ${random.integer(2, 980)} ms${request} ${sentence(random)}`;
  });
}
