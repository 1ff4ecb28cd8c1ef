import { chmodSync } from 'node:fs';
import { truncate } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { isDone } from '../base/attempt.ts';
import { StoreError } from '../base/errors.ts';
import { fixCommand } from '../base/text.ts';
import { journalMarkFile } from '../consent/workspace-id.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { listDirectory } from '../front-matter/folder.ts';
import {
  type FileProblem,
  fileProblem,
  LINKED_FOLDER,
  Problem,
  toProblem,
} from '../front-matter/problem.ts';
import { privateOf } from '../fs/directories.ts';
import { NOT_A_DIRECTORY, statsAt } from '../fs/plain-path.ts';
import { removeTreeSync } from '../fs/remove.ts';
import { linkedInUndo, saveToUndo, unlinkKept } from '../fs/undo.ts';
import type { JournalSnapshot } from '../journal/journal-file.ts';
import { problemOfRollback } from '../journal/journal-problems.ts';
import { isOlder, type JournalEnd, readMark } from '../journal/mark.ts';
import type { Layout } from '../layout.ts';
import { baselineOwners, readBaseline } from '../sessions/baselines.ts';
import type { WebhookFile } from '../settings/read-webhooks.ts';
import { INCOMING } from '../webhooks/secrets.ts';
import { checkKeyFile, keyFiles } from '../workspace/api-keys.ts';
import { readTurn, turnOwners } from '../worktrees/turn-records.ts';
import { pathKind, readAnyWorktree } from '../worktrees/worktrees.ts';
import { error, errorAt, type Finding, type Mend, warning } from './finding.ts';

export interface Machine {
  layout: Layout;
  /** Whether a daemon runs, whose temporary files are not leftovers. */
  isRunning: boolean;
  journal: JournalSnapshot | undefined;
  /** The end of the journal. */
  end: JournalEnd;
  /** The ids of the Work items, also of those in directories that may not be read. */
  ids: ReadonlySet<string>;
  /** Every webhook registration by file, including unreadable ones. */
  webhooks: ReadonlyMap<string, ReadEntry<WebhookFile>>;
}

/** Checks the files of this machine in `.dossier/`. */
export const checkMachine = (machine: Machine): Finding[] => {
  const { layout } = machine;
  const stats = statsAt(layout.dossier);
  if (stats === undefined) return [];
  const own = relative(layout.root, layout.dossier);
  if (!stats.isDirectory())
    return errorAt(own, new Problem('not_a_directory', `It ${NOT_A_DIRECTORY}`));
  return [
    ...checkMode(layout, layout.dossier, 0o700),
    ...checkLinks(layout),
    ...(machine.isRunning ? [] : [...checkLeftovers(layout), ...checkUndo(layout)]),
    ...checkJournal(machine),
    ...checkWorktrees(machine),
    ...checkTurns(layout),
    ...checkSecrets(machine),
    ...checkKeys(layout),
  ];
};

const checkMode = (layout: Layout, path: string, mode: number): Finding[] => {
  const now = othersMode(path, mode);
  if (now === undefined) return [];
  const message = `Its mode is ${octal(now)}, so other users can access it; it should be ${octal(mode)} at most. ${fixCommand(layout)} tightens it; a file system that keeps no modes (FAT, exFAT) is mounted with umask=077 for that`;
  const mend: Mend = async () => {
    // Without modes it fails, or does nothing.
    const isChanged = isDone(() => chmodSync(path, now & mode), 'EPERM');
    if (!isChanged || othersMode(path, mode) !== undefined) return undefined;
    return `mode changed from ${octal(now)} to ${octal(now & mode)}`;
  };
  return [error({ file: relative(layout.root, path), code: 'wide_mode', message }, mend)];
};

/** The mode of a file if it allows more than `mode`; undefined if it does not. */
export const othersMode = (path: string, mode: number): number | undefined => {
  const now = (statsAt(path)?.mode ?? mode) & 0o777;
  return (now & ~mode) === 0 ? undefined : now;
};

export const octal = (mode: number): string => mode.toString(8).padStart(4, '0');

// The daemon refuses to start with a link here, which could make it overwrite or empty files elsewhere.
const checkLinks = (layout: Layout): Finding[] =>
  privateOf(layout)
    .flatMap((dir) => listDirectory(dir).map((name) => join(dir, name)))
    .filter((path) => statsAt(path)?.isSymbolicLink() === true)
    .flatMap((path) => errorAt(relative(layout.root, path), LINKED_FOLDER));

const checkLeftovers = (layout: Layout): Finding[] =>
  [layout.tmp, layout.trash].flatMap((dir) => {
    const names = listDirectory(dir);
    if (names.length === 0) return [];
    const what = names.length === 1 ? 'One leftover' : `${names.length} leftovers`;
    const message = `${what} of an interrupted operation. ${fixCommand(layout)} removes ${names.length === 1 ? 'it' : 'them'}, as does the next start`;
    return [
      warning({ file: relative(layout.root, dir), code: 'leftover', message }, async () => {
        for (const name of names) removeTreeSync(join(dir, name));
        return `removed: ${names.length}`;
      }),
    ];
  });

// A write interrupted before its rename leaves a hard link of the target here.
const checkUndo = (layout: Layout): Finding[] =>
  linkedInUndo(layout).map((path) => {
    const message = `A write was interrupted, so this is a hard link to a file in use. ${fixCommand(layout)} makes it a separate file`;
    const file = relative(layout.root, join(layout.undo, path));
    return warning({ file, code: 'leftover', message }, async () => {
      await unlinkKept(layout, path);
      return 'is now a separate file';
    });
  });

