import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Case, Dossier } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { projectHere } from '../connection/project.ts';
import { daemonOrStart } from '../connection/start.ts';
import { edited } from '../output/editor.ts';
import { isTerminal, warn } from '../output/terminal.ts';
import { type Verb, verb } from './verb.ts';

const TEMPLATE = `

<!-- The first line is the title, and what stands below it is described in Markdown. Without a title nothing is made. -->
`;

/** `dossier new [TITLE...]`: a Work item, from words, a file, an issue, or what is written in an editor. */
export const newItem = verb(async (given) => {
  const { dossier, values, out } = given;
  const made = await makeItem(given);
  if (made === undefined) return 1;
  const { notes = [], ...item } = { ...made } as typeof made & { notes?: string[] };
  const names = await othersThan(dossier, item.project);
  if (names !== undefined) warn(withoutRepository(item, names));
  if (values.json === true) return void out.json(made);
  for (const note of notes) out.say({ style: 'yellow', text: note });
  out.table([[item.id.slice(0, 8), item.title]]);
  return undefined;
}, daemonOrStart);

/** The Work item that the words and options describe; undefined, once that was said, where they have no title. */
export const makeItem = async (given: Verb) => {
  const made = given.values.issue === undefined ? await written(given) : await imported(given);
  if (made === undefined) given.out.say('Without a title nothing is made.');
  return made;
};

/** Throws a Refusal where no session could begin on a new Work item: before it is made. */
export const refuseWithoutRepository = async (given: Verb): Promise<void> => {
  const project = await projectOf(given);
  const names = await othersThan(given.dossier, project ?? 'default');
  if (names === undefined) return;
  const other =
    names.length === 0 ? '' : `, or name a project with --project ${names.join(' or ')}`;
  throw new Refusal(
    `There is no repository to work in: call this in one${other}. Nothing was made`,
  );
};

// The names of the projects that have a repository, where this one has none: no session can begin on it.
const othersThan = async (dossier: Dossier, project: string): Promise<string[] | undefined> => {
  const { projects } = await dossier.call('GET /settings');
  const names = projects.map(({ name }) => name);
  // The only project is meant by `default`, too.
  const has = names.includes(project) || (project === 'default' && names.length === 1);
  return has ? undefined : names;
};

const withoutRepository = ({ id, project }: Case, names: readonly string[]): string => {
  const other = names.length === 0 ? '' : `, or --project ${names.join(' or ')}`;
  return `It is of the project ${project}, which has no repository to work in: name another with dossier start ${id.slice(0, 8)} --project NAME. The next time call this in its repository${other}.`;
};

const imported = async (given: Verb) => {
  const { dossier, values, words } = given;
  const number = Number(values.issue);
  if (!/^[1-9]\d*$/.test(values.issue ?? '')) throw new UsageError('--issue takes its number');
  if (words.length > 0 || values.file !== undefined)
    throw new UsageError('What is made of an issue has its title and its text');
  const body = { number, project: await projectOf(given), type: values.type };
  return dossier.call('POST /api/codehost/issues/import-case', { body });
};

const written = async (given: Verb) => {
  const { words, values, config } = given;
  const title = words.join(' ').trim();
  if (values.file !== undefined) {
    const text = await readGiven(values.file);
    return create(given, title === '' ? partsOf(text) : { title, description: text });
  }
  if (title !== '') return create(given, { title, description: '' });
  if (!isTerminal())
    throw new UsageError('It needs a title, --file FILE (- is standard input), or --issue N');
  return edited({ text: TEMPLATE, name: 'work-item.md', env: config.env }, (text) =>
    create(given, partsOf(text.replace(/<!--.*?-->\n?/gs, ''))),
  );
};

// More than the daemon takes of a description, and no more than that of what never ends.
const MOST = 1_048_576;

const readGiven = async (file: string): Promise<string> => {
  const bytes = await readAll(file === '-' ? process.stdin : createReadStream(file));
  if (isUtf8(bytes)) return bytes.toString();
  throw new Refusal('What --file names is not UTF-8. Save it as that');
};

const readAll = async (source: AsyncIterable<Buffer>): Promise<Buffer> => {
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of source) {
      parts.push(part);
      size += part.length;
      if (size > MOST) break;
    }
  } catch (error) {
    throw new UsageError(`--file cannot be read: ${(error as Error).message}`);
  }
  if (size > MOST) throw new Refusal('What --file names has over 1 MB. Shorten it');
  return Buffer.concat(parts);
};

interface Parts {
  title: string;
  description: string;
}

// The first line, whether it is a heading or not.
const partsOf = (text: string): Parts => {
  const [first = '', ...rest] = text.trim().split(/\r?\n/);
  return { title: first.replace(/^#+\s+/, '').trim(), description: rest.join('\n').trim() };
};

// Work is meant for the repository that one stands in.
const projectOf = async ({ dossier, config, values }: Verb): Promise<string | undefined> =>
  values.project ??
  (await projectHere(config, { dossier, directory: process.cwd(), add: true }))?.name;

const create = async (given: Verb, { title, description }: Parts) => {
  if (title === '') return undefined;
  const { type = 'task' } = given.values;
  const project = await projectOf(given);
  const body = { title, type, project, ...(description.trim() !== '' && { description }) };
  return given.dossier.call('POST /cases', { body });
};
