export { BOOKKEEPING, headLength, type Message, type Usage } from '../conversation/message.js';
