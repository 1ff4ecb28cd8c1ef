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
