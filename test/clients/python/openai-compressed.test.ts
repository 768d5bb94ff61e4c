import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../proof/random.js';
import { LOOK } from '../support/client.js';
import { expectAllFit, type ScriptedStage, setScriptedStage } from '../support/scripted-stage.js';
import { REAL } from '../support/stage.js';
import { follows, lastUserMessage, layTrail } from '../support/trail.js';
import { play } from './openai-program.js';

const TURNS = 60;
/** Every so many turns one is longer than the window. */
const LONG = 12;
/** At last it is asked for what was said so many turns ago. */
const BACK = 8;

let stage: ScriptedStage;
beforeAll(async () => {
  // The same ids in every answer, as some servers give them.
  const answer = follows({ tool: LOOK.name, argument: 'at', idOf: (_, index) => `call_${index}` });
  stage = await setScriptedStage({ contextLength: 6144, answer });
});
afterAll(() => stage.close());

test.skipIf(REAL !== undefined)(
  `openai for Python gets every answer of ${TURNS} turns with tools, some of them longer than the window`,
  { timeout: 400_000 },
  async () => {
    const random = new Random(3);
    const trails = Array.from({ length: TURNS }, (_, turn) => {
      const isLong = turn % LONG === 0;
      const shape = isLong
        ? { steps: 12, length: [12, 30] as const }
        : { steps: 1 + (turn % 3), length: [4, 10] as const };
      return layTrail(random, { name: `t${turn}`, ...shape });
    });
    const files = new Map(trails.flatMap((trail) => [...trail.files]));
    const users = [...trails.map(({ request }) => request), `So what was every t${TURNS - BACK} mark?`];
    const marks = [...trails.map((trail) => trail.marks), trails[TURNS - BACK]?.marks];

    const answers: string[] = [];
    await play(
      {
        api: 'chat',
        base_url: `${stage.proxy.url}/v1`,
        retries: 0,
        way: 'talk',
        model: 'tiny',
        turns: [
          { role: 'system', content: 'You follow trails.' },
          ...users.map((content) => ({ role: 'user', content })),
        ],
        cap: 600,
        leaves: false,
        tool: { type: 'function', name: LOOK.name, description: LOOK.description, parameters: LOOK.schema },
      },
      (at) => files.get(String(at)) ?? '',
      (piece) => answers.push(piece),
    );
    expect(answers).toEqual(marks);
    expectAllFit(stage);
    const asked = stage.asked();
    expect(new Set(asked.map(({ request }) => request.stream === true))).toEqual(new Set([true, false]));
    const said = asked.map(lastUserMessage);
    expect(said.filter((message, at) => message !== said[at - 1])).toEqual(users);
  },
);
