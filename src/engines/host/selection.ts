import type { RawObject } from '../../body/raw-object.js';
import { checkSelection } from '../../conversation/check-result.js';
import type { Message } from '../../conversation/message.js';
import { messageText, renderRequest, type ViewRow } from '../../conversation/view.js';
import type { Visit } from './visit.js';

/**
 * The request with the messages that an engine selected for it; the visit's own where it selected none. A message of
 * the view keeps its bytes, any other is written once.
 * @param shown the view's messages as the engine was given them.
 * @throws TypeError for what is no list of messages.
 */
export function selectedRequest(visit: Visit, shown: readonly Message[], selected: unknown): RawObject {
  if (selected === undefined || selected === null) return visit.request;
  if (!checkSelection(shown, selected)) throw new TypeError('selectContext gave no list of messages');
  if (selected.length === 0) return visit.request;
  const { rows, link } = visit;
  const known = new Map(shown.map((message, i) => [messageText(message), rows[i] as ViewRow]));
  const chosen = selected.map((message): ViewRow => {
    const text = messageText(message);
    return known.get(text) ?? { ...NEW_ROW, bytes: Buffer.from(text) };
  });
  return link.read(renderRequest(link.request, chosen));
}

const NEW_ROW = {
  uid: undefined,
  absorbed: [],
  toolCallUids: undefined,
  toolCallUid: undefined,
  mark: undefined,
  origin: 'client',
  through: 0,
} as const;
