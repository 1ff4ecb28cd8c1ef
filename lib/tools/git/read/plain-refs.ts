import { join } from 'node:path';
import { settingsText } from '../run/config.ts';
import type { Checkout } from '../run/git.ts';
import { isThere, plainText } from '../run/plain-file.ts';

/**
 * Reads a ref from git's files, without running git: an object id, or `ref: <another>`; null if there is no such ref.
 * Undefined means: ask git. Reads the loose file before `packed-refs`, as git does, so that a gc that packs the ref meanwhile
 * does not hide it. Does not check that the object exists.
 */
export const plainRef = (place: Checkout, ref: string): string | null | undefined => {
  const { common_dir } = place;
  if (!isPlainName(ref) || !keepsFiles(place)) return undefined;
  const path = join(common_dir, ref);
  const loose = plainText(path, REF_BYTES);
  if (loose !== undefined) return LOOSE.exec(loose)?.[1];
  // A directory, a link, or a file created meanwhile.
  return isThere(path) ? undefined : packedRef(common_dir, ref);
};

const REF_BYTES = 4096;
const LOOSE = /^([0-9a-f]{40}|[0-9a-f]{64}|ref: refs\/[\w./-]+)\n$/;

const packedRef = (common_dir: string, ref: string): string | null | undefined => {
  const path = join(common_dir, 'packed-refs');
  const text = plainText(path, PACKED_BYTES);
  if (text === undefined) return isThere(path) ? undefined : null;
  const end = text.indexOf(` ${ref}\n`);
  if (end < 0) return null;
  return OBJECT.exec(text.slice(text.lastIndexOf('\n', end) + 1, end))?.[0];
};

const PACKED_BYTES = 4 * 1024 * 1024;
const OBJECT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** The ref that HEAD or another symbolic ref points to; null if it points to none. Undefined means: ask git. */
export const plainTarget = (place: Checkout, name: string): string | null | undefined => {
  if (name !== 'HEAD') {
    const value = plainRef(place, name);
    return value === null ? null : targetIn(value);
  }
  const head = headText(place);
  return DETACHED.test(head) ? null : PLAIN_HEAD.exec(head)?.[1];
};

const targetIn = (value: string | undefined): string | undefined =>
  value?.startsWith('ref: ') === true ? value.slice('ref: '.length) : undefined;

// As git writes it. With another ref storage HEAD names an invalid branch, which does not match.
const PLAIN_HEAD = /^ref: (refs\/heads\/\w[\w/-]*)\n$/;
const DETACHED = /^(?:[0-9a-f]{40}|[0-9a-f]{64})\n$/;

const headText = ({ git_dir }: Checkout): string =>
  plainText(join(git_dir, 'HEAD'), REF_BYTES) ?? '';

/** Whether HEAD has the form that git writes. */
export const isPlainHead = (place: Checkout): boolean => plainTarget(place, 'HEAD') !== undefined;

const plainHead = (place: Checkout): string | undefined => {
  const head = headText(place);
  return DETACHED.test(head) ? head.trimEnd() : objectAt(place, PLAIN_HEAD.exec(head)?.[1]);
};

const objectAt = (place: Checkout, ref: string | undefined): string | undefined => {
  const value = ref === undefined ? undefined : plainRef(place, ref);
  return value === null || value?.startsWith('ref: ') === true ? undefined : value;
};

/**
 * The commit of HEAD or of a branch, by short or full name. Null if there is no such branch. Undefined means: ask git, also
 * if the name has another meaning that takes precedence, such as a tag.
 */
export const plainCommit = (place: Checkout, name: string): string | null | undefined => {
  if (name === 'HEAD') return plainHead(place);
  if (/^refs\/(?:heads|remotes)\//.test(name))
    return plainRef(place, name) === null ? null : objectAt(place, name);
  if (OBJECT.test(name) || !isPlainName(name)) return undefined;
  const { git_dir, common_dir } = place;
  const isFirst = [git_dir, common_dir].some((dir) => isThere(join(dir, name)));
  const first = [`refs/${name}`, `refs/tags/${name}`].map((ref) => plainRef(place, ref));
  if (isFirst || first.some((value) => value !== null)) return undefined;
  const branch = `refs/heads/${name}`;
  return objectAt(place, plainRef(place, branch) === null ? `refs/remotes/${name}` : branch);
};

// ASCII words between single slashes: the file on disk has exactly this name.
const isPlainName = (name: string): boolean =>
  /^\w[\w.-]*(?:\/\w[\w.-]*)*$/.test(name) && !/\.\.|\.lock(?:\/|$)|\.(?:\/|$)/.test(name);

// A repository with another ref storage declares it in its configuration.
const keepsFiles = (place: Checkout): boolean =>
  /refstorage/i.test(settingsText(place) ?? 'refstorage') === false;
