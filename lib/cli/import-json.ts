import type { BroughtIn, ImportOptions } from '../transfer/import/import-files.ts';
import type { TaskImport } from '../transfer/import/import-tasks.ts';
import type { TaskSource } from '../transfer/import/task-source.ts';

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
