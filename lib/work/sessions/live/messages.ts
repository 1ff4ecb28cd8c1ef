import type { MessageText } from '../../../../store/sessions/messages.ts';
import type { RunEvent } from '../../../agents/provider.ts';

/** The operator's messages to a session that goes on, as far as its agent is to have them. */
export interface LiveMessages {
  /** In no prompt yet. */
  waiting: MessageText[];
  /** In a prompt that nothing was heard after. */
  sent: string[];
  /** In a prompt of this run. */
  taken: Set<string>;
  /** The turn is over: a message is for what comes after it. */
  closed: boolean;
}

export const noMessages = (): LiveMessages => ({
  ...{ waiting: [], sent: [], taken: new Set(), closed: false },
});

/** One more. It may have been read from the record already. */
export const addWaiting = ({ waiting, taken }: LiveMessages, message: MessageText): void => {
  if (taken.has(message.id) || waiting.some(({ id }) => id === message.id)) return;
  waiting.push(message);
};

/** The messages that wait, for the prompt that is sent now. */
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
  ...['message', 'thought', 'plan', 'permission_request', 'question_request'],
]);

/** Whether an event shows that the agent has its prompt. */
export const showsPromptReceived = (event: RunEvent): boolean =>
  PROMPT_ANSWERS.has(event.type) || (event.type === 'tool_call' && event.data.status !== 'killed');
