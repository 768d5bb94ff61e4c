import { expect, test } from 'vitest';
import { until } from './support/client.js';
import { closing, startPair } from './support/pair.js';
import { openWire } from './support/wire.js';

test('ends an upgraded connection whose one side ended and whose other side never does', async () => {
  const { stub, proxy } = await startPair();
  let endAt: number | undefined;
  let closeAt: number | undefined;
  stub.server.on('upgrade', (_request, socket) => {
    closing({ close: async () => void socket.destroy() });
    socket.resume().on('error', () => {
      closeAt = performance.now();
    });
    socket.on('end', () => {
      endAt = performance.now();
      const timer = setInterval(() => socket.write('still here'), 200);
      socket.once('close', () => clearInterval(timer));
    });
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  });
  const wire = await openWire(proxy.url);
  wire.socket.write(
    'GET /v1/realtime HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  );
  await wire.until(/\r\n\r\n$/);
  wire.socket.end();
  await until(() => closeAt !== undefined, 15_000);
  expect((closeAt as number) - (endAt as number)).toBeGreaterThan(4000);
  wire.socket.destroy();
}, 20_000);
