import type { ProviderInfo } from './provider.ts';
import type { Providers } from './providers.ts';

/** What a session can be made with: first what it is made with where nobody chooses. */
export const sessionProviders = async ({ list, chosen }: Providers): Promise<ProviderInfo[]> => {
  const all = await list();
  return all.toSorted((a, b) => Number(b.id === chosen) - Number(a.id === chosen));
};
