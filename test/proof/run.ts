import { parseArgs } from 'node:util';
import { startSimulator } from '../../src/simulator/server.js';
import { startNaiveProxy } from './naive-proxy.js';
import type { Upstreamed } from './relay.js';
import { type ProofOptions, prove } from './run-proof.js';
import { barsOf, SCENARIOS, scenario } from './scenarios.js';
import { SUMMARISERS } from './summariser.js';
import { tableOf } from './table.js';

const USAGE = `npx tsx test/proof/run.ts [--scenario ${SCENARIOS.join('|')}] [--context 8192]
  [--summariser ${SUMMARISERS.join('|')}] [--engine compressor|none|naive] [--code src|dist] [--verbose] [--log]
  [--flag NAME=VALUE]...   passed on to the proxy
engine naive: a toy proxy of the harness itself, to try the measures with`;

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'long' },
    context: { type: 'string', default: '8192' },
    summariser: { type: 'string', default: 'good' },
    engine: { type: 'string', default: 'compressor' },
    code: { type: 'string', default: 'src' },
    flag: { type: 'string', multiple: true, default: [] },
    verbose: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const name = SCENARIOS.find((known) => known === values.scenario);
const summariser = SUMMARISERS.find((known) => known === values.summariser);
const code = values.code === 'dist' ? 'dist' : 'src';
if (values.help || name === undefined || summariser === undefined) {
  console.error(USAGE);
  process.exit(2);
}

const contextLength = Number(values.context);
const models = [{ id: 'simulated', maxModelLen: contextLength }];
const simulator = await startSimulator({ vllm: '0.16', models });
const started = performance.now();
const options: ProofOptions = {
  ...scenario(name),
  simulatorUrl: simulator.url,
  contextLength,
  engine: values.engine,
  summariser,
  code,
  flags: Object.fromEntries(values.flag.map((flag) => flag.split('=', 2))),
  onProgress: progress,
  ...(values.verbose ? { onRequest: show } : {}),
  ...(values.engine === 'naive'
    ? { proxyFor: (upstream: string) => startNaiveProxy(upstream, simulator.url, contextLength) }
    : {}),
};
const { measures, output } = await prove(options);
await simulator.close();
const bars = barsOf(name, contextLength, summariser, measures);
if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
console.log(tableOf(bars, measures, (performance.now() - started) / 1000));
if (values.log) console.log(output);
process.exitCode = bars.every(({ met }) => met) ? 0 : 1;

/** On a terminal at each message, elsewhere at each tenth. */
function progress(at: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${name}: message ${at} of ${of}`);
  else if (at % Math.ceil(of / 10) === 0) process.stderr.write(`${name}: message ${at} of ${of}\n`);
}

function show({ run, step, status, promptIds, cap, completionTokens, request, reply }: Upstreamed): void {
  const who = run === undefined ? 'SUMMARY' : `${run}/${step}`;
  const right = reply?.right === undefined ? '' : ` right=${reply.right}`;
  console.log(
    `${who} status=${status} messages=${request.messages.length} prompt=${promptIds.length} cap=${cap} answer=${completionTokens}${right}`,
  );
}
