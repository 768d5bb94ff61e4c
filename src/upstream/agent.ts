import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, buildConnector } from 'undici';
import type { Settings } from '../config/settings.js';

interface SocketUse {
  requests: number;
  bytesReadAtSend: number;
}

const useOfSocket = new WeakMap<Socket, SocketUse>();
const socketOfError = new WeakMap<Error, Socket>();

channel('undici:client:sendHeaders').subscribe((message) => {
  const { socket } = message as { socket: Socket };
  const use = useOfSocket.get(socket);
  if (use === undefined) return;
  use.requests += 1;
  use.bytesReadAtSend = socket.bytesRead;
});

/** The longest head that is passed on, either way. Node's own 16 KiB are less than vLLM takes. */
export const LONGEST_HEAD_BYTES = 262_144;

/** @returns what opens connections to the upstream: within the configured time, certificates verified. */
export function createUpstreamConnector(upstream: Settings['upstream']): buildConnector.connector {
  return buildConnector({ timeout: upstream.connectTimeoutSeconds * 1000, ...tlsOptions(upstream) });
}

/**
 * @returns the pool of connections to the upstream. Its keep-alive of 4 s is shorter than uvicorn's 5 s.
 */
export function createUpstreamAgent(
  upstream: Settings['upstream'],
  connect: buildConnector.connector = createUpstreamConnector(upstream),
): Agent {
  return new Agent({
    maxHeaderSize: LONGEST_HEAD_BYTES,
    headersTimeout: upstream.headersTimeoutSeconds * 1000,
    bodyTimeout: upstream.bodyTimeoutSeconds * 1000,
    keepAliveTimeout: 4000,
    pipelining: 1,
    connect: (options, callback) => {
      connect(options, (error, socket) => {
        if (error !== null) return callback(error, null);
        watch(socket);
        callback(null, socket);
      });
    },
  });
}

/** TLS options of the upstream as `node:tls` takes them. */
export function tlsOptions(upstream: Pick<Settings['upstream'], 'ca' | 'insecure'>): {
  ca?: string;
  rejectUnauthorized: boolean;
} {
  const rejectUnauthorized = !upstream.insecure;
  return upstream.ca === undefined ? { rejectUnauthorized } : { ca: upstream.ca, rejectUnauthorized };
}

function watch(socket: Socket): void {
  useOfSocket.set(socket, { requests: 0, bytesReadAtSend: 0 });
  socket.on('error', (error: Error) => socketOfError.set(error, socket));
}

/**
 * True where a kept-alive connection turned out to be closed by the server: it had served a request before, and
 * not one byte came back for this one. Such a request was never worked on (nodejs/undici#583).
 */
export function diedOnReuse(error: Error): boolean {
  const socket = socketOfError.get(error);
  if (socket === undefined) return false;
  const use = useOfSocket.get(socket);
  return use !== undefined && use.requests > 1 && socket.bytesRead === use.bytesReadAtSend;
}
