import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import type { Layout } from '../layout.ts';
import { LocalSettings } from '../records/local-settings.ts';
import type { Settings } from '../records/settings.ts';

const check = checkerOf(LocalSettings);

const parse = (text: string): LocalSettings => {
  const source = parseFrontMatter(text);
  return check(source.data, source);
};

/** The file as the daemon names it. */
export const LOCAL = '.dossier/local.md';

/** Reads it, again if it changed; undefined when there is none. Writes nothing. */
export const readLocal = (
  layout: Layout,
  before?: ReadEntry<LocalSettings>,
): ReadEntry<LocalSettings> | undefined => readEntry(layout.local, { before, parse });

/**
 * The settings of workspace.md with the paths of this machine, which win. A project that workspace.md knows by its remote
 * alone has no path before this machine names one. The very same object where there is nothing to put in.
 */
export const withLocal = (shared: Settings, local: LocalSettings | undefined): Settings => {
  const { projects = {} } = shared;
  const own = local?.projects ?? {};
  const isPlain = Object.keys(own).length === 0 && !Object.values(projects).some(isRemote);
  if (isPlain) return shared;
  const paths = Object.entries(projects).filter(([, value]) => !isRemote(value));
  return { ...shared, projects: Object.fromEntries([...paths, ...Object.entries(own)]) };
};

/** The same of workspace.md as it was read, or of what stands in for it where there is none. */
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

/** `withLocal` that answers the same object while both are the same. */
export const createMerge = (): typeof withLocal => {
  let last: { shared: Settings; local: LocalSettings | undefined; merged: Settings } | undefined;
  return (shared, local) => {
    if (last?.shared !== shared || last.local !== local)
      last = { shared, local, merged: withLocal(shared, local) };
    return last.merged;
  };
};

/** The remotes of the projects that workspace.md knows by them. */
export const remotesIn = ({ projects = {} }: Settings): Record<string, string> =>
  Object.fromEntries(Object.entries(projects).filter(([, value]) => isRemote(value)));

/** A URL, or scp's way of writing one; anything else is a path. */
export const isRemote = (value: string): boolean =>
  /^[a-z][a-z0-9+.-]*:\/\//i.test(value) || /^[^@/:\s]+@[^@/:\s]+:/.test(value);
