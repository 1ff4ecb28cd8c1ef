type Area = 'localStorage' | 'sessionStorage';

/** Values that the storage did not take: this page has them until it is left. */
const unstored = new Map<string, string>();

/** A value that this browser (or with `sessionStorage` this tab) stores; undefined if there is none or it is not JSON. */
export const readStored = <T>(name: string, area: Area = 'localStorage'): T | undefined => {
  try {
    const text = unstored.get(`${area} ${name}`) ?? globalThis[area].getItem(name) ?? 'null';
    return (JSON.parse(text) as T | null) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Stores a value, or removes it if undefined. False if the storage is full or not allowed. */
export const writeStored = (name: string, value: unknown, area: Area = 'localStorage'): boolean => {
  unstored.delete(`${area} ${name}`);
  try {
    if (value === undefined) globalThis[area].removeItem(name);
    else globalThis[area].setItem(name, JSON.stringify(value));
    return true;
  } catch {
    if (value !== undefined) unstored.set(`${area} ${name}`, JSON.stringify(value));
    return false;
  }
};

/** A value as `writeBoth` stored it: that of this tab, or else that of this browser. */
export const readEither = <T>(name: string): T | undefined =>
  readStored<T>(name, 'sessionStorage') ?? readStored<T>(name);

/**
 * Stores a value for this tab and for this browser: a restart keeps it, and another tab does not replace this tab's. False if
 * neither takes it.
 */
export const writeBoth = (name: string, value: unknown): boolean => {
  const isInTab = writeStored(name, value, 'sessionStorage');
  return writeStored(name, value) || isInTab;
};
