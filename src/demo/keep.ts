import type { Ink } from './ink.js';
import { MODEL, type Stage } from './stage.js';

/** A line to paste: asks for far more than the window, and shows the answer's head and beginning. */
export function curlLine(serverUrl: string): string {
  return [
    `curl -si ${serverUrl}/v1/chat/completions \\`,
    "  -H 'content-type: application/json' \\",
    `  -d '{"model": "${MODEL}", "max_tokens": 1000000,`,
    `       "messages": [{"role": "user", "content": "Hello"}]}' | head -c 900`,
  ].join('\n');
}

/** What is still there to try, and how. */
export function keepText({ proxyUrl, simulatorUrl }: Stage, { paint }: Ink): string {
  return [
    'Still serving, until Ctrl-C:',
    `  the proxy    ${proxyUrl}`,
    `  the server   ${simulatorUrl}`,
    '',
    `A million tokens through the proxy, answered with ${paint('good', '200')}:`,
    '',
    curlLine(proxyUrl),
    '',
    `The same without it, ${paint('bad', '400')}:`,
    '',
    curlLine(simulatorUrl),
  ].join('\n');
}
