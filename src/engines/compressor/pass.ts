import type { Message } from '../../conversation/message.js';
import { type CompressOptions, IrreducibleError } from '../contract.js';
import type { EngineServices } from '../services.js';
import { othersTurn } from '../turns.js';
import { extractSummary } from './extract.js';
import type { CountText } from './ledger-text.js';
import type { SummaryState } from './mark.js';
import { earlyOf, goneOf, makePlan, middleOf, type Plan, sum, tailOf } from './plan.js';
import { prune } from './prune.js';
import { countingOnce, readAhead } from './read-ahead.js';
import { aroundSummary } from './role-order.js';
import { makeRoom, type Room, sizesOf, tighter, total } from './room.js';
import type { CompressorSettings } from './settings.js';
import { shortenNewest } from './shorten-newest.js';
import {
  appendedState,
  isNearlyFull,
  NO_STATE,
  rewrittenState,
  type Slack,
  summaryRoom,
  withAlsoGone,
} from './state.js';
import { apart, goingIn, isEmpty, type StateOrder } from './state-order.js';
import { summaryMessage } from './summary-message.js';
import { tell } from './tell.js';
import { readView, type View } from './view.js';

export interface PassEnvironment {
  readonly services: EngineServices;
  readonly settings: CompressorSettings;
  readonly protectFirstN: number;
  readonly protectLastN: number;
  readonly contextLength: number;
  readonly thresholdTokens: number;
}

const MOST_TRIES = 4;
const DEFAULT_LOW_WATER = 0.6;
/** A pass is asked for to make room, also where the view is under its target. */
const LEAST_GAIN = 0.75;
/** What a view may take at most before even results that the model has not read yet are cut. */
const CEILING = 0.85;
/** The acknowledgement behind the summary, and what a template puts around both. */
const FRAME = 60;
const CAUTION = 0.95;
/** The host lets a turn be shortened that takes more than this of the target. */
const WHOLE_TURN = 0.5;

/** One pass over one conversation. Keeps nothing: all that it knows afterwards is in the marks of the result. */
export class Pass {
  readonly #view: View;
  readonly #count: CountText;
  #sizes: readonly number[] = [];

  constructor(
    private readonly messages: readonly Message[],
    private readonly options: CompressOptions,
    private readonly env: PassEnvironment,
  ) {
    this.#view = readView(messages);
    this.#count = countingOnce((text) => env.services.estimateTokens(text));
  }

