import { onOff, seconds } from './kind.js';
import { days, idSource } from './kind-text.js';
import { optional, setting } from './setting.js';

/** The section `sessions`. */
export const SESSION_SETTINGS = {
  RETENTION: setting({
    section: 'sessions',
    kind: days,
    default: 30,
    only: 'file',
    example: '30d',
    description: 'Days after which a conversation that nobody continued is deleted.',
  }),
  IDLE: setting({
    section: 'sessions',
    kind: seconds('positive'),
    default: 1800,
    only: 'file',
    example: '1800',
    description: "Seconds after which an idle conversation's engine is put away.",
  }),
  COMMANDS: setting({
    section: 'sessions',
    kind: onOff,
    default: false,
    only: 'file',
    example: 'true',
    description: 'Whether the proxy itself answers /compress, /new and /reset as the last user message.',
  }),
  CONVERSATION_ID: optional({
    section: 'sessions',
    kind: idSource,
    only: 'file',
    unset: 'the header x-incontext-conversation only',
    example: 'header:x-session-id',
    description:
      "Where clients name their conversations beside x-incontext-conversation: a header (header:NAME), or a text among the body's members (body:FIELD), which stays there.",
  }),
};
