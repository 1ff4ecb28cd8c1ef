/** A count with its noun: `1 file`, `2 files`. */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** Snapshots of installed directories, with their size: `2 snapshots (731 MB)`. */
export const snapshotsText = (all: readonly { bytes: number }[]): string => {
  const bytes = all.reduce((sum, one) => sum + one.bytes, 0);
  return `${counted(all.length, 'snapshot')} (${Math.ceil(bytes / 1e6)} MB)`;
};

/** Collapses whitespace, so that the text is one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A time of the API to the minute. */
export const utcOf = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`;

/** Truncates a text to `most` characters, without splitting a surrogate pair, and appends `mark`. */
export const shorten = (text: string, most: number, mark = ' […]'): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;

/** The largest limit for each length with which all fit into `total`; short ones leave room for the others. */
export const fairShare = (lengths: readonly number[], total: number): number => {
  let left = total;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (lengths.length - at));
    if (length > each) return Math.max(0, each);
    left -= length;
  }
  return total;
};

const MOST = 100;

/** Joins names for a sentence: the first 100, and the number of the others. */
export const someOf = (names: readonly string[]): string => {
  const more = names.length - MOST;
  return `${names.slice(0, MOST).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};

/** The first of these whose texts together have at most so many characters. */
export const firstWithin = <T>(
  all: readonly T[],
  most: number,
  textOf: (one: T) => string,
): T[] => {
  let length = 0;
  const over = all.findIndex((one) => {
    length += textOf(one).length;
    return length > most;
  });
  return all.slice(0, over === -1 ? all.length : over);
};

/** The same from the end. */
export const lastWithin = <T>(all: readonly T[], most: number, textOf: (one: T) => string): T[] =>
  firstWithin(all.toReversed(), most, textOf).toReversed();

interface Changes {
  path: string;
  files: number;
  readable: boolean;
}

/** Names the submodules whose uncommitted files no diff shows; empty without one. */
export const undiffedText = (submodules: readonly Changes[] = []): string => {
  const changed = submodules.filter(({ files, readable }) => files > 0 || !readable);
  if (changed.length === 0) return '';
  return `Not in the diff: uncommitted files in ${someOf(changed.map(({ path }) => `${path}/`))}.`;
};

interface BasedOn {
  base: string;
  base_commit: string;
  subject: string;
  committed_at: string;
  notes: readonly string[];
}

/** Describes the base of a worktree: `Based on main (a1b2c3d 'Fix typo', 2 h old). 3 uncommitted files are not included.` */
export const describeBase = ({
  base,
  base_commit,
  subject,
  committed_at,
  notes,
}: BasedOn): string => {
  const what = `${base_commit.slice(0, 7)} '${subject}', ${ageOf(committed_at)} old`;
  return [`Based on ${base} (${what}).`, ...notes].join(' ');
};

/** Tells that a branch does not have the newest commits of its base. */
export const baseHasMoved = (new_in_base: number): string =>
  new_in_base === 1 ? 'The base has one new commit.' : `The base has ${new_in_base} new commits.`;

const STEPS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** The time since then, in the largest unit that fits: `2 h`. */
export const ageOf = (at: string): string => {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  const [length, unit] = STEPS.find(([each]) => seconds >= each) ?? [1, 's'];
  return `${Math.floor(seconds / length)} ${unit}`;
};

/** `attached 12:03–12:20`, in the time zone of the reader, or in UTC. */
export const attachedText = (
  { started_at, ended_at }: { started_at: string; ended_at: string | null },
  timeZone?: 'UTC',
): string => {
  const how = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone } as const;
  const at = (time: string): string => new Date(time).toLocaleTimeString('en-GB', how);
  return ended_at === null
    ? `attached since ${at(started_at)}`
    : `attached ${at(started_at)}–${at(ended_at)}`;
};

/** What a session's commands reach of the network. */
export const networkWords = (network: 'host' | 'proxy' | { allow: readonly string[] }): string => {
  if (network === 'host') return 'open, including this machine';
  if (network === 'proxy') return 'open, except this machine';
  return network.allow.length === 0 ? 'closed' : `only ${network.allow.join(', ')}`;
};

interface Failure {
  error: string | null;
  commands?: {
    message: string | null;
    failed: readonly { command: string; exit_code: number | null }[];
  };
}

/** The error of a session; null also where it only names a command that failed, which `commands` describes with its exit code. */
export const ownError = ({ error, commands }: Failure): string | null => {
  const failed = commands?.message == null ? [] : commands.failed;
  const isTold = failed.some(
    ({ command, exit_code }) => exit_code !== null && error?.includes(`(${command})`),
  );
  return isTold ? null : error;
};

interface Approved {
  approved_by: string | null;
  approved_name?: string;
}

/** Who approved, with the name if it says more: `operator (Ada)`. */
export const approverText = ({ approved_by, approved_name = '' }: Approved): string => {
  const by = approved_by ?? 'operator';
  return approved_name === '' || by.includes(approved_name) ? by : `${by} (${approved_name})`;
};
