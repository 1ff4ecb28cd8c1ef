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
  // Those that the branch had come first, so that none of many others takes their place.
  const refs = kept
    .toSorted((one, other) => Number(isReplaced(other)) - Number(isReplaced(one)))
    .slice(0, MOST_TOLD)
    .map(asText);
  const others = refs.filter((one) => !isReplaced(one));
  const lines = [
    ...refs.filter(isReplaced).map(replacedText),
    ...(others.length === 0 ? [] : [KEPT, ...others.map(lineOf)]),
  ];
  return [
    {
      code: 'refs_kept',
      message: lines.join('\n'),
      refs,
      ...(kept.length > MOST_TOLD && { more: kept.length - MOST_TOLD }),
    },
  ];
};

const KEPT =
  'The turn changed refs in its own repository. Your refs are unchanged. These changes are kept but not applied:';

const isReplaced = ({ ref }: KeptRef): boolean => ref === 'refs/replaced-commits';

const replacedText = ({ before, kept_ref }: KeptRef): string => {
  const which = before === null ? '' : `, including ${before.slice(0, 12)}, which it started from`;
  return `The turn amended, rebased or reset away commits${which}. They are kept, as the parents of ${kept_ref}.`;
};

const lineOf = ({ ref, before, after, kept_ref }: KeptRef): string => {
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
