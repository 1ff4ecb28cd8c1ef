import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../../store/base/sha256.ts';
import { layoutOf } from '../../store/layout.ts';
import type { ApiKey } from '../../store/records/api-key.ts';
import { apiKeys, removeKeyIn, saveKeyIn } from '../../store/workspace/api-keys.ts';
import { pathKind } from '../../store/worktrees/worktrees.ts';
import { UsageError } from '../config.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';

/** Creates an API key and shows it once, or lists or revokes keys, with or without a daemon. */
export const key = async (
  { config, words, values }: Call,
  say: Say = toStandardOutput,
): Promise<number> => {
  const [name] = words;
  const { list = false, revoke } = values;
  if (name === undefined && !list && revoke === undefined)
    throw new UsageError(
      'key needs a name for the new key, as in dossier key shell; or --list, or --revoke ID',
    );
  const layout = layoutOf(config.workspace, config.state);
  if (pathKind(layout.dossier) === 'nothing')
    throw new Refusal(
      `${config.workspace} is not a workspace that a daemon has used: name yours with --workspace, or start its daemon once`,
    );
  const known = apiKeys({ layout });
  const tell = (value: unknown, lines: readonly string[]): void => {
    if (values.json === true) sayJson(say, value);
    else for (const line of lines) say(line);
  };
  if (list)
    tell(
      known.map(toJson),
      known.map((each) => `${each.id}  ${each.created_at}  ${each.name}`),
    );
  else if (revoke !== undefined) {
    const found = known.find(({ id }) => id === revoke);
    if (found === undefined || !(await removeKeyIn(layout, found)))
      throw new Refusal(`There is no API key ${revoke}; dossier key --list shows them`);
    tell(toJson(found), [`Revoked ${found.name}`]);
  } else {
    const { text, made } = await make(layout, name ?? '', known);
    tell({ ...toJson(made), key: text }, [text]);
  }
  return 0;
};

// Leaves the hash out.
const toJson = ({ id, name, created_at, last_used_at }: ApiKey) => ({
  id,
  name,
  created_at,
  last_used_at,
});

const make = async (
  layout: ReturnType<typeof layoutOf>,
  wanted: string,
  known: ReturnType<typeof apiKeys>,
): Promise<{ text: string; made: ApiKey }> => {
  const name = freeName(wanted, known);
  const text = `dossier_${randomBytes(32).toString('base64url')}`;
  const created_at = new Date().toISOString();
  const made = { id: randomUUID(), name, created_at, last_used_at: null, sha256: sha256(text) };
  await saveKeyIn(layout, made);
  return { text, made };
};

const freeName = (wanted: string, known: ReturnType<typeof apiKeys>): string => {
  const name = wanted.trim();
  if (name === '' || name.length > 90 || /[\p{Cc}\p{Cs}]/u.test(name))
    throw new Refusal('The name must have 1 to 90 characters, on one line');
  if (known.some((each) => each.name === name))
    throw new Refusal(`There is already a key named ${name}: choose another name`);
  return name;
};
