import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { pathContains } from '../../../store/base/paths.ts';
import { createFile, replaceFile } from '../../../store/fs/durable.ts';
import { layoutOf } from '../../../store/layout.ts';
import { type Config, UsageError } from '../../config.ts';
import { Refusal, requireDirectoryOf } from '../args/refusal.ts';
import { findItem, findSession } from '../connection/find.ts';
import { editText } from '../output/editor.ts';
import { type Verb, verb } from './verb.ts';

const CASE_FILE = 'case.md';
const OF_A_SESSION = ['plan.md', 'comments.md'];

/**
 * `dossier edit ITEM [FILE]`: opens a file of a Work item in the operator's editor, and saves it unless it changed meanwhile.
 * Returns 1 if the file is invalid afterwards.
 */
export const edit = verb(async (given) => {
  const { dossier, words, values, config, out } = given;
  const id = await findItem(given, words[0]);
  const file = await fileOf(given, id);
  const isChanged = await editFileOf(given, file);
  const item = await dossier.call('GET /cases/{id}', { id });
  const { problems = [] } = item;
  if (values.json === true) out.json({ ...item, file: file.path });
  else {
    out.say(isChanged ? `Saved ${file.path}` : 'Nothing was changed.');
    for (const { file: path, line, message } of problems)
      out.say({
        style: 'yellow',
        text: `${join(config.workspace, path)}:${line ?? 1}: ${message}`,
      });
  }
  return problems.some((each) => join(config.workspace, each.file) === file.path) ? 1 : 0;
});

const fileOf = async (given: Verb, id: string): Promise<WorkspaceFile> => {
  const { dossier, values, config } = given;
  const [, name = CASE_FILE] = given.words;
  const isOfSession = OF_A_SESSION.includes(name);
  if (values.session !== undefined && !isOfSession)
    throw new UsageError(`--session is for ${OF_A_SESSION.join(' and ')}`);
  const { path } = isOfSession
    ? await findSession(given, id, values.session)
    : await dossier.call('GET /cases/{id}', { id });
  const directory = join(config.workspace, path);
  return readWorkspaceFile(directory, join(directory, name));
};

// Returns false if the text is unchanged.
const editFileOf = async ({ config }: Verb, file: WorkspaceFile): Promise<boolean> => {
  const { path, before = Buffer.alloc(0) } = file;
  if (!isUtf8(before)) throw new Refusal(`${path} is not UTF-8 text`);
  const old = before.toString();
  return editText({ text: old, name: basename(path), env: config.env }, async (text) => {
    if (text === old) return false;
    await saveWorkspaceFile(config, file, text);
    return true;
  });
};

/** A file of the workspace with its content when it was read; `before` is undefined for a new file. */
interface WorkspaceFile {
  path: string;
  before: Buffer | undefined;
}

/** Reads a file below a directory of the workspace, which need not exist. Throws a Refusal for a path outside of it. */
const readWorkspaceFile = (directory: string, path: string): WorkspaceFile => {
  if (!pathContains(directory, path))
    throw new Refusal(`${path} is not in ${directory}. Name a file relative to that directory`);
  requireDirectoryOf(path);
  return { path, before: orElse(() => readFileSync(path), undefined, 'ENOENT') };
};

/** Saves a file, and its old content in `.dossier/undo/`. Throws a Refusal if the file changed since it was read. */
const saveWorkspaceFile = async (
  { workspace }: Config,
  { path, before }: WorkspaceFile,
  text: string,
): Promise<void> => {
  const layout = layoutOf(workspace);
  const isSaved =
    before === undefined
      ? await createFile(layout, path, text)
      : await replaceFile(layout, path, before, text);
  if (!isSaved)
    throw new Refusal(`${basename(path)} changed while you edited it, so your text was not saved.`);
};
