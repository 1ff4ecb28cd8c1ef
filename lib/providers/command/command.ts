import type { Environment } from '../../tools/environment.ts';
import type { StatePlace } from '../../tools/state/place.ts';
import { isolationOf, type ProviderDeps } from '../launch.ts';
import type { Login } from '../login.ts';
import { createManualProvider } from '../manual.ts';
import { whyNotThere } from '../not-there.ts';
import { withOwnState } from '../own-state.ts';
import type { Phase, Provider, ProviderInfo } from '../provider.ts';
import { failedRun } from '../run-end.ts';
import type { Format } from './formats.ts';
import { startCommandRun } from './run.ts';

/** Any program that takes a prompt, does one turn, and ends. */
export interface CommandProgram {
  id: string;
  /** Without one for Plan mode, the operator writes the plan. */
  argv: Readonly<Partial<Record<Phase, readonly string[]>>>;
  output: Format;
  env: Environment;
  state: readonly StatePlace[];
  hint: string;
  loggedIn: () => Login;
}

/**
 * A program as a provider: one process for each turn, its prompt on standard input, its exit code the verdict. It can
 * ask nobody for leave, so what it may do in Work mode is what the sandbox and its own settings let it.
 */
export const createCommandProvider = (program: CommandProgram, deps: ProviderDeps): Provider => ({
  isolation: program.argv.plan === undefined ? 'operator' : isolationOf(deps),
  own_network: deps.network.kind === 'own',
  missing: () => missing(program, deps),
  probe: async () => {
    const isolation = isolationOf(deps);
    const login = program.loggedIn();
    const known = { id: program.id, kind: 'command', isolation, login } as const;
    const info: ProviderInfo = { ...known, available: true };
    const reason = missing(program, deps);
    return reason === undefined ? info : { ...info, available: false, reason };
  },
  start: (spec, tell) => {
    const argv = program.argv[spec.phase];
    if (argv === undefined && spec.phase === 'plan')
      return createManualProvider().start(spec, tell);
    if (argv === undefined)
      return failedRun(
        `${program.id} has no argument vector for Work mode. Set providers.${program.id}.work.`,
      );
    const reason = whyNotThere({ ...program, argv }, deps);
    if (reason !== undefined) return failedRun(reason);
    return withOwnState({ state: program.state, spec, tell, deps }, (own) =>
      startCommandRun({ ...program, argv }, own, { tell, deps }),
    );
  },
});

const missing = (program: CommandProgram, deps: ProviderDeps): string | undefined =>
  Object.values(program.argv).flatMap((argv) => whyNotThere({ ...program, argv }, deps) ?? [])[0];
