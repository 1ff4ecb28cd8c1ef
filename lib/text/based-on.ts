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
