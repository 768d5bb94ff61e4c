import { Worker } from 'node:worker_threads';
import { StoreError } from './conversation-store.js';
import type { StoreChannel } from './packed-store.js';
import { type AnswerMessage, type CallMessage, OPENED, ownMemory, type StoreCalls } from './store-calls.js';
import { failureCode } from './store-failure.js';

/** Node 20 starts threads from JavaScript only: sources that run as TypeScript use the thread of the last build. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/store/store-worker.js' : './store-worker.js',
  import.meta.url,
);

export interface StoreOptions {
  /** Where the data is kept, made where it is missing; `:memory:` keeps it as long as the process. */
  readonly folder: string;
  /** The thread that owns the database had ended by itself, and another was started. */
  readonly onRestart?: (() => void) | undefined;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: StoreError): void;
}

/** A thread that ends as soon as it is started is not started over and over. */
const RESTART_EVERY_MS = 10_000;

/**
 * The thread that owns the database. It keeps the process alive only while a call waits for its answer. Where it ends by
 * itself, the calls that wait fail, and the next one starts another.
 */
export class StoreThread implements StoreChannel {
  readonly #folder: string;
  readonly #onRestart: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker;
  #last = OPENED;
  #ended: StoreError | undefined;
  #hasExited = false;
  #restarted = Number.NEGATIVE_INFINITY;
  #closed: Promise<void> | undefined;

  private constructor({ folder, onRestart = () => {} }: StoreOptions) {
    this.#folder = folder;
    this.#onRestart = onRestart;
    this.#worker = this.#start();
  }

  static async open(options: StoreOptions): Promise<StoreThread> {
    const thread = new StoreThread(options);
    await thread.#answer(OPENED);
    return thread;
  }

  call<M extends keyof StoreCalls>(
    method: M,
    ...args: Parameters<StoreCalls[M]>
  ): Promise<ReturnType<StoreCalls[M]>> {
    if (this.#ended !== undefined && !this.#restart()) return Promise.reject(this.#ended);
    this.#last += 1;
    const message: CallMessage = { id: this.#last, method, args };
    try {
      this.#worker.postMessage(message, ownMemory(args));
    } catch (error) {
      return Promise.reject(new StoreError(`the store cannot be asked: ${failureCode(error)}`));
    }
    return this.#answer(message.id) as Promise<ReturnType<StoreCalls[M]>>;
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exited = new Promise((resolve) => this.#worker.once('exit', resolve));
    const answered = this.call('close');
    this.#ended = new StoreError('the store is closed');
    await answered;
    this.#worker.ref();
    await exited;
  }

  #start(): Worker {
    const worker = new Worker(ENTRY, { workerData: this.#folder, execArgv: [] });
    worker.on('message', (answer: AnswerMessage) => this.#settle(answer));
    worker.on('error', (error) => this.#end(`the thread of the store broke: ${failureCode(error)}`));
    worker.on('exit', () => {
      this.#hasExited = true;
      this.#end('the thread of the store ended');
    });
    return worker;
  }

  /** Only behind the other's exit: by then its database is closed. */
  #restart(): boolean {
    const now = performance.now();
    const isTooSoon = now - this.#restarted < RESTART_EVERY_MS;
    if (!this.#hasExited || isTooSoon || this.#closed !== undefined) return false;
    this.#restarted = now;
    this.#hasExited = false;
    this.#ended = undefined;
    this.#worker = this.#start();
    this.#answer(OPENED).catch((error: StoreError) => this.#end(error.message));
    this.#onRestart();
    return true;
  }

  #answer(id: number): Promise<unknown> {
    if (this.#waiting.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #settle({ id, value, error }: AnswerMessage): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new StoreError(error));
  }

  #end(why: string): void {
    this.#ended ??= new StoreError(why);
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}
