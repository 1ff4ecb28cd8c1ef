/** What this browser keeps under a name; undefined where it keeps nothing, or nothing that can be read. */
export const keptAs = <T>(name: string): T | undefined => {
  try {
    return (JSON.parse(localStorage.getItem(name) ?? 'null') as T | null) ?? undefined;
  } catch {
    return undefined;
  }
};

/** Undefined takes it out. */
export const keepAs = (name: string, value: unknown): void => {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // No room, or no leave to keep anything: it stays in its field.
  }
};
