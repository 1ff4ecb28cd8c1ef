import { randomUUID } from 'node:crypto';
import { sha256 } from '../names.ts';
import { ProofMatter } from '../records/proof.ts';
import { parseFrontMatter, textOfBody } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import type { Changes } from '../text/splice.ts';

/** A proof, read. The content stays on disk; its hash tells whether the verification still holds. */
export interface ProofFile {
  matter: ProofMatter;
  content_sha256: string;
  /** What the file has to say differently: keys that a hand-made proof lacks, a verification that no longer holds. */
  adopt?: Changes;
}

const check = checkerOf(ProofMatter);

export const parseProof = (text: string): ProofFile => {
  const source = parseFrontMatter(text);
  const content_sha256 = sha256(textOfBody(source));
  const made = source.data.type === undefined ? {} : lacking(source.data);
  const matter = check({ ...source.data, ...made }, source);
  const adopt = { ...made, ...verificationOf(matter, content_sha256) };
  return {
    matter: { ...matter, ...adopt },
    content_sha256,
    ...(Object.keys(adopt).length > 0 && { adopt }),
  };
};

const lacking = (data: Record<string, unknown>): Changes => {
  const defaults = { id: randomUUID(), verified: false, created_at: new Date().toISOString() };
  return Object.fromEntries(
    Object.entries(defaults).filter(([key]) => data[key] === undefined || data[key] === null),
  );
};

/**
 * What a verification is worth: it binds to the content that was verified. An operator who writes `verified: true` by
 * hand verifies what stands there now; content edited after the verification takes it back.
 */
export const verificationOf = (matter: ProofMatter, content: string): Changes => {
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
