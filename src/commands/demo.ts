import { EXIT } from '../cli/parse-command.js';
import { PROCESS_STREAMS, type Streams } from '../cli/streams.js';
import { untilSignal } from '../cli/until-signal.js';
import { wrap } from '../cli/wrap.js';
import { type Ink, inkFor } from '../demo/ink.js';
import { keepText } from '../demo/keep.js';
import { type Layout, layoutFor } from '../demo/layout.js';
import { loadClient, MissingClientError } from '../demo/openai-client.js';
import { play } from '../demo/play.js';
import { reportJson } from '../demo/report.js';
import type { Row } from '../demo/row.js';
import { STEPS, type Step } from '../demo/scenario.js';
import { Screen } from '../demo/screen.js';
import { BUDGET, SIMULATED_VLLM, type Stage, setStage } from '../demo/stage.js';
import { summarise, summaryText } from '../demo/summary.js';
import { type Terminal, terminalOf } from '../demo/terminal.js';
import { MissingPackageError } from '../simulator/optional-packages.js';
import { StoreError } from '../store/conversation-store.js';

export interface DemoOptions {
  readonly json: boolean;
  readonly keep: boolean;
}

type ClientFor = Awaited<ReturnType<typeof loadClient>>;

/** Plays a scripted conversation through the proxy and shows what was done with each request. */
export async function demo(options: DemoOptions, streams: Streams): Promise<number> {
  const terminal = terminalFor(options, streams);
  const ink = inkFor(terminal);
  const screen = new Screen(streams, terminal.live);
  if (!options.json) screen.say(introduction(ink));
  screen.progress(ink.paint('faint', 'loading the tokenizer...'));
  let stage: Stage;
  let clientFor: ClientFor;
  try {
    clientFor = await loadClient();
    stage = await setStage();
  } catch (error) {
    if (!isForTheReader(error)) throw error;
    streams.err(`incontext-proxy: ${error.message}`);
    return EXIT.failed;
  }
  try {
    return await perform(options, { stage, clientFor, terminal, ink, screen, streams });
  } finally {
    await stage.close();
  }
}

/** What has a remedy that its message says. */
function isForTheReader(error: unknown): error is Error {
  return [MissingClientError, MissingPackageError, StoreError].some((kind) => error instanceof kind);
}

interface Performance {
  readonly stage: Stage;
  readonly clientFor: ClientFor;
  readonly terminal: Terminal;
  readonly ink: Ink;
  readonly screen: Screen;
  readonly streams: Streams;
}

async function perform({ json, keep }: DemoOptions, performance: Performance): Promise<number> {
  const { stage, terminal, ink, screen, streams } = performance;
  const startedAt = Date.now();
  const layout = layoutFor(terminal.columns, ink);
  const rows = await playAll(json ? undefined : layout, performance);
  const seconds = (Date.now() - startedAt) / 1000;
  const summary = summarise(rows);
  if (json) screen.say(reportJson(rows, summary, seconds, keep ? stage : undefined));
  else screen.say(layout.foot(summaryText(summary)));
  if (keep) {
    const signal = untilSignal();
    const text = keepText(stage, ink);
    if (json) streams.err(text);
    else screen.say(`\n${text}`);
    await signal;
  }
  return summary.surprising.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Plays the story, shown as a table where there is a layout for one. */
async function playAll(
  layout: Layout | undefined,
  { stage, clientFor, screen }: Performance,
): Promise<Row[]> {
  const routes = {
    proxy: clientFor(stage.proxyUrl),
    blindProxy: clientFor(stage.blindProxyUrl),
    direct: clientFor(stage.simulatorUrl),
  };
  const rows: Row[] = [];
  if (layout !== undefined) screen.say(layout.head(BUDGET.window));
  const onStep = ({ asks }: Step) => {
    if (layout !== undefined) screen.hint(layout.begun(rows.length + 1, asks));
  };
  for await (const row of play(STEPS, routes, onStep)) {
    rows.push(row);
    if (layout !== undefined) screen.say(layout.row(row));
  }
  return rows;
}

/** A document is no terminal's business: its standard output carries nothing else. */
function terminalFor({ json }: DemoOptions, streams: Streams): Terminal {
  const output = !json && streams === PROCESS_STREAMS ? process.stdout : {};
  return terminalOf(output, process.env, process.platform);
}

function introduction({ paint, cells }: Ink): string {
  const text =
    `An agent talks to a simulated vLLM ${SIMULATED_VLLM}, which refuses what does not fit. Between them stands ` +
    `incontext-proxy, which keeps ${BUDGET.reserve} tokens for an answer. Direct: the same request without it.`;
  const legend = [
    `${paint('prompt', cells.prompt)} prompt`,
    `${paint('answer', cells.answer)} cap of the answer`,
    `${paint('faint', cells.free)} free`,
  ];
  return `${wrap(text, 0)}\n${legend.join('   ')}\n`;
}
