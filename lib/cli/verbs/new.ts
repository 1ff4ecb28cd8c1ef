import type { Case, Dossier } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { readFileOption } from '../args/input-text.ts';
import { Refusal } from '../args/refusal.ts';
import { findProjectHere } from '../connection/project.ts';
import { findOrStartDaemon } from '../connection/start.ts';
import { editText } from '../output/editor.ts';
import { isTerminal, warn } from '../output/terminal.ts';
import { type Verb, verb } from './verb.ts';

const TEMPLATE = `

<!-- The first line is the title, the lines below are the description in Markdown. Without a title nothing is created. -->
`;

/** `dossier new [TITLE...]`: creates a Work item from words, a file, an issue, or an editor. */
export const newItem = verb(async (given) => {
  const { dossier, values, out } = given;
  const made = await makeItem(given);
  const { notes = [], ...item } = { ...made } as typeof made & { notes?: string[] };
  const names = await othersThan(dossier, item.project).catch(() => undefined);
  if (names !== undefined) warn(withoutRepository(given, item, names));
  if (values.json === true) return void out.json(made);
  for (const note of notes) out.say({ style: 'yellow', text: note });
  out.table([[item.id.slice(0, 8), item.title]]);
}, findOrStartDaemon);

/** Creates a Work item from words and options. Throws a Refusal without a title. */
export const makeItem = async (given: Verb) => {
  const made = given.values.issue === undefined ? await written(given) : await imported(given);
  if (made === undefined) throw new Refusal('There is no title, so nothing was created');
  return made;
};

/** Creates it in the project of the current directory, and says which repository it is for if that is in none. */
const inProject = async <T extends Pick<Case, 'project'>>(
  given: Verb,
  send: (project: string | undefined) => Promise<T>,
): Promise<T> => {
  const project = await projectOf(given);
  const made = await send(project);
  // The Work item is there, whether or not the settings can be read.
  if (project === undefined && given.values.json !== true)
    await sayPlace(given, made.project).catch(() => undefined);
  return made;
};

// Outside a repository it is for the only project, which is not what one sees around oneself.
const sayPlace = async ({ dossier }: Verb, project: string): Promise<void> => {
  const { projects } = await dossier.call('GET /settings');
  const found = projects.find(({ name }) => name === project || projects.length === 1);
  if (found !== undefined)
    warn(`This directory is not in a code repository, so the Work item is for ${found.place}`);
};

/** Throws a Refusal if no session could start on a new Work item, before that is created. */
export const requireRepository = async (given: Verb): Promise<void> => {
  const project = await projectOf(given);
  const names = await othersThan(given.dossier, project ?? 'default');
  if (names === undefined) return;
  const other =
    names.length === 0 ? '' : `, or name a project with --project ${names.join(' or ')}`;
  throw new Refusal(
    `There is no repository to work in, so nothing was created. Run this in a git repository${other}`,
  );
};

// If the project has no repository, so that no session can start, returns the names of those that have one.
const othersThan = async (dossier: Dossier, project: string): Promise<string[] | undefined> => {
  const { projects } = await dossier.call('GET /settings');
  const names = projects.map(({ name }) => name);
  // `default` also stands for the only project.
  const has = names.includes(project) || (project === 'default' && names.length === 1);
  return has ? undefined : names;
};

const withoutRepository = (
  { typed }: Verb,
  { id, project }: Case,
  names: readonly string[],
): string => {
  const other = names.length === 0 ? '' : `, or --project ${names.join(' or ')}`;
  return `Its project ${project} has no repository. Set another: ${typed(`start ${id.slice(0, 8)} --project NAME`)}. Next time, run this in a repository${other}.`;
};

const imported = async (given: Verb) => {
  const { dossier, values, words } = given;
  const number = Number(values.issue);
  if (!/^[1-9]\d*$/.test(values.issue ?? ''))
    throw new UsageError(`--issue takes the number of an issue, not ${values.issue}`);
  if (words.length > 0 || values.file !== undefined)
    throw new UsageError(
      '--issue takes title and description from the issue: leave out TITLE and --file',
    );
  return inProject(given, (project) =>
    dossier.call('POST /api/codehost/issues/import-case', {
      body: { number, project, type: values.type },
    }),
  );
};

const written = async (given: Verb) => {
  const { words, values, config } = given;
  const title = words.join(' ').trim();
  if (values.file !== undefined) {
    const text = await readFileOption(values.file);
    return create(given, title === '' ? partsOf(text) : { title, description: text });
  }
  if (title !== '') return create(given, { title, description: '' });
  if (!isTerminal())
    throw new UsageError('Give a TITLE, --file FILE (- is standard input), or --issue N');
  return editText({ text: TEMPLATE, name: 'work-item.md', env: config.env }, (text) =>
    create(given, partsOf(text.replace(/<!--.*?-->\n?/gs, ''))),
  );
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

// By default, the project of the current directory's repository.
const projectOf = async ({ dossier, config, values }: Verb): Promise<string | undefined> =>
  values.project ?? (await findProjectHere(config, dossier))?.name;

const create = async (given: Verb, { title, description }: Parts) => {
  if (title === '') return undefined;
  const { type = 'task' } = given.values;
  return inProject(given, (project) => {
    const body = { title, type, project, ...(description.trim() !== '' && { description }) };
    return given.dossier.call('POST /cases', { body });
  });
};
