import { parentPort, workerData } from 'node:worker_threads';
import { serveStore } from './serve-store.js';

if (parentPort !== null) serveStore(parentPort, workerData as string);
