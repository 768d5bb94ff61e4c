import { integer, oneOf, onOff, seconds } from './kind.js';
import { pathPrefix } from './kind-prefix.js';
import { byteSize, credential, credentials, host, path, tenant } from './kind-text.js';
import { upstreamUrl } from './kind-url.js';
import { optional, setting } from './setting.js';
import type { LogLevel } from './settings.js';

const LOG_LEVELS = [
  'fatal',
  'error',
  'warn',
  'info',
  'debug',
  'trace',
  'silent',
] as const satisfies LogLevel[];

/** The sections `upstream` and `server`. */
export const NETWORK_SETTINGS = {
  UPSTREAM_URL: setting({
    section: 'upstream',
    kind: upstreamUrl,
    default: '',
    required: true,
    flag: 'upstream',
    example: 'http://127.0.0.1:8000',
    description: 'The inference server to forward to. With or without /v1 at its end.',
  }),
  UPSTREAM_API_KEY: optional({
    section: 'upstream',
    kind: credential,
    secret: true,
    unset: "the client's own credential is forwarded",
    example: 'sk-upstream',
    description: "Replaces the client's credential on the way upstream.",
  }),
  UPSTREAM_CA: optional({
    section: 'upstream',
    kind: path,
    unset: "Node's own certificate authorities",
    example: '/etc/ssl/upstream-ca.pem',
    description: "A PEM file with the certificate authorities to trust for the upstream's TLS.",
  }),
  UPSTREAM_INSECURE: setting({
    section: 'upstream',
    kind: onOff,
    default: false,
    example: 'true',
    description: 'Accept any certificate from the upstream. For tests: whoever is in between can read along.',
  }),
  UPSTREAM_CONNECT_TIMEOUT_SECONDS: setting({
    section: 'upstream',
    kind: seconds('positive'),
    default: 10,
    example: '10',
    description: 'How long a connection to the upstream may take to open.',
  }),
  UPSTREAM_HEADERS_TIMEOUT_SECONDS: setting({
    section: 'upstream',
    kind: seconds('or zero'),
    default: 0,
    example: '600',
    description: "How long to wait for the head of the upstream's answer. 0: without limit.",
  }),
  UPSTREAM_BODY_TIMEOUT_SECONDS: setting({
    section: 'upstream',
    kind: seconds('or zero'),
    default: 0,
    example: '600',
    description: "How long the upstream's answer may be silent between two pieces. 0: without limit.",
  }),
  HOST: setting({
    section: 'server',
    kind: host,
    default: '127.0.0.1',
    example: '127.0.0.1',
    description: 'The address to listen on. 0.0.0.0 is every address of the machine.',
  }),
  PORT: setting({
    section: 'server',
    kind: integer({ min: 0, max: 65535 }),
    default: 8787,
    example: '8787',
    description: 'The port to listen on. 0: any free one.',
  }),
  PATH_PREFIX: setting({
    section: 'server',
    kind: pathPrefix,
    default: '',
    example: '/llm',
    description:
      "A path that clients' URLs start with. It is removed before forwarding; requests without it work too.",
  }),
  CONFIG: optional({
    section: 'server',
    kind: path,
    only: 'command',
    unset: 'no file',
    example: 'incontext.yaml',
    description: 'The configuration file, YAML.',
  }),
  DATA_DIR: setting({
    section: 'server',
    kind: path,
    default: './data',
    flag: 'data',
    example: './data',
    description: 'The folder for everything that outlives a restart. :memory: keeps nothing.',
  }),
  LOG_LEVEL: setting<LogLevel>({
    section: 'server',
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    example: 'info',
    description: 'The least serious level that is logged to standard error.',
  }),
  BODY_LIMIT: setting({
    section: 'server',
    kind: byteSize,
    default: 64 * 2 ** 20,
    example: '64MiB',
    description: 'The largest request body that is inspected. A larger one streams through as it is.',
  }),
  DRAIN_SECONDS: setting({
    section: 'server',
    kind: seconds('or zero'),
    default: 30,
    example: '30',
    description: 'After SIGTERM, how long answers under way may take to finish.',
  }),
  API_KEYS: setting({
    section: 'server',
    kind: credentials,
    default: [],
    secret: true,
    unset: 'no key is asked for',
    example: 'key-one,key-two',
    description:
      'Keys separated by commas. A client must send one as its bearer token; it never goes upstream.',
  }),
  ADMIN_TOKEN: optional({
    section: 'server',
    kind: credential,
    secret: true,
    unset: 'none: they take one of api_keys, or without keys answer this machine only',
    example: 'a-long-random-text',
    description: "The bearer token of the proxy's own endpoints under /incontext/ that are not open.",
  }),
  TENANT: setting({
    section: 'server',
    kind: tenant,
    default: { kind: 'credential' },
    example: 'header:x-tenant',
    description:
      "Whose conversations are kept apart: by the client's credential, by a header (header:NAME), or not at all (none).",
  }),
};
