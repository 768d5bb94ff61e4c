import { type Ask, type Asking, type Client, LOOK, type Look } from '../support/client.js';
import { holdsForClient } from '../support/promises.js';
import { play, ToldError } from './openai-program.js';

function client(name: string, api: 'chat' | 'responses'): Client {
  const tool = { type: 'function', name: LOOK.name, description: LOOK.description, parameters: LOOK.schema };
  return {
    name,
    at: (proxyUrl, retries): Asking => {
      const run = (way: string, ask: Ask, look: Look = () => '') => {
        const { model, turns, cap, onText } = ask;
        const leaves = ask.signal !== undefined;
        const asked = { api, base_url: `${proxyUrl}/v1`, retries, way, model, turns, cap, leaves, tool };
        return play(asked, look, onText ?? (() => {}));
      };
      return {
        ask: (ask) => run('ask', ask),
        stream: (ask) => run('stream', ask),
        useTool: (ask, look, streams) => run(streams ? 'tool-stream' : 'tool', ask, look),
        failureOf: (error) =>
          error instanceof ToldError ? error.told : { status: undefined, retryAfter: undefined },
      };
    },
  };
}

holdsForClient(client('openai for Python, chat completions', 'chat'));
holdsForClient(client('openai for Python, responses', 'responses'));
