import type { ReadEntry } from '../front-matter/entry.ts';
import {
  type FileProblem,
  fileProblem,
  LINKED_FOLDER,
  NO_FOLDER,
} from '../front-matter/problem.ts';
import { statsAt } from '../fs/plain-path.ts';
import { readNewestJournal } from '../journal/journal-file.ts';
import { stateAfter } from '../journal/journal-state.ts';
import type { Layout } from '../layout.ts';
import { pendingOnDisk } from '../pending/offline.ts';
import { CLOSED_STATES } from '../records/case.ts';
import type { WaitingValue } from '../records/trust.ts';
import { readSettings, readSettingsText } from '../settings/globals.ts';
import { readLocal } from '../settings/local.ts';
import type { WebhookFile } from '../settings/read-webhooks.ts';
import { untrustedProblem } from '../settings/trust/waiting.ts';
import { holderOf } from '../workspace/daemon-lock.ts';
import { conflictCopies } from './conflict-copies.ts';
import { error, type Finding, warning } from './finding.ts';
import { checkGitignore, checkGlobals } from './globals.ts';
import { checkItems, type FoundItem } from './items.ts';
import { checkMachine } from './machine.ts';
import { olderVersions } from './older.ts';

export interface Checked {
  items: number;
  /** Sorted by file, then by line. */
  findings: Finding[];
}

/**
 * Checks every record of a workspace, which another process may have open: takes no lock and writes nothing. `committed`
 * returns the versions of a file in git; `advice` adds further warnings.
 */
export const checkWorkspace = async (
  layout: Layout,
  committed: (file: string) => Promise<Buffer[]>,
  advice: readonly FileProblem[] = [],
): Promise<Checked> => {
  const journal = readNewestJournal(layout.journal);
  const end = stateAfter(journal?.lines ?? []);
  const older = olderVersions(layout, committed);
  const { items, findings, closed } = await checkItems({ layout, seen: end.seen, older });
  const globals = checkGlobals(layout);
  const machine = checkMachine({
    layout,
    journal,
    end,
    isRunning: (holderOf(layout)?.pid ?? process.pid) !== process.pid,
    ids: new Set([...closed, ...items.flatMap(({ files }) => files.case.value?.matter.id ?? [])]),
    webhooks: new Map([...named('webhooks', globals.webhooks), ...items.flatMap(webhooksOf)]),
  });
  const all = [
    ...checkTop(layout),
    ...checkProjects(layout, items),
    ...globals.findings,
    ...findings,
    ...machine,
    ...conflictCopies(layout),
    ...checkGitignore(layout),
    ...checkTrust(layout),
    ...advice.map((problem) => warning(problem)),
  ];
  return { items: items.length, findings: all.sort(byPlace) };
};

type Named = [file: string, entry: ReadEntry<WebhookFile>];

const named = (folder: string, entries: ReadonlyMap<string, ReadEntry<WebhookFile>>): Named[] =>
  [...entries].map(([name, entry]) => [`${folder}/${name}`, entry]);

const webhooksOf = ({ dir, files }: FoundItem): Named[] => named(`${dir}/webhooks`, files.webhooks);

const checkTop = ({ cases }: Layout): Finding[] => {
  const stats = statsAt(cases);
  if (stats === undefined || stats.isDirectory()) return [];
  return [error(fileProblem('cases', stats.isSymbolicLink() ? LINKED_FOLDER : NO_FOLDER))];
};

// Projects of open Work items with neither a path nor a remote here, so that these have no repository: one finding for each.
const checkProjects = (layout: Layout, items: readonly FoundItem[]): Finding[] => {
  const [shared, own] = [readSettings(layout), readLocal(layout)];
  if (shared?.problem !== undefined || own?.problem !== undefined) return [];
  const paths = { ...readSettingsText(layout)?.settings.projects, ...own?.value?.projects };
  const missing = new Map<string, string[]>();
  for (const { dir, files } of items) {
    const { project = 'default', state } = files.case.value?.matter ?? {};
    const isClosed = CLOSED_STATES.some((each) => each === state);
    if (isClosed || project === 'default' || Object.hasOwn(paths, project)) continue;
    const cases = missing.get(project) ?? [];
    cases.push(`${dir}/case.md`);
    missing.set(project, cases);
  }
  return [...missing].map(([project, files]) => {
    const all = files.length === 1 ? '' : `, which ${files.length} open Work items name`;
    const message = `project: there is no project ${project}${all}. Run \`dossier\` in its repository, or set its path in workspace.md under projects`;
    return warning({ file: files.toSorted()[0] ?? '', code: 'missing_project', message });
  });
};

// Values that need the operator's trust on this machine, one finding for each file.
const checkTrust = (layout: Layout): Finding[] => {
  const all = pendingOnDisk(layout);
  return [...new Set(all.map(({ file }) => file))].map((file) => {
    const waiting = all.filter((value) => value.file === file);
    const keys = waiting.map(({ key, kind }) => NAMES[kind] ?? key);
    const line = waiting.find((value) => value.line !== undefined)?.line;
    const place = line === undefined ? undefined : { line, column: 1 };
    return warning(fileProblem(file, untrustedProblem(layout, keys, place)));
  });
};

const NAMES: Partial<Record<WaitingValue['kind'], string>> = {
  webhook: 'This receiver',
  session: 'This session, started elsewhere,',
  approval: 'This plan, approved elsewhere,',
  worktree: 'This worktree',
};

const byPlace = (a: Finding, b: Finding): number => {
  if (a.file === b.file) return (a.line ?? 0) - (b.line ?? 0);
  return a.file < b.file ? -1 : 1;
};
