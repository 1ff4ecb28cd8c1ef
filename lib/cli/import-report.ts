import { dossierCommand } from '../../store/base/text.ts';
import { STATES } from '../../store/records/case.ts';
import { counted } from '../text/wording.ts';
import type { ImportOptions, ImportOutcome } from '../transfer/import/import-files.ts';
import type { ImportConflict } from '../transfer/import/import-plan.ts';
import type { TaskImport } from '../transfer/import/import-tasks.ts';
import type { TaskSource } from '../transfer/import/task-source.ts';

const SHOWN = 20;

/** The result of importing an export, as text. */
export const archiveLines = (
  name: string,
  { plan, isDone }: ImportOutcome,
  { workspace, dryRun }: ImportOptions,
): string[] => {
  const { items, singles, replacing, already, conflicts } = plan;
  const replaced = replacing.map(({ path }) => path).join(', ');
  return [
    `${name} is complete: every file matches the manifest`,
    `${dryRun ? 'Would import' : 'Imported'} ${amount(items.length, singles.length)} into ${workspace}`,
    ...(already.items + already.files > 0
      ? [`Already here, identical: ${amount(already.items, already.files)}`]
      : []),
    ...(replaced === ''
      ? []
      : [`${dryRun ? 'Would replace' : 'Replaced'} ${replaced}, unchanged since dossier init`]),
    ...left(conflicts, isDone),
    ...next(isDone, workspace),
  ];
};

const amount = (items: number, files: number): string => {
  const parts = [
    ...(items > 0 || files === 0 ? [counted(items, 'Work item')] : []),
    ...(files > 0 ? [counted(files, items > 0 ? 'other file' : 'file')] : []),
  ];
  return parts.join(' and ');
};

const left = (conflicts: readonly ImportConflict[], isDone: boolean): string[] =>
  group(isDone ? 'Kept as they are:' : 'Conflicts:', wordsOf(conflicts));

const wordsOf = (conflicts: readonly ImportConflict[]): string[] =>
  conflicts.map(({ path, why }) => `${path} ${why}`);

const group = (head: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [head, ...listed(lines)];

const listed = (lines: readonly string[]): string[] => {
  const more = lines.length - SHOWN;
  return [
    ...lines.slice(0, SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
};

const next = (isDone: boolean, workspace: string): string[] =>
  isDone ? [`Next: ${dossierCommand('serve', workspace)}`] : ['Nothing was written'];

/** The reason why an import was refused, with all conflicts. */
export const conflictLines = (conflicts: readonly ImportConflict[]): string[] => {
  const isHopeless = conflicts.some(({ isFault }) => isFault);
  return [
    `${counted(conflicts.length, 'conflict')}, so nothing was imported:`,
    ...listed(wordsOf(conflicts)),
    isHopeless
      ? 'Fix the workspace of the export, and export again.'
      : 'Move these away, or keep them and import the rest with --keep-existing.',
  ];
};

/** The result of importing another tool's tasks, as text. */
export const taskLines = (
  { tool, name, at, tasks, problems: unread, left: stay }: TaskSource,
  { plan, isDone, states, already, editedHere, changedThere, problems }: TaskImport,
  { workspace, dryRun }: ImportOptions,
): string[] => {
  const came = plan.items.length;
  const by = STATES.filter((state) => states.has(state)).map(
    (state) => `${states.get(state)} ${state}`,
  );
  const inStates = by.length === 0 ? '' : `: ${by.join(', ')}`;
  return [
    `${tool} project ${name} in ${at}: ${counted(tasks.length + unread.length, 'task')}`,
    `${dryRun ? 'Would import' : 'Imported'} ${counted(came, 'Work item')} into ${workspace}${inStates}`,
    ...(already > 0 ? [`Already here: ${counted(already, 'Work item')}`] : []),
    ...group('Already here and changed here since; kept as they are:', editedHere),
    ...group(`Already here and changed in ${tool} since; kept as they are:`, changedThere),
    ...left(plan.conflicts, isDone),
    ...group(
      'Not imported because they cannot be read; fix them and import again:',
      problems.map(({ file, line, column, message }) =>
        line === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`,
      ),
    ),
    ...(stay.length > 0 ? [`Not imported: ${stay.join(', ')}`] : []),
    ...next(isDone, workspace),
  ];
};

/** The result of an import as JSON. `done` is false if nothing was written. */
export const archiveReport = (
  { plan, isDone }: ImportOutcome,
  { workspace, dryRun }: ImportOptions,
): object => {
  const { items, singles, replacing, already, conflicts } = plan;
  return {
    workspace,
    dry_run: dryRun,
    done: isDone,
    work_items: items.map(({ id = null, dir }) => ({ id, path: dir })),
    files: singles.map(({ path }) => path),
    replaced: replacing.map(({ path }) => path),
    already: { work_items: already.items, files: already.files },
    conflicts: conflicts.map(({ path, why, isFault }) => ({ path, why, keepable: !isFault })),
  };
};

/** The members that an import of another tool's tasks adds. */
export const tasksReport = (
  { tool, name, at, tasks, problems: unread, left }: TaskSource,
  { states, already, editedHere, changedThere, problems }: TaskImport,
): object => ({
  source: at,
  tool,
  project: name,
  tasks: tasks.length + unread.length,
  states: Object.fromEntries(states),
  unchanged: already,
  problems,
  left,
  changed_here: editedHere,
  changed_there: changedThere,
});
