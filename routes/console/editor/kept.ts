/** What was typed in a file and is not saved: over which version of it. */
export interface Typed {
  text: string;
  /** Of the file that it was typed over; none where that was not there. */
  etag?: string | undefined;
}

interface Place {
  id: string;
  path: string;
}

const keyOf = (id: string, path: string): string => `dossier.file.${id}.${path}`;

/** What this browser keeps of a file that is not saved, where that is not what is on disk. It survives a reload and a restart. */
export const typedIn = ({ id, path }: Place, content: string): Typed | undefined => {
  try {
    const kept = JSON.parse(localStorage.getItem(keyOf(id, path)) ?? 'null') as Typed | null;
    return typeof kept?.text === 'string' && kept.text !== content ? kept : undefined;
  } catch {
    return undefined;
  }
};

/** Keeps it, or lets go of it; false where this browser has no room for it, or no leave. */
export const keepTyped = (id: string, path: string, typed: Typed | undefined): boolean => {
  try {
    if (typed === undefined) localStorage.removeItem(keyOf(id, path));
    else localStorage.setItem(keyOf(id, path), JSON.stringify(typed));
    return true;
  } catch {
    return false;
  }
};
