import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { listFolder } from '../front-matter/folder.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { statsAt } from '../fs/plain-path.ts';
import { imagesDir } from '../layout.ts';
import { changeItem, createItemFile } from '../reconcile/change-item.ts';
import { notifyItemChanged, pathOfItem } from '../reconcile/items.ts';
import type { Store } from '../store.ts';

/** Bytes. */
export const LARGEST_IMAGE = 5 * 1024 * 1024;

/** A stored image of a Work item's issue. Its type comes from its first bytes. */
interface StoredImage {
  name: string;
  path: string;
  type: string;
  bytes: Buffer;
}

/** The stored image of an address; undefined if there is none, or the file is no image. The file is untrusted. */
export const readImage = (store: Store, caseId: string, url: string): StoredImage | undefined => {
  const name = imageName(store, caseId, url);
  const path = join(pathOfItem(store, caseId, imagesDir) ?? '', name ?? '');
  if (name === undefined || (statsAt(path)?.size ?? 0) > LARGEST_IMAGE) return undefined;
  const bytes = readRegularFile(store.layout.root, path);
  const type = bytes && imageType(bytes);
  return type === undefined || bytes === undefined ? undefined : { name, path, type, bytes };
};

/** The file name of a stored image. */
export const imageName = (store: Store, caseId: string, url: string): string | undefined => {
  const dir = pathOfItem(store, caseId, imagesDir);
  return dir && listFolder(dir).names.find((name) => name.startsWith(`${imageKey(url)}.`));
};

/** Stores an image beside the copy, named by the hash of its address. False if the bytes are no image. */
export const saveImage = async (
  store: Store,
  caseId: string,
  { url, bytes }: { url: string; bytes: Buffer },
): Promise<boolean> => {
  const type = imageType(bytes);
  if (type === undefined) return false;
  await changeItem(store, caseId, async (item) => {
    const dir = imagesDir(join(store.layout.root, item.dir));
    const path = join(dir, `${imageKey(url)}.${type.replace('image/', '')}`);
    await createItemFile(store, item, path, bytes);
    notifyItemChanged(store, caseId);
  });
  return true;
};

/** The image type by the first bytes; undefined for any other type. SVG is left out, since it can contain scripts. */
export const imageType = (bytes: Buffer): string | undefined => {
  const begin = bytes.toString('hex', 0, 12);
  return TYPES.find(([pattern]) => pattern.test(begin))?.[1];
};

const TYPES: readonly (readonly [RegExp, string])[] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^474946383[79]61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
];

/** The same for addresses of one stored image: without the query, which may have a signature that changes. */
export const imageKey = (url: string): string => sha256(url.split(/[?#]/)[0] ?? '').slice(0, 16);
