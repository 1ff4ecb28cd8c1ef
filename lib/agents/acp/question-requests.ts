import { randomUUID } from 'node:crypto';
import { visible, visibleWithin } from '../../../store/base/visible.ts';
import type {
  AnswerContent,
  QuestionAnswer,
  QuestionEvent,
} from '../../../store/records/question.ts';
import { ServiceError } from '../../errors.ts';
import { record, text } from '../../text/unknown-json.ts';
import { misfitsOf } from '../question-answer.ts';
import { type Question, questionOf } from './question.ts';

interface DeskDeps {
  /** Somebody is told what is asked, and can answer. */
  attended: boolean;
  tell: (event: QuestionEvent) => void;
  /** Called with true when the first question is asked and with false when none is left. */
  onWaiting: (waiting: boolean) => void;
}

/** So many may be open, and so often may a turn ask. */
const MOST_OPEN = 10;
const MOST_ASKED = 100;

interface Open extends Question {
  settle: (answer: QuestionAnswer) => void;
}

interface State extends DeskDeps {
  open: Map<string, Open>;
  asked: number;
  closed: boolean;
}

/** Where an agent's questions wait for the operator. */
export const createQuestionDesk = (deps: DeskDeps) => {
  const state: State = { ...deps, open: new Map(), asked: 0, closed: false };
  return {
    /** Resolves with the answer for the agent; `signal` is the agent taking its question back. */
    ask: async (params: unknown, signal: AbortSignal): Promise<unknown> => {
      if (state.closed || signal.aborted) return CANCEL;
      state.asked += 1;
      const question = acceptable(state, params);
      if (typeof question === 'string') return decline(state, params, question);
      return park(state, question, signal);
    },
    /** The operator's answer; false when there is no such open question. Throws `answer_invalid` for one that does not fit. */
    reply: (question_id: string, answer: QuestionAnswer): boolean => {
      const question = state.open.get(question_id);
      if (question === undefined) return false;
      checkAnswer(question, answer);
      resolve(state, question_id, { ...answer, by: 'operator' });
      return true;
    },
    /** Whether the agent asked anything in this turn. */
    asked: (): boolean => state.asked > 0,
    /** Cancels all that is open, and all that still comes. */
    close: (): void => {
      state.closed = true;
      for (const id of [...state.open.keys()]) resolve(state, id, { ...CANCEL, ...OVER });
    },
    /** Another prompt begins: the operator is asked again. */
    open: (): void => {
      state.closed = false;
    },
  };
};
export type QuestionDesk = ReturnType<typeof createQuestionDesk>;

const DECLINE = { action: 'decline' } as const;
const CANCEL = { action: 'cancel' } as const;
const OVER = { by: 'daemon', reason: 'The turn was over before it was answered.' } as const;
const TAKEN_BACK = { by: 'agent', reason: 'The agent took it back, or is gone.' } as const;

const acceptable = ({ attended, open, asked }: State, params: unknown): Question | string => {
  if (!attended) return 'Nobody answers here.';
  if (open.size >= MOST_OPEN) return `${MOST_OPEN} questions wait already.`;
  if (asked > MOST_ASKED) return `It has asked ${MOST_ASKED} times in this turn.`;
  return questionOf(params);
};

const LONGEST = 2000;

const decline = ({ tell, asked }: State, params: unknown, reason: string): QuestionAnswer => {
  // Said once: an agent that asks on and on fills no log.
  if (asked > MOST_ASKED + 1) return DECLINE;
  const message = visible((text(record(params).message) ?? '').slice(0, LONGEST));
  const question_id = randomUUID();
  const why = { ...DECLINE, by: 'daemon', reason } as const;
  tell({ type: 'question_resolved', data: { question_id, message, ...why } });
  return DECLINE;
};

const park = (state: State, question: Question, signal: AbortSignal): Promise<unknown> => {
  const question_id = randomUUID();
  state.tell({ type: 'question_request', data: { question_id, ...question } });
  if (state.open.size === 0) state.onWaiting(true);
  signal.addEventListener('abort', () => resolve(state, question_id, { ...CANCEL, ...TAKEN_BACK }));
  return new Promise((settle) => {
    state.open.set(question_id, { ...question, settle });
  });
};

type Resolution = QuestionAnswer & { by: 'operator' | 'agent' | 'daemon'; reason?: string };

const resolve = (state: State, question_id: string, resolution: Resolution): void => {
  const question = state.open.get(question_id);
  if (question === undefined) return;
  const { action, content, ...why } = resolution;
  state.open.delete(question_id);
  if (state.open.size === 0) state.onWaiting(false);
  const { message } = question;
  const told = { action, ...(content && { content: shown(content) }), ...why };
  state.tell({ type: 'question_resolved', data: { question_id, message, ...told } });
  question.settle({ action, ...(content && { content }) });
};

// Whatever its fields are called.
const shown = (content: AnswerContent): AnswerContent =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, visibleWithin(value)]));

const checkAnswer = ({ fields }: Question, { action, content }: QuestionAnswer): void => {
  const needless = [{ path: '/content', message: 'belongs to an answer that accepts' }];
  const unfit = content === undefined ? [] : needless;
  const errors = action === 'accept' ? misfitsOf(fields, content ?? {}) : unfit;
  if (errors.length === 0) return;
  throw new ServiceError(
    'answer_invalid',
    'The answer is not one to what was asked. Send what `errors` says, or decline; the question waits.',
    { errors },
  );
};
