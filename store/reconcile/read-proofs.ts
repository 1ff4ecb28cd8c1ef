import { randomUUID } from 'node:crypto';
import { sha256 } from '../base/sha256.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { lackingIn, parseFrontMatter, textOfBody } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import { ProofMatter } from '../records/proof.ts';
import type { ProofMedia, ProofMedias } from './read-media.ts';

/** A parsed proof. The content stays on disk; a verification is valid for one content hash. */
export interface ProofFile {
  matter: ProofMatter;
  /** Of the content, and of the file that the proof names. */
  content_sha256: string;
  /** Fields to write: those that a hand-made proof lacks, and a verification that became invalid. */
  adopt?: MatterChanges;
  about?: AboutFile;
}

/** The record of a proof that names a file, and the file as last read. */
interface AboutFile {
  said: ProofMatter;
  made: MatterChanges;
  text_sha256: string;
  name: string;
  media: ProofMedia | undefined;
}

const check = checkerOf(ProofMatter);

export const parseProof = (text: string): ProofFile => {
  const source = parseFrontMatter(text);
  const made = source.data.type === undefined ? {} : lackingIn(source.data, defaults());
  const said = check({ ...source.data, ...made }, source);
  const text_sha256 = evidenceHash(said, textOfBody(source));
  const name = said.file ?? undefined;
  if (name === undefined) return proofOf(said, made, text_sha256);
  return aboutFile({ said, made, text_sha256, name, media: undefined });
};

// The result of a check is part of the evidence, like its output.
const evidenceHash = ({ run }: ProofMatter, text: string): string =>
  sha256(run == null ? text : `${text}\n${JSON.stringify(run, Object.keys(run).toSorted())}`);

const proofOf = (said: ProofMatter, made: MatterChanges, content_sha256: string): ProofFile => {
  const adopt = { ...made, ...verificationOf(said, content_sha256) };
  return {
    matter: { ...said, ...adopt },
    content_sha256,
    ...(Object.keys(adopt).length > 0 && { adopt }),
  };
};

// A missing file suspends the verification; nothing is written, since the file may come back unchanged.
const aboutFile = (about: AboutFile): ProofFile => {
  const { said, made, text_sha256, name, media } = about;
  const found = media?.sha256;
  const content_sha256 = sha256(`${text_sha256} ${name} ${found}`);
  if (found !== undefined) {
    const own = said.file_sha256 === found ? made : { ...made, file_sha256: found };
    return { ...proofOf({ ...said, file_sha256: found }, own, content_sha256), about };
  }
  const { verified_by: _by, verified_sha256: _sha, ...rest } = said;
  const matter = { ...rest, verified: false, verified_at: null };
  const adopt = Object.keys(made).length > 0 && { adopt: made };
  return { matter, content_sha256, ...adopt, about };
};

/** The names of the files that proofs name. */
export const mediasOf = (proofs: ReadonlyMap<string, ReadEntry<ProofFile>>): string[] => [
  ...new Set([...proofs.values()].flatMap(({ value }) => value?.about?.name ?? [])),
];

/** The proofs with their files as just read. Entries with unchanged files stay the same objects. */
export const withMedias = (
  proofs: ReadonlyMap<string, ReadEntry<ProofFile>>,
  medias: ProofMedias,
): ReadonlyMap<string, ReadEntry<ProofFile>> => {
  if (medias.size === 0) return proofs;
  return new Map(
    [...proofs].map(([name, entry]) => {
      const about = entry.value?.about;
      const media = about && medias.get(about.name);
      if (about === undefined || about.media === media) return [name, entry];
      return [name, { ...entry, value: aboutFile({ ...about, media }) }];
    }),
  );
};

const defaults = (): MatterChanges => ({
  id: randomUUID(),
  verified: false,
  created_at: new Date().toISOString(),
});

/**
 * The changes that keep a verification consistent: it binds to the content that was verified. `verified: true` written by
 * hand verifies the content as it is now; an edit of the content afterwards removes the verification.
 */
export const verificationOf = (matter: ProofMatter, content: string): MatterChanges => {
  if (!matter.verified)
    return matter.verified_sha256 === undefined
      ? {}
      : { verified_at: null, verified_by: undefined, verified_sha256: undefined };
  if (matter.verified_sha256 === undefined)
    return {
      verified_at: matter.verified_at ?? new Date().toISOString(),
      verified_by: matter.verified_by ?? 'operator (by hand)',
      verified_sha256: content,
    };
  return matter.verified_sha256 === content
    ? {}
    : { verified: false, verified_at: null, verified_by: undefined, verified_sha256: undefined };
};
