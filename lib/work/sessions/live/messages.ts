import type { MessageText } from '../../../../store/sessions/messages.ts';
import type { RunEvent } from '../../../agents/provider.ts';

/** The operator's messages to a running session, by how far the agent has them. */
export interface LiveMessages {
  /** Not in a prompt yet. */
  waiting: MessageText[];
  /** In a prompt that the agent has not reacted to yet. */
  sent: string[];
  /** In some prompt of this run. */
  taken: Set<string>;
  /** True once the turn has ended: a message is then for what follows. */
  closed: boolean;
}

export const noMessages = (): LiveMessages => ({
  waiting: [],
  sent: [],
  taken: new Set(),
  closed: false,
});

/** Adds a message, unless it was already loaded from the record. False if it is in a prompt already. */
export const addWaiting = ({ waiting, taken }: LiveMessages, message: MessageText): boolean => {
  if (taken.has(message.id)) return false;
  if (!waiting.some(({ id }) => id === message.id)) waiting.push(message);
  return true;
};

/** The texts of the waiting messages, for the prompt that is sent now. */
export const takeWaiting = (messages: LiveMessages): string[] => {
  const { waiting, sent, taken } = messages;
  for (const { id } of waiting) {
    taken.add(id);
    sent.push(id);
  }
  messages.waiting = [];
  return waiting.map(({ text }) => text);
};

const PROMPT_ANSWERS: ReadonlySet<string> = new Set([
  'message',
  'thought',
  'plan',
  'permission_request',
  'question_request',
]);

/** Whether an event shows that the agent received its prompt. */
export const showsPromptReceived = (event: RunEvent): boolean =>
  PROMPT_ANSWERS.has(event.type) || (event.type === 'tool_call' && event.data.status !== 'killed');
