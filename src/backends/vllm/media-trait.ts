import type { BackendCall, CountCall } from '../contract.js';
import { countTokensAnswer } from './count-tokens.js';
import { PerModel } from './per-model.js';
import type { TokenizerClient } from './tokenizer-client.js';
import { unlessFailed } from './unless-failed.js';

/** What stands in the text of a prompt for an image, before it is made its tokens, is shorter. In tokens. */
const MORE_THAN_A_PLACEHOLDER = 32;
/** Black, 32 pixels square. */
const SMALL =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAAAAABWESUoAAAAEklEQVR42mNgGAWjYBSMAuwAAAQgAAF8we+4AAAAAElFTkSuQmCC';
/** Black, 224 pixels square. */
const LARGE =
  'iVBORw0KGgoAAAANSUhEUgAAAOAAAADgCAAAAAA/RjU9AAAASElEQVR42u3BMQEAAADCoPVPbQo/oAAAAAAAAAAAAAAAAAAAAAAA' +
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAICXAcTgAAGGKhurAAAAAElFTkSuQmCC';
const TEXT = { type: 'text', text: 'hello' };

/** Whether images are counted as the model gets them, or as what stands for them in the text: found out by samples. */
export class MediaTrait {
  readonly #chats: PerModel<boolean>;
  readonly #messages: PerModel<boolean>;

  constructor(
    private readonly client: TokenizerClient,
    now: () => number,
  ) {
    this.#chats = new PerModel(now);
    this.#messages = new PerModel(now);
  }

  /** By `/tokenize`; false where that cannot be found out. */
  expandsInChats(model: unknown, call: CountCall): Promise<boolean> {
    return this.#expands(this.#chats, model, call, (asking, image) => {
      const url = `data:image/png;base64,${image}`;
      const part = image === undefined ? [] : [{ type: 'image_url', image_url: { url } }];
      return this.client.sampleTokens(model, sample(model, part), asking);
    });
  }

  /** By `/v1/messages/count_tokens`; false where that cannot be found out. */
  expandsInMessages(model: unknown, call: CountCall): Promise<boolean> {
    return this.#expands(this.#messages, model, call, async (asking, image) => {
      const source = { type: 'base64', media_type: 'image/png', data: image };
      const body = sample(model, image === undefined ? [] : [{ type: 'image', source }]);
      const path = '/v1/messages/count_tokens';
      return (await this.client.askUpstream(path, body, asking, countTokensAnswer)).tokens ?? 0;
    });
  }

  forget(): void {
    this.#chats.forget();
    this.#messages.forget();
  }

  async #expands(
    known: PerModel<boolean>,
    model: unknown,
    call: CountCall,
    tokensOf: (asking: BackendCall, image?: string) => Promise<number>,
  ): Promise<boolean> {
    const expands = await unlessFailed(call, () =>
      known.of(model).get(call, async (asking) => {
        const small = await tokensOf(asking, SMALL);
        if (small !== (await tokensOf(asking, LARGE))) return true;
        return small - (await tokensOf(asking)) >= MORE_THAN_A_PLACEHOLDER;
      }),
    );
    return expands === true;
  }
}

function sample(model: unknown, parts: readonly object[]): Buffer {
  return Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: [TEXT, ...parts] }] }));
}
