import { createRequire } from 'node:module';
import { z } from 'zod';

const manifest: unknown = createRequire(import.meta.url)('../../../package.json');

export const DEFAULT_USER_AGENT = `incontext-proxy/${z.looseObject({ version: z.string() }).parse(manifest).version}`;
