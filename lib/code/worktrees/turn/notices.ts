import { pathText } from '../../../tools/git/run/path-text.ts';
import type { KeptRef } from '../../turn-repository/import-commits.ts';

export interface TurnResult {
  /** Why the turn did not complete, as a sentence. */
  blocked: string | undefined;
}

/** Is given what a turn's repository came to besides the work on its branch, each as it stands. */
export type TurnListener = (told: readonly TurnTold[]) => void;

export interface TurnTold {
  code: (typeof CODES)[number];
  message: string;
  refs?: KeptRef[];
  more?: number;
}

export const NOTHING: TurnResult = { blocked: undefined };

const CODES = [
  ...(['refs_kept', 'branch_held', 'repository_kept', 'repositories_disarmed'] as const),
  ...(['left_unseen', 'git_noted'] as const),
];

export const isTurnTold = (code: unknown): boolean => CODES.some((known) => known === code);

const MOST_TOLD = 100;

/** Branches, tags and stashes that were made, moved or deleted in the turn's own repository. */
export const keptRefsNotices = (kept: readonly KeptRef[]): TurnTold[] => {
  if (kept.length === 0) return [];
  const lines = kept.slice(0, MOST_TOLD).map(asText);
  return [
    {
      code: 'refs_kept',
      message: `${KEPT}\n${lines.map(lineOf).join('\n')}`,
      refs: lines,
      ...(kept.length > MOST_TOLD && { more: kept.length - MOST_TOLD }),
    },
  ];
};

const KEPT =
  'The turn changed refs in its own repository. Yours are as they were; what it made is kept, and was not applied:';

const lineOf = ({ ref, before, after, kept_ref }: KeptRef): string => {
  if (ref === 'refs/replaced-commits')
    return `commits that it amended, rebased or reset away: the parents of ${kept_ref}`;
  if (after === null) return `${ref}: deleted there`;
  const what = before === null ? 'made' : `moved from ${before.slice(0, 12)}`;
  return `${ref}: ${what}, ${after.slice(0, 12)}${kept_ref === null ? '' : `, kept as ${kept_ref}`}`;
};

// One that is not UTF-8 is no other one's name.
const asText = ({ ref, kept_ref, ...rest }: KeptRef): KeptRef => ({
  ...rest,
  ref: pathText(ref),
  kept_ref: kept_ref === null ? null : pathText(kept_ref),
});
