import { wholeBody } from '../calls/body-reader.js';
import { MODELS_LIMIT, readModels } from '../calls/model-list.js';
import { checkSettings } from '../calls/no-settings.js';
import { refusal } from '../calls/refusal.js';
import { ServerClient } from '../calls/server-client.js';
import {
  type Backend,
  type BackendCall,
  type BackendContext,
  type Count,
  CountFailedError,
  EstimateOnlyError,
  type ModelDescription,
} from '../contract.js';
import { contextLengthOn } from './context-length.js';

/**
 * For servers that count nothing: every prompt is estimated.
 * @throws BackendSettingsError
 */
export function createEstimateBackend(context: BackendContext): Backend {
  checkSettings('estimate', context);
  return new EstimateBackend(context);
}

class EstimateBackend implements Backend {
  readonly source = 'rough-fallback';
  readonly #client: ServerClient;
  readonly #models: string;

  constructor(context: BackendContext) {
    this.#client = new ServerClient(context, () => performance.now());
    this.#models = `${context.upstream}/v1/models`;
  }

  async count(): Promise<Count> {
    throw new EstimateOnlyError('estimate');
  }

  async describe(model: string | undefined, call: BackendCall): Promise<number | undefined> {
    try {
      const models = await this.models(call);
      return (model === undefined ? models[0] : models.find(({ id }) => id === model))?.contextLength;
    } catch (error) {
      if (error instanceof CountFailedError) return undefined;
      throw error;
    }
  }

  models({ signal, credential }: BackendCall): Promise<readonly ModelDescription[]> {
    return this.#client.get({ url: this.#models, authorization: credential, signal }, (status) =>
      status === 200 ? wholeBody(MODELS_LIMIT, (body) => readModels(body, contextLengthOn)) : refusal(status),
    );
  }

  clearCache(): void {}

  close(): Promise<void> {
    return this.#client.close();
  }
}
