import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { parserOf } from '../front-matter/parse.ts';
import type { Layout } from '../layout.ts';
import { LocalSettings, type Settings } from '../records/settings.ts';

const parse = parserOf(LocalSettings);

/** The path of the file in problems. */
export const LOCAL = '.dossier/local.md';

/** Reads the file if it changed; undefined if there is none. Writes nothing. */
export const readLocal = (
  layout: Layout,
  before?: ReadEntry<LocalSettings>,
): ReadEntry<LocalSettings> | undefined => readEntry(layout.local, { before, parse });

/**
 * The settings of workspace.md with the paths of this machine, which take precedence. A project that workspace.md names by
 * remote has no path until this machine names one. Returns the same object if nothing changes.
 */
const withLocal = (shared: Settings, local: LocalSettings | undefined): Settings => {
  const { projects = {} } = shared;
  const own = local?.projects ?? {};
  const isPlain = Object.keys(own).length === 0 && !Object.values(projects).some(isRemote);
  if (isPlain) return shared;
  const paths = Object.entries(projects).filter(([, value]) => !isRemote(value));
  return { ...shared, projects: Object.fromEntries([...paths, ...Object.entries(own)]) };
};

/** Like `withLocal`, for the entry of workspace.md, which may not exist. */
export const withPaths = (
  entry: ReadEntry<Settings> | undefined,
  local: ReadEntry<LocalSettings> | undefined,
): ReadEntry<Settings> | undefined => {
  if (entry === undefined)
    return local?.value && { ...local, value: withLocal({}, local.value), problem: undefined };
  return entry.value === undefined
    ? entry
    : { ...entry, value: withLocal(entry.value, local?.value) };
};

/** `withLocal` with a cache: the same object for the same arguments. */
export const createMerge = (): typeof withLocal => {
  let last: { shared: Settings; local: LocalSettings | undefined; merged: Settings } | undefined;
  return (shared, local) => {
    if (last?.shared !== shared || last.local !== local)
      last = { shared, local, merged: withLocal(shared, local) };
    return last.merged;
  };
};

/** The remotes of projects that workspace.md names by remote. */
export const remotesIn = ({ projects = {} }: Settings): Record<string, string> =>
  Object.fromEntries(Object.entries(projects).filter(([, value]) => isRemote(value)));

/** Whether this is a URL or an scp-like remote; anything else is a path. */
export const isRemote = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^[^@/:\s]+@[^@/:\s]+:/.test(value);
