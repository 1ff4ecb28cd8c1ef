import { readCase } from '../../../../store/cases/cases.ts';
import { itemOf } from '../../../../store/reconcile/items.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Session } from '../../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import {
  allowAlways,
  alwaysAllowed,
  type CommandPlace,
} from '../../../../store/settings/trust/allowed.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import type { AllowedInProject, Provider } from '../../../agents/provider.ts';
import { wantsSetup } from '../../../code/worktrees/setup/setup.ts';
import type { WithConfig } from '../../../config.ts';
import { ServiceError } from '../../../errors.ts';
import {
  requireTrustedBase,
  requireTrustedProject,
  requireTrustedProvider,
  requireTrustedWorktreeSettings,
} from '../../../guard/trust/require.ts';
import type { WithLog } from '../../../log.ts';
import type { WithEngine } from '../live/engine.ts';
import { noteStatus } from '../live/stream.ts';
import { refuseUnconfirmed } from '../rules/rules.ts';

/** Throws 422 `trust_needed` while a setting that sessions of this Work item use is not trusted. */
export const checkSessionTrust = (
  service: WithConfig & WithStore,
  { id, project }: Pick<Case, 'id' | 'project'>,
  provider: string,
): void => {
  requireTrustedProvider(service.store, provider);
  requireTrustedProject(service, project);
  const worktree = readWorktree(service.store, id);
  if (worktree === undefined) requireTrustedBase(service.store);
  if (worktree === undefined || wantsSetup(worktree)) requireTrustedWorktreeSettings(service.store);
};

/** The same for an existing session. */
export const checkTrustOf = async (
  service: WithConfig & WithStore,
  { case_id, provider }: Pick<Session, 'case_id' | 'provider'>,
): Promise<void> => {
  const item = await readCase(service.store, case_id);
  if (item !== undefined) checkSessionTrust(service, item, provider);
};

/** Whether a queued session cannot start for lack of trust. The reason is appended to its stream once. */
export const isBlockedByTrust = async (
  service: WithConfig & WithEngine & WithLog & WithStore,
  kept: StoredSession,
): Promise<boolean> => {
  const { id } = kept.session;
  const { untrusted } = service.engine;
  try {
    refuseUnconfirmed(kept.session, service.store.layout.root);
    await checkTrustOf(service, kept.session);
    untrusted.delete(id);
    return false;
  } catch (error) {
    if (!(error instanceof ServiceError) || !WAITING.includes(error.code)) throw error;
    if (untrusted.get(id) === error.message) return true;
    untrusted.set(id, error.message);
    noteStatus(service.engine, kept, { waits_for: 'trust', message: error.message });
    service.log.warn({ session_id: id }, `queued session cannot start: ${error.message}`);
    return true;
  }
};

const WAITING = ['approved_elsewhere', 'trust_needed'];

/** The commands that the operator always allows in the project of a worktree, and a way to add one. */
export const allowedInProject = (
  store: Store,
  { case_id, repository }: Pick<WorktreeRecord, 'case_id' | 'repository'>,
  { isolation }: Pick<Provider, 'isolation'>,
): AllowedInProject => {
  const project = itemOf(store, case_id)?.files.case.value?.matter.project ?? 'default';
  const place: CommandPlace = { project, repository, sandboxed: isolation === 'enforced' };
  return {
    prefixes: () => alwaysAllowed(store.consent, place),
    allow: (prefix) => allowAlways(store.consent, place, prefix),
  };
};
