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
export const lockReason = (caseId: string): string => `${OURS}${caseId}`;

/** The Work item that a worktree was made for, by the reason that git keeps it for; undefined for any other reason. */
export const caseIdOfLockReason = (reason: string): string | undefined =>
  reason.startsWith(OURS) ? reason.slice(OURS.length) : undefined;

const OURS = 'dossier ';

const PLACES = ['prefix', 'name', 'slug', 'id', 'type', 'project'] as const;
const PLACE = new RegExp(`\\{(${PLACES.join('|')})\\}`, 'g');

/** What is wrong with a template of branch names, in words that follow its name; undefined when it can make names. */
export const wrongTemplate = (template: string): string | undefined => {
  if (/[{}]/.test(template.replaceAll(PLACE, ''))) {
    const known = PLACES.map((name) => `{${name}}`).join(' ');
    return `has braces around what is not known; there are ${known}`;
  }
  if (/\{(id|name)\}/.test(template)) return undefined;
  return 'has to hold {id} or {name}, so that no two Work items share a branch';
};

/** The template with its places filled in; whether git takes that as the name of a branch is another question. */
export const fillTemplate = (template: string, item: Case, prefix: string): string => {
  const { type, project } = item;
  const name = nameOf(item);
  const id = shortId(item.id);
  const slug = name.slice(0, -id.length - 1);
  const values: Record<string, string> = { prefix, name, slug, id, type, project };
  return template.replaceAll(PLACE, (_place, word: string) => values[word] ?? '');
};
