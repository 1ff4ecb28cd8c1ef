import { join } from 'node:path';
import { createFile } from './durable.ts';
import { StoreError } from './errors.ts';
import { bodyOfText, parseFrontMatter, textOfBody } from './front-matter.ts';
import { type Item, proofsOf } from './item.ts';
import { checklistFile, proofDir } from './layout.ts';
import { shortId } from './names.ts';
import { reconcile, reconcileInTurn } from './reconcile.ts';
import { editRecord, readRegularFile } from './record-file.ts';
import type { ChecklistEntry, Proof, ProofMatter } from './records/proof.ts';
import { appendToList, renderFrontMatter } from './splice.ts';
import { readyToWrite, type Store } from './store.ts';
import { decodeText } from './text.ts';

/** The Work item with its proofs compared with the disk this moment. */
export const itemWithProofs = async (store: Store, caseId: string): Promise<Item | undefined> => {
  if (store.items.byId.has(caseId)) await reconcile(store, caseId);
  return store.items.byId.get(caseId);
};

/** The proofs of a Work item with their content, oldest first. */
export const readProofs = (store: Store, item: Item): Proof[] =>
  proofsOf(item)
    .map(({ name, file }) => ({
      ...plain(item.id, file.matter),
      content: contentOf(store, item, name),
    }))
    .sort((a, b) =>
      a.created_at === b.created_at
        ? a.id.localeCompare(b.id)
        : a.created_at.localeCompare(b.created_at),
    );

const plain = (
  case_id: string,
  { id, type, verified, verified_at = null, commit = null, created_at }: ProofMatter,
): Omit<Proof, 'content'> => ({
  id,
  case_id,
  type,
  verified,
  verified_at,
  commit,
  created_at,
});

const contentOf = (store: Store, { dir }: Item, name: string): string => {
  const bytes = readRegularFile(
    store.layout.root,
    join(proofDir(join(store.layout.root, dir)), name),
  );
  return bytes === undefined ? '' : textOfBody(parseFrontMatter(decodeText(bytes)));
};

export interface NewProof {
  matter: ProofMatter;
  content: string;
}

/** Attaches a proof. Undefined when there is no such Work item. */
export const createProof = (
  store: Store,
  caseId: string,
  { matter, content }: NewProof,
): Promise<Proof | undefined> =>
  changing(store, caseId, async (item) => {
    const path = join(
      proofDir(join(store.layout.root, item.dir)),
      `${matter.type}-${shortId(matter.id)}.md`,
    );
    const made = await createFile(
      store.layout,
      path,
      renderFrontMatter({ ...matter }, bodyOfText(content, '\n')),
    );
    if (!made)
      throw new StoreError(
        'file_busy',
        'A proof of that name was made at the same moment; try again',
      );
    await reconcileInTurn(store, item);
    return { ...plain(caseId, matter), content };
  });

/** What a rule may change of a proof; `content_sha256` is of the content as it is on disk now. */
export type ProofRule = (
  current: ProofMatter,
  content_sha256: string,
) => Partial<ProofMatter> | undefined;

export const updateProof = (
  store: Store,
  caseId: string,
  id: string,
  rule: ProofRule,
): Promise<Proof | undefined> =>
  changing(store, caseId, async (item) => {
    await reconcileInTurn(store, item);
    const found = proofsOf(item).find(({ file }) => file.matter.id === id);
    if (found === undefined) return undefined;
    const path = join(proofDir(join(store.layout.root, item.dir)), found.name);
    await editRecord(store.layout, path, () => {
      const changes = rule(found.file.matter, found.file.content_sha256);
      return changes === undefined ? undefined : { changes };
    });
    await reconcileInTurn(store, item);
    return readProofs(store, item).find((proof) => proof.id === id);
  });

/** Adds one line to proof/checklist.md, which is made when there is none. */
export const addToChecklist = (
  store: Store,
  caseId: string,
  entry: ChecklistEntry,
): Promise<Item | undefined> =>
  changing(store, caseId, async (item) => {
    const path = checklistFile(join(store.layout.root, item.dir));
    const made = await createFile(
      store.layout,
      path,
      renderFrontMatter({ items: [entry] }, CHECKLIST_NOTE),
    );
    if (!made)
      await editRecord(store.layout, path, ({ source }) => ({
        yaml: appendToList(source, 'items', entry),
      }));
    await reconcileInTurn(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';

const changing = <T>(
  store: Store,
  caseId: string,
  work: (item: Item) => Promise<T | undefined>,
): Promise<T | undefined> =>
  store.turns.take(caseId, async () => {
    const item = store.items.byId.get(caseId);
    if (item === undefined) return undefined;
    await readyToWrite(store);
    return work(item);
  });
