import { join } from 'node:path';
import { createFile } from './disk/durable.ts';
import { StoreError } from './errors.ts';
import { assertOwn, changing, untilDone } from './items/changing.ts';
import { grant } from './items/granting.ts';
import { checklistOf, type Item, proofsOf } from './items/item.ts';
import { checklistIn } from './items/read-proofs.ts';
import { reconcile, reconcileInTurn } from './items/reconcile.ts';
import { checklistFile, proofDir } from './layout.ts';
import { etagOf, sha256, shortId } from './names.ts';
import type { ChecklistEntry, Proof, ProofMatter } from './records/proof.ts';
import type { Store } from './store.ts';
import { bodyOfText, splitFrontMatter, textOfBody } from './text/front-matter.ts';
import { Problem } from './text/problem.ts';
import { editRecord, explained, readRegularFile, unreadable } from './text/record-file.ts';
import { appendToList, renderFrontMatter } from './text/splice.ts';
import { decodeRecord } from './text/text.ts';

/** The Work item with its proofs compared with the disk this moment. */
export const itemWithProofs = async (store: Store, caseId: string): Promise<Item | undefined> => {
  if (store.items.byId.has(caseId)) await reconcile(store, caseId);
  return store.items.byId.get(caseId);
};

/** The proofs of a Work item with their content, oldest first. */
export const readProofs = (store: Store, item: Item): Proof[] =>
  proofsOf(item)
    .map((kept) => served(store, item, kept))
    .sort((a, b) =>
      a.created_at === b.created_at
        ? a.id.localeCompare(b.id)
        : a.created_at.localeCompare(b.created_at),
    );

type Kept = ReturnType<typeof proofsOf>[number];

const served = (store: Store, item: Item, { name, file }: Kept): Proof => ({
  ...plain(item.id, file.matter),
  content: contentOf(store, item, name),
});

export interface TaggedProof {
  proof: Proof;
  etag: string;
}

/** One proof, with the entity tag of its file. */
export const readProof = (store: Store, item: Item, id: string): TaggedProof | undefined => {
  const kept = keptProof(item, id);
  return kept && { proof: served(store, item, kept), etag: etagOf(kept.sha) };
};

const plain = (
  case_id: string,
  { verified_at = null, verified_by = null, commit = null, ...matter }: ProofMatter,
): Omit<Proof, 'content'> => {
  const { id, type, verified, created_at } = matter;
  return { id, case_id, type, verified, verified_at, verified_by, commit, created_at };
};

// Of a proof that can no longer be read, what stands there is shown as far as it can be; its fault is told by the item.
const contentOf = ({ layout }: Store, { dir }: Item, name: string): string => {
  try {
    const bytes = readRegularFile(layout.root, join(proofDir(join(layout.root, dir)), name));
    return bytes === undefined ? '' : textOfBody(splitFrontMatter(decodeRecord(bytes)));
  } catch (error) {
    if (error instanceof Problem || error instanceof StoreError) return '';
    throw error;
  }
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
): Promise<TaggedProof | undefined> =>
  changing(store, caseId, async (item) => {
    const path = join(
      proofDir(join(store.layout.root, item.dir)),
      `${matter.type}-${shortId(matter.id)}.md`,
    );
    const text = renderFrontMatter({ ...matter }, bodyOfText(content, '\n'));
    const made = await createFile(store.layout, path, text, {
      assertMeant: () => assertOwn(store, item),
    });
    if (!made)
      throw new StoreError(
        'file_busy',
        'A proof of that name was made at the same moment; try again',
      );
    await reconcileInTurn(store, item);
    // A Work item that somebody is saving cannot be read again this moment.
    const written = sha256(text);
    const attached = { proof: { ...plain(caseId, matter), content }, etag: etagOf(written) };
    return readProof(store, item, matter.id) ?? attached;
  });

/** What a rule may change of a proof; `content_sha256` is of the content as it is on disk now. */
export type ProofRule = (
  current: ProofMatter,
  content_sha256: string,
) => Partial<ProofMatter> | undefined;

/**
 * Runs a rule on a proof as it is on disk and writes what it wants. `ifMatch` is the entity tag the caller read.
 * Undefined when there is no such proof.
 */
export const updateProof = (
  store: Store,
  caseId: string,
  id: string,
  { rule, ifMatch }: { rule: ProofRule; ifMatch?: string | undefined },
): Promise<TaggedProof | undefined> =>
  changing(store, caseId, async (item) => {
    await untilDone(`${item.dir}/proof`, async () => {
      const kept = keptProof(item, id);
      if (kept === undefined) return true;
      if (ifMatch !== undefined && ifMatch !== etagOf(kept.sha)) throw changedSince();
      const done = await edit(store, item, kept, rule);
      await reconcileInTurn(store, item);
      return done;
    });
    return readProof(store, item, id);
  });

const keptProof = (item: Item, id: string): Kept | undefined =>
  proofsOf(item).find(({ file }) => file.matter.id === id);

// False when the file is no longer the one that was read: what is verified has to be what was looked at.
const edit = async (
  store: Store,
  item: Item,
  { name, file, sha }: Kept,
  rule: ProofRule,
): Promise<boolean> => {
  const { layout } = store;
  const { dir, files } = item;
  const problem = files.proofs.get(name)?.problem;
  if (problem !== undefined) throw unreadable(`${dir}/proof/${name}`, problem);
  let isKnown = false;
  let changes: Partial<ProofMatter> | undefined;
  const path = join(proofDir(join(layout.root, dir)), name);
  const isThere = await editRecord(layout, path, (current) => {
    isKnown = current.sha === sha;
    changes = isKnown ? rule(file.matter, file.content_sha256) : undefined;
    return changes === undefined ? undefined : { changes };
  });
  if (isThere && isKnown && changes !== undefined)
    grant(store, item, { proofs: { [file.matter.id]: { ...file.matter, ...changes } } });
  return isThere && isKnown;
};

const changedSince = (): StoreError =>
  new StoreError(
    'precondition_failed',
    'The proof changed since you read it. Read it again and decide anew; nothing was written.',
  );

/** Adds one line to proof/checklist.md, which is made when there is none. */
export const addToChecklist = (
  store: Store,
  caseId: string,
  entry: ChecklistEntry,
): Promise<Item | undefined> =>
  changing(store, caseId, async (item) => {
    const { problem } = item.files.checklist ?? {};
    if (problem !== undefined) throw unreadable(`${item.dir}/proof/checklist.md`, problem);
    const path = checklistFile(join(store.layout.root, item.dir));
    const made = await createFile(
      store.layout,
      path,
      renderFrontMatter({ items: [entry] }, CHECKLIST_NOTE),
      { assertMeant: () => assertOwn(store, item) },
    );
    if (!made)
      await editRecord(store.layout, path, ({ source }) => {
        explained(`${item.dir}/proof/checklist.md`, () => checklistIn(source));
        return { yaml: appendToList(source, 'items', entry) };
      });
    grant(store, item, { checklist: [...checklistOf(item), entry] });
    await reconcileInTurn(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';
