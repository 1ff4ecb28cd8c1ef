import { join } from 'node:path';
import { changedSince, StoreError } from '../base/errors.ts';
import { etagOf, inUtc, meets, shortId } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { assertReadBack } from '../front-matter/entry.ts';
import { bodyOfText, splitFrontMatter, textOfBody } from '../front-matter/front-matter.ts';
import { ifReadable } from '../front-matter/problem.ts';
import { editKnown, readRegularFile, unreadable } from '../front-matter/record-file.ts';
import { renderFrontMatter } from '../front-matter/splice.ts';
import { decodeRecord } from '../front-matter/text.ts';
import { removeFile, syncCreated } from '../fs/durable.ts';
import { untilWritten } from '../fs/retry.ts';
import { evenIfSyncFailed } from '../fs/synced.ts';
import { proofDir } from '../layout.ts';
import { acceptChange } from '../reconcile/accept-change.ts';
import { changeItem, createItemFile } from '../reconcile/change-item.ts';
import { peekItem } from '../reconcile/fresh-item.ts';
import { type Item, proofsOf } from '../reconcile/item.ts';
import { invalidate } from '../reconcile/items.ts';
import { mediasOf } from '../reconcile/read-proofs.ts';
import { reconcileWritten } from '../reconcile/reconcile.ts';
import type { Proof, ProofMatter } from '../records/proof.ts';
import type { Store } from '../store.ts';
import { type UploadedFile, withPlacedUpload } from './proof-uploads.ts';

/** The Work item with its proofs as they are on disk now. */
export const peekWithProofs = (store: Store, caseId: string): Promise<Item | undefined> =>
  peekItem(store, caseId, true);

/** The proofs of a Work item with their content, oldest first. */
export const readProofs = (store: Store, item: Item): Proof[] =>
  proofsOf(item)
    .map((kept) => servedProof(store, item, kept))
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1));

const ageOf = ({ created_at, id }: Proof): string => `${inUtc(created_at)} ${id}`;

type KeptProof = ReturnType<typeof proofsOf>[number];

const servedProof = (store: Store, item: Item, { name, file }: KeptProof): Proof => ({
  ...proofFields(store, item.id, file.matter),
  content: contentOf(store, item, name),
});

export interface TaggedProof {
  proof: Proof;
  etag: string;
}

/** One proof, with the entity tag of its file. */
export const readProof = (store: Store, item: Item, id: string): TaggedProof | undefined => {
  const kept = keptProof(item, id);
  return kept && { proof: servedProof(store, item, kept), etag: etagOf(kept.sha) };
};

const proofFields = (
  store: Store,
  case_id: string,
  matter: ProofMatter,
): Omit<Proof, 'content'> => {
  const { id, type, verified, created_at } = matter;
  const { verified_at = null, verified_by = null } = matter;
  const { session_id = null, commit = null, diff_sha256 = null } = matter;
  const { file = null, file_sha256 = null } = matter;
  const elsewhere = verified && !isVerifiedHere(store, case_id, matter);
  const said = { file, file_sha256, verified, verified_at, verified_by };
  return {
    id,
    case_id,
    type,
    ...said,
    ...(elsewhere && { verified_elsewhere: true }),
    session_id,
    commit,
    diff_sha256,
    ...(matter.tree && { tree: matter.tree }),
    ...(matter.run && { run: matter.run }),
    created_at,
  };
};

/** Records that the operator verified a proof of this Work item and type with this content. On disk when it returns. */
export const grantVerification = (
  store: Store,
  case_id: string,
  proof: Pick<ProofMatter, 'id' | 'type' | 'tree'>,
  content_sha256: string,
): void =>
  store.consent.grant([
    { key: consentKey(proof.id), value: verificationOf(case_id, proof, content_sha256) },
  ]);

const consentKey = (id: string): string => `proofs/${id}`;

// With the files that it was made of: for others it would be stale.
const verificationOf = (
  case_id: string,
  { type, tree }: Pick<ProofMatter, 'type' | 'tree'>,
  content_sha256: string | undefined,
) => ({ case_id, type, content_sha256, ...(tree && { tree }) });

const isVerifiedHere = ({ consent }: Store, case_id: string, matter: ProofMatter): boolean =>
  consent.isGranted(consentKey(matter.id), verificationOf(case_id, matter, matter.verified_sha256));

// Restoring the file does not restore a verification that the operator removed.
const revokeVerification = ({ consent }: Store, id: string): void => consent.revoke(consentKey(id));

// Shows as much of an unreadable proof as possible; the Work item reports its problem.
const contentOf = ({ layout }: Store, { dir }: Item, name: string): string => {
  const path = join(proofDir(join(layout.root, dir)), name);
  return ifReadable(() => {
    const bytes = readRegularFile(layout.root, path);
    return bytes === undefined ? '' : textOfBody(splitFrontMatter(decodeRecord(bytes)));
  }, '');
};

export interface NewProof {
  matter: ProofMatter;
  content: string;
  /** The file that `matter` names. */
  upload?: UploadedFile | undefined;
}

