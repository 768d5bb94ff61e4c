import { readYaml } from './paths.js';

export interface ComposeService {
  readonly profiles: readonly string[];
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: { readonly default?: { readonly aliases?: readonly string[] } };
  readonly healthcheck: { readonly test: readonly string[]; readonly start_period: string };
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<'proxy' | 'vllm' | 'simulator', ComposeService>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

export function composeFile(): ComposeFile {
  return readYaml('docker-compose.yml')[0] as ComposeFile;
}
