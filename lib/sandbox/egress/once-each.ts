import type { NetworkNews } from './proxy.ts';

const MOST_TOLD = 200;

/** Passes on each goal once for each outcome, and no more than a bounded number of them. */
export const onceEach = (tell: (told: NetworkNews) => void): ((told: NetworkNews) => void) => {
  const known = new Set<string>();
  return (told) => {
    const key = `${told.host} ${told.port} ${told.allowed}`;
    if (known.has(key) || known.size >= MOST_TOLD) return;
    known.add(key);
    tell(told);
  };
};
