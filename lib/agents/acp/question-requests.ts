import { randomUUID } from 'node:crypto';
import { visible, visibleWithin } from '../../../store/base/visible.ts';
import type {
  AnswerContent,
  QuestionAnswer,
  QuestionEvent,
} from '../../../store/records/question.ts';
import { ServiceError } from '../../errors.ts';
import { record, text } from '../../text/unknown-json.ts';
import { validateAnswer } from '../question-answer.ts';
import { type Question, questionOf } from './question.ts';

interface DeskDeps {
  /** The operator can answer questions. */
  attended: boolean;
  tell: (event: QuestionEvent) => void;
  /** Called with true for the first open question and with false after the last. */
  onWaiting: (waiting: boolean) => void;
}

/** Limits of open questions, and of questions in a turn. */
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

/** Holds an agent's questions until the operator answers. */
export const createQuestionRequests = (deps: DeskDeps) => {
  const state: State = { ...deps, open: new Map(), asked: 0, closed: false };
  return {
    /** Resolves with the answer for the agent; `signal`: the agent withdrew the question. */
    ask: async (params: unknown, signal: AbortSignal): Promise<unknown> => {
      if (state.closed || signal.aborted) return CANCEL;
      state.asked += 1;
      const question = acceptable(state, params);
      if (typeof question === 'string') return decline(state, params, question);
      return park(state, question, signal);
    },
    /** The operator's answer; false if there is no such open question. Throws `answer_invalid` for an invalid answer. */
    reply: (question_id: string, answer: QuestionAnswer): boolean => {
      const question = state.open.get(question_id);
      if (question === undefined) return false;
      checkAnswer(question, answer);
      resolve(state, question_id, { ...answer, by: 'operator' });
      return true;
    },
    /** Whether the agent asked anything in this turn. */
    asked: (): boolean => state.asked > 0,
    /** Cancels open and later questions. */
    close: (): void => {
      state.closed = true;
      for (const id of [...state.open.keys()]) resolve(state, id, { ...CANCEL, ...OVER });
    },
    /** Accepts questions again, for another prompt. */
    open: (): void => {
      state.closed = false;
    },
  };
};
export type QuestionRequests = ReturnType<typeof createQuestionRequests>;

const DECLINE = { action: 'decline' } as const;
const CANCEL = { action: 'cancel' } as const;
const OVER = { by: 'daemon', reason: 'The turn ended before the question was answered.' } as const;
const TAKEN_BACK = { by: 'agent', reason: 'The agent withdrew the question, or exited.' } as const;

const acceptable = ({ attended, open, asked }: State, params: unknown): Question | string => {
  if (!attended) return 'This session cannot ask the operator.';
  if (open.size >= MOST_OPEN) return `${MOST_OPEN} questions are already open.`;
  if (asked > MOST_ASKED) return `The agent has asked ${MOST_ASKED} questions in this turn.`;
  return questionOf(params);
};

const LONGEST = 2000;

const decline = ({ tell, asked }: State, params: unknown, reason: string): QuestionAnswer => {
  // Reported once, so that an agent cannot fill the log.
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

// Makes invisible characters in any field visible.
const shown = (content: AnswerContent): AnswerContent =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, visibleWithin(value)]));

const checkAnswer = ({ fields }: Question, { action, content }: QuestionAnswer): void => {
  const needless = [{ path: '/content', message: 'is allowed only with the action accept' }];
  const unfit = content === undefined ? [] : needless;
  const errors = action === 'accept' ? validateAnswer(fields, content ?? {}) : unfit;
  if (errors.length === 0) return;
  throw new ServiceError(
    'answer_invalid',
    'The answer does not fit the question. Correct the fields in `errors`, or decline. The question stays open.',
    { errors },
  );
};
