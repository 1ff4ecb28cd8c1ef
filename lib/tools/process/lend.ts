import { signal } from '../../../store/base/async.ts';
import type { Environment } from './environment.ts';
import type { Traces } from './process-tree.ts';
import { RUN_VARIABLE } from './processes.ts';
import { clearRun, enter, ofRun, type ProgramSpec } from './spawn.ts';

/** A program of a run that the command line starts at the operator's terminal, instead of the daemon. */
export interface LentProgram {
  /** With the traces of its run, by which its processes are found. */
  argv: readonly string[];
  env: Environment;
  /** Ends all its processes, then settles `ended`. */
  end(): Promise<void>;
  /** Never rejects. Settles after `end`, once every process of the run that can be found has ended. */
  readonly ended: Promise<void>;
}

type LentSpec = Pick<
  ProgramSpec,
  'argv' | 'cwd' | 'env' | 'marker' | 'own_dir' | 'runs' | 'loopback' | 'sandboxed' | 'close'
>;

/** Enters a program that another process starts into the table of runs. It stays there until `end`. */
export const lendProgram = (spec: LentSpec): LentProgram => {
  const { marker, own_dir } = spec;
  const env = { ...spec.env, [RUN_VARIABLE]: marker };
  const argv = ofRun(spec, env);
  const run = enter(spec);
  const traces: Traces = own_dir === undefined ? {} : { dir: own_dir };
  const ended = signal();
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= clearRun(spec, run, traces).then(ended.raise, ended.raise);
    return ending;
  };
  return { argv, env, end, ended: ended.raised };
};