/** Attaches a proof; undefined if there is no such Work item. */
export const createProof = (
  store: Store,
  caseId: string,
  { matter, content, upload }: NewProof,
): Promise<TaggedProof | undefined> =>
  changeItem(store, caseId, async (item) => {
    const known = readProof(store, item, matter.id);
    if (known !== undefined) {
      await syncCreated(proofDir(join(store.layout.root, item.dir)));
      return known;
    }
    const record = join(
      proofDir(join(store.layout.root, item.dir)),
      `${matter.type}-${shortId(matter.id)}.md`,
    );
    const text = renderFrontMatter({ ...matter }, bodyOfText(content, '\n'));
    const write = () => createItemFile(store, item, record, text);
    const made = await (upload === undefined
      ? write()
      : withPlacedUpload(store, item, { ...upload, record }, write));
    await reconcileWritten(store, item);
    const kept = readProof(store, item, matter.id);
    if (kept !== undefined) return kept;
    if (!made)
      throw new StoreError(
        'file_busy',
        'A proof of that name was created at the same moment. Try again',
      );
    // A proof that another program is saving cannot be read back now.
    const written = sha256(text);
    return {
      proof: { ...proofFields(store, caseId, matter), content },
      etag: etagOf(written),
    };
  });

export interface ProofChange extends Partial<ProofMatter> {
  content?: string;
}

/** The content on disk, and the hash that a verification binds to. */
interface ProofContent {
  sha256: string;
  readonly text: string;
}

/** Computes the change of a proof; undefined for none. */
export type ProofRule = (current: ProofMatter, content: ProofContent) => ProofChange | undefined;

/**
 * Applies a rule to a proof as it is on disk. `ifMatch` is the entity tag that the caller read. Undefined if there is no
 * such proof.
 */
export const updateProof = (
  store: Store,
  caseId: string,
  id: string,
  { rule, ifMatch }: { rule: ProofRule; ifMatch?: string | undefined },
): Promise<TaggedProof | undefined> =>
  changeItem(store, caseId, async (item) => {
    await untilWritten(`${item.dir}/proof`, async () => {
      const kept = keptProof(item, id);
      if (kept === undefined) return true;
      if (!meets(ifMatch, etagOf(kept.sha))) throw changedSince('The proof');
      const done = await editProof(store, item, kept, rule);
      await reconcileWritten(store, item);
      assertReadBack(item.files.proofs.get(kept.name));
      return done;
    });
    return readProof(store, item, id);
  });

const keptProof = (item: Item, id: string): KeptProof | undefined =>
  proofsOf(item).find(({ file }) => file.matter.id === id);

// Returns false if the file changed since it was read: only the content that was shown may be verified.
const editProof = async (
  store: Store,
  item: Item,
  { name, file, sha }: KeptProof,
  rule: ProofRule,
): Promise<boolean> => {
  const { layout } = store;
  const { dir, files } = item;
  const problem = files.proofs.get(name)?.problem ?? file.about?.media?.problem;
  if (problem !== undefined) throw unreadable(`${dir}/proof/${name}`, problem);
  let changes: Partial<ProofMatter> | undefined;
  const path = join(proofDir(join(layout.root, dir)), name);
  const isDone = await editKnown(layout, path, sha, (current) => {
    const text = () => textOfBody(current.source);
    const change = rule(file.matter, contentNow(file.content_sha256, text));
    if (change === undefined) return undefined;
    const { content, ...rest } = change;
    changes = rest;
    if (content === undefined) return { changes };
    return { changes, body: bodyOfText(content, current.source.eol) };
  });
  if (isDone && changes?.verified === false) revokeVerification(store, file.matter.id);
  if (isDone && changes !== undefined)
    acceptChange(store, item, { proofs: { [file.matter.id]: { ...file.matter, ...changes } } });
  return isDone;
};

const contentNow = (sha256: string, read: () => string): ProofContent => ({
  sha256,
  get text() {
    return read();
  },
});

/** Moves a proof to `.dossier/undo`; false if there is no such proof. `ifMatch` as in `updateProof`. */
export const deleteProof = async (
  store: Store,
  caseId: string,
  id: string,
  ifMatch?: string,
): Promise<boolean> => {
  const removed = await changeItem(store, caseId, async (item) => {
    const { dir } = item;
    const kept = keptProof(item, id);
    if (kept === undefined) return false;
    if (!meets(ifMatch, etagOf(kept.sha))) throw changedSince('The proof');
    const problem = item.files.proofs.get(kept.name)?.problem;
    if (problem !== undefined) throw unreadable(`${dir}/proof/${kept.name}`, problem);
    await removeProofFiles(store, item, kept.name);
    // Last, so that a deletion that is cut off leaves the proof verified as it was.
    revokeVerification(store, id);
    return true;
  });
  return removed === true;
};

// Removes the files that only this proof names, too.
const removeProofFiles = async (store: Store, item: Item, name: string): Promise<void> => {
  const folder = proofDir(join(store.layout.root, item.dir));
  const [proofs, medias] = [new Map(item.files.proofs), new Map(item.files.medias)];
  // Updates memory at once, since the grace period is only for files that vanished by hand.
  const gone = async (): Promise<void> => {
    item.files = { ...item.files, proofs, medias };
    invalidate(store, item);
    await reconcileWritten(store, item);
  };
  proofs.delete(name);
  const wanted = new Set(mediasOf(proofs));
  const remove = async (): Promise<void> => {
    for (const media of [...medias.keys()].filter((one) => !wanted.has(one)))
      await removeFile(store.layout, join(folder, media)).then(
        () => void medias.delete(media),
        // It is reported as a file that no proof names.
        (error: unknown) => store.report(error, `removing ${item.dir}/proof/${media}`),
      );
    await gone();
  };
  await evenIfSyncFailed(removeFile(store.layout, join(folder, name)), remove);
};
