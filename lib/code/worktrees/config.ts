import { isAbsolute, join, resolve } from 'node:path';
import { pathContains } from '../../../store/base/path-contains.ts';
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

/** How worktrees are made now: the settings as last read, with the defaults. */
export const worktreeConfig = (store: Store): WorktreeConfig => worktreeConfigOf(settingsOf(store));

export interface ServedConfig {
  config: WorktreeConfig;
  etag: string;
}

/** The same as workspace.md says it this moment. */
export const readWorktreeConfig = async (store: Store): Promise<ServedConfig> =>
  served(await currentSettings(store));

const served = ({ settings, etag }: StoredSettings): ServedConfig => ({
  config: worktreeConfigOf(settings),
  etag,
});

/** Writes into workspace.md what is given, and leaves the rest of the file as it is; null takes a setting out. */
export const changeConfig = async (
  store: Store,
  change: WorktreeConfigChange,
  ifMatch: string | undefined,
): Promise<ServedConfig> => {
  refuseWrong(store, change);
  const changes = Object.fromEntries(
    Object.entries(change).map(([name, value]) => [name, value ?? undefined]),
  );
  return served(await changeSettings(store, { key: 'worktrees', changes, ifMatch }));
};

const refuseWrong = (store: Store, change: WorktreeConfigChange): void => {
  const { root, branch_template, setup, copy_files } = change;
  const errors = [
    ...complaint('/root', root, (path) => wrongRoot(store, path)),
    ...complaint('/branch_template', branch_template, wrongTemplate),
    ...(setup ?? []).flatMap((command, at) => complaint(`/setup/${at}`, command, wrongCommand)),
    ...(copy_files ?? []).flatMap((glob, at) => complaint(`/copy_files/${at}`, glob, wrongGlob)),
  ];
  if (errors.length === 0) return;
  const detail = errors.map(({ path, message }) => `${path} ${message}.`).join(' ');
  throw new ServiceError('bad_request', detail, { errors });
};

const complaint = (
  path: string,
  value: string | null | undefined,
  wrong: (value: string) => string | undefined,
): { path: string; message: string }[] => {
  const message = typeof value === 'string' ? wrong(value) : undefined;
  return message === undefined ? [] : [{ path, message }];
};

const wrongCommand = (command: string): string | undefined =>
  command.includes('\0') ? 'holds a character that no command can have' : undefined;

// Among the records, each worktree's files would be read, watched and exported as if they were records.
const wrongRoot = ({ layout }: Store, root: string): string | undefined => {
  if (root.includes('\0')) return 'holds a character that no path can have';
  if (root.startsWith('~')) return 'has to be written out: ~ is a word of the shell';
  const path = resolve(layout.root, root);
  const ours = pathContains(layout.root, path) && !pathContains(layout.worktrees, path);
  if (ours) return 'must not be in the workspace, but for .dossier/worktrees and below';
  const git = isAbsolute(root) && path.split('/').includes('.git');
  return git ? `must not be in a git directory: ${join(root)}` : undefined;
};

/** What keeps a glob from naming files of the main checkout, in words that follow it; undefined when nothing does. */
export const wrongGlob = (glob: string): string | undefined => {
  if (glob.includes('\0')) return 'holds a character that no path can have';
  if (glob.startsWith('/') || glob.split('/').includes('..'))
    return 'leads out of the main checkout: begin at its top, without / and ..';
  return undefined;
};
