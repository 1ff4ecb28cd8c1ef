import { pathToFileURL } from 'node:url';
import { settlesWithin } from '../../../store/base/within.ts';
import { record, text } from '../../text/unknown-json.ts';
import type { Program } from '../../tools/process/spawn.ts';
import type { Outage } from '../outage.ts';
import { renderMessages, renderPrompt } from '../prompt.ts';
import type { IssueImage, RunSpec } from '../provider.ts';
import type { Watch } from '../waiting.ts';
import type { AgentConnection } from './connection.ts';
import type { PermissionDesk } from './permission-requests.ts';
import type { QuestionDesk } from './question-requests.ts';
import type { AcpTranscript } from './transcript.ts';
import type { UsageMeter } from './usage.ts';

/** The prompts of a turn, and what is known of its agent meanwhile. */
export interface Conversation {
  readonly spec: RunSpec;
  readonly program: Program;
  readonly agent: AgentConnection;
  readonly transcript: AcpTranscript;
  readonly meter: UsageMeter;
  readonly desk: PermissionDesk;
  readonly questions: QuestionDesk;
  readonly watch: Watch;
  session_id?: string;
  /** The agent takes images in a prompt. */
  images: boolean;
  /** The newest prompt's request, once it is on its way. */
  prompted?: Promise<unknown>;
  /** Whether a tool call runs, or the operator is asked. */
  readonly busy: () => boolean;
  /** A message of the operator waits for the end of the tool call that runs. */
  message_waits?: boolean;
  /** The prompt under way was ended so that a message is read. */
  interrupted?: boolean;
  captured?: string;
  /** Why its model will never answer, in a sentence. */
  hopeless?: string;
  /** What the turn has failed of, as its adapter says. */
  failed?: string | undefined;
  /** Why its model does not serve it, as it told. */
  outage?: Outage | undefined;
  stopped: boolean;
}

/**
 * Sends the prompt, then each time that it was answered what the operator said meanwhile, as a further prompt: the protocol
 * takes one at a time. Answers the last answer; rejects when a prompt does. `hear` is told each answer.
 */
export const converse = async (
  turn: Conversation,
  hear: (answer: unknown) => void,
): Promise<unknown> => {
  let answer = await prompt(turn, firstBlocks(turn));
  for (;;) {
    const { interrupted = false, meter, spec, transcript } = turn;
    meter.hearAnswer(answer);
    if (!interrupted) hear(answer);
    const messages = canGoOn(turn, answer) ? (spec.takeMessages?.() ?? []) : [];
    if (messages.length === 0) return answer;
    transcript.beginNext();
    turn.desk.open();
    turn.questions.open();
    answer = await prompt(turn, [{ type: 'text', text: renderMessages(spec.phase, messages) }]);
  }
};

// Of an agent whose model failed, or that ended its turn for a limit, another turn takes them.
const canGoOn = (turn: Conversation, answer: unknown): boolean => {
  const { stopped, interrupted, failed, captured, hopeless } = turn;
  if (stopped || captured !== undefined || hopeless !== undefined) return false;
  if (interrupted === true) return true;
  return failed === undefined && text(record(answer).stopReason) === 'end_turn';
};

const firstBlocks = ({ spec, session_id, images }: Conversation): object[] => {
  const anew = session_id !== spec.native_session_id;
  const messages = spec.takeMessages?.() ?? [];
  return promptBlocks({ ...spec, prompt: { ...spec.prompt, messages } }, { images, anew });
};

const prompt = async (turn: Conversation, blocks: object[]): Promise<unknown> => {
  turn.message_waits = false;
  turn.interrupted = false;
  [turn.failed, turn.outage] = [undefined, undefined];
  turn.watch.asked();
  const asked = turn.agent.request('session/prompt', {
    sessionId: turn.session_id,
    prompt: blocks,
  });
  turn.prompted = asked;
  try {
    return await asked;
  } catch (error) {
    // Some agents answer a cancelled prompt with an error.
    if (turn.interrupted && !turn.stopped) return { stopReason: 'cancelled' };
    throw error;
  }
};

/** A message waits: the prompt under way ends once nothing of it runs and nobody is asked, or at once with `now`. */
export const interrupt = (turn: Conversation, now: boolean): boolean => {
  // Before the first prompt, and after the last, the message is read without that.
  if (turn.prompted === undefined || turn.interrupted) return true;
  turn.message_waits = true;
  if (now) cancelPrompt(turn);
  else endForMessage(turn);
  return true;
};

/** Something was heard of the agent: a message that waits for the end of a tool call may be next. */
export const endForMessage = (turn: Conversation): void => {
  if (turn.message_waits === true && !turn.busy()) cancelPrompt(turn);
};

const cancelPrompt = (turn: Conversation): void => {
  const { agent, desk, questions, prompted, session_id } = turn;
  if (turn.stopped || prompted === undefined) return;
  turn.message_waits = false;
  turn.interrupted = true;
  desk.close('policy');
  questions.close();
  agent.notify('session/cancel', { sessionId: session_id });
  void settlesWithin(prompted, CANCEL_MS).then((isAnswered) => {
    if (isAnswered || turn.stopped) return;
    // The message is read by another run.
    turn.stopped = true;
    return turn.program.end();
  });
};

/** How long an agent may take to answer a prompt that was cancelled, in milliseconds. */
export const CANCEL_MS = 5000;

// In all, so that a prompt stays below what agents take for one message.
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The prompt as the protocol has it: the words, and the issue's images, where the agent takes them; else, and where they are
 * too much for one message, links to their files. A conversation that goes on has had them.
 */
const promptBlocks = (
  { phase, prompt }: Pick<RunSpec, 'phase' | 'prompt'>,
  { images: takes, anew }: { images: boolean; anew: boolean },
): object[] => {
  const images = anew ? (prompt.images ?? []).filter((image) => image.missing === undefined) : [];
  let left = takes ? MOST_BYTES : 0;
  const block = (image: IssueImage): object => {
    left -= image.bytes.length;
    return left < 0 ? linkTo(image) : inside(image);
  };
  const { messages_before: _heard, ...rest } = prompt;
  const text = renderPrompt(phase, anew ? prompt : rest);
  return [{ type: 'text', text }, ...images.map(block)];
};

const inside = ({ bytes, type, path }: IssueImage): object => ({
  ...{ type: 'image', data: bytes.toString('base64'), mimeType: type },
  uri: pathToFileURL(path).href,
});

const linkTo = ({ name, path, type }: IssueImage): object => ({
  ...{ type: 'resource_link', name, mimeType: type },
  uri: pathToFileURL(path).href,
});
