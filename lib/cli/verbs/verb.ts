import { shellQuoted } from '../../../store/base/text.ts';
import { Problem } from '../../client/client.ts';
import type { Config } from '../../config.ts';
import type { Call, Run } from '../args/command.ts';
import { Refusal } from '../args/refusal.ts';
import { needDaemon, type Reached } from '../connection/daemon.ts';
import { asRefused } from '../connection/refused.ts';
import { type Out, outTo } from '../output/out.ts';

/** What a verb has: the daemon of the workspace, and where it says what that answered. */
export interface Verb extends Call, Reached {
  readonly out: Out;
}

/** What a call answers; of a problem with one of these codes a Refusal that says what to type, not what to send. */
export const orRefuse = <T>(
  call: Promise<T>,
  sentences: Readonly<Partial<Record<Problem['code'], string>>>,
): Promise<T> =>
  call.catch((error: unknown) => {
    const sentence = error instanceof Problem ? sentences[error.code] : undefined;
    if (sentence !== undefined) throw new Refusal(sentence);
    throw error;
  });

/** Of a Work item, by the beginning of its id. */
export const noWorktree = (id8: string): string =>
  `It has no worktree yet; a session makes one: dossier start ${id8}`;

/** A command as it is pasted: it names a workspace that is not found without. */
export const commandIn = (
  { config: { workspace, env } }: Pick<Verb, 'config'>,
  words: string,
): string => {
  const found = env.DOSSIER_WORKSPACE || `${env.HOME}/dossier`;
  const where = workspace === found ? '' : ` --workspace ${shellQuoted(workspace)}`;
  return `dossier ${words}${where}`;
};

type Reach = (config: Config) => Promise<Reached>;

/**
 * A command that calls the daemon, and can do nothing that the API cannot. It answers an exit code, or nothing for 0. With
 * `daemonOrStart` one is begun where none runs.
 */
export const verb =
  (run: (given: Verb) => Promise<number | undefined>, reach: Reach = needDaemon): Run =>
  async (call) => {
    const reached = await reach(call.config);
    const out = outTo(process.stdout, call.config.env);
    try {
      return (await run({ ...call, ...reached, out })) ?? 0;
    } catch (error) {
      throw asRefused(error, call.config, call.values);
    }
  };
