import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { atLeast } from '../../../agents/usage.ts';
import type { RememberedTurn } from '../rules/rules.ts';
import { tellAsked } from './agent-requests.ts';
import type { EngineNeeds } from './needs.ts';
import type { ToldQuestions } from './questions.ts';
import { digestOf } from './transcript-summary.ts';

/**
 * What is known of a turn that ended with its daemon, from what was told while it went on: what it used. Undefined when
 * no turn was begun that is not counted yet. What it asked the operator is asked no more.
 */
export const untoldTurn = async (
  service: EngineNeeds,
  kept: StoredSession,
): Promise<RememberedTurn | undefined> => {
  const { usage, questions } = await digestOf(service.engine, kept);
  await takeBack(service, kept, questions);
  if (usage === undefined) return undefined;
  const { native_session_id, native_cost_usd = 0 } = kept.matter;
  return {
    usage: atLeast(usage),
    ...(native_session_id !== undefined && {
      native_session_id,
      native_cost_usd: native_cost_usd + (usage.cost_usd ?? 0),
    }),
  };
};

// Whoever asked died with its daemon.
const takeBack = async (
  { engine, store }: EngineNeeds,
  kept: StoredSession,
  questions: ToldQuestions,
): Promise<void> => {
  const { case_id, id: session_id } = kept.session;
  const open = [...questions].filter(([, { outcome }]) => outcome === undefined);
  for (const [question_id, { message }] of open) {
    const data = { question_id, message, action: 'cancel', by: 'daemon', reason: DIED } as const;
    engine.transcript(kept).append('question_resolved', data);
    await tellAsked(store, { case_id, session_id }, { type: 'question_resolved', data });
  }
};

const DIED = 'The daemon ended before it was answered.';
