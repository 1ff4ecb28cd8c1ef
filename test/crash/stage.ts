/** Where worlds are made, and put back as often as needed. */
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../../store/base/attempt.ts';
import { imagesAt, type Kept } from './images.ts';
import type { Image } from './world.ts';

export interface Stage {
  /** What a world consists of is below it. */
  root: string;
  /** For all else. */
  out: string;
  images: (image: Image) => Promise<Kept>;
}

/** Makes a stage, and removes it once the work on it has ended. */
export const onStage = async <T>(work: (stage: Stage) => Promise<T>): Promise<T> => {
  const { stage, remove } = makeStage();
  try {
    return await work(stage);
  } finally {
    remove();
  }
};

export const makeStage = (): { stage: Stage; remove: () => void } => {
  const dir = mkdtempSync(join(memory(), 'dossier-crash-'));
  const [root, out] = [join(dir, 'world'), join(dir, 'out')];
  for (const each of [root, out]) mkdirSync(each);
  const remove = (): void => rmSync(dir, { recursive: true, force: true });
  return { stage: { root, out, images: imagesAt(root) }, remove };
};

/** A directory in memory where there is one: a state is put there in place, thousands of times. */
const memory = (): string =>
  orElse(() => statfsSync('/dev/shm').bavail > 0, false) ? '/dev/shm' : tmpdir();