const checkJournal = ({ layout, isRunning, journal, end }: Machine): Finding[] => {
  if (journal === undefined) return [];
  const path = join(layout.journal, journal.name);
  const file = relative(layout.root, path);
  const { damaged, tail } = journal;
  const findings = [
    ...damaged.map((line) =>
      warning({ file, line, column: 1, code: 'journal_damaged', message: DAMAGED }),
    ),
    ...(isRunning ? [] : checkEnd(layout, journal, end)),
  ];
  if (tail === undefined || isRunning) return findings;
  const mend: Mend = async () => {
    await saveToUndo(layout, `tail-${journal.name}`, tail.bytes);
    await truncate(path, tail.from);
    return `cut at line ${tail.line}; the ${tail.bytes.length} removed bytes are in .dossier/undo`;
  };
  const place = { line: tail.line, column: 1 };
  return [
    ...findings,
    warning({ file, ...place, code: 'journal_torn', message: tornText(layout) }, mend),
  ];
};

// Only without a running daemon, which could write between the reads of mark and journal.
const checkEnd = (
  layout: Layout,
  { damaged, tail }: JournalSnapshot,
  end: JournalEnd,
): Finding[] => {
  const mark = journalMarkFile(layout);
  const noted = mark === undefined ? undefined : readMark(mark);
  // A damaged line may have been the end.
  if (damaged.length > 0 || tail !== undefined || !noted || !isOlder(end, noted)) return [];
  return [warning(problemOfRollback(layout, { last: end.last, told: noted.last }))];
};

const DAMAGED = 'The line is damaged. The daemon skips it and compares its Work item again';
const tornText = (layout: Layout): string =>
  `The last line is incomplete after a crash, and was never in effect. ${fixCommand(layout)} cuts it, as does the next start`;

const checkWorktrees = ({ layout, ids }: Machine): Finding[] =>
  listDirectory(layout.worktrees)
    // The next start completes an interrupted change, which has a file of its own.
    .filter((name) => name.endsWith('.json') && !name.endsWith('.change.json'))
    .flatMap((name) => checkWorktree(layout, name.slice(0, -'.json'.length), ids));

const checkWorktree = (layout: Layout, id: string, ids: ReadonlySet<string>): Finding[] => {
  const file = `${relative(layout.root, layout.worktrees)}/${id}.json`;
  try {
    const found = readAnyWorktree(layout, id);
    // A record of another machine is reported as untrusted.
    if (found?.isOurs !== true) return [];
    const { record } = found;
    const gone = pathKind(record.path) !== 'directory';
    const findings: Finding[] = [];
    if (!ids.has(id)) {
      const message = `There is no Work item ${id} here. If it will not come back, check ${record.path}, then send DELETE /api/cases/${id}/worktree`;
      findings.push(warning({ file, code: 'orphan_worktree', message }));
    }
    if (gone) {
      const message = `${record.path} does not exist. Put it back, or remove the worktree: DELETE /api/cases/${id}/worktree`;
      findings.push(warning({ file, code: 'worktree_gone', message }));
    }
    return findings;
  } catch (thrown) {
    return [unreadable(file, thrown)];
  }
};

// An interrupted turn whose record does not count keeps every later one out of its worktree.
const checkTurns = (layout: Layout): Finding[] => [
  ...baselineOwners(layout).flatMap((id) =>
    checkReadable(layout, join(layout.baselines, `${id}.json`), () => readBaseline(layout, id)),
  ),
  ...turnOwners(layout).flatMap((id) =>
    checkReadable(layout, join(layout.repositories, `${id}.json`), () => readTurn(layout, id)),
  ),
];

const checkReadable = ({ root }: Layout, path: string, read: () => unknown): Finding[] => {
  try {
    read();
    return [];
  } catch (thrown) {
    return [unreadable(relative(root, path), thrown)];
  }
};

const unreadable = (file: string, thrown: unknown): Finding => {
  const told = thrown instanceof StoreError ? thrown.details.problem : undefined;
  return error((told as FileProblem | undefined) ?? fileProblem(file, toProblem(thrown)));
};

const checkSecrets = ({ layout, webhooks }: Machine): Finding[] => {
  const names = listDirectory(layout.secrets);
  const modes = names.flatMap((name) => checkMode(layout, join(layout.secrets, name), 0o600));
  const entries = [...webhooks.values()];
  const known = new Map(
    [...webhooks].flatMap(([file, { value }]): [string, string][] =>
      value === undefined || value.matter.disabled === true || value.adopt?.id !== undefined
        ? []
        : [[value.matter.id, file]],
    ),
  );
  const ids = new Set(entries.map(({ value }) => value?.matter.id));
  // An unreadable registration may belong to any of the secrets.
  const isOrphan = (name: string): boolean => name !== INCOMING && !ids.has(name);
  const orphans = ids.has(undefined) ? [] : names.filter(isOrphan);
  return [
    ...modes,
    ...orphans.map((name) =>
      warning({
        file: `${relative(layout.root, layout.secrets)}/${name}`,
        code: 'orphan_secret',
        message:
          'No webhook has this id. Unless one is restored, the next start removes the secret',
      }),
    ),
    ...[...known]
      .filter(([id]) => !names.includes(id))
      .map(([id, file]) => warning({ file, code: 'no_secret', message: wordsFor(id) })),
  ];
};

const wordsFor = (id: string): string =>
  `This machine has no secret for this webhook. The daemon creates .dossier/secrets/${id} with the first delivery: give it to the receiver, or put the previous secret there`;

const checkKeys = (layout: Layout): Finding[] =>
  keyFiles(layout).flatMap((path) => [
    ...checkMode(layout, path, 0o600),
    ...checkReadable(layout, path, () => checkKeyFile(layout, path)),
  ]);
