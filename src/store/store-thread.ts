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

interface Waiting {
  resolve(value: unknown): void;
  reject(error: StoreError): void;
}

/** The thread that owns the database. It keeps the process alive only while a call waits for its answer. */
export class StoreThread implements StoreChannel {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #last = OPENED;
  #ended: StoreError | undefined;
  #closed: Promise<void> | undefined;

  private constructor(folder: string) {
    this.#worker = new Worker(ENTRY, { workerData: folder, execArgv: [] });
    this.#worker.on('message', (answer: AnswerMessage) => this.#settle(answer));
    this.#worker.on('error', (error) => this.#end(`the thread of the store broke: ${failureCode(error)}`));
    this.#worker.on('exit', () => this.#end('the store is closed'));
  }

  static async open(folder: string): Promise<StoreThread> {
    const thread = new StoreThread(folder);
    await thread.#answer(OPENED);
    return thread;
  }

  call<M extends keyof StoreCalls>(
    method: M,
    ...args: Parameters<StoreCalls[M]>
  ): Promise<ReturnType<StoreCalls[M]>> {
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
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
