/** What the operator chooses of a provider besides its name. */
export interface ModelChoice {
  model?: string;
  effort?: string;
}

export interface Option {
  value: string;
  name: string;
}

/** What there is to choose. Undefined where only the program knows, once it is started; empty where there is nothing. */
export interface Offers {
  models?: Option[];
  efforts?: Option[];
}

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
  missing(who, { what: 'model', wanted: choice.model, options: offers.models }) ??
  missing(who, { what: 'effort', wanted: choice.effort, options: offers.efforts });

interface Wanted {
  what: keyof ModelChoice;
  wanted: string | undefined;
  options: readonly Option[] | undefined;
}

const missing = (who: string, { what, wanted, options }: Wanted): NotOffered | undefined => {
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
