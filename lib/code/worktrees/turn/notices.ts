import { pathText } from '../../../tools/git/run/path-text.ts';
import type { KeptRef } from '../../turn-repository/import-commits.ts';

export interface TurnResult {
  /** Why the turn counts as blocked, as a sentence. */
  blocked: string | undefined;
}

/** Receives notices about a turn's repository, besides the commits on its branch. */
export type TurnListener = (notices: readonly TurnNotice[]) => void;

export interface TurnNotice {
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

export const isTurnNotice = (code: unknown): boolean => CODES.some((known) => known === code);

const MOST_TOLD = 100;

/** A notice of branches, tags and stashes that the turn created, moved or deleted in its own repository. */
export const keptRefsNotices = (kept: readonly KeptRef[]): TurnNotice[] => {
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
  'The turn changed refs in its own repository. Yours are unchanged; the changes are kept, and were not applied:';

const lineOf = ({ ref, before, after, kept_ref }: KeptRef): string => {
  if (ref === 'refs/replaced-commits')
    return `commits that the turn amended, rebased or reset away: the parents of ${kept_ref}`;
  if (after === null) return `${ref}: deleted`;
  const what = before === null ? 'created' : `moved from ${before.slice(0, 12)}`;
  return `${ref}: ${what}, ${after.slice(0, 12)}${kept_ref === null ? '' : `, kept as ${kept_ref}`}`;
};

// A name that is not UTF-8 is quoted, so that it cannot equal another name.
const asText = ({ ref, kept_ref, ...rest }: KeptRef): KeptRef => ({
  ...rest,
  ref: pathText(ref),
  kept_ref: kept_ref === null ? null : pathText(kept_ref),
});
