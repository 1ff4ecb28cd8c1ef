import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../../base/sha256.ts';
import { apiKeys, removeKeyIn, saveKeyIn } from '../../store/api-keys.ts';
import { layoutOf } from '../../store/layout.ts';
import { whatIsAt } from '../../store/worktrees.ts';
import type { Call } from './line/command.ts';
import { Refusal } from './line/refusal.ts';
import { type Say, toStandardOutput } from './show/terminal.ts';

/** Makes an API key and shows it once, or lists or revokes them, whether a daemon runs or not. */
export const key = async (
  { config, words, values }: Call,
  say: Say = toStandardOutput,
): Promise<number> => {
  const layout = layoutOf(config.workspace);
  if (whatIsAt(layout.dossier) === 'nothing')
    throw new Refusal(
      `${config.workspace} is no workspace in use: name yours with --workspace, or start its daemon once`,
    );
  const [name = 'shell'] = words;
  const { list = false, revoke } = values;
  const known = apiKeys({ layout });
  if (list) for (const each of known) say(`${each.id}  ${each.created_at}  ${each.name}`);
  else if (revoke !== undefined) {
    const found = known.find(({ id }) => id === revoke);
    if (found === undefined || !(await removeKeyIn(layout, found)))
      throw new Refusal(`There is no API key ${revoke}; dossier key --list shows them`);
    say(`Revoked ${found.name}`);
  } else say(await make(layout, name, known));
  return 0;
};

const make = async (
  layout: ReturnType<typeof layoutOf>,
  wanted: string,
  known: ReturnType<typeof apiKeys>,
): Promise<string> => {
  const name = freeName(wanted, known);
  const text = `dossier_${randomBytes(32).toString('base64url')}`;
  const created_at = new Date().toISOString();
  const key = { id: randomUUID(), name, created_at, last_used_at: null };
  await saveKeyIn(layout, { ...key, sha256: sha256(text) });
  return text;
};

const freeName = (wanted: string, known: ReturnType<typeof apiKeys>): string => {
  const name = wanted.trim();
  if (name === '' || name.length > 90 || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new Refusal('A name has 1 to 90 characters, on one line');
  const names = new Set(known.map((each) => each.name));
  if (!names.has(name)) return name;
  if (wanted !== 'shell') throw new Refusal(`There is a key called ${name}: name another`);
  return `${name} ${new Date().toISOString().slice(0, 19)}`;
};
