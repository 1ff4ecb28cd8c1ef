import { type FilePatch, filesOf } from '../../../../lib/text/patch.ts';
import { isNamed } from './named.ts';
import type { ListedFile } from './tree.ts';

/** The files of a patch as they are listed: what the approved plan does not name comes first. */
export const listedOf = (patch: string, plan: string | undefined): ListedFile[] =>
  sorted(
    filesOf(patch).map(({ path, from, kind, added, removed }) => ({
      ...{ path, kind, added, removed },
      isNamed: plan === undefined ? undefined : isNamed(plan, path) || isNamed(plan, from ?? path),
    })),
  );

const sorted = (files: readonly ListedFile[]): ListedFile[] => [
  ...files.filter((file) => file.isNamed !== true),
  ...files.filter((file) => file.isNamed === true),
];

/** The same files with their patches, in the order of the list. */
export const inOrder = (
  patch: string,
  listed: readonly ListedFile[],
): (FilePatch & { listed: ListedFile })[] => {
  const known = new Map(filesOf(patch).map((file) => [file.path, file]));
  return listed.flatMap((one) => {
    const file = known.get(one.path);
    return file === undefined ? [] : [{ ...file, listed: one }];
  });
};
