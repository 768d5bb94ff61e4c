import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Counts what is being served, and ends the server once it is done or the deadline passed. */
export class Drain {
  #inFlight = 0;
  #draining = false;
  readonly #connections = new Set<Duplex>();
  readonly #waiting = new Set<() => void>();
  readonly #onChange: (inFlight: number) => void;

  constructor(onChange: (inFlight: number) => void) {
    this.#onChange = onChange;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** Counts an exchange until its response is closed. While draining its connection is not kept. */
  track(response: ServerResponse): void {
    if (this.#draining) response.shouldKeepAlive = false;
    this.#begin(response);
  }

  /** Counts an upgraded connection until it closes. */
  trackConnection(connection: Duplex): void {
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    this.#begin(connection);
  }

  /**
   * Waits until nothing is in flight, at most `seconds`. The server goes on listening meanwhile, so that
   * readiness can say `draining`; then every connection is closed.
   */
  async finish(server: Server, seconds: number): Promise<void> {
    this.#draining = true;
    server.closeIdleConnections();
    if (this.#inFlight > 0) await this.#untilIdle(seconds);
    server.close();
    server.closeAllConnections();
    // The server no longer knows what was upgraded.
    for (const connection of this.#connections) connection.destroy();
  }

  #begin(carrier: { once(event: 'close', listener: () => void): unknown }): void {
    this.#change(1);
    carrier.once('close', () => this.#change(-1));
  }

  #change(by: number): void {
    this.#inFlight += by;
    this.#onChange(this.#inFlight);
    if (this.#inFlight === 0) for (const resolve of this.#waiting) resolve();
  }

  #untilIdle(seconds: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = () => {
        clearTimeout(deadline);
        this.#waiting.delete(stop);
        resolve();
      };
      const deadline = setTimeout(stop, seconds * 1000);
      this.#waiting.add(stop);
    });
  }
}
