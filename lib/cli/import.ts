import { resolve } from 'node:path';
import { type Archive, ArchiveError } from '../../store/archive/archive.ts';
import { openUnpacked, sourceKindOf } from '../../store/archive/unpacked.ts';
import { openZip } from '../../store/archive/zip-file.ts';
import { StoreError } from '../../store/base/errors.ts';
import { Problem } from '../../store/front-matter/problem.ts';
import { hasCode } from '../../store/fs/durable.ts';
import { layoutOf } from '../../store/layout.ts';
import { waitingOnDisk } from '../../store/pending/pending-on-disk.ts';
import type { WaitingValue } from '../../store/records/trust.ts';
import { WorkspaceHeldError } from '../../store/workspace/daemon-lock.ts';
import { isThere } from '../../store/workspace/inspect.ts';
import { whyNoWorkspace } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { waitingLines } from '../guard/trust/show.ts';
import { type BroughtIn, type ImportOptions, isRefused } from '../transfer/import/bring-in.ts';
import { type FoundTasks, findTasks } from '../transfer/import/find-tasks.ts';
import { importArchive } from '../transfer/import/import-archive.ts';
import { importTasks } from '../transfer/import/import-tasks.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { broughtIn, tasksBroughtIn } from './import-json.ts';
import { aboutArchive, aboutConflicts, aboutTasks } from './import-words.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';
import { needWorkspace } from './places.ts';
import { askedToStop } from './signals.ts';

/** What it says, line by line or to programs, and the exit code. */
interface Told {
  lines: string[];
  json: object;
  code: number;
}

/** The command: as importInto, until SIGINT or SIGTERM, and says what it did on standard output. */
export const importCommand = (call: Call): Promise<number> => {
  const life = new AbortController();
  void askedToStop().then((signal) =>
    life.abort(new Refusal(`Stopped by ${signal}; nothing was imported.`)),
  );
  return importInto(call, toStandardOutput, life.signal);
};

/**
 * Brings an export, or the tasks of another tool, into the workspace. Answers 1 when some tasks could not be
 * read and the others came in. Throws a Refusal when it is not to be done; nothing was written then.
 */
export const importInto = async (call: Call, say: Say, signal?: AbortSignal): Promise<number> => {
  const { config, values } = call;
  const { lines, json, code } = await bring(call, signal).catch((error: unknown) => {
    throw asRefusal(error, config);
  });
  const waiting =
    values['dry-run'] === true ? [] : waitingOnDisk(layoutOf(config.workspace, config.state));
  if (values.json === true) sayJson(say, { ...json, waiting });
  else for (const line of [...lines, ...aboutTrust(config, waiting)]) say(line);
  return code;
};

// What came in starts nothing and sends nothing before the operator has looked at it.
const aboutTrust = ({ workspace }: Config, waiting: readonly WaitingValue[]): string[] => {
  if (waiting.length === 0) return [];
  return [
    'Waits until you have looked at it and said yes, on this machine:',
    ...waitingLines(waiting),
    `Next: dossier trust --workspace ${workspace}`,
  ];
};

const bring = async (call: Call, signal: AbortSignal | undefined): Promise<Told> => {
  const source = resolve(call.words[0] ?? '');
  const kind = sourceKindOf(source);
  if (kind === 'absent')
    throw new Refusal(`${source} is not there. Name a zip file or a directory.`);
  if (kind === 'other') throw new Refusal(`${source} is neither a file nor a directory.`);
  const found = findTasks(source);
  if (found.length > 0) return fromTasks(call, found, signal);
  if (kind === 'file') return fromArchive(call, await openZip(source), signal);
  if (kind === 'export') return fromArchive(call, openUnpacked(source), signal);
  throw new Refusal(`${source} ${kind === 'workspace' ? WORKSPACE : STRANGE}`);
};

const WORKSPACE =
  'is a workspace, not an export of one: it has no manifest.json. Run dossier serve --workspace on it as it is, or ' +
  'export it (GET /api/export of its daemon) and import that.';
const STRANGE =
  'holds nothing that can be imported. Name the zip file of an export, a directory that one was unpacked to, or the ' +
  'tasks of Backlog.md, beads, veritas-kanban, Cline Kanban or vibe-kanban (dossier help export).';

const fromArchive = async (
  call: Call,
  archive: Archive,
  signal: AbortSignal | undefined,
): Promise<Told> => {
  try {
    const options = ready(call, signal);
    const done = await importArchive(archive, options);
    return {
      lines: aboutArchive(archive.name, done, options),
      json: { source: archive.name, ...broughtIn(done, options) },
      code: codeOf(done, options),
    };
  } finally {
    archive.close();
  }
};

const fromTasks = async (
  call: Call,
  found: readonly FoundTasks[],
  signal: AbortSignal | undefined,
): Promise<Told> => {
  const [first, ...others] = found;
  if (first === undefined || others.length > 0) throw new Refusal(several(found));
  const source = await first.read(call.config.env);
  const options = ready(call, signal);
  const done = await importTasks(source, options);
  const code = done.problems.length > 0 ? 1 : codeOf(done, options);
  return {
    lines: aboutTasks(source, done, options),
    json: { ...tasksBroughtIn(source, done), ...broughtIn(done, options) },
    code,
  };
};

const several = (found: readonly FoundTasks[]): string =>
  `There are tasks of more than one tool here. Name one: ${found.map(({ tool, path }) => `${path} (${tool})`).join(', ')}.`;

// Before anything is made: of what is only tried, nothing is.
const ready = ({ config, values }: Call, signal: AbortSignal | undefined): ImportOptions => {
  const { workspace } = config;
  const { 'dry-run': dryRun = false, 'keep-existing': keepExisting = false } = values;
  if (!dryRun) needWorkspace(config);
  const why = isThere(workspace) ? whyNoWorkspace(workspace) : undefined;
  if (why !== undefined) throw new Refusal(`${workspace} ${why}. Give another with --workspace.`);
  return { workspace, dryRun, keepExisting, ...(signal !== undefined && { signal }) };
};

const codeOf = ({ plan: { conflicts } }: BroughtIn, options: ImportOptions): number => {
  if (!isRefused(conflicts, options.keepExisting)) return 0;
  if (options.dryRun) return 1;
  throw new Refusal(aboutConflicts(conflicts).join('\n'));
};

const asRefusal = (error: unknown, { workspace }: Config): unknown => {
  if (error instanceof ArchiveError || error instanceof StoreError)
    return new Refusal(error.message);
  if (error instanceof WorkspaceHeldError)
    return new Refusal(`${error.message} Nothing was imported.`);
  if (error instanceof Problem)
    return new Refusal(`What is to be imported cannot be read: ${error.message}.`);
  if (hasCode(error, 'ENOSPC', 'EDQUOT'))
    return new Refusal(`The disk of ${workspace} is full. Make room, and run the import again.`);
  if (hasCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new Refusal(`${(error as Error).message}. Give this user access, and run it again.`);
  return error;
};
