/** Code, data, logs and noise, by kind. Generated ones are the same on every run. */
export const TECHNICAL: Readonly<Record<string, string>> = {
  TypeScript: `export async function* readEvents(source: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder('utf-8', { fatal: false });
  let pending = '';
  for await (const chunk of source) {
    pending += decoder.decode(chunk, { stream: true });
    const blocks = pending.split(/\\r?\\n\\r?\\n/);
    pending = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) continue; // a comment keeps the connection alive
      yield parseEvent(block.replace(/^data: ?/gm, ''));
    }
  }
  if (pending !== '') throw new UnexpectedEndError(\`\${pending.length} bytes left over\`);
}`,
  Python: `from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long to wait in between."""

    max_attempts: int = 5
    base_delay_s: float = 0.25
    retry_on: tuple[type[BaseException], ...] = field(default=(ConnectionError, TimeoutError))

    async def __call__(self, fn, *args, **kwargs):
        for attempt in range(1, self.max_attempts + 1):
            try:
                return await fn(*args, **kwargs)
            except self.retry_on as exc:
                if attempt == self.max_attempts:
                    raise RuntimeError(f"gave up after {attempt} attempts") from exc
                await asyncio.sleep(self.base_delay_s * 2 ** (attempt - 1))
`,
  Rust: `impl<'a, T: AsRef<[u8]> + ?Sized> Cursor<'a, T> {
    #[inline(always)]
    pub fn take_while<F>(&mut self, mut pred: F) -> &'a [u8]
    where
        F: FnMut(u8) -> bool,
    {
        let bytes = self.inner.as_ref();
        let start = self.pos;
        while self.pos < bytes.len() && pred(bytes[self.pos]) {
            self.pos = self.pos.wrapping_add(1);
        }
        unsafe { bytes.get_unchecked(start..self.pos) }
    }
}`,
  'C with tabs': `static int ring_push(struct ring_buf *rb, const void *src, size_t len)
{
	size_t head = atomic_load_explicit(&rb->head, memory_order_relaxed);
	size_t tail = atomic_load_explicit(&rb->tail, memory_order_acquire);

	if (rb->cap - (head - tail) < len)
		return -ENOBUFS;
	for (size_t i = 0; i < len; i++)
		rb->data[(head + i) & (rb->cap - 1)] = ((const uint8_t *)src)[i];
	atomic_store_explicit(&rb->head, head + len, memory_order_release);
	return 0;
}`,
  'minified JavaScript': `!function(e,t){"object"==typeof exports&&"undefined"!=typeof module?module.exports=t():e.Qx=t()}(this,function(){"use strict";var e=1e3,n=6e4,r="millisecond",i=/^(\\d{4})[-/]?(\\d{1,2})?[-/]?(\\d{0,2})[Tt\\s]*(\\d{1,2})?:?(\\d{1,2})?$/;function u(t,e,n){var r=String(t);return!r||r.length>=e?t:""+Array(e+1-r.length).join(n)+t}var c={s:u,z:function(t){var e=-t.utcOffset(),n=Math.abs(e),r=Math.floor(n/60);return(e<=0?"+":"-")+u(r,2,"0")+":"+u(n%60,2,"0")}};return c});`,
  Shell: `#!/usr/bin/env bash
set -euo pipefail
for f in "\${SRC_DIR:?}"/*.tar.gz; do
  sha256sum -c <(grep -F "$(basename "$f")" SHA256SUMS) || { echo >&2 "bad checksum: $f"; exit 1; }
  tar -xzf "$f" --strip-components=1 -C /opt/app && chmod -R u=rwX,go=rX /opt/app
done
curl -fsSL -H 'Accept: application/json' "https://api.example.test/v2/jobs?limit=50&state=done" | jq -r '.items[].id' | xargs -n1 -P4 ./process.sh`,
  SQL: `WITH recent AS (
  SELECT o.customer_id, SUM(oi.qty * oi.unit_price) AS total, COUNT(DISTINCT o.id) AS n_orders
  FROM orders o JOIN order_items oi ON oi.order_id = o.id
  WHERE o.created_at >= NOW() - INTERVAL '90 days' AND o.status NOT IN ('CANCELLED', 'REFUNDED')
  GROUP BY 1 HAVING SUM(oi.qty) > 3
)
SELECT c.id, c.email, COALESCE(r.total, 0)::NUMERIC(12, 2) FROM customers c LEFT JOIN recent r ON r.customer_id = c.id ORDER BY 3 DESC NULLS LAST LIMIT 100;`,
  'compact JSON': `{"id":"ord_8Jx2","status":"paid","items":[{"sku":"AB-1029","qty":2,"price":19.99,"tags":["new","sale"]},{"sku":"ZX-7","qty":1,"price":249.5,"tags":[]}],"customer":{"name":"Ana Lima","email":"ana.lima@example.test","address":{"street":"Rua das Flores 12","zip":"1200-195","geo":{"lat":38.7139,"lng":-9.1394}}},"created_at":"2024-11-05T08:14:31.512Z","meta":null,"gift":false}`,
  'indented JSON': `{
  "name": "fetch-report",
  "version": "2.4.1",
  "dependencies": {
    "undici": "^7.30.2",
    "zod": "~4.6.7"
  },
  "matrix": [
    [
      1,
      0,
      -3
    ],
    [
      0.25,
      12,
      1e-9
    ]
  ],
  "nested": {
    "enabled": true,
    "retries": 3,
    "label": null
  }
}`,
  'escaped JSON': `{\\"path\\":\\"src\\\\\\\\main.ts\\",\\"content\\":\\"import { x } from \\\\\\"./x.js\\\\\\";\\\\n\\\\nexport const y = x + 1;\\\\n\\",\\"mode\\":\\"0644\\"}`,
  YAML: `services:
  proxy:
    image: registry.example.test/team/proxy:1.8.0@sha256
    environment:
      - LOG_LEVEL=debug
      - UPSTREAM_URL=http://model:8000
    deploy:
      resources:
        limits: { cpus: '0.50', memory: 256M }
    healthcheck:
      test: ["CMD", "wget", "-qO-", "http://127.0.0.1:8080/healthz"]
      interval: 15s`,
  HTML: `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Report</title><link rel="stylesheet" href="/assets/app.3f9c1.css"></head><body class="page page--wide"><div id="root" data-user-id="4711"><ul class="list"><li><a href="/a?x=1&amp;y=2" target="_blank" rel="noopener noreferrer">First</a></li><li style="margin:0 auto;padding:4px 8px">&nbsp;&copy; 2025</li></ul></div><script>window.__STATE__={"n":1};</script></body></html>`,
  Markdown: `# Release notes

## 2.4.1 (2025-03-02)

* **Fixed**: the cache no longer evicts *pinned* entries ([#1042](https://example.test/issues/1042)).
* Added \`--dry-run\`; see the table.

| option | default | meaning |
|---|---:|---|
| \`--jobs N\` | 4 | parallel workers |
| \`--dry-run\` | off | print, change nothing |

> Note: upgrade **before** 1 June.

- [x] docs
- [ ] migration guide
`,
  LaTeX: `\\begin{align} \\nabla \\cdot \\mathbf{E} &= \\frac{\\rho}{\\varepsilon_0}, & \\oint_{\\partial \\Sigma} \\mathbf{B} \\cdot \\mathrm{d}\\boldsymbol{\\ell} &= \\mu_0 \\iint_{\\Sigma} \\mathbf{J} \\cdot \\mathrm{d}\\mathbf{S} \\end{align} Let $f \\colon \\mathbb{R}^n \\to \\mathbb{R}$ be $C^2$; then $\\lim_{x \\to \\infty} e^{-x^2/2} = 0$.`,
  Diff: `diff --git a/src/cache.ts b/src/cache.ts
index 3b18e51..9c0f2d4 100644
--- a/src/cache.ts
+++ b/src/cache.ts
@@ -12,7 +12,9 @@ export class Cache<K, V> {
   get(key: K): V | undefined {
-    return this.map.get(key);
+    const hit = this.map.get(key);
+    if (hit !== undefined) this.touch(key, hit);
+    return hit;
   }
`,
  'log lines': `2025-06-01T12:00:03.117Z INFO  [worker-7] request_id=9f1c2a7e-55d0-4b1e-8a53-0c7d6be1f2aa method=POST path=/v1/jobs status=202 dur_ms=14.8
2025-06-01T12:00:03.245Z WARN  [worker-2] slow query (1203 ms): SELECT * FROM jobs WHERE state='queued' -- plan=seqscan rows=184220
10.0.3.17 - - [01/Jun/2025:12:00:04 +0000] "GET /assets/logo.svg HTTP/1.1" 304 0 "-" "Mozilla/5.0 (X11; Linux x86_64)"
Jun  1 12:00:05 host-03 kernel: [81233.402918] eth0: link up, 10000 Mbps, full duplex`,
  'stack trace': `Traceback (most recent call last):
  File "/srv/app/.venv/lib/python3.12/site-packages/httpx/_transports/default.py", line 72, in map_httpcore_exceptions
    yield
  File "/srv/app/jobs/fetch.py", line 118, in _download_chunked
    async for chunk in response.aiter_bytes(65_536):
httpcore.ReadTimeout: The read operation timed out after 30.0 seconds
    at Object.<anonymous> (/home/ci/build/node_modules/undici/lib/core/connect.js:112:19)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
  'directory listing': `drwxr-xr-x  5 root root   4096 Jun  1 11:58 .
-rw-r--r--  1 root root  18322 May 30 09:12 package-lock.json
-rwxr-xr-x  1 root root    911 May 30 09:12 run_all_tests.sh
./src/components/DataGrid/useVirtualRows.test.tsx
./src/components/DataGrid/__snapshots__/DataGrid.test.tsx.snap
./assets/fonts/Inter-SemiBoldItalic.woff2`,
  URLs: `https://cdn.example.test/assets/v3/img/hero_1920x1080@2x.webp?w=1280&q=75&sig=a8Zk3Qp0&exp=1735689600 https://github.test/acme-inc/data-pipeline/blob/9fceb02/src/etl/load_parquet.py#L120-L188 ftp://files.example.test:2121/pub/2024-q3/`,
  'decimal numbers': numbers(60),
  CSV: `id,ts,lat,lon,temp_c,ok
1,1717228800,52.520008,13.404954,18.25,1
2,1717228860,48.856613,2.352222,21.50,1
3,1717228920,-33.868820,151.209290,-0.75,0
4,1717228980,35.689487,139.691711,26.00,1`,
  hex: randomText('0123456789abcdef', 600, 1),
  'hex dump': `00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............
00000010: 0300 3e00 0100 0000 c06a 0000 0000 0000  ..>......j......
00000020: 4000 0000 0000 0000 98f2 0100 0000 0000  @...............`,
  UUIDs: Array.from({ length: 12 }, (_, i) => uuid(i)).join('\n'),
  base64: randomText('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/', 800, 3),
  'base64 of text': Buffer.from(
    'The quick brown fox jumps over the lazy dog, again and again. '.repeat(8),
  ).toString('base64'),
  'random lower case': randomText('abcdefghijklmnopqrstuvwxyz', 600, 5),
  'random words': randomText('abcdefghijklmnopqrstuvwxyz   ', 600, 6),
  'UPPER CASE': `THIS SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. ERR_CONN_RESET E_NOTFOUND HTTP_PROXY`,
  identifiers: `getElementsByClassName XMLHttpRequestEventTarget snake_case_variable_name SCREAMING_CONSTANT_VALUE kebab-case-name camelCaseHTTPServerFactoryBean __dunder__ useCallbackRef _privateField $scope i18n k8s utf8mb4_unicode_ci`,
  punctuation: `!!! ??? ... --- === *** ### $$$ %%% ^^^ &&& ((( ))) [[[ ]]] {{{ }}} <<< >>> ||| /// \\\\\\ ~~~ \`\`\` @@@ ;;; ::: ,,, !@#$%^&*()_+-={}|[]\\:";'<>?,./~\``,
  'box drawing': `┌──────────┬───────┐
│ name     │ value │
├──────────┼───────┤
│ alpha    │ ▓▓▓░░ │
└──────────┴───────┘
 ═══╦═══ ▲▼◆● ½ × ÷ ± ≤ ≥ ≠ ∞ ∑ √ π µ € £ ¥ © ® ™ … – — “ ” ‘ ’`,
  'white space': `a\n\n\n\nb\t\t\tc        d\n    e\n        f\n            g\r\n\r\nh  \n  i\n\t\tj`,
};

function randomText(alphabet: string, length: number, seed: number): string {
  const random = generator(seed);
  return Array.from({ length }, () => alphabet[random() % alphabet.length]).join('');
}

function numbers(count: number): string {
  const random = generator(7);
  return Array.from({ length: count }, () => (random() / 997).toFixed(random() % 7)).join(' ');
}

function uuid(seed: number): string {
  const hex = randomText('0123456789abcdef', 32, seed + 11);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Park and Miller's minimal standard generator. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state;
  };
}
