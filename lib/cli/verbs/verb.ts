import { type Dossier, NoConnection, Problem } from '../../client/client.ts';
import type { Call, Run } from '../line/command.ts';
import { Refusal } from '../line/refusal.ts';
import { needDaemon } from '../reach/daemon.ts';
import { type Out, outTo } from '../show/out.ts';

/** What a verb has: the daemon of the workspace, and where it says what that answered. */
export interface Verb extends Call {
  readonly dossier: Dossier;
  readonly url: string;
  readonly out: Out;
}

/** A command that calls the daemon, and can do nothing that the API cannot. It answers an exit code, or nothing for 0. */
export const verb =
  (run: (given: Verb) => Promise<number | undefined>): Run =>
  async (call) => {
    const { dossier, url } = await needDaemon(call.config);
    const out = outTo(process.stdout, call.config.env);
    try {
      return (await run({ ...call, dossier, url, out })) ?? 0;
    } catch (error) {
      if (error instanceof Problem || error instanceof NoConnection)
        throw new Refusal(error.message);
      throw error;
    }
  };
