import { lockOn } from '../../../../store/base/locks.ts';
import { newId } from '../../../../store/base/new-id.ts';
import { dossierCommand } from '../../../../store/base/text.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Session } from '../../../../store/records/session.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { grantPlanGiven, grantStart, noteSandboxed } from '../../../../store/sessions/consent.ts';
import { charactersOver } from '../../../../store/sessions/session-file.ts';
import {
  insertSession as keepSession,
  newestSession,
  readSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import { linkObstacle } from '../../../../store/workspace/workspace-files.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { type ModelChoice, NO_OFFERS, notOffered } from '../../../agents/model-choice.ts';
import type { Provider } from '../../../agents/provider.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import {
  getItem,
  noRepository,
  projectRepository,
  repositoryFor,
} from '../../../code/projects/project.ts';
import { configuredBase } from '../../../code/worktrees/create/base-and-branch.ts';
import { CONFLICT, refuseSession } from '../../../code/worktrees/rebase/rebase-state.ts';
import type { WithConfig } from '../../../config.ts';
import { badField, invalidState, orNotFound, ServiceError } from '../../../errors.ts';
import {
  requireTrustedDefaultProvider,
  requireTrustedProvider,
} from '../../../guard/trust/require.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { update } from '../../cases/change.ts';
import { isClosed, moveTo } from '../../cases/moves.ts';
import { checkTexts } from '../../cases/text.ts';
import { hasSandbox } from '../guards/preconditions.ts';
import { checkSessionTrust } from '../guards/trust.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { startIfNext } from './launch.ts';

export interface NewSession extends ModelChoice {
  type: string;
  provider?: string;
  /** The id to use; a new one by default. */
  id?: string;
  /** The operator's comment for the first plan. */
  comment?: string;
  /** The base of the worktree. Throws 409 `already_exists` where the Work item has a worktree. */
  base?: string;
  /** Reopens a RESOLVED Work item. */
  reopen?: boolean;
  /** The approver, where the comment is the plan and approved with this call. */
  approved_by?: string;
}

/**
 * Creates a session. It starts in Plan mode at once when the lock is free, else it is queued. Throws 422
 * `invalid_state` for a closed Work item, unless `reopen` is set.
 */
export const createSession = (
  service: SessionNeeds,
  caseId: string,
  wanted: NewSession,
): Promise<Session> =>
  // Each call runs git first, which takes time; the lock keeps the queue in the order of the calls.
  service.store.locks.take(lockOn.queue(), () => createInQueue(service, caseId, wanted));

const createInQueue = async (
  service: SessionNeeds,
  caseId: string,
  { type, provider, id = newId(), comment, base, reopen = false, ...more }: NewSession,
): Promise<Session> => {
  const { approved_by, ...choice } = more;
  checkTexts({ comment });
  const item = await getItem(service.store, caseId);
  const known = readSession(service.store, caseId, id);
  if (known !== undefined) return known.session;
  refuseClosed(service.store, item, reopen);
  checkSessionTrust(service, item, providerName(service, provider));
  checkRepository(service, item.project);
  refuseSession(service.store, caseId, type);
  const name = checkProvider(service, provider);
  if (name !== 'manual' && type !== CONFLICT) checkLinks(service.store);
  const matter = {
    id,
    type,
    mode: 'plan' as const,
    status: 'queued' as const,
    provider: name,
    ...modelChoiceFor(name, service.providers().get(name), choice),
    machine: service.store.machine,
    created_at: afterNewest(service.store, caseId).toISOString(),
    ...(comment !== undefined && { comment }),
    ...(base !== undefined && { base }),
  };
  checkRoom(matter);
  await checkBase(service, item, base);
  await reopenIfWanted(service.store, caseId, reopen);
  grantStart(service.store, { case_id: caseId, matter });
  if (approved_by !== undefined) {
    grantPlanGiven(service.store, { case_id: caseId, matter }, approved_by);
    noteSandboxed(service.store, id, hasSandbox(service.providers().get(name)));
  }
  const kept = orNotFound(await keepSession(service.store, caseId, matter), 'Work item', caseId);
  await startIfNext(service, caseId, matter.id);
  return readSession(service.store, caseId, matter.id)?.session ?? kept.session;
};

const YEAR_MS = 366 * 86_400_000;

