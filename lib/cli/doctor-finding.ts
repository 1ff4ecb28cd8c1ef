import type { ReadEntry } from '../../store/front-matter/entry.ts';
import type { Layout } from '../../store/layout.ts';
import type { Settings } from '../../store/records/settings.ts';
import type { Config } from '../config.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Git } from '../tools/git/run/git.ts';

/** One line of the doctor's report. `missing`: Dossier requires it; `note`: optional, and `detail` says what is limited. */
export interface DoctorFinding {
  verdict: 'ok' | 'missing' | 'note';
  about: string;
  detail: string;
}

/** What the checks receive. */
export interface DoctorContext {
  config: Config;
  layout: Layout;
  /** Undefined if there is no workspace.md. */
  settings: ReadEntry<Settings> | undefined;
  sandbox: Sandbox;
  git: Git;
}

const finding =
  (verdict: DoctorFinding['verdict']) =>
  (about: string, detail: string): DoctorFinding => ({ verdict, about, detail });

export const ok = finding('ok');
export const missing = finding('missing');
export const note = finding('note');
