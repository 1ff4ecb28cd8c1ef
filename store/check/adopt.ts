import { join } from 'node:path';
import { fixCommand } from '../base/text.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { editKnown } from '../front-matter/record-file.ts';
import type { MatterChanges } from '../front-matter/splice.ts';
import type { Layout } from '../layout.ts';
import type { ItemFiles } from '../reconcile/read-item.ts';
import { type Finding, type Mend, warning } from './finding.ts';

/** Findings for hand-made records that lack values which the daemon adds. */
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

// The daemon withdraws the verification, with its event. Until then, the check reports it.
const unverified = (folder: string, proofs: ItemFiles['proofs']): Finding[] =>
  [...proofs].flatMap(([name, { value }]) =>
    value?.adopt?.verified === false && 'verified_at' in value.adopt
      ? [warning({ file: `${folder}/${name}`, code: 'verification_mismatch', message: EDITED })]
      : [],
  );

const EDITED =
  'The content changed since it was verified (`verified_sha256`). The daemon withdraws the verification. Check the content, then verify it again';

// A removed id is restored.
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
  const mend = editFix(layout, file, { sha, changes }, `added: ${keys.join(', ')}`);
  const message = `${keys.join(', ')} ${keys.length === 1 ? 'is' : 'are'} missing. The daemon adds them, and so does ${fixCommand(layout)}`;
  return [warning({ file, code: 'incomplete', message }, mend)];
};

/** A fix that changes a record, if it still has that hash; `words` say what was done. */
export const editFix =
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

// The daemon decides about verifications, with the events that follow.
const additions = (adopt: MatterChanges): MatterChanges =>
  Object.fromEntries(
    Object.entries(adopt).filter(
      ([key]) => KEYS.has(key) || (key === 'verified' && !('verified_at' in adopt)),
    ),
  );

const KEYS = new Set(['id', 'type', 'state', 'created_at']);
