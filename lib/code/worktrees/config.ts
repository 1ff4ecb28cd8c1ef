import { isAbsolute, join, resolve } from 'node:path';
import { pathContains } from '../../../store/base/paths.ts';
import { worktreeConfigOf } from '../../../store/records/applied.ts';
import type {
  WorktreeConfig,
  WorktreeConfigChange,
} from '../../../store/records/worktree-config.ts';
import { settingsOf } from '../../../store/settings/globals.ts';
import {
  changeSettings,
  currentSettings,
  type StoredSettings,
} from '../../../store/settings/settings.ts';
import type { Store } from '../../../store/store.ts';
import { ServiceError } from '../../errors.ts';
import { wrongTemplate } from './create/names.ts';
import { wrongShare } from './setup/share-rules.ts';

/** The worktree settings as last read, with defaults. */
export const worktreeConfig = (store: Store): WorktreeConfig => worktreeConfigOf(settingsOf(store));

export interface ServedConfig {
  config: WorktreeConfig;
  etag: string;
}

/** Reads the worktree settings from workspace.md now. */
export const readWorktreeConfig = async (store: Store): Promise<ServedConfig> =>
  served(await currentSettings(store));

const served = ({ settings, etag }: StoredSettings): ServedConfig => ({
  config: worktreeConfigOf(settings),
  etag,
});

/** Changes the given settings in workspace.md and nothing else; null removes a setting. */
export const changeConfig = async (
  store: Store,
  change: WorktreeConfigChange,
  ifMatch: string | undefined,
): Promise<ServedConfig> => {
  refuseWrong(store, change);
  const changes = Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, value ?? undefined]),
  );
  const wanted = { key: 'worktrees', changes, served: worktreeConfigOf, ifMatch } as const;
  return served(await changeSettings(store, wanted));
};

const refuseWrong = (store: Store, change: WorktreeConfigChange): void => {
  const { root, base_branch, branch_prefix, branch_template, setup, copy_files, share } = change;
  const errors = [
    ...fieldError('/root', root, (path) => wrongRoot(store, path)),
    ...fieldError('/base_branch', base_branch, wrongRef),
    ...fieldError('/branch_prefix', branch_prefix, wrongRef),
    ...fieldError('/branch_template', branch_template, wrongTemplate),
    ...(setup ?? []).flatMap((command, at) => fieldError(`/setup/${at}`, command, wrongCommand)),
    ...(copy_files ?? []).flatMap((glob, at) => fieldError(`/copy_files/${at}`, glob, wrongGlob)),
    ...(share ?? []).flatMap((path, at) => fieldError(`/share/${at}`, path, wrongShare)),
  ];
  if (errors.length === 0) return;
  const detail = errors.map(({ path, message }) => `${path} ${message}.`).join(' ');
  throw new ServiceError('bad_request', detail, { errors });
};

const fieldError = (
  path: string,
  value: string | null | undefined,
  wrong: (value: string) => string | undefined,
): { path: string; message: string }[] => {
  const message = typeof value === 'string' ? wrong(value) : undefined;
  return message === undefined ? [] : [{ path, message }];
};

// git refuses these in each name; what else it refuses depends on the repository.
const wrongRef = (name: string): string | undefined =>
  /\p{Cc}/u.test(name) ? 'contains a control character, such as a line break' : undefined;

const wrongCommand = (command: string): string | undefined =>
  command.includes('\0') ? 'contains a NUL character' : undefined;

// Files of a worktree inside the workspace would be watched and exported as records.
const wrongRoot = ({ layout }: Store, root: string): string | undefined => {
  if (root.includes('\0')) return 'contains a NUL character';
  if (root.startsWith('~')) return 'must not begin with ~: write the path in full';
  const path = resolve(layout.root, root);
  const ours = pathContains(layout.root, path) && !pathContains(layout.worktrees, path);
  if (ours) return 'must not be in the workspace, except in .dossier/worktrees';
  const git = isAbsolute(root) && path.split('/').includes('.git');
  return git ? `must not be in a git directory: ${join(root)}` : undefined;
};

/** What is wrong with a glob of `copy_files`, worded to follow the glob; undefined if it is valid. */
export const wrongGlob = (glob: string): string | undefined => {
  if (glob.includes('\0')) return 'contains a NUL character';
  if (glob.startsWith('/') || glob.split('/').includes('..'))
    return 'points outside the main checkout: use a path relative to its top, without ..';
  return undefined;
};
