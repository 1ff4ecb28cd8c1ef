import type { Offers } from '../../../store/records/provider.ts';
import { type ModelChoice, NO_OFFERS, notOffered } from '../choice.ts';
import { boundaryOf, isolationOf, type ProviderDeps } from '../launch.ts';
import { createManualProvider } from '../manual.ts';
import { whyNotThere } from '../not-there.ts';
import { withOwnState } from '../own-state.ts';
import type { OwnPlaces } from '../presets.ts';
import type { Phase, Provider, ProviderInfo } from '../provider.ts';
import { failedRun } from '../run-end.ts';
import type { Format } from './formats.ts';
import type { Flags } from './presets.ts';
import { startCommandRun } from './run.ts';

/** Any program that takes a prompt, does one turn, and ends. */
interface CommandProgram extends OwnPlaces {
  id: string;
  /** Without one for Plan mode, the operator writes the plan. */
  argv: Readonly<Partial<Record<Phase, readonly string[]>>>;
  output: Format;
  /** Without them, no model and no effort can be chosen. */
  flags?: Flags;
  hint: string;
}

/**
 * A program as a provider: one process for each turn, its prompt on standard input, its exit code the verdict. It can
 * ask nobody for leave, so what it may do in Work mode is what the sandbox and its own settings let it.
 */
export const createCommandProvider = (program: CommandProgram, deps: ProviderDeps): Provider => ({
  isolation: program.argv.plan === undefined ? 'operator' : isolationOf(deps),
  own_network: deps.network.kind === 'own',
  boundary: () => boundaryOf('command', deps, program.env),
  usual: program.usual,
  offers: () => offersOf(program),
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
    const { choice = program.usual } = spec;
    const refused = notOffered(program.id, offersOf(program), choice);
    if (refused !== undefined) return failedRun(refused.why);
    const chosen = withFlags(argv, program.flags, choice);
    return withOwnState({ state: program.state, spec, tell, deps }, (own) =>
      startCommandRun({ ...program, argv: chosen }, own, { tell, deps }),
    );
  },
});

// Which models there are, the program says when it runs.
const offersOf = ({ flags }: CommandProgram): Offers => {
  if (flags === undefined) return NO_OFFERS;
  return flags.effort === undefined ? { efforts: [] } : {};
};

// Before what stands for the prompt, which ends the flags.
const withFlags = (
  argv: readonly string[],
  flags: Flags | undefined,
  { model, effort }: ModelChoice,
): readonly string[] => {
  const words = [
    ...((model !== undefined && flags?.model(model)) || []),
    ...((effort !== undefined && flags?.effort?.(effort)) || []),
  ];
  const end = ENDS.has(argv.at(-1) ?? '') ? -1 : argv.length;
  return argv.toSpliced(end, 0, ...words);
};

const ENDS = new Set(['-', '{prompt}']);

const missing = (program: CommandProgram, deps: ProviderDeps): string | undefined =>
  Object.values(program.argv).flatMap((argv) => whyNotThere({ ...program, argv }, deps) ?? [])[0];
