import httpProxy from '@fastify/http-proxy';
import Fastify from 'fastify';

/** The peer that the ratios are to: `@fastify/http-proxy` as it comes. */

const upstream = process.argv[2];
if (upstream === undefined) throw new Error('usage: bare.ts UPSTREAM');

const app = Fastify({ bodyLimit: 64 * 1024 * 1024 });
app.register(httpProxy, { upstream });
const url = await app.listen({ host: '127.0.0.1', port: 0 });
process.stdout.write(`bare listening on ${url}\n`);

// A profiler writes its file only at an orderly exit.
process.once('SIGINT', () => process.exit(0));
