import { Problem } from '../../../lib/client/client.ts';
import type { Told } from './page.ts';
import { toldOf } from './send-form.ts';

/** What a call answers, or why it was refused: for a page that has more to show. */
export const orTold = async <T>(
  call: Promise<T>,
): Promise<{ value: T; told?: undefined } | { value?: undefined; told: Told }> => {
  try {
    return { value: await call };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { told: toldOf(error) };
  }
};
