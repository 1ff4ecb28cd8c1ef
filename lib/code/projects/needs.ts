import type { WithStore } from '../../../store/store.ts';
import type { WithConfig } from '../../config.ts';
import type { WithGit } from '../../tools/git/run/git.ts';

/** What it takes to know a project's repository. */
export type ProjectNeeds = WithConfig & WithGit & WithStore;
