// Prints "N passed, N failed, N skipped" from vitest's JSON report; failed steps count as failures. Exits 1 on any.
import { existsSync, readFileSync } from 'node:fs';

const [report, failedSteps] = process.argv.slice(2);
const tests = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined;
const passed = tests?.numPassedTests ?? 0;
const skipped = (tests?.numPendingTests ?? 0) + (tests?.numTodoTests ?? 0);
// A run that broke outside its tests has failed, whatever the tests say.
const failed = Math.max(tests?.numFailedTests ?? 0, Number(failedSteps), tests?.success === true ? 0 : 1);
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
