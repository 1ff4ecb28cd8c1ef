import { readFileSync } from 'node:fs';
import type { VersionInfo } from '../../store/records/system.ts';

type Build = Pick<VersionInfo, 'name' | 'version' | 'commit' | 'built_at'>;

/** Defined by the build, as JSON; undefined in tests. */
declare const DOSSIER_BUILD: string | undefined;

/** Describes the running program. `commit` and `built_at` are null if it was not built. */
export const versionInfo = (): VersionInfo => {
  const { name, version, commit, built_at } =
    typeof DOSSIER_BUILD === 'undefined' ? unbuilt() : (JSON.parse(DOSSIER_BUILD) as Build);
  return {
    name,
    version,
    api: '3.1.0',
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    commit,
    built_at,
  };
};

const unbuilt = (): Build => {
  const path = new URL('../../../package.json', import.meta.url);
  const { name, version } = JSON.parse(readFileSync(path, 'utf8')) as Build;
  return { name, version, commit: null, built_at: null };
};
