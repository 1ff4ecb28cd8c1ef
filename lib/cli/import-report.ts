import { STATES } from '../../store/records/case.ts';
import { counted } from '../text/counted.ts';
import type { BroughtIn, ImportOptions } from '../transfer/import/bring-in.ts';
import type { TaskImport } from '../transfer/import/import-tasks.ts';
import type { ImportConflict } from '../transfer/import/plan.ts';
import type { TaskSource } from '../transfer/import/task-source.ts';

const SHOWN = 20;

/** What the import of an export did, or would do. */
export const aboutArchive = (
  name: string,
  { plan, isDone }: BroughtIn,
  { workspace, dryRun }: ImportOptions,
): string[] => {
  const { items, singles, replacing, already, conflicts } = plan;
  const replaced = replacing.map(({ path }) => path).join(', ');
  return [
    `${name} is whole: every file is as its manifest says`,
    `${dryRun ? 'Would import' : 'Imported'} ${amount(items.length, singles.length)} into ${workspace}`,
    ...(already.items + already.files > 0
      ? [`Here already, byte for byte: ${amount(already.items, already.files)}`]
      : []),
    ...(replaced === ''
      ? []
      : [
          `${dryRun ? 'Would replace' : 'Replaced'} ${replaced}, as dossier init made it until now`,
        ]),
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

const left = (conflicts: readonly ImportConflict[], isDone: boolean): string[] => {
  if (conflicts.length === 0) return [];
  const head = isDone ? 'Left as they are here:' : 'In the way:';
  return [head, ...listed(conflicts.map(({ path, why }) => `${path} ${why}`))];
};

const listed = (lines: readonly string[]): string[] => {
  const more = lines.length - SHOWN;
  return [
    ...lines.slice(0, SHOWN).map((line) => `  ${line}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
};

const next = (isDone: boolean, workspace: string): string[] =>
  isDone ? [`Next: dossier serve --workspace ${workspace}`] : ['Nothing was written'];

/** Why an import was refused, all conflicts that were found among it. */
export const aboutConflicts = (conflicts: readonly ImportConflict[]): string[] => {
  const isHopeless = conflicts.some(({ isFault }) => isFault);
  return [
    `${counted(conflicts.length, 'conflict')}, so nothing was imported:`,
    ...listed(conflicts.map(({ path, why }) => `${path} ${why}`)),
    isHopeless
      ? 'Mend the workspace that it is from, and export again.'
      : 'Move these away, or leave them as they are here and import the rest with --keep-existing.',
  ];
};

/** What the import of another tool's tasks did, or would do. */
export const aboutTasks = (
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
    ...(already > 0 ? [`Here already: ${counted(already, 'Work item')}`] : []),
    ...group('Here already, and changed here since; left as they are:', editedHere),
    ...group(`Here already, and changed in ${tool} since; left as they are:`, changedThere),
    ...left(plan.conflicts, isDone),
    ...group(
      'Cannot be read, and did not come in; mend them and import again:',
      problems.map(({ file, line, column, message }) =>
        line === undefined ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`,
      ),
    ),
    ...(stay.length > 0 ? [`Stays where it is: ${stay.join(', ')}`] : []),
    ...next(isDone, workspace),
  ];
};

const group = (head: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [head, ...listed(lines)];

/** What an import did, or would do, for programs. `done`: false where nothing was written. */
export const broughtIn = (
  { plan, isDone }: BroughtIn,
  { workspace, dryRun }: ImportOptions,
): object => {
  const { items, singles, replacing, already, conflicts } = plan;
  return {
    ...{ workspace, dry_run: dryRun, done: isDone },
    work_items: items.map(({ id = null, dir }) => ({ id, path: dir })),
    files: singles.map(({ path }) => path),
    replaced: replacing.map(({ path }) => path),
    already: { work_items: already.items, files: already.files },
    conflicts: conflicts.map(({ path, why, isFault }) => ({ path, why, keepable: !isFault })),
  };
};

/** The same of what is told of another tool's tasks alone. */
export const tasksBroughtIn = (
  { tool, name, at, tasks, problems: unread, left }: TaskSource,
  { states, already, editedHere, changedThere, problems }: TaskImport,
): object => ({
  ...{ source: at, tool, project: name, tasks: tasks.length + unread.length },
  ...{ states: Object.fromEntries(states), unchanged: already, problems, left },
  ...{ changed_here: editedHere, changed_there: changedThere },
});
