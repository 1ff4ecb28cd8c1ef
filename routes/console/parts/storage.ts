type Place = 'localStorage' | 'sessionStorage';

/** What this browser keeps under a name, or this tab; undefined where nothing is kept, or nothing that can be read. */
export const keptAs = <T>(name: string, place: Place = 'localStorage'): T | undefined => {
  try {
    return (JSON.parse(globalThis[place].getItem(name) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Undefined takes it out. */
export const keepAs = (name: string, value: unknown, place: Place = 'localStorage'): void => {
  try {
    if (value === undefined) globalThis[place].removeItem(name);
    else globalThis[place].setItem(name, JSON.stringify(value));
  } catch {
    // No room, or no leave to keep anything: it stays in its field.
  }
};
