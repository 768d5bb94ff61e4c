import { EXIT } from '../cli/parse-command.js';
import { loadClient } from '../demo/openai-client.js';
import { play } from '../demo/play.js';
import { STEPS } from '../demo/scenario.js';
import { setStage } from '../demo/stage.js';
import type { Streams } from './streams.js';

export async function demo(_options: { json: boolean; keep: boolean }, streams: Streams): Promise<number> {
  streams.err('loading the tokenizer...');
  const [client, stage] = await Promise.all([loadClient(), setStage()]);
  const routes = {
    proxy: client(stage.proxyUrl),
    blindProxy: client(stage.blindProxyUrl),
    direct: client(stage.simulatorUrl),
  };
  for await (const row of play(STEPS, routes, () => {})) {
    streams.out(JSON.stringify({ ...row, note: undefined }));
  }
  await stage.close();
  return EXIT.ok;
}
