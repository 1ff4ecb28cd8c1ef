import { visible } from '../../../../store/base/visible.ts';
import type { Summary } from '../../../../store/sessions/edited-summary.ts';
import { messagesOf } from '../../../../store/sessions/messages.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Transcript } from '../../../../store/sessions/transcript.ts';
import type {
  NewTranscriptEvent,
  TranscriptEvent,
} from '../../../../store/sessions/transcript-event.ts';
import type { LeftProcesses } from '../../../tools/process/runs.ts';
import type { Engine } from './engine.ts';
import type { EngineNeeds } from './needs.ts';

/** Appends the last events of an ended session, once. */
export const endStream = (engine: Engine, kept: StoredSession): void => {
  const { id, status, mode, error, commands } = kept.session;
  const transcript = engine.transcript(kept);
  if (!transcript.complete) {
    const end = { status, error, ...(commands && { commands }) };
    const why: NewTranscriptEvent[] = error === null ? [] : [['error', { message: error }]];
    transcript.appendAll([...why, ['status', { status, mode }], ['complete', end]]);
    transcript.sync();
  }
  engine.release(id);
};

/** What a session that could run waits for. */
type Waits = { waits_for: 'max_sessions' } | { waits_for: 'trust'; message: string };

export const noteStatus = (engine: Engine, kept: StoredSession, waits?: Waits): void => {
  const { status, mode, pause_reason, resume_at } = kept.session;
  const paused = { ...(pause_reason && { pause_reason }), ...(resume_at && { resume_at }) };
  engine.transcript(kept).append('status', { status, mode, ...paused, ...waits });
};

/** Appends each approval once, also when the daemon died between the record and the event. */
export const noteApproved = async (engine: Engine, kept: StoredSession): Promise<void> => {
  const { approved_at, approved_by, approved_sha256, unasked } = kept.session;
  if (approved_sha256 === null) return;
  const transcript = engine.transcript(kept);
  const isIt = ({ event, data }: TranscriptEvent): boolean =>
    event === 'approved' && data.approved_at === approved_at;
  if (await hasEvent(transcript, isIt)) return;
  transcript.append('approved', {
    approved_at,
    approved_by,
    approved_sha256,
    ...(unasked && { unasked }),
  });
  transcript.sync();
};

export const hasEvent = async (
  transcript: Transcript,
  isIt: (event: TranscriptEvent) => boolean,
): Promise<boolean> => {
  for await (const events of transcript.soFar(0)) if (events.some(isIt)) return true;
  return false;
};

/** Appends the operator's messages once, also when the daemon died between the record and the event. */
export const noteMessages = async (
  { engine, store }: EngineNeeds,
  kept: StoredSession,
): Promise<void> => {
  const transcript = engine.transcript(kept);
  if (transcript.complete || !kept.matter.messages?.length) return;
  const told = await toldMessages(transcript);
  for (const { id: message_id, text, sha256 } of messagesOf(store, kept))
    if (!told.has(message_id) && message_id !== kept.session.id)
      transcript.append('operator_message', { message_id, text, sha256 });
};

const toldMessages = async (transcript: Transcript): Promise<ReadonlySet<unknown>> => {
  const told = new Set<unknown>();
  for await (const events of transcript.soFar(0))
    for (const { event, data } of events)
      if (event === 'operator_message') told.add(data.message_id);
  return told;
};

/** The comments on the plan have changed. */
export const noteComments = (engine: Engine, kept: StoredSession): void => {
  const transcript = engine.transcript(kept);
  if (!transcript.complete) transcript.append('comments_changed', {});
};

/** A text for the body of session.md. If it replaces a text of the operator, the stream says where that is kept. */
export const toldSummary = (engine: Engine, kept: StoredSession, text: string): Summary => ({
  text: visible(text),
  onKept: (name) => {
    const message = `session.md has a new summary. The text that it had before, such as a note of yours, is in ${name} beside it.`;
    engine.transcript(kept).append('error', { message });
  },
});

export const PROCESSES_LEFT = 'processes_left';

/** Reports processes that outlived a turn in the stream and in session.md, because they may still write files. */
export const noteLeftProcesses = (
  engine: Engine,
  kept: StoredSession,
  { sure, processes }: LeftProcesses,
): void => {
  const names = processes.slice(0, MOST_NAMED).join(', ');
  const message = sure
    ? `Processes of this turn could not be ended and are still running: ${names}. End them by hand.`
    : `Processes that may belong to this turn are still running: ${names}. Check them; until they have ended, decisions written into files wait for your confirmation.`;
  engine.transcript(kept).append('error', { code: PROCESSES_LEFT, message });
};

const MOST_NAMED = 20;
