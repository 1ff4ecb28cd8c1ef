/**
 * What a table has under a name from outside; undefined if it has none. A plain `table[name]` would find `constructor` and
 * other properties of every object.
 */
export const ownValue = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;
