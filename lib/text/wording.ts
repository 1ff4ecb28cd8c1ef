/** A number of things in words: `1 file`, `2 files`. */
export const counted = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** A text on one line: what separates words is one blank each. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A text of so many characters at most, without half of one, and then the mark that says so. */
export const shorten = (text: string, most: number, mark = ' […]'): string =>
  text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}${mark}`;

/** The most that each may have of `total`, so that all fit: those that need less leave the rest to the others. */
export const shareOf = (lengths: readonly number[], total: number): number => {
  let left = total;
  for (const [at, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const each = Math.floor(left / (lengths.length - at));
    if (length > each) return Math.max(0, each);
    left -= length;
  }
  return total;
};

const MOST = 100;

/** Names for a sentence, those of very many left out and counted. */
export const someOf = (names: readonly string[]): string => {
  const more = names.length - MOST;
  return `${names.slice(0, MOST).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
};

interface BasedOn {
  base: string;
  base_commit: string;
  subject: string;
  committed_at: string;
  notes: readonly string[];
}

/** What a worktree begins from, on one line: `Based on main (a1b2c3d 'Fix typo', 2 h old). 3 uncommitted files are not included.` */
export const basedOn = ({ base, base_commit, subject, committed_at, notes }: BasedOn): string => {
  const what = `${base_commit.slice(0, 7)} '${subject}', ${ageOf(committed_at)} old`;
  return [`Based on ${base} (${what}).`, ...notes].join(' ');
};

const STEPS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

const ageOf = (at: string): string => {
  const seconds = Math.max(0, (Date.now() - Date.parse(at)) / 1000);
  const [length, unit] = STEPS.find(([each]) => seconds >= each) ?? [1, 's'];
  return `${Math.floor(seconds / length)} ${unit}`;
};
