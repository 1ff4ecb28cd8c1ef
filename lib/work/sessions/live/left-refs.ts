import { list, record, text, type Wire } from '../../../text/unknown-json.ts';
import { oneLine } from '../../../text/wording.ts';

/** A branch, tag or stash that changed in Plan mode and was not restored, as the stream has it. */
export interface LeftRef {
  ref: string;
  before: string | null;
  after: string | null;
  by: string | null;
}

/** The left refs in one `error` event of a session; most have none. */
export const leftRefs = ({ code, refs }: Wire): LeftRef[] =>
  code === 'refs_changed' ? list(refs).map(record).flatMap(leftRef) : [];

const leftRef = ({ ref: told, before, after, by }: Wire): LeftRef[] => {
  const ref = text(told);
  if (ref === undefined) return [];
  return [{ ref, before: text(before) ?? null, after: text(after) ?? null, by: text(by) ?? null }];
};

/** The shell command that restores the ref. Where the reflog names another author of the change, a comment instead. */
export const putBackLine = (left: LeftRef): string => {
  const { ref, before, after, by } = left;
  if (by !== null)
    return oneLine(`# ${ref}: ${before ?? 'nothing'} → ${after ?? 'nothing'}, by ${by}`);
  return oneLine(`git ${commandFor(left).map(quoted).join(' ')}`);
};

const commandFor = ({ ref, before, after }: LeftRef): string[] => {
  if (before === null) return ['update-ref', '--no-deref', '-d', ref, ...objectOf(after)];
  if (before.startsWith('refs/')) return ['symbolic-ref', ref, before];
  if (ref.startsWith('refs/stash@')) return ['stash', 'store', before];
  return [
    'update-ref',
    '--no-deref',
    ref,
    before,
    ...objectOf(after ?? before.replaceAll(/./g, '0')),
  ];
};

// With the expected value, git refuses where the ref has changed again.
const objectOf = (value: string | null): string[] =>
  value === null || value.startsWith('refs/') ? [] : [value];

// An agent may have chosen the ref's name, which can have any character but blanks.
const quoted = (word: string): string =>
  /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
