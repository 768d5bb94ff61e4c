import { checkResult, type ResultProblem } from '../conversation/check-result.js';
import type { Message } from '../conversation/message.js';
import { roughTokens } from '../engines/inert-services.js';
import { isMessageList } from './sequence.js';
import { TRANSCRIPTS, type Transcript } from './transcripts.js';
import { type EngineCheck, expect, TARGET_TOKENS, type Trial, within } from './trial.js';

const LATEST_CATCH_UP_MS = 2000;
const SINCE: readonly Message[] = [
  { role: 'assistant', content: 'So far so good.' },
  { role: 'user', content: 'What came since?' },
  { role: 'assistant', content: 'A few words more.' },
  { role: 'user', content: 'Go on.' },
];
const ADVICE: Readonly<Record<ResultProblem, string>> = {
  not_a_list: 'gives no list of messages: give undefined where there is nothing to add',
  empty: 'gives an empty list: give undefined where there is nothing to add',
  new_violation: 'gives an invalid sequence: keep calls and results together',
  lost_user_message: 'loses or changes the last user message: keep it as it is',
  tail_changed: 'changes what follows the last user message: keep it as it is',
};

/** What the hooks around a pass that is made early promise. */
export function earlyChecks(trial: Trial): EngineCheck[] {
  return [
    { name: 'isWorthPreparing says true or false at once', run: () => saysWhetherWorth(trial) },
    { name: 'catchUp ends soon, and does not throw', run: () => catchesUpSoon(trial) },
    { name: 'catchUp gives nothing, or what may take its place', run: () => catchesUpRight(trial) },
  ];
}

async function saysWhetherWorth(trial: Trial): Promise<void> {
  for (const { what, messages } of TRANSCRIPTS) {
    const engine = await trial.start();
    const answer: unknown = guarded(`isWorthPreparing of ${what}`, () =>
      engine.isWorthPreparing(messages(), optionsOf(messages())),
    );
    const isPromise = answer instanceof Promise;
    if (isPromise) answer.catch(() => undefined);
    const kind = isPromise ? 'a promise' : typeof answer;
    expect(typeof answer === 'boolean', `isWorthPreparing must give true or false, not ${kind}`);
  }
}

/** One call of `catchUp`. */
interface CaughtUp {
  readonly what: string;
  readonly input: readonly Message[];
  readonly result: unknown;
}

async function catchesUpSoon(trial: Trial): Promise<void> {
  for (const transcript of TRANSCRIPTS) {
    try {
      await caughtUp(trial, transcript);
    } catch (error) {
      throw new Error(
        `catchUp of ${transcript.what} fails, or takes too long while somebody waits: give undefined instead`,
        { cause: error },
      );
    }
  }
}

async function catchesUpRight(trial: Trial): Promise<void> {
  for (const transcript of TRANSCRIPTS) {
    // Another check is about one that fails; each further transcript might take as long.
    const made = await caughtUp(trial, transcript).catch(() => undefined);
    if (made === undefined) return;
    const { what, input, result } = made;
    if (result === undefined) continue;
    const problem = isMessageList(result)
      ? checkResult(input, result, { turnMayShrink: () => false })
      : 'not_a_list';
    expect(problem === undefined, `catchUp of ${what} ${ADVICE[problem ?? 'not_a_list']}`);
  }
}

/** Of what a pass made of a transcript, and of two turns more. */
async function caughtUp(trial: Trial, transcript: Transcript): Promise<CaughtUp> {
  const { what } = transcript;
  const engine = await trial.start();
  const outcome = await trial.compress(engine, transcript.messages(), what);
  const made = 'result' in outcome && isMessageList(outcome.result) ? outcome.result : transcript.messages();
  const input = structuredClone([...made, ...SINCE]);
  const given = structuredClone(input);
  const call = async () => engine.catchUp(given, optionsOf(input));
  const result = await within('catchUp', call, LATEST_CATCH_UP_MS).catch((error: unknown) => {
    // As good as nothing to the host.
    if (error instanceof Error && error.name === 'IrreducibleError') return undefined;
    throw error;
  });
  return { what, input, result };
}

function optionsOf(messages: readonly Message[]) {
  return { currentTokens: roughTokens(messages), targetTokens: TARGET_TOKENS };
}

function guarded<T>(call: string, made: () => T): T {
  try {
    return made();
  } catch (error) {
    throw new Error(`${call} must not throw`, { cause: error });
  }
}
