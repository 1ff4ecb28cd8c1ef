import type { Boundary } from '../../../../store/records/boundary.ts';
import type { Session } from '../../../../store/records/session.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionDirOf } from '../../../../store/sessions/sessions.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import { commandLines } from '../../../agents/runbook/shell-blocks.ts';
import { orNotFound } from '../../../errors.ts';
import { allowedInProject } from '../guards/trust.ts';
import type { EngineNeeds } from '../live/needs.ts';
import { approvalHash, commandsOffered } from '../rules/approval.ts';
import { isCommitted } from '../turns/commit-work.ts';
import { getStoredSession } from './read.ts';

/** The limits of a session in Work mode under the current settings, also before its plan is approved. */
export const getBoundary = async (
  service: EngineNeeds & WithProviders,
  { caseId, id, ask }: { caseId: string; id: string; ask?: readonly string[] | undefined },
): Promise<Boundary> => {
  const kept = await getStoredSession(service, caseId, id);
  const { session } = kept;
  const known = service.providers().get(session.provider);
  const provider = orNotFound(known, 'provider', session.provider);
  const { permissions, ...boundary } = provider.boundary();
  const missing = provider.missing();
  const worktree = readWorktree(service.store, caseId);
  const prefixes = [
    ...(service.engine.prefixes.get(id) ?? []),
    ...(worktree ? allowedInProject(service.store, worktree, provider).prefixes() : []),
  ];
  const unasked = allowsPlanCommands(service, session) ? unaskedIn(service, kept, ask) : undefined;
  return {
    ...boundary,
    commits: isCommitted(service.store, session, worktree),
    ...(missing !== undefined && { missing }),
    ...(permissions && { permissions: { ...permissions, prefixes } }),
    ...(unasked && { unasked }),
  };
};

/** Whether commands of a plan can run without asking, by the session's provider and the current settings. */
export const allowsPlanCommands = ({ providers }: WithProviders, { provider }: Session): boolean =>
  providers().get(provider)?.boundary().permissions?.execute === 'plan';

const unaskedIn = (
  { store }: EngineNeeds,
  kept: StoredSession,
  ask: readonly string[] | undefined,
): Boundary['unasked'] => {
  const { status, unasked, unconfirmed } = kept.session;
  if (unconfirmed !== undefined) return undefined;
  if (unasked !== undefined) return { commands: unasked };
  const plan = status === 'plan_ready' ? readPlan(store, sessionDirOf(store, kept)) : undefined;
  const { content = '', sha256: plan_sha256 = '' } = plan ?? {};
  const all = commandLines(content);
  if (all.length === 0) return undefined;
  const commands = commandsOffered(all, ask);
  return { commands, plan_sha256, approval_sha256: approvalHash(plan_sha256, commands) };
};
