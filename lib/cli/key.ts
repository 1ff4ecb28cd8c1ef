import { layoutOf } from '../../store/layout.ts';
import type { ApiKey } from '../../store/records/api-key.ts';
import { apiKeys, removeKeyIn, saveKeyIn } from '../../store/workspace/api-keys.ts';
import { pathKind } from '../../store/worktrees/worktrees.ts';
import { type Config, UsageError } from '../config.ts';
import { keyName, newKey } from '../guard/api-keys/keys.ts';
import type { Call } from './args/command.ts';
import { Refusal } from './args/refusal.ts';
import { shellCommand } from './args/shell-command.ts';
import { isTerminal, toStandardOutput as say, sayJson } from './output/terminal.ts';

/** Creates an API key and shows it once, or lists or revokes keys, with or without a daemon. */
export const key = async ({ config, words, values }: Call): Promise<number> => {
  const [name] = words;
  const { list = false, revoke } = values;
  if ([name !== undefined, list, revoke !== undefined].filter(Boolean).length !== 1)
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
  if (list) tell(known.map(toJson), linesOf(known, config));
  else if (revoke !== undefined) {
    const found = known.find(({ id }) => id === revoke);
    if (found === undefined || !(await removeKeyIn(layout, found)))
      throw new Refusal(
        `There is no API key ${revoke}. List them: ${shellCommand(config, 'key --list')}`,
      );
    tell(toJson(found), [`Revoked ${found.name}`]);
  } else {
    const made = newKey(freeName(name ?? '', known), new Date());
    await saveKeyIn(layout, made.key);
    tell({ ...toJson(made.key), key: made.text }, [made.text]);
  }
  return 0;
};

const linesOf = (known: readonly ApiKey[], config: Config): string[] => {
  if (known.length === 0 && isTerminal())
    return [`No API keys. Create one: ${shellCommand(config, 'key NAME')}`];
  return known.map(({ id, created_at, name }) => `${id}  ${created_at}  ${name}`);
};

// Leaves the hash out.
const toJson = ({ id, name, created_at, last_used_at }: ApiKey) => ({
  id,
  name,
  created_at,
  last_used_at,
});

const freeName = (wanted: string, known: ReturnType<typeof apiKeys>): string => {
  const name = keyName(wanted);
  if (known.some((each) => each.name === name))
    throw new Refusal(`There is already a key named ${name}: choose another name`);
  return name;
};
