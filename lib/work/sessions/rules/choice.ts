import { visible } from '../../../../base/visible.ts';
import { type ModelChoice, NO_OFFERS, notOffered } from '../../../agents/choice.ts';
import type { Provider } from '../../../agents/provider.ts';
import { ServiceError } from '../../../errors.ts';

/**
 * What a new session goes by for as long as it lasts: the model and effort that are wanted, or else those of the settings,
 * whose effort is for their model alone. 422 `choice_not_offered` for what its provider is known not to offer; what only
 * the agent knows fails the session when it starts.
 */
export const chosenFor = (
  name: string,
  provider: Pick<Provider, 'usual' | 'offers'> | undefined,
  wanted: ModelChoice,
): ModelChoice => {
  const choice = wanted.model === undefined ? { ...provider?.usual, ...wanted } : wanted;
  const offers = provider?.offers?.(choice.model) ?? NO_OFFERS;
  const refused = notOffered(name, offers, choice);
  if (refused === undefined) return choice;
  const { what, why, choices } = refused;
  throw new ServiceError('choice_not_offered', visible(why), {
    errors: [{ path: `/${what}`, message: 'is not offered' }],
    members: { choices },
  });
};
