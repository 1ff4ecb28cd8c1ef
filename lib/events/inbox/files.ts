import { dirname, join } from 'node:path';
import { sha256 } from '../../../store/base/sha256.ts';
import { cachedClaims } from '../../../store/pending/claimed-worktrees.ts';
import {
  type PendingChange,
  pendingOfItem,
  pendingSessionChanges,
} from '../../../store/pending/pending.ts';
import type { Item } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import {
  needsTrust,
  type ReportedProblem,
  reportedProblems,
} from '../../../store/reconcile/problem-events.ts';
import { type AttentionItem, trustOne } from '../../../store/records/attention.ts';
import type { WaitingValue } from '../../../store/records/trust.ts';
import { PATCH_MISSING } from '../../../store/sessions/patches.ts';
import { claimsOf } from '../../../store/sessions/unconfirmed.ts';
import { settingsEntry, untrustedSettings } from '../../../store/settings/globals.ts';
import { plain } from '../../../store/settings/trust/waiting.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { type Registration, registrationsOf } from '../../../store/webhooks/webhooks.ts';
import { changeKey } from '../../guard/trust/sources.ts';
import { registrationPath } from '../webhooks/receiver-problems.ts';
import type { AboutCase, AttentionEntry } from './entry.ts';

const shortHash = (text: string): string => sha256(text).slice(0, 8);

/** Held changes of a Work item, and its webhook receivers that need the operator. */
export const fileEntries = ({ store }: WithStore, { id }: AboutCase): AttentionEntry[] => {
  const item = itemOf(store, id) as Item;
  return [
    ...pendingOfItem(item).map(heldEntry),
    ...registrationsOf(store, id).flatMap(receiverEntry),
  ];
};

/** Entries about the workspace, problems of files, and held changes of sessions and planning. */
export const workspaceEntries = (store: Store): AttentionItem[] => {
  const titleOf = (file: string, case_id = ''): Pick<AttentionItem, 'title' | 'case_id'> => {
    const item = itemOf(store, case_id);
    const title = item?.files.case.value?.matter.title ?? file;
    return { ...(item && { case_id }), title: plain(title) };
  };
  const problems = withoutForged(store, reportedProblems(store))
    .filter((problem) => !needsTrust(problem) && problem.code !== PATCH_MISSING)
    .map(({ case_id, file, code, message, line, column, since }): AttentionItem => {
      const about = titleOf(file, case_id);
      const path = about.case_id === undefined ? '/api/diagnostics' : `/cases/${case_id}`;
      const place = {
        ...(line !== undefined && { line }),
        ...(column !== undefined && { column }),
      };
      return {
        // The message, not the line number, identifies a problem, so that inserted lines make no new entry.
        id: `file/${code}/${shortHash(message)}/${file}`,
        kind: 'file',
        ...about,
        since,
        message,
        answer: { method: 'GET', path },
        file,
        ...place,
      };
    });
  const kept = pendingSessionChanges(store).map(
    (change): AttentionItem => ({
      ...heldEntry(change),
      ...titleOf(change.file, change.case_id),
    }),
  );
  const receivers = registrationsOf(store, undefined)
    .flatMap(receiverEntry)
    .map((entry): AttentionItem => ({ ...entry, title: entry.file ?? '' }));
  const worktrees = cachedClaims(store).map(
    (claim): AttentionItem => ({
      ...worktreeEntry(claim),
      ...titleOf(claim.file, claim.key.slice('worktrees/'.length)),
    }),
  );
  return [...settingEntries(store), ...receivers, ...worktrees, ...kept, ...problems];
};

// An unconfirmed approval is one entry, which stands for the problems of its texts.
const withoutForged = (store: Store, told: ReportedProblem[]): ReportedProblem[] => {
  const isOfApproval = ({ code }: ReportedProblem) => OF_APPROVALS.has(code);
  const ids = new Set(told.filter(isOfApproval).map(({ case_id = '' }) => case_id));
  const forged = new Set(
    [...ids].flatMap((id) => {
      const item = itemOf(store, id);
      return item === undefined ? [] : claimsOf(store, item).map(({ dir }) => dir);
    }),
  );
  const dirOf = ({ file }: ReportedProblem) => dirname(join(store.layout.root, file));
  return told.filter((problem) => !isOfApproval(problem) || !forged.has(dirOf(problem)));
};

const OF_APPROVALS = new Set(['approval_mismatch', 'plan_edited']);

const heldEntry = (change: PendingChange): AttentionEntry => ({
  id: `held/${change.id}`,
  kind: 'held',
  since: change.since,
  file: change.file,
  message: `${plain(change.field)} was edited by file while an unsandboxed program was running.`,
  answer: { method: 'POST', path: '/trust', body: trustOne(changeKey(change), change.sha) },
});

const settingEntries = (store: Store): AttentionItem[] => {
  const since = new Date(settingsEntry(store)?.written_at ?? 0).toISOString();
  return untrustedSettings(store).map(({ key, hash }) => ({
    id: `trust/${key}/${hash}`,
    kind: 'trust',
    since,
    title: 'workspace.md',
    message: `${plain(key)} in the settings is not trusted on this machine.`,
    answer: { method: 'POST', path: '/trust', body: trustOne(key, hash) },
    file: 'workspace.md',
  }));
};

const worktreeEntry = ({ key, hash, since, file }: WaitingValue): AttentionEntry => ({
  id: `trust/${key}/${hash}`,
  kind: 'trust',
  since,
  file,
  message: 'The worktree was not created on this machine. Confirm its path before anything runs.',
  answer: { method: 'POST', path: '/trust', body: trustOne(key, hash) },
});

const receiverEntry = (registration: Registration): AttentionEntry[] => {
  const { waiting, vanished, matter, name } = registration;
  if (vanished) return [];
  if (matter.disabled === true) return [disabledEntry(registration)];
  if (waiting === undefined) return [];
  const { key, hash } = waiting;
  return [
    {
      id: `trust/${key}/${hash}`,
      kind: 'trust',
      since: matter.created_at,
      message: `Events are not sent to ${plain(matter.url)} until you trust it.`,
      answer: { method: 'POST', path: '/trust', body: trustOne(key, hash) },
      file: `webhooks/${name}`,
    },
  ];
};

const disabledEntry = (registration: Registration): AttentionEntry => {
  const { matter, name, written_at } = registration;
  return {
    id: `webhook/${matter.id}`,
    kind: 'webhook',
    since: new Date(written_at).toISOString(),
    message: `Nothing is sent to ${plain(matter.url)}: its webhook is disabled, by hand or since the receiver responded with 410 (Gone). Delete the webhook, or remove the line \`disabled: true\` from its file.`,
    answer: { method: 'DELETE', path: registrationPath(registration) },
    file: `webhooks/${name}`,
  };
};