// The newest session is the one created last. A clock that was set back, or the one of another machine, must not change that:
// within a year, the new session is created just after the newest, and after its end.
const afterNewest = (store: Store, caseId: string): Date => {
  const now = store.clock();
  const newest = newestSession(store, caseId)?.session;
  if (newest === undefined) return now;
  const { created_at, ended_at } = newest;
  const next = Math.max(Date.parse(created_at), Date.parse(ended_at ?? created_at)) + 1;
  const ahead = next - now.getTime();
  return ahead > 0 && ahead < YEAR_MS ? new Date(next) : now;
};

const checkRoom = (matter: { comment?: string }): void => {
  const over = charactersOver(matter);
  if (over > 0)
    throw badField('/comment', `is ${over} characters too long for session.md; shorten it`);
};

const refuseClosed = ({ layout }: Store, { id, state }: Case, reopen: boolean): void => {
  if (!isClosed(state) || (reopen && state === 'RESOLVED')) return;
  throw invalidState(
    `The Work item is ${state}. Reopen it first (${dossierCommand(`reopen ${id.slice(0, 8)}`, layout.root)}, or PUT /cases/:id/state), then create a session.`,
  );
};

// The Work item changes with its session, so this throws 409 `unreadable_record` while it cannot be written.
const reopenIfWanted = async (store: Store, caseId: string, reopen: boolean): Promise<void> => {
  await update(store, caseId, (current) => {
    refuseClosed(store, current, reopen);
    return isClosed(current.state) ? moveTo(current, 'OPEN') : undefined;
  });
};

const checkRepository = (service: WithConfig & WithStore, project: string): void => {
  if (projectRepository(service, project) !== undefined) return;
  throw noRepository(service, project);
};

// Otherwise the session would fail at the end of its first turn.
const checkLinks = ({ layout }: Store): void => {
  const why = linkObstacle(layout);
  if (why !== undefined)
    throw new ServiceError('unavailable', `The workspace ${layout.root} ${why}.`);
};

// The worktree is created when the session starts, which may be later. Errors that are known now are reported now.
const checkBase = async (
  service: WithConfig & WithGit & WithStore,
  { id, project }: Case,
  wanted: string | undefined,
): Promise<void> => {
  const known = readWorktree(service.store, id);
  if (known !== undefined && wanted !== undefined) throw worktreeExists(known);
  if (known !== undefined) return;
  const repository = await repositoryFor(service, project);
  await chooseBase(service.git.at(repository), wanted ?? configuredBase(service.store));
};

const worktreeExists = ({ base, case_id }: WorktreeRecord): ServiceError =>
  new ServiceError(
    'already_exists',
    `The Work item has a worktree already, from ${base}. Leave out base, or remove the worktree first with DELETE /api/cases/${case_id}/worktree.`,
  );

// An untrusted provider setting is not used as the default.
const providerName = (
  { store, providers }: WithProviders & WithStore,
  wanted: string | undefined,
): string => {
  requireTrustedDefaultProvider(store, wanted);
  return wanted ?? providers().chosen;
};

/**
 * The name of an available provider: the one wanted, else that of the settings. Throws `bad_request` for an unknown
 * one, `trust_needed` for an untrusted one, and `provider_missing` where its program is not installed.
 */
export const checkProvider = (
  service: WithProviders & WithStore,
  wanted: string | undefined,
): string => {
  const providers = service.providers();
  const name = providerName(service, wanted);
  requireTrustedProvider(service.store, name);
  const provider = providers.get(name);
  const reason = provider?.missing();
  if (reason !== undefined) throw new ServiceError('provider_missing', reason);
  if (provider !== undefined) return name;
  throw badField(
    '/provider',
    'is not known',
    `There is no provider ${name}. Use runbook, manual or one of those in workspace.md.`,
  );
};

/**
 * The model and effort of a new session: those wanted, else those of the settings, whose effort is for their model
 * alone. Throws 422 `choice_not_offered` for what the provider is known not to offer; a choice that only the agent
 * knows fails the session when it starts.
 */
const modelChoiceFor = (
  name: string,
  provider: Pick<Provider, 'usual' | 'offers'> | undefined,
  wanted: ModelChoice,
): ModelChoice => {
  const choice = wanted.model === undefined ? { ...provider?.usual, ...wanted } : wanted;
  const offers = provider?.offers?.(choice.model) ?? NO_OFFERS;
  const refused = notOffered(name, offers, choice);
  if (refused === undefined) return choice;
  const { what, why, choices } = refused;
  throw new ServiceError('choice_not_offered', visible(why), {
    errors: [{ path: `/${what}`, message: 'is not offered' }],
    members: { choices },
  });
};
