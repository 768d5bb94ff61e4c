// Fails where one of the rooms that decide covers less than 95 % of its lines.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const FLOOR = 95;
const ROOMS = ['budget', 'body', 'exchange', 'backends'];
const summary = JSON.parse(readFileSync('coverage/coverage-summary.json', 'utf8'));

let missed = 0;
for (const room of ROOMS) {
  let total = 0;
  let covered = 0;
  for (const [file, { lines }] of Object.entries(summary)) {
    if (!relative('src', file).startsWith(`${room}/`)) continue;
    total += lines.total;
    covered += lines.covered;
  }
  const percent = total === 0 ? 0 : (100 * covered) / total;
  console.log(`${room.padEnd(10)} ${percent.toFixed(1)} % of ${total} lines`);
  if (percent < FLOOR) missed += 1;
}
if (missed > 0) {
  console.error(`below ${FLOOR} %: ${missed} of ${ROOMS.length} rooms`);
  process.exit(1);
}
