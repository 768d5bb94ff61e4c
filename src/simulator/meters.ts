import type { AnswerPiece } from './answer.js';

/** What `/metrics` and `/load` tell. */
export class Meters {
  running = 0;
  promptTokens = 0;
  generationTokens = 0;
  prefixQueries = 0;
  prefixHits = 0;
  private readonly finished = new Map<string, number>();

  countPrompt(tokens: number, cached: number): void {
    this.promptTokens += tokens;
    this.prefixQueries += tokens;
    this.prefixHits += cached;
  }

  countPiece(piece: AnswerPiece): void {
    this.generationTokens += piece.tokenIds.length;
    if (piece.finish === undefined) return;
    const reason = piece.finish.reason === 'tool_calls' ? 'stop' : piece.finish.reason;
    this.finished.set(reason, (this.finished.get(reason) ?? 0) + 1);
  }

  /** Counts a generation as running while `work` lasts, however it ends. */
  async whileRunning(work: () => Promise<void>): Promise<void> {
    this.running += 1;
    try {
      await work();
    } finally {
      this.running -= 1;
    }
  }

  /** Prometheus' text format, with vLLM's names. */
  text(model: string): string {
    const labels = `engine="0",model_name="${model}"`;
    const simple = [
      ['gauge', 'num_requests_running', this.running],
      ['gauge', 'num_requests_waiting', 0],
      ['counter', 'prompt_tokens_total', this.promptTokens],
      ['counter', 'generation_tokens_total', this.generationTokens],
      ['counter', 'prefix_cache_queries_total', this.prefixQueries],
      ['counter', 'prefix_cache_hits_total', this.prefixHits],
    ].map(([type, name, value]) => `# TYPE vllm:${name} ${type}\nvllm:${name}{${labels}} ${value}`);
    const reasons = ['stop', 'length', 'abort', 'error'].map((reason) => {
      const value = this.finished.get(reason) ?? 0;
      return `vllm:request_success_total{${labels},finished_reason="${reason}"} ${value}`;
    });
    return `${[...simple, '# TYPE vllm:request_success_total counter', ...reasons].join('\n')}\n`;
  }
}
