import { shortId } from '../../../store/base/names.ts';
import { readMedia, withUpload } from '../../../store/cases/proof-uploads.ts';
import {
  createProof,
  itemWithProofs,
  readProof,
  readProofs,
  type TaggedProof,
} from '../../../store/cases/proofs.ts';
import type { Item } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import { newId } from '../../../store/reconcile/new-id.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { Session } from '../../../store/records/session.ts';
import { sessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { workOf } from '../../code/worktrees/inspect/work.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { notFound, orNotFound, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { checkTexts } from '../cases/text.ts';

const MAX_BYTES = 1_048_576;

export interface ProofRequest {
  type: string;
  content: string;
  /** Whose work it proves; default: the newest that worked. */
  session_id?: string | undefined;
}

/**
 * Attaches a proof, not verified, with the session and the commit that it is about, or the hash of the diff of what is not
 * committed. Throws `too_large` beyond 1 MiB, `bad_request` for a session that is not there.
 */
export const attachProof = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, content, session_id }: ProofRequest,
): Promise<TaggedProof> => {
  checkContent(content);
  const matter = await newMatter(service, caseId, { type, session_id });
  return keepProof(service.store, caseId, { matter, content });
};

/** Keeps what was put together. Throws `not_found`. */
export const keepProof = async (
  store: Store,
  caseId: string,
  proof: KeptNew,
): Promise<TaggedProof> => orNotFound(await createProof(store, caseId, proof), 'Work item', caseId);

type KeptNew = Parameters<typeof createProof>[2];

/** What a new proof says, but for its content. */
export const newMatter = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, session_id }: Omit<ProofRequest, 'content'>,
): Promise<KeptNew['matter']> => {
  if (itemOf(service.store, caseId) === undefined) throw notFound('Work item', caseId);
  const session = sessionOf(service.store, caseId, session_id);
  const {
    commit = null,
    diff_sha256,
    tree,
  } = await workOf(service, caseId, {
    diff: 'uncommitted',
    tree: true,
  });
  return {
    id: newId(),
    type,
    verified: false,
    ...(session !== undefined && { session_id: session }),
    commit,
    ...(diff_sha256 && { diff_sha256 }),
    ...(tree !== undefined && { tree }),
    created_at: service.store.clock().toISOString(),
  };
};

const sessionOf = (store: Store, caseId: string, named: string | undefined): string | undefined => {
  if (named === undefined) return newestWork(store, caseId)?.id;
  if ((sessionsOf(store, caseId) ?? []).some(({ session }) => session.id === named)) return named;
  const errors = [{ path: '/session_id', message: 'is no session of this Work item' }];
  throw new ServiceError('bad_request', `There is no session ${named} here. List them first.`, {
    errors,
  });
};

/** The newest session of a Work item that worked. */
export const newestWork = (store: Store, caseId: string): Session | undefined =>
  (sessionsOf(store, caseId) ?? []).findLast(({ session }) => session.mode === 'work')?.session;

/** Throws `too_large` and `bad_request` for a content that could not be read back. */
export const checkContent = (content: string): void => {
  if (Buffer.byteLength(content) > MAX_BYTES) throw tooLarge();
  checkTexts({ content });
};

const tooLarge = () =>
  new ServiceError('too_large', 'Attach 1 MiB of UTF-8 or less: the part that shows it.', {
    errors: [{ path: '/content', message: `must have ${MAX_BYTES} bytes or fewer` }],
    members: { max_bytes: MAX_BYTES },
  });

export const listProofs = async (store: Store, caseId: string): Promise<Proof[]> =>
  readProofs(store, await getItemWithProofs(store, caseId));

export const getProof = async (store: Store, caseId: string, id: string): Promise<TaggedProof> =>
  orNotFound(readProof(store, await getItemWithProofs(store, caseId), id), 'proof', id);

/** The Work item with its proofs and checklist as they are on disk this moment. */
export const getItemWithProofs = async (store: Store, caseId: string): Promise<Item> =>
  orNotFound(await itemWithProofs(store, caseId), 'Work item', caseId);

/** What a browser may show by itself, by its ending: nothing in it is run. All else is handed over as a file. */
const SHOWN: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  mp4: 'video/mp4',
  webm: 'video/webm',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  txt: 'text/plain; charset=utf-8',
  log: 'text/plain; charset=utf-8',
};

const OTHER: Readonly<Record<string, string>> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'image/svg+xml': 'svg',
  'text/csv': 'csv',
  'text/html': 'html',
};

/** The ending of the file that is kept: of its name, else of its type. Markdown beside a record would be a record. */
const endingOf = (name: string | undefined, media: string): string => {
  const own = /\.([A-Za-z0-9]{1,10})$/.exec(name ?? '')?.[1]?.toLowerCase();
  const [type = ''] = media.toLowerCase().split(';');
  const usual = Object.keys(SHOWN).find((ending) => SHOWN[ending]?.split(';')[0] === type.trim());
  const ending = own ?? usual ?? OTHER[type.trim()] ?? 'bin';
  return ending === 'md' ? 'markdown' : ending;
};

interface NewFile extends Omit<ProofRequest, 'content'> {
  /** As its owner calls it: its ending is kept. */
  name: string | undefined;
  /** The Content-Type that it was sent with. */
  media: string;
  /** Its bytes as they come; throws `too_large`. */
  chunks: AsyncIterable<Uint8Array>;
}

/** Attaches a file as proof, as attachProof does a text; it is kept beside its record. */
export const attachFile = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, session_id, name, media, chunks }: NewFile,
): Promise<TaggedProof> => {
  const made = await newMatter(service, caseId, { type, session_id });
  const file = `${type}-${shortId(made.id)}.${endingOf(name, media)}`;
  return withUpload(service.store, chunks, (staged) =>
    keepProof(service.store, caseId, {
      matter: { ...made, file },
      content: '',
      upload: { name: file, staged },
    }),
  );
};

interface Media {
  name: string;
  bytes: Buffer;
  sha256: string;
  /** Undefined where a browser must not show it. */
  type: string | undefined;
}

/** The file that a proof is about. 404 where it is about none, or the file is not there. */
export const getMedia = async (store: Store, caseId: string, id: string): Promise<Media> => {
  const { file, file_sha256 } = (await getProof(store, caseId, id)).proof;
  const bytes =
    file === null ? undefined : readMedia(store, await getItemWithProofs(store, caseId), file);
  if (file === null || file_sha256 === null || bytes === undefined)
    throw notFound('file of proof', id);
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  return { name: file, bytes, sha256: file_sha256, type: SHOWN[ending] };
};