  /** @throws IrreducibleError, CompletionError */
  async run(): Promise<Message[]> {
    await readAhead(this.messages, this.env.services, this.options.signal);
    this.#sizes = sizesOf(this.#view.rest, this.env.services);
    const before = this.options.currentTokens ?? (await this.env.services.countTokens(this.messages));
    const room = this.#room(before);
    return (
      (await this.#pruned(room, before)) ??
      (await this.#summarised(room, before)) ??
      fail('nothing of this conversation can be left out')
    );
  }

  /** Whether the next pass may need a text of the model's. */
  mayAskModel(): boolean {
    const { prior } = this.#view;
    if (prior === undefined) return true;
    return isNearlyFull(prior, this.#room(this.options.currentTokens ?? 0), this.#count);
  }

  /** Lines for what came since a summary that was made early; `undefined` where there is none, or no room for them. */
  async caughtUp(): Promise<Message[] | undefined> {
    if (this.#view.prior === undefined) return undefined;
    await readAhead(this.messages, this.env.services, this.options.signal);
    this.#sizes = sizesOf(this.#view.rest, this.env.services);
    // The view is short already: the room is that of the pass that would be due without the early one.
    const { currentTokens } = this.options;
    const now = currentTokens ?? (await this.env.services.countTokens(this.messages));
    const room = this.#room(now, Math.max(now, this.env.thresholdTokens));
    const order = this.#order(room, makePlan(this.#view, this.#sizes, room));
    if (isEmpty(order) || (await appendedState(order, 'more')) === undefined) return undefined;
    return await this.#composed(room, LINES, 0);
  }

  /** @param due P that the room is made at: the view's own, but for one that was shortened already. */
  #room(before: number, due = before): Room {
    const { settings, protectFirstN, protectLastN, contextLength, thresholdTokens, services } = this.env;
    const wanted = this.options.targetTokens ?? Math.floor(DEFAULT_LOW_WATER * (thresholdTokens || before));
    const bodySize = total(sizesOf(this.messages.slice(this.#view.head.length), services));
    const most = Math.floor(LEAST_GAIN * due);
    return makeRoom({
      target: Math.min(wanted, most),
      before: due,
      most,
      fixed: Math.max(0, before - bodySize),
      leastTurn: Math.ceil((WHOLE_TURN * wanted * total(sizesOf(this.messages, services))) / before),
      contextLength,
      thresholdTokens,
      settings,
      protectFirstN,
      protectLastN,
    });
  }

  /** The conversation as it is, but for old results, media and arguments; where that is enough. */
  async #pruned(room: Room, before: number): Promise<Message[] | undefined> {
    if (this.options.force === true) return undefined;
    const plan = makePlan(this.#view, this.#sizes, room);
    const gone = new Set(goneOf(this.#view, plan));
    const { messages, changed } = await prune(
      this.#view.rest,
      (i) => gone.has(this.#view.rest[i] as Message),
      this.#count,
      this.options.signal,
    );
    if (changed === 0) return undefined;
    const shorter = new Map(this.#view.rest.map((message, i) => [message, messages[i] as Message]));
    const result = this.messages.map((message) => shorter.get(message) ?? message);
    const saved = total(this.#sizes) - total(sizesOf(messages, this.env.services));
    if (before - saved > room.target * 1.05) return undefined;
    const after = await this.env.services.countTokens(result);
    return after <= room.target && after < before ? result : undefined;
  }

  async #summarised(room: Room, before: number): Promise<Message[] | undefined> {
    await othersTurn();
    const story = await this.#story(room, before);
    await othersTurn();
    let best: { readonly result: Message[]; readonly tokens: number } | undefined;
    let excess = 0;
    for (let step = 0; step < MOST_TRIES; step += 1) {
      const tight = step === 0 ? room : tighter(room, step);
      // What was written for a larger target has to yield at last.
      const isLast = step === MOST_TRIES - 1 && story.kind === 'lines' && !room.keepsLines;
      const result = await this.#composed(tight, isLast ? await this.#extracted(tight) : story, excess);
      if (result === undefined) continue;
      const tokens = await this.env.services.countTokens(result);
      if (tokens < (best?.tokens ?? before)) best = { result, tokens };
      if (tokens <= room.accepted) break;
      excess += tokens - room.target;
    }
    return await this.#underCeiling(best ?? { result: [...this.messages], tokens: before }, room, before);
  }

  /** What the model has not read yet stays whole while the view is not due again at once. */
  async #underCeiling(
    best: { readonly result: Message[]; readonly tokens: number },
    room: Room,
    before: number,
  ): Promise<Message[] | undefined> {
    const ceiling = Math.max(room.target, Math.floor(this.env.thresholdTokens * CEILING));
    const turn = sum(this.#sizes, Math.max(0, this.#view.lastUser), this.#sizes.length);
    if (best.tokens > ceiling && turn > room.leastTurn) {
      const shortened = shortenNewest(best.result, best.tokens - ceiling, this.#count);
      const tokens = shortened === undefined ? before : await this.env.services.countTokens(shortened);
      if (shortened !== undefined && tokens < best.tokens) return shortened;
    }
    return best.tokens < before ? best.result : undefined;
  }

  /** Whether the model is asked, and what it said. */
  async #story(room: Room, before: number): Promise<Story> {
    const order = this.#order(room, makePlan(this.#view, this.#sizes, room));
    if (isEmpty(order)) return { kind: 'lines', slack: 'usual' };
    const slack = this.#hasRoomBehind(order, before) ? 'more' : 'usual';
    if (this.options.force !== true && (await appendedState(order, slack)) !== undefined) return LINES;
    const covered = new Set(goingIn(order));
    const told = await tell(order, before, this.env, this.options);
    if (told.kind === 'summary') return { kind: 'told', text: told.text, covered };
    this.env.services.log('warn', 'summary_failed', { messages: covered.size });
    return await this.#extracted(room, order);
  }

  /** All of the middle, told anew without the model. */
  async #extracted(
    room: Room,
    order: StateOrder = this.#order(room, makePlan(this.#view, this.#sizes, room)),
  ): Promise<Story> {
    const text = await extractOf(order);
    return { kind: 'told', text, covered: new Set(goingIn(order)) };
  }

  /**
   * A long turn leaves no room below the target whatever is done, and the next pass comes soon: one of both is enough to
   * write everything anew.
   */
  #hasRoomBehind({ room, space, tail }: StateOrder, before: number): boolean {
    if (space >= room.space) return false;
    const { services, thresholdTokens } = this.env;
    const rough = total(sizesOf(this.messages, services));
    const kept = total(sizesOf(tail, services)) + room.space;
    return room.fixed + (kept * before) / rough <= thresholdTokens * CEILING;
  }

  #order(room: Room, plan: Plan, excess = 0): StateOrder {
    const prior = this.#view.prior ?? NO_STATE;
    const early = earlyOf(this.#view, plan);
    const middle = middleOf(this.#view, plan);
    const tail = tailOf(this.#view, plan);
    const kept = total(sizesOf(tail, this.env.services)) + sum(this.#sizes, 0, plan.first);
    const space = Math.max(room.leastSpace, Math.floor((room.total - kept) * CAUTION) - FRAME - excess);
    return { prior, early, middle, tail, room, space, count: this.#count };
  }

  async #composed(room: Room, story: Story, excess: number): Promise<Message[] | undefined> {
    const plan = makePlan(this.#view, this.#sizes, room);
    const order = this.#order(room, plan, excess);
    if (isEmpty(order) && this.#view.prior === undefined) return undefined;
    const first = [...this.#view.head, ...this.#view.rest.slice(0, plan.first)];
    return aroundSummary(this.messages, first, summaryMessage(await this.#state(order, story)), order.tail);
  }

  async #state(order: StateOrder, story: Story): Promise<SummaryState> {
    if (story.kind === 'told') {
      const { told, also } = apart(order, story.covered);
      return withAlsoGone(rewrittenState(told, story.text), also);
    }
    return (await appendedState(order, story.slack)) ?? rewrittenState(order, await extractOf(order));
  }
}

/** Lines of the engine's own below what stands, or one text for everything. */
type Story =
  | { readonly kind: 'lines'; readonly slack: Slack }
  | { readonly kind: 'told'; readonly text: string; readonly covered: ReadonlySet<Message> };

/** Once lines have been found to do, nothing that was written before them is given up for a few tokens. */
const LINES = { kind: 'lines', slack: 'any' } as const;

function extractOf(order: StateOrder): Promise<string> {
  return extractSummary(order, summaryRoom(order), order.count);
}

function fail(reason: string): never {
  throw new IrreducibleError(reason);
}
