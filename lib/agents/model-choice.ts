import type { Offers, Option } from '../../store/records/provider.ts';
import type { ProviderSettings } from '../../store/records/settings.ts';

/** What the operator chooses of a provider besides its name. */
export type ModelChoice = Pick<ProviderSettings, 'model' | 'effort'>;
export const CHOICES = ['model', 'effort'] as const satisfies (keyof ModelChoice)[];

export const NO_OFFERS: Offers = { models: [], efforts: [] };

/** A choice that is not there: of what, why in a sentence, and what there is instead. */
export interface NotOffered {
  what: keyof ModelChoice;
  why: string;
  choices: string[];
}

/** What of a choice `who` does not offer, as far as it is known; undefined where it may be tried. */
export const notOffered = (
  who: string,
  offers: Offers,
  choice: ModelChoice,
): NotOffered | undefined =>
  CHOICES.map((what) => missing(who, what, choice[what], offers[`${what}s`])).find(Boolean);

const missing = (
  who: string,
  what: keyof ModelChoice,
  wanted: string | undefined,
  options: readonly Option[] | undefined,
): NotOffered | undefined => {
  if (wanted === undefined || options === undefined) return undefined;
  const choices = options.map(({ value }) => value);
  if (choices.includes(wanted)) return undefined;
  if (choices.length === 0)
    return { what, choices, why: `${who} has no choice of ${what}: leave ${what} out.` };
  const some = choices.slice(0, MOST_NAMED);
  const more = choices.length > some.length ? ` and ${choices.length - some.length} more` : '';
  return {
    what,
    choices,
    why: `${who} does not offer the ${what} ${wanted}; it offers ${some.join(', ')}${more}.`,
  };
};

const MOST_NAMED = 50;
