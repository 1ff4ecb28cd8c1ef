import { join } from 'node:path';
import type { ReadEntry } from '../front-matter/entry.ts';
import { editKnown } from '../front-matter/record-file.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import type { Layout } from '../layout.ts';
import type { ItemFiles } from '../reconcile/read-item.ts';
import { type Finding, type Mend, warning } from './finding.ts';

/** Records made by hand that have all but what the daemon adds. */
export const lackingFindings = (
  layout: Layout,
  dir: string,
  { files, former }: { files: ItemFiles; former: string | undefined },
): Finding[] => [
  ...lacking(layout, `${dir}/case.md`, withFormerId(files.case, former)),
  ...lackingIn(layout, `${dir}/proof`, files.proofs),
  ...lackingIn(layout, `${dir}/webhooks`, files.webhooks),
  ...unverified(`${dir}/proof`, files.proofs),
];

// The daemon takes it back, with the event that follows: it is told here for who looks before it does.
const unverified = (folder: string, proofs: ItemFiles['proofs']): Finding[] =>
  [...proofs].flatMap(([name, { value }]) =>
    value?.adopt?.verified === false && 'verified_at' in value.adopt
      ? [warning({ file: `${folder}/${name}`, code: 'verification_mismatch', message: EDITED })]
      : [],
  );

const EDITED =
  'The content is not what was verified (`verified_sha256`). The daemon takes the verification back; look at it, then verify it again';

// An id that somebody removed is put back.
const withFormerId = (
  entry: ItemFiles['case'],
  id: string | undefined,
): ReadEntry<{ adopt?: MatterChanges }> => {
  const adopt = entry.value?.adopt;
  if (adopt?.id === undefined || id === undefined) return entry;
  return { ...entry, value: { adopt: { ...adopt, id } } };
};

export const lackingIn = (
  layout: Layout,
  folder: string,
  entries: ReadonlyMap<string, ReadEntry<{ adopt?: MatterChanges }>>,
): Finding[] =>
  [...entries].flatMap(([name, entry]) => lacking(layout, `${folder}/${name}`, entry));

const lacking = (
  layout: Layout,
  file: string,
  { problem, value, sha }: ReadEntry<{ adopt?: MatterChanges }>,
): Finding[] => {
  const changes = additions(value?.adopt ?? {});
  const keys = Object.keys(changes);
  if (problem !== undefined || keys.length === 0) return [];
  const mend = amending(layout, file, { sha, changes }, `added: ${keys.join(', ')}`);
  const message = `${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} missing. The daemon adds them, and so does dossier check --fix`;
  return [warning({ file, code: 'incomplete', message }, mend)];
};

/** Changes that were worked out from the file with that hash; `words` say what was done. */
export const amending =
  (
    layout: Layout,
    file: string,
    fix: { sha: string; changes: MatterChanges },
    words: string,
  ): Mend =>
  async () => {
    const { sha, changes } = fix;
    const isDone = await editKnown(layout, join(layout.root, file), sha, () => ({ changes }));
    return isDone ? words : undefined;
  };

// Whether a verification holds is judged by the daemon, with the events that follow from it.
const additions = (adopt: MatterChanges): MatterChanges =>
  Object.fromEntries(
    Object.entries(adopt).filter(
      ([key]) => KEYS.has(key) || (key === 'verified' && !('verified_at' in adopt)),
    ),
  );

const KEYS = new Set(['id', 'type', 'state', 'created_at']);
