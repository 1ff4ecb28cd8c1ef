import type { Offers, Option } from '../../store/records/provider.ts';
import type { ProviderSettings } from '../../store/records/settings.ts';

/** The model and effort that the operator chooses for a provider. */
export type ModelChoice = Pick<ProviderSettings, 'model' | 'effort'>;
export const CHOICES = ['model', 'effort'] as const satisfies (keyof ModelChoice)[];

export const NO_OFFERS: Offers = { models: [], efforts: [] };

/** A choice that the provider does not offer, with a sentence and the possible values. */
export interface UnofferedChoice {
  what: keyof ModelChoice;
  why: string;
  choices: string[];
}

/** The part of a choice that `who` does not offer; undefined if it offers everything, or its offers are unknown. */
export const notOffered = (
  who: string,
  offers: Offers,
  choice: ModelChoice,
): UnofferedChoice | undefined =>
  CHOICES.map((what) => missing(who, what, choice[what], offers[`${what}s`])).find(Boolean);

const missing = (
  who: string,
  what: keyof ModelChoice,
  wanted: string | undefined,
  options: readonly Option[] | undefined,
): UnofferedChoice | undefined => {
  if (wanted === undefined || options === undefined) return undefined;
  const choices = options.map(({ value }) => value);
  if (choices.includes(wanted)) return undefined;
  if (choices.length === 0)
    return { what, choices, why: `${who} offers no choice of ${what}. Leave ${what} out.` };
  const some = choices.slice(0, MOST_NAMED);
  const more = choices.length > some.length ? ` and ${choices.length - some.length} more` : '';
  return {
    what,
    choices,
    why: `${who} does not offer the ${what} ${wanted}. It offers ${some.join(', ')}${more}.`,
  };
};

const MOST_NAMED = 50;
