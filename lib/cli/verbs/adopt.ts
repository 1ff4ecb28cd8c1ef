import { resolve } from 'node:path';
import type { Data } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { counted } from '../../text/wording.ts';
import type { Run } from '../args/command.ts';
import { readFileOption } from '../args/input-text.ts';
import { Refusal } from '../args/refusal.ts';
import { findProjectHere } from '../connection/project.ts';
import { findOrStartDaemon, findOrStartInWorkspace } from '../connection/start.ts';
import { EXIT } from '../exit-codes.ts';
import { editText } from '../output/editor.ts';
import { ask, isTerminal, warn } from '../output/terminal.ts';
import { type Verb, verb } from './verb.ts';

type Adoptable = Data<'GET /api/adoptable'>;

/**
 * `dossier adopt [WHAT]`: lists sessions of agents, worktrees and branches without a Work item; with one of them, creates a
 * Work item from it. The summary of a session is confirmed by the operator, because agents will read it.
 */
export const adopt: Run = (call) =>
  verb(adoptOne, call.words.length === 0 ? findOrStartInWorkspace : findOrStartDaemon)(call);

const adoptOne = async (given: Verb): Promise<number | undefined> => {
  const { dossier, words, values, out, config, typed } = given;
  const [word] = words;
  const meant = OF_ONE.find((name) => values[name] !== undefined);
  if (word === undefined && meant !== undefined)
    throw new UsageError(`--${meant} needs a NAME: dossier adopt NAME --${meant}`);
  const here = await findProjectHere(config, dossier);
  const project = values.project ?? here?.name;
  const found = await dossier.call('GET /api/adoptable', { query: { project } });
  if (word === undefined) return void list(given, found);
  const what = choose(given, found, word);
  const wish = 'agent' in what ? await ofSession(given, what, project) : what;
  if (typeof wish === 'number') return wish;
  const { title, type } = values;
  const body = { ...wish, ...(title !== undefined && { title }), type, project };
  const made = await dossier.call('POST /api/adopt', { body });
  if (values.json === true) return void out.json(made);
  const { case_id, worktree, copied } = made;
  out.table([[case_id.slice(0, 8), made.title]]);
  if (copied > 0)
    out.say(
      `Copied ${counted(copied, 'uncommitted file')} to ${worktree?.path}; the originals are unchanged.`,
    );
  else if (worktree !== null) out.say(`Its worktree: ${worktree.path} (${worktree.branch})`);
  out.say(`Next: ${typed(`start ${case_id.slice(0, 8)}`)}`);
  return undefined;
};

const OF_ONE = ['title', 'type', 'file', 'no-changes'] as const;

const list = ({ values, out, typed }: Verb, found: Adoptable): void => {
  if (values.json === true) {
    out.json(found);
    return;
  }
  const { sessions, worktrees, branches } = found;
  out.table([
    ...sessions.map(({ agent, id, updated_at, branch, title, case_id }) => [
      nameOf({ agent, id }),
      dayOf(updated_at),
      branch ?? '',
      case_id === null ? title : `${title} (${case_id.slice(0, 8)})`,
    ]),
    ...worktrees.map((one) => [one.path, dayOf(one.committed_at), one.branch, subjectOf(one)]),
    ...branches.map((one) => [one.name, dayOf(one.committed_at), one.name, subjectOf(one)]),
  ]);
  if (!out.isTerminal) return;
  const none = sessions.length + worktrees.length + branches.length === 0;
  out.say(
    none
      ? `No sessions of Claude Code or Codex, worktrees or unmerged branches of ${found.repository} were found.`
      : `Create a Work item from one: ${typed('adopt NAME')}`,
  );
};

type Session = Adoptable['sessions'][number];
type Named = Pick<Session, 'agent' | 'id'>;

const nameOf = ({ agent, id }: Named): string => `${agent}:${id.slice(0, 8)}`;

const dayOf = (time: string): string => time.slice(0, 10);

const subjectOf = ({ commits, subject }: { commits: number; subject: string }): string =>
  commits === 0 ? subject : `${counted(commits, 'commit')}: ${subject}`;

/** Exact names win over the beginning of a session's id. */
const choose = (
  { typed }: Verb,
  { sessions, worktrees, branches, repository }: Adoptable,
  word: string,
) => {
  const path = resolve(word);
  if (worktrees.some((one) => one.path === path)) return { worktree: path };
  if (branches.some(({ name }) => name === word)) return { branch: word };
  const [, agent, begin] = /^(?:(claude|codex):)?([0-9a-f-]{4,36})$/.exec(word) ?? [];
  const found = sessions.filter(
    (one) => begin !== undefined && one.id.startsWith(begin) && one.agent === (agent ?? one.agent),
  );
  const [only, other] = found;
  if (only !== undefined && other === undefined) return only;
  if (other !== undefined)
    throw new Refusal(`${word} matches ${counted(found.length, 'session')}. Give more of the id`);
  throw new Refusal(
    `No session, worktree or unmerged branch of ${repository} is named ${word}, or it is already a Work item (${typed('ls')}). List them: ${typed('adopt')}`,
  );
};

const ofSession = async (given: Verb, session: Session, project: string | undefined) => {
  const { dossier, values } = given;
  const { agent, id, case_id } = session;
  if (case_id !== null)
    throw new Refusal(`${nameOf(session)} is the Work item ${case_id.slice(0, 8)} already`);
  const read = await dossier.call('GET /api/adoptable/sessions/{agent}/{id}', {
    agent,
    id,
    query: { project },
  });
  const summary = await confirmed(given, read);
  if (typeof summary === 'number') return summary;
  const copy_changes = values['no-changes'] !== true;
  // As it was shown, whatever the transcript says by now.
  const { title, description } = read;
  return { title, description, session: { agent, id, summary, copy_changes } };
};

type Read = Data<'GET /api/adoptable/sessions/{agent}/{id}'>;

const confirmed = async (given: Verb, read: Read): Promise<string | number> => {
  const { values, out, config, typed } = given;
  const { file } = values;
  if (file !== undefined) return readFileOption(file);
  if (!isTerminal()) {
    out.say(read.summary);
    warn(
      `The summary was not confirmed, so nothing was created. Save it to a file, then run ${typed(`adopt ${nameOf(read)} --file FILE`)}`,
    );
    return EXIT.needsYou;
  }
  await out.read(read.summary);
  if (read.uncommitted > 0 && values['no-changes'] !== true)
    out.say(`${counted(read.uncommitted, 'uncommitted file')} will be copied to a new worktree.`);
  const said = await ask('Create a Work item, with this text as its memory? [y/N/e(dit)] ');
  if (/^e(dit)?$/i.test(said))
    return editText(
      { text: read.summary, name: 'adopted.md', env: config.env },
      async (text) => text,
    );
  if (/^y(es)?$/i.test(said)) return read.summary;
  out.say('Nothing was created.');
  return 1;
};
