/** Groups values by a key, in order; those without a key are left out. `Map.groupBy` is not in Node 20. */
export const groupBy = <T, K>(all: Iterable<T>, keyOf: (one: T) => K | undefined): Map<K, T[]> => {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return groups;
};
