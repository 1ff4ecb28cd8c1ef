import { idOfText, shortId } from '../../../store/base/names.ts';
import { newId } from '../../../store/base/new-id.ts';
import { readMedia, withUpload } from '../../../store/cases/proof-uploads.ts';
import {
  createProof,
  peekWithProofs,
  readProof,
  readProofs,
  type TaggedProof,
} from '../../../store/cases/proofs.ts';
import type { Item } from '../../../store/reconcile/item.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { Session } from '../../../store/records/session.ts';
import { allSessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { describeWork } from '../../code/worktrees/inspect/diff.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { badField, notFound, orNotFound, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { checkTexts } from '../cases/text.ts';

const MAX_BYTES = 1_048_576;

interface ProofRequest {
  type: string;
  content: string;
  /** The session whose work it proves; by default the newest in Work mode. */
  session_id?: string | undefined;
  /** Returns the proof that the session attached before with the same content, for the same work. */
  once?: boolean;
}

/**
 * Attaches an unverified proof, with its session and commit, or the hash of the uncommitted diff. Throws `too_large`
 * beyond 1 MiB, and `bad_request` for an unknown session.
 */
export const attachProof = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, content, session_id, once = false }: ProofRequest,
): Promise<TaggedProof> => {
  checkContent(content);
  const made = await newMatter(service, caseId, { type, session_id });
  const matter = once ? { ...made, id: idOfProof(made, content) } : made;
  return storeProof(service.store, caseId, { matter, content });
};

// `createProof` creates no second proof with an id.
const idOfProof = (
  { type, session_id, commit, diff_sha256, tree }: KeptNew['matter'],
  content: string,
): string => idOfText(JSON.stringify([type, session_id, commit, diff_sha256, tree, content]));

/** Stores a new proof. Throws `not_found`. */
export const storeProof = async (
  store: Store,
  caseId: string,
  proof: KeptNew,
): Promise<TaggedProof> => orNotFound(await createProof(store, caseId, proof), 'Work item', caseId);

type KeptNew = Parameters<typeof createProof>[2];

/** The front matter of a new proof. */
export const newMatter = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, session_id }: Omit<ProofRequest, 'content'>,
): Promise<KeptNew['matter']> => {
  checkCase(service.store, caseId);
  const session = sessionOf(service.store, caseId, session_id);
  const {
    commit = null,
    diff_sha256,
    tree,
  } = await describeWork(service, caseId, {
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
  if (named === undefined) return newestWorkSession(store, caseId)?.id;
  if ((allSessionsOf(store, caseId) ?? []).some(({ session }) => session.id === named))
    return named;
  throw badField(
    '/session_id',
    'is not a session of this Work item',
    `The Work item has no session ${named}. List its sessions with GET …/sessions.`,
  );
};

/** The newest session of a Work item that reached Work mode. */
export const newestWorkSession = (store: Store, caseId: string): Session | undefined =>
  (allSessionsOf(store, caseId) ?? []).findLast(({ session }) => session.mode === 'work')?.session;

/** Throws `too_large` or `bad_request` for content that could not be read back. */
export const checkContent = (content: string): void => {
  if (Buffer.byteLength(content) > MAX_BYTES) throw tooLarge();
  checkTexts({ content });
};

const tooLarge = () =>
  new ServiceError(
    'too_large',
    'The proof is larger than 1 MiB of UTF-8. Attach only the relevant part.',
    {
      errors: [{ path: '/content', message: `must have ${MAX_BYTES} bytes or fewer` }],
      members: { max_bytes: MAX_BYTES },
    },
  );

export const listProofs = async (store: Store, caseId: string): Promise<Proof[]> =>
  readProofs(store, await getItemWithProofs(store, caseId));

export const getProof = async (store: Store, caseId: string, id: string): Promise<TaggedProof> =>
  orNotFound(readProof(store, await getItemWithProofs(store, caseId), id), 'proof', id);

/** The Work item with its proofs and checklist, as they are on disk now. */
export const getItemWithProofs = async (store: Store, caseId: string): Promise<Item> =>
  orNotFound(await peekWithProofs(store, caseId), 'Work item', caseId);

/**
 * Media types by file extension that a browser may display, because nothing in them is executed. Other files are
 * downloaded.
 */
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

/**
 * The extension of the stored file: that of its name, else of its media type. `.md` is avoided because Markdown beside
 * a record is read as a record.
 */
const endingOf = (name: string | undefined, media: string): string => {
  const own = /\.([A-Za-z0-9]{1,10})$/.exec(name ?? '')?.[1]?.toLowerCase();
  const [type = ''] = media.toLowerCase().split(';');
  const usual = Object.keys(SHOWN).find((ending) => SHOWN[ending]?.split(';')[0] === type.trim());
  const ending = own ?? usual ?? OTHER[type.trim()] ?? 'bin';
  return ending === 'md' ? 'markdown' : ending;
};

interface NewFile extends Omit<ProofRequest, 'content'> {
  /** The client's file name, whose extension is kept. */
  name: string | undefined;
  /** The Content-Type of the upload. */
  media: string;
  /** The bytes as they arrive; throws `too_large`. */
  chunks: AsyncIterable<Uint8Array>;
}

/** Attaches a file as proof; it is stored beside its record. */
export const attachFile = async (
  service: GitNeeds & WithLog,
  caseId: string,
  { type, session_id, name, media, chunks }: NewFile,
): Promise<TaggedProof> => {
  const made = await newMatter(service, caseId, { type, session_id });
  const file = `${type}-${shortId(made.id)}.${endingOf(name, media)}`;
  return withUpload(service.store, chunks, (staged) =>
    storeProof(service.store, caseId, {
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
  /** Undefined where a browser must not display it. */
  type: string | undefined;
}

/** The file of a proof. Throws 404 where it has none, or the file is missing. */
export const getMedia = async (store: Store, caseId: string, id: string): Promise<Media> => {
  const item = await getItemWithProofs(store, caseId);
  const { file, file_sha256 } = orNotFound(readProof(store, item, id), 'proof', id).proof;
  const bytes = file === null ? undefined : readMedia(store, item, file);
  if (file === null || file_sha256 === null || bytes === undefined)
    throw notFound('file of proof', id);
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  return { name: file, bytes, sha256: file_sha256, type: SHOWN[ending] };
};
