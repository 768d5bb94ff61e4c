import type { Fact, Recording } from './recording.js';
import type { Reply, Upstreamed } from './relay.js';

const UNKNOWN = 'I cannot find that in our conversation.';

/** The model of a run: it says what was recorded, and answers a question only from what it is shown. */
export function answerFrom(recording: Recording): (asked: Upstreamed) => Reply {
  return ({ step, body }) => {
    const message = recording.messages[step];
    if (message?.role !== 'assistant') throw new Error(`no answer is recorded at ${step}`);
    const fact = recording.questions.get(step);
    if (fact === undefined) return { message };
    const right = isInView(fact, body.toString('utf8'));
    return { message: right ? message : { role: 'assistant', content: UNKNOWN }, right };
  };
}

/** Whether a reader of this text would give the right answer: of two values it believes the later one. */
export function isInView({ value, outdated }: Fact, view: string): boolean {
  const at = view.lastIndexOf(value);
  return at >= 0 && (outdated === undefined || at > view.lastIndexOf(outdated.value));
}
