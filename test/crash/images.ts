/** Worlds as they are when an operation begins, made once and put back as often as needed. */

import { rewriteNote } from './note.ts';
import type { Operation } from './operations.ts';
import { decodeTree, encodeTree, readTree, type Tree, writeTree } from './tree.ts';
import { addSessions, type Image, makePlain, type World } from './world.ts';

export interface Kept {
  world: World;
  tree: Tree;
}

/** All of them at one root: who asks for one puts its tree there. */
export const imagesAt = (root: string): ((image: Image) => Promise<Kept>) => {
  const images = new Map<Image, Kept>();
  const imageOf = async (image: Image): Promise<Kept> => {
    const known = images.get(image);
    if (known !== undefined) return known;
    const world = image === 'plain' ? await makePlain(root) : await addSessions(await plain());
    const kept = { world, tree: readTree(root) };
    images.set(image, kept);
    return kept;
  };
  const plain = async (): Promise<World> => {
    const kept = await imageOf('plain');
    putBack(kept);
    return kept.world;
  };
  return imageOf;
};

/** Lets the world be as it was, in place. */
export const putBack = ({ world: { root }, tree }: Kept): void => {
  writeTree(root, tree);
  rewriteNote(root);
};

/** As text, to hand it to another process. */
export interface Packed {
  world: World;
  tree: ReturnType<typeof encodeTree>;
}

export const packedOf = ({ world, tree }: Kept): Packed => ({ world, tree: encodeTree(tree) });

export const keptFrom = ({ world, tree }: Packed): Kept => ({ world, tree: decodeTree(tree) });

export const imageFor = (operations: readonly Pick<Operation, 'image'>[]): Image =>
  operations.some(({ image }) => image === 'sessions') ? 'sessions' : 'plain';
