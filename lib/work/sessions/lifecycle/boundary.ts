import type { Boundary } from '../../../../store/records/boundary.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import { findWorktree } from '../../../code/worktrees/read.ts';
import { orNotFound } from '../../../errors.ts';
import { isCommitted } from '../guards/committed.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { allowedInProject } from '../turns/always-allowed.ts';
import { keptSession } from './read.ts';

/** What shuts a session in that works, or would once its plan is approved, as the settings that hold want it now. */
export const boundaryOfSession = async (
  service: EngineNeeds & WithProviders,
  caseId: string,
  id: string,
): Promise<Boundary> => {
  const { session } = await keptSession(service, caseId, id);
  const known = service.providers().get(session.provider);
  const provider = orNotFound(known, 'provider', session.provider);
  const { permissions, ...boundary } = provider.boundary();
  const missing = provider.missing();
  const worktree = findWorktree(service.store, caseId);
  const prefixes = [
    ...(service.engine.prefixes.get(id) ?? []),
    ...(worktree ? allowedInProject(service.store, worktree, provider).prefixes() : []),
  ];
  return {
    ...boundary,
    commits: isCommitted(service.store, session, worktree),
    ...(missing !== undefined && { missing }),
    ...(permissions && { permissions: { ...permissions, prefixes } }),
  };
};
