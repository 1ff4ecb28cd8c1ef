import { basename } from 'node:path';
import { caseDirName, shortId } from '../../../../store/base/names.ts';
import type { Case } from '../../../../store/records/case.ts';

/** The name of a Work item's worktree and branch: the name of its directory, if that is valid in a branch name. */
export const nameOf = ({ id, title, path }: Case): string => {
  const name = basename(path);
  return PLAIN.test(name) && name.endsWith(`-${shortId(id)}`) ? name : caseDirName(title, id);
};

const PLAIN = /^\w[\w-]*$/;

/** The reason of `git worktree lock`, which also identifies the Work item. */
export const lockReason = (caseId: string): string => `${OURS}${caseId}`;

/** The Work item that a lock reason names; undefined for any other reason. */
export const caseIdOfLockReason = (reason: string): string | undefined =>
  reason.startsWith(OURS) ? reason.slice(OURS.length) : undefined;

const OURS = 'dossier ';

const PLACES = ['prefix', 'name', 'slug', 'id', 'type', 'project'] as const;
const PLACE = new RegExp(`\\{(${PLACES.join('|')})\\}`, 'g');

/** What is wrong with a branch template, worded to follow its name; undefined if it is valid. */
export const wrongTemplate = (template: string): string | undefined => {
  if (/[{}]/.test(template.replaceAll(PLACE, ''))) {
    const known = PLACES.map((name) => `{${name}}`).join(' ');
    return `has an unknown placeholder; the placeholders are ${known}`;
  }
  if (/\{(id|name)\}/.test(template)) return undefined;
  return 'must contain {id} or {name}, so that no two Work items share a branch';
};

/** Fills in the placeholders of a branch template. The result may still be invalid as a branch name. */
export const fillTemplate = (template: string, item: Case, prefix: string): string => {
  const { type, project } = item;
  const name = nameOf(item);
  const id = shortId(item.id);
  const slug = name.slice(0, -id.length - 1);
  const values: Record<string, string> = { prefix, name, slug, id, type, project };
  return template.replaceAll(PLACE, (_place, word: string) => values[word] ?? '');
};
