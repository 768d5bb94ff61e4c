import type { BodyReader } from '../calls/body-reader.js';
import { errorMessage } from '../calls/error-message.js';
import { refusal } from '../calls/refusal.js';
import { ModelUnknownError } from '../contract.js';

const MODEL_UNKNOWN = /^The model `[\s\S]*` does not exist/;

/** Throws ModelUnknownError for a 404 that names the model, StatusError for everything else, a 404 of the path included. */
export function vllmRefusal(status: number): BodyReader<never> {
  return refusal(status, (body) => {
    const message = status === 404 ? errorMessage(body) : undefined;
    return message !== undefined && MODEL_UNKNOWN.test(message)
      ? new ModelUnknownError('model_unknown')
      : undefined;
  });
}
