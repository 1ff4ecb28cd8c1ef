import { pathToFileURL } from 'node:url';
import { settlesWithin } from '../../../store/base/async.ts';
import { record, text } from '../../text/unknown-json.ts';
import type { Program } from '../../tools/process/spawn.ts';
import type { Outage } from '../outage.ts';
import type { AcpAgent } from '../presets.ts';
import { missingMessages, renderMessages, renderPrompt } from '../prompt.ts';
import type { IssueImage, RunSpec } from '../provider.ts';
import type { Watch } from '../waiting.ts';
import type { AgentConnection } from './connection.ts';
import type { PermissionRequests } from './permission-requests.ts';
import type { QuestionRequests } from './question-requests.ts';
import type { AcpTranscript } from './transcript.ts';
import type { UsageMeter } from './usage.ts';

/** The prompts of a turn, and the state of its agent. */
export interface Conversation {
  readonly preset: Pick<AcpAgent, 'drops_cancelled'>;
  readonly spec: RunSpec;
  readonly program: Program;
  readonly agent: AgentConnection;
  readonly transcript: AcpTranscript;
  readonly meter: UsageMeter;
  readonly permissions: PermissionRequests;
  readonly questions: QuestionRequests;
  readonly watch: Watch;
  session_id?: string;
  /** The user's texts in the loaded conversation, which may lack cancelled turns. Undefined if none was loaded. */
  replayed?: readonly string[] | undefined;
  /** The agent accepts images in a prompt. */
  images: boolean;
  /** The request of the latest prompt, once sent. */
  prompted?: Promise<unknown>;
  /** Whether a tool call runs or the operator is asked. */
  readonly busy: () => boolean;
  /** A message of the operator waits for the end of the current tool call. */
  message_waits?: boolean;
  /** The current prompt was cancelled so that the agent reads a message. */
  interrupted?: boolean;
  captured?: string;
  /** Why the model cannot answer, as a sentence; retries do not help. */
  hopeless?: string;
  /** Why the turn failed, as reported by the adapter. */
  failed?: string | undefined;
  /** The outage of its model, as reported. */
  outage?: Outage | undefined;
  stopped: boolean;
}

/**
 * Sends the prompt, and after each response the operator's new messages as a further prompt: the protocol allows one at a
 * time. Calls `hear` with each response and returns the last one. Rejects if a prompt does.
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
    turn.permissions.open();
    turn.questions.open();
    answer = await prompt(turn, [{ type: 'text', text: renderMessages(spec.phase, messages) }]);
  }
};

// After a failure of the model or a limit, the messages wait for another turn.
const canGoOn = (turn: Conversation, answer: unknown): boolean => {
  const { stopped, interrupted, failed, captured, hopeless } = turn;
  if (stopped || captured !== undefined || hopeless !== undefined) return false;
  if (interrupted === true) return true;
  return failed === undefined && text(record(answer).stopReason) === 'end_turn';
};

const firstBlocks = (turn: Conversation): object[] => {
  const { spec, session_id, images } = turn;
  const anew = session_id !== spec.native_session_id;
  const messages = spec.takeMessages?.() ?? [];
  const messages_before = anew ? spec.prompt.messages_before : lostMessages(turn);
  const prompt = { ...spec.prompt, messages, ...(messages_before && { messages_before }) };
  return promptBlocks({ ...spec, prompt }, { images, anew });
};

// Some agents drop a cancelled turn from their conversation, with the messages in it.
const lostMessages = ({ spec, replayed }: Conversation): string[] =>
  replayed === undefined ? [] : missingMessages(spec.prompt.messages_before ?? [], replayed);

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
    // Some agents respond to a cancelled prompt with an error.
    if (turn.interrupted && !turn.stopped) return { stopReason: 'cancelled' };
    throw error;
  }
};

/** Cancels the current prompt for a message: when no tool call runs and no request is open, or at once with `now`. */
export const interrupt = (turn: Conversation, now: boolean): boolean => {
  // Before the first prompt and after the last one, the message is read anyway.
  if (turn.prompted === undefined || turn.interrupted) return true;
  turn.message_waits = true;
  if (now) cancelPrompt(turn);
  else endForMessage(turn);
  return true;
};

/** Called after each update: cancels the prompt if a message waits and the agent is no longer busy. */
export const endForMessage = (turn: Conversation): void => {
  if (turn.message_waits === true && !turn.busy()) cancelPrompt(turn);
};

const cancelPrompt = (turn: Conversation): void => {
  const { agent, permissions, questions, prompted, session_id } = turn;
  if (turn.stopped || prompted === undefined) return;
  turn.message_waits = false;
  turn.interrupted = true;
  permissions.close();
  questions.close();
  agent.notify('session/cancel', { sessionId: session_id });
  // Another run reads the message if the agent drops the cancelled turn, or does not answer.
  if (turn.preset.drops_cancelled) turn.stopped = true;
  void settlesWithin(prompted, CANCEL_MS).then((isAnswered) => {
    if (isAnswered) return;
    turn.stopped = true;
    return turn.program.end();
  });
};

/** Time limit for the response to a cancelled prompt, in milliseconds. */
export const CANCEL_MS = 5000;

// The limit for all images, so that a prompt stays below the message limits of agents.
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * The content blocks of a prompt: the text and the images of the issue, or links to their files if the agent accepts no images
 * or they are too large. A continued conversation already has the images.
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
  return [{ type: 'text', text: renderPrompt(phase, prompt) }, ...images.map(block)];
};

const inside = ({ bytes, type, path }: IssueImage): object => ({
  type: 'image',
  data: bytes.toString('base64'),
  mimeType: type,
  uri: pathToFileURL(path).href,
});

const linkTo = ({ name, path, type }: IssueImage): object => ({
  type: 'resource_link',
  name,
  mimeType: type,
  uri: pathToFileURL(path).href,
});
