import { isUtf8 } from 'node:buffer';
import { basename, join, dirname } from 'node:path';
import { UsageError, type Config } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { edited } from '../output/editor.ts';
import { type Verb, verb } from './verb.ts';
import { existsSync, readFileSync } from 'node:fs';
import { orElse } from '../../../store/base/or-else.ts';
import { pathContains } from '../../../store/base/path-contains.ts';
import { createFile, replaceFile } from '../../../store/fs/durable.ts';
import { layoutOf } from '../../../store/layout.ts';

const CASE_FILE = 'case.md';
const OF_A_SESSION = ['plan.md', 'comments.md'];

/**
 * `dossier edit ITEM [FILE]`: a file of a Work item in the operator's editor. What was written is saved unless the file changed
 * meanwhile. Exits with 1 where files of the Work item cannot be read then.
 */
export const edit = verb(async (given) => {
  const { dossier, words, values, config, out } = given;
  const id = await itemOf(dossier, words[0] ?? '');
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
  return problems.length === 0 ? 0 : 1;
});

const fileOf = async (given: Verb, id: string): Promise<WorkspaceFile> => {
  const { dossier, values, config } = given;
  const [, name = CASE_FILE] = given.words;
  const isOfSession = OF_A_SESSION.includes(name);
  if (values.session !== undefined && !isOfSession)
    throw new UsageError(`--session is for ${OF_A_SESSION.join(' and ')}`);
  const { path } = isOfSession
    ? await sessionOf(dossier, id, values.session)
    : await dossier.call('GET /cases/{id}', { id });
  const directory = join(config.workspace, path);
  return readWorkspaceFile(directory, join(directory, name));
};

// False where it was left as it is.
const editFileOf = async ({ config }: Verb, file: WorkspaceFile): Promise<boolean> => {
  const { path, before = Buffer.alloc(0) } = file;
  if (!isUtf8(before)) throw new Refusal(`${path} is not UTF-8 text`);
  const old = before.toString();
  return edited({ text: old, name: basename(path), env: config.env }, async (text) => {
    if (text === old) return false;
    await saveWorkspaceFile(config, file, text);
    return true;
  });
};

/** A file of the workspace, as it was read; without `before` there was none. */
interface WorkspaceFile {
  path: string;
  before: Buffer | undefined;
}

/** Reads a file below a directory of the workspace, or what is not there yet. Throws a Refusal where it lies elsewhere. */
const readWorkspaceFile = (directory: string, path: string): WorkspaceFile => {
  if (!pathContains(directory, path)) throw new Refusal(`${path} is not in ${directory}`);
  if (!existsSync(dirname(path)))
    throw new Refusal(`There is no directory ${dirname(path)}. Create it first`);
  return { path, before: orElse(() => readFileSync(path), undefined, 'ENOENT') };
};

/** Saves it, on disk, with the former text in `.dossier/undo/`. Throws a Refusal where the file changed since it was read. */
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
  if (!isSaved) throw new Refusal(`${basename(path)} was changed meanwhile, and is left as it is.`);
};
