import { shortId } from '../../../store/base/names.ts';
import { readMedia, withUpload } from '../../../store/cases/proof-uploads.ts';
import type { TaggedProof } from '../../../store/cases/proofs.ts';
import type { Store } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { notFound } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { getItemWithProofs, getProof, keepProof, newMatter, type ProofRequest } from './attach.ts';

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
