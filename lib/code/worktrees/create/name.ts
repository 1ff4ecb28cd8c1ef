import { basename } from 'node:path';
import { caseDirName, shortId } from '../../../../store/base/names.ts';
import type { Case } from '../../../../store/records/case.ts';

/** What a Work item's worktree and branch are called: as its directory, where a branch can be called that. */
export const nameOf = ({ id, title, path }: Case): string => {
  const name = basename(path);
  return PLAIN.test(name) && name.endsWith(`-${shortId(id)}`) ? name : caseDirName(title, id);
};

const PLAIN = /^\w[\w-]*$/;

/** Why git is told to keep its hands off a worktree. It also says whose it is. */
export const reasonFor = (caseId: string): string => `${OURS}${caseId}`;

/** The Work item that a worktree was made for, by the reason that git keeps it for; undefined for any other reason. */
export const caseOfReason = (reason: string): string | undefined =>
  reason.startsWith(OURS) ? reason.slice(OURS.length) : undefined;

const OURS = 'dossier ';
