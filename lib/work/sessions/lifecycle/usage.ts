import type { Usage } from '../../../../store/records/session.ts';
import type { WithStore } from '../../../../store/store.ts';
import { addUsage } from '../../../agents/usage.ts';
import type { WithEngine } from '../live/engine.ts';
import { listSessions } from './read.ts';

/** What all sessions of a Work item used, as far as their agents told. Read from their records: nothing keeps a count. */
export const usageOf = async (
  service: WithEngine & WithStore,
  caseId: string,
): Promise<Usage & { sessions: number }> => {
  const told = (await listSessions(service, caseId)).flatMap(({ usage }) => usage ?? []);
  const none: Usage = { input_tokens: null, output_tokens: null, cost_usd: null };
  return { sessions: told.length, ...told.reduce(addUsage, none) };
};
