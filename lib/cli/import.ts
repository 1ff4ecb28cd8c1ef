import { resolve } from 'node:path';
import { type Archive, ArchiveError } from '../../store/archive/archive.ts';
import { openUnpacked, sourceKindOf } from '../../store/archive/unpacked.ts';
import { openZip } from '../../store/archive/zip-file.ts';
import { hasCode } from '../../store/base/attempt.ts';
import { StoreError } from '../../store/base/errors.ts';
import { dossierCommand, trustCommandFor } from '../../store/base/text.ts';
import { Problem } from '../../store/front-matter/problem.ts';
import { layoutOf } from '../../store/layout.ts';
import { pendingOnDisk } from '../../store/pending/offline.ts';
import type { WaitingValue } from '../../store/records/trust.ts';
import { WorkspaceHeldError } from '../../store/workspace/daemon-lock.ts';
import { isThere } from '../../store/workspace/inspect.ts';
import { workspaceObstacle } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { type FoundTasks, findTasks } from '../transfer/import/find-tasks.ts';
import {
  type ImportOptions,
  type ImportOutcome,
  importArchive,
  isRefused,
} from '../transfer/import/import-files.ts';
import { importTasks } from '../transfer/import/import-tasks.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import {
  archiveLines,
  archiveReport,
  conflictLines,
  taskLines,
  tasksReport,
} from './import-report.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';
import { ensureWorkspace } from './preflight.ts';
import { waitForStopSignal } from './process.ts';

/** The result as text and as JSON, and the exit code. */
interface Report {
  lines: string[];
  json: object;
  code: number;
}

/** `dossier import`: runs importInto until SIGINT or SIGTERM, and prints the result. */
export const importCommand = (call: Call): Promise<number> => {
  const life = new AbortController();
  void waitForStopSignal().then((signal) =>
    life.abort(new Refusal(`Stopped by ${signal}; nothing was imported.`)),
  );
  return importInto(call, toStandardOutput, life.signal);
};

/**
 * Imports an export, or the tasks of another tool. Returns 1 if some tasks could not be read and the others were imported.
 * Throws a Refusal if nothing was imported.
 */
export const importInto = async (call: Call, say: Say, signal?: AbortSignal): Promise<number> => {
  const { config, values } = call;
  const { lines, json, code } = await runImport(call, signal).catch((error: unknown) => {
    throw asRefusal(error, config);
  });
  const waiting =
    values['dry-run'] === true ? [] : pendingOnDisk(layoutOf(config.workspace, config.state));
  if (values.json === true) sayJson(say, { ...json, waiting });
  else for (const line of [...lines, ...trustLines(config, waiting)]) say(line);
  return code;
};

// Imported settings and webhooks are ignored until the operator confirms them.
const trustLines = ({ workspace }: Config, waiting: readonly WaitingValue[]): string[] => {
  if (waiting.length === 0) return [];
  return [
    'Ignored until you confirm it on this machine:',
    ...waitingLines(waiting),
    `Next: ${trustCommandFor({ root: workspace })}`,
  ];
};

const runImport = async (call: Call, signal: AbortSignal | undefined): Promise<Report> => {
  const source = resolve(call.words[0] ?? '');
  const kind = sourceKindOf(source);
  if (kind === 'absent')
    throw new Refusal(`${source} does not exist. Name a zip file or a directory.`);
  if (kind === 'other') throw new Refusal(`${source} is neither a file nor a directory.`);
  const found = findTasks(source);
  if (found.length > 0) return fromTasks(call, found, signal);
  if (kind === 'zip') return fromArchive(call, await openZip(source), signal);
  if (kind === 'export') return fromArchive(call, openUnpacked(source), signal);
  throw new Refusal(`${source} ${kind === 'workspace' ? ofWorkspace(source) : STRANGE}`);
};

const ofWorkspace = (source: string): string =>
  `is a workspace, not an export: it has no manifest.json. Use it with ${dossierCommand('serve', source)}, or export it (${dossierCommand('export', source)}) and import that.`;
const STRANGE =
  'contains nothing that can be imported. Name the zip file of an export, the directory it was unpacked to, or the ' +
  'tasks of Backlog.md, beads, veritas-kanban, Cline Kanban or vibe-kanban (dossier help export-and-import). dossier new --file FILE ' +
  'creates one Work item from a text file.';

const fromArchive = async (
  call: Call,
  archive: Archive,
  signal: AbortSignal | undefined,
): Promise<Report> => {
  try {
    const options = importOptions(call, signal);
    const done = await importArchive(archive, options);
    return {
      lines: archiveLines(archive.name, done, options),
      json: { source: archive.name, ...archiveReport(done, options) },
      code: exitCodeFor(done, options),
    };
  } finally {
    archive.close();
  }
};

const fromTasks = async (
  call: Call,
  found: readonly FoundTasks[],
  signal: AbortSignal | undefined,
): Promise<Report> => {
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) throw new Refusal(severalTools(found));
  const source = await first.read(call.config.env);
  const options = importOptions(call, signal);
  const done = await importTasks(source, options);
  const code = done.problems.length > 0 ? 1 : exitCodeFor(done, options);
  return {
    lines: taskLines(source, done, options),
    json: { ...tasksReport(source, done), ...archiveReport(done, options) },
    code,
  };
};

const severalTools = (found: readonly FoundTasks[]): string =>
  `This directory has tasks of several tools. Name one: ${found.map(({ tool, path }) => `${path} (${tool})`).join(', ')}.`;

// Checks the workspace first. A dry run does not create it.
const importOptions = (
  { config, values }: Call,
  signal: AbortSignal | undefined,
): ImportOptions => {
  const { workspace } = config;
  const { 'dry-run': dryRun = false, 'keep-existing': keepExisting = false } = values;
  if (!dryRun) ensureWorkspace(config);
  const why = isThere(workspace) ? workspaceObstacle(workspace) : undefined;
  if (why !== undefined) throw new Refusal(`${workspace} ${why}. Give another with --workspace.`);
  return { workspace, dryRun, keepExisting, ...(signal !== undefined && { signal }) };
};

const exitCodeFor = ({ plan: { conflicts } }: ImportOutcome, options: ImportOptions): number => {
  if (!isRefused(conflicts, options.keepExisting)) return 0;
  if (options.dryRun) return 1;
  throw new Refusal(conflictLines(conflicts).join('\n'));
};

const asRefusal = (error: unknown, { workspace }: Config): unknown => {
  if (error instanceof ArchiveError || error instanceof StoreError)
    return new Refusal(error.message);
  if (error instanceof WorkspaceHeldError)
    return new Refusal(`${error.message} Nothing was imported.`);
  if (error instanceof Problem) return new Refusal(`The import cannot be read: ${error.message}.`);
  if (hasCode(error, 'ENOSPC', 'EDQUOT'))
    return new Refusal(`The disk of ${workspace} is full. Free some space, and import again.`);
  if (hasCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new Refusal(`${(error as Error).message}. Give this user access, and import again.`);
  return error;
};
