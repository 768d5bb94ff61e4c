import type { RawObject } from '../body/raw-object.js';
import { canonicalCap } from '../budget/canonical-cap.js';
import type { CapField } from '../budget/cap-field.js';
import { type BudgetInput, type CallerCap, type Decision, decide, hasRoom } from '../budget/decide.js';
import type { ModelBudget } from '../upstream/model-registry.js';
import type { Endpoint } from './endpoint.js';
import type { ExchangeParts } from './parts.js';

/** A hook of the backend threw or gave nonsense. */
export class BackendContractError extends Error {
  override readonly name = 'BackendContractError';
}

/** The cap members of a request, read as the backend reads them. */
export function readCaps(request: RawObject, endpoint: Endpoint, parts: ExchangeParts): CallerCap[] {
  const caps: CallerCap[] = [];
  for (const field of endpoint.capFields) {
    const text = request.text(field);
    if (text !== undefined) caps.push({ field, text, tokens: coerce(text, parts) });
  }
  return caps;
}

export interface BudgetQuestion {
  readonly endpoint: Endpoint;
  readonly request: RawObject;
  readonly caps: readonly CallerCap[];
  readonly budget: ModelBudget;
  readonly window: number;
  readonly contextLength: number;
  readonly promptTokens: number;
}

/**
 * Decides on compression and cap.
 * @throws BackendContractError where a hook of the backend fails. Hooks are asked only where the window has room.
 */
export function decideBudget(question: BudgetQuestion, parts: ExchangeParts): Decision {
  const { budget } = question;
  const input = {
    window: question.window,
    promptTokens: question.promptTokens,
    reserve: budget.reserve,
    caps: question.caps,
    operatorCap: budget.operatorCap,
    minTokens: minTokens(question, parts),
    limit: undefined as number | undefined,
    outputField: (field: CapField) => outputField(field, question, parts),
  } satisfies BudgetInput;
  if (hasRoom(input)) input.limit = outputLimit(question, parts);
  return decide(input);
}

function minTokens({ request, endpoint }: BudgetQuestion, parts: ExchangeParts): number | undefined {
  const text = request.text('min_tokens');
  const least = endpoint.leastOutput?.(request);
  const asked = text === undefined ? undefined : coerce(text, parts);
  return asked === undefined || least === undefined ? (asked ?? least) : Math.max(asked, least);
}

function coerce(text: string, { backend }: ExchangeParts): number | undefined {
  const tokens = guarded(() =>
    backend.coerceOutputBudget === undefined ? canonicalCap(text) : backend.coerceOutputBudget(text),
  );
  if (tokens !== undefined && !(Number.isInteger(tokens) && tokens > 0)) throw new BackendContractError();
  return tokens;
}

function outputLimit(
  { request, contextLength }: BudgetQuestion,
  { backend }: ExchangeParts,
): number | undefined {
  const limit = guarded(() => backend.outputBudgetLimit?.(request, contextLength));
  if (limit !== undefined && !Number.isInteger(limit)) throw new BackendContractError();
  return limit;
}

function outputField(
  field: CapField,
  { endpoint, request }: BudgetQuestion,
  { backend }: ExchangeParts,
): CapField {
  const [only, ...others] = endpoint.capFields;
  if (only !== undefined && others.length === 0) return only;
  const mapped: unknown = guarded(() => backend.outputBudgetField?.(field, request)) ?? field;
  if (typeof mapped !== 'string' || mapped === '') throw new BackendContractError();
  return mapped as CapField;
}

function guarded<T>(hook: () => T): T {
  try {
    return hook();
  } catch (error) {
    throw new BackendContractError(undefined, { cause: error });
  }
}
