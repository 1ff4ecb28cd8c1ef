type Area = 'localStorage' | 'sessionStorage';

/** A value that this browser (or with `sessionStorage` this tab) stores; undefined if there is none or it is not JSON. */
export const readStored = <T>(name: string, area: Area = 'localStorage'): T | undefined => {
  try {
    return (JSON.parse(globalThis[area].getItem(name) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Stores a value, or removes it if undefined. False if the storage is full or not allowed. */
export const writeStored = (name: string, value: unknown, area: Area = 'localStorage'): boolean => {
  try {
    if (value === undefined) globalThis[area].removeItem(name);
    else globalThis[area].setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
};

/** A value as `writeBoth` stored it: that of this tab, or else that of this browser. */
export const readEither = <T>(name: string): T | undefined =>
  readStored<T>(name, 'sessionStorage') ?? readStored<T>(name);

/** Stores a value for this tab and for this browser: a restart keeps it, and another tab does not replace this tab's. */
export const writeBoth = (name: string, value: unknown): void => {
  writeStored(name, value, 'sessionStorage');
  writeStored(name, value);
};
