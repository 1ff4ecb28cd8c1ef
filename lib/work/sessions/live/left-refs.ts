import { oneLine } from '../../../text/wording.ts';
/** A branch, tag or stash that changed in Plan mode and was left as it is, as the stream tells it. */
export interface LeftRef {
  ref: string;
  before: string | null;
  after: string | null;
  by: string | null;
}

/** Those that one `error` event of a session tells; none of most. */
export const leftRefs = ({ code, refs }: Record<string, unknown>): LeftRef[] =>
  code === 'refs_changed' && Array.isArray(refs) ? refs.flatMap((each) => leftRef(each) ?? []) : [];

const leftRef = (told: unknown): LeftRef | undefined => {
  if (typeof told !== 'object' || told === null) return undefined;
  const { ref, before, after, by } = told as Record<string, unknown>;
  if (typeof ref !== 'string') return undefined;
  return { ref, before: textOf(before), after: textOf(after), by: textOf(by) };
};

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** The command that puts it back, for a shell; of what somebody else is noted to have done, a comment that says so. */
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

// git refuses where it is another one by now.
const objectOf = (value: string | null): string[] =>
  value === null || value.startsWith('refs/') ? [] : [value];

// The name of a ref may be an agent's, and may hold anything but blanks.
const quoted = (word: string): string =>
  /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
