import type { WithStore } from '../../../store/store.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithLinks } from './work.ts';

/** What most of this room's work is given. */
export type LinkNeeds = WithCodeHost & WithConfig & WithGit & WithLinks & WithLog & WithStore;
