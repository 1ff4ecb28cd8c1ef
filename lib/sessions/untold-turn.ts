import type { KeptSession } from '../../store/sessions/sessions.ts';
import { atLeast } from '../providers/usage.ts';
import type { Service } from '../service.ts';
import type { TurnEnd } from './rules.ts';
import { toldBy } from './told.ts';

/**
 * What is known of a turn that ended with its daemon, from what was told while it went on: what it used. Undefined when
 * no turn was begun that is not counted yet.
 */
export const untoldTurn = async (
  service: Service,
  kept: KeptSession,
): Promise<TurnEnd | undefined> => {
  const { usage } = await toldBy(service, kept);
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
