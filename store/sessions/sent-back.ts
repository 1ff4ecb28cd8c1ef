import { listDirectory } from '../front-matter/folder.ts';
import { readText, type TextFile } from '../front-matter/text-file.ts';
import type { Store } from '../store.ts';
import { keepSessionFile, lookAtPlan } from './session-texts.ts';

const NAME = /^sent-back(?:-(\d+))?\.md$/;

/** The plan that the operator sent back last, as it stood then. Undefined where none was. */
export const readSentBack = ({ layout }: Store, dir: string): TextFile | undefined => {
  const [last] = listDirectory(dir)
    .filter((name) => NAME.test(name))
    .toSorted((a, b) => numberOf(b) - numberOf(a));
  return last === undefined ? undefined : readText(layout, dir, last);
};

/** Whether the operator has sent back one. */
export const wasSentBack = (dir: string): boolean =>
  listDirectory(dir).some((name) => NAME.test(name));

const numberOf = (name: string): number => Number(NAME.exec(name)?.[1] ?? 1);

/** Keeps the plan as it stands, which is about to be sent back: the next one is compared with it. Answers its hash. */
export const keepSentBack = async (store: Store, dir: string): Promise<string> => {
  const { plan, bytes } = lookAtPlan(store, dir);
  if (plan === undefined || bytes === undefined) return '';
  if (readSentBack(store, dir)?.sha256 !== plan.sha256)
    await keepSessionFile(store, dir, 'sent-back.md', bytes);
  return plan.sha256;
};
