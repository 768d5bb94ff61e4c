import type { Recognised } from '../backends/auto/recognise.js';
import { Recogniser } from '../backends/auto/recogniser.js';
import type { BackendCall } from '../backends/contract.js';
import type { Settings } from '../config/settings.js';
import { backendContext } from '../server/backend-context.js';

/** Backends that one kind of server only is right for, or none. */
const OF_A_SERVER: readonly string[] = ['vllm', 'llamacpp', 'estimate'];

export interface Recognition {
  /** `null`: the upstream does not say. */
  readonly recognised: Recognised | null;
  /** Why another backend than the configured one may be wanted. */
  readonly backend_warning?: string;
}

/** What the upstream is, whatever the settings take it for. */
export async function recognition(settings: Settings, call: BackendCall): Promise<Recognition> {
  const recogniser = new Recogniser(backendContext(settings, {}));
  try {
    const recognised = await recogniser.ask(call);
    const warning = warningOf(settings.tokenizer.backend, recognised);
    return warning === undefined ? { recognised } : { recognised, backend_warning: warning };
  } catch {
    return { recognised: null };
  } finally {
    await recogniser.close();
  }
}

function warningOf(backend: string, recognised: Recognised): string | undefined {
  const fitting = recognised === 'none' ? 'estimate' : recognised;
  if (backend === fitting || !OF_A_SERVER.includes(backend)) return undefined;
  return recognised === 'none'
    ? `the upstream is neither vLLM nor llama.cpp as far as it tells: backend estimate would fit, ${backend} may fail`
    : `the upstream tells that it is ${recognised}: backend ${recognised} would count exactly, ${backend} is configured`;
}
