import type { Session } from '../../store/records/session.ts';

interface Counts {
  files: number;
  additions: number;
  deletions: number;
}

/** The body of session.md: what a person wants to read of it later. */
export const summaryOf = (
  { provider, branch }: Session,
  { files, additions, deletions }: Counts,
): string => {
  const changed =
    files === 0
      ? 'No file was changed.'
      : `${plural(files, 'file')} changed, +${additions} −${deletions}: see [diff.patch](diff.patch).`;
  return `## What was done\n\nThe approved plan is [plan.md](plan.md); ${provider} executed it on \`${branch ?? 'HEAD'}\`.\n\n${changed}`;
};

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;
