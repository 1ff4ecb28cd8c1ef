import { missingProtections } from '../daemon/system/machine.ts';
import { lookAtGround } from '../sandbox/ground.ts';
import { type DoctorFinding, missing, note, ok, type Patient } from './finding.ts';

/** The programs of this machine. */
export const machine = async function* (patient: Patient): AsyncGenerator<DoctorFinding> {
  yield node(process.versions.node);
  yield await git(patient);
  yield* sandbox(patient);
};

export const node = (version: string): DoctorFinding =>
  isAtLeast(version, [20, 19])
    ? ok('node', version)
    : missing('node', `${version} is too old: install 20.19 or newer`);

const git = async ({ git: { program, at } }: Patient): Promise<DoctorFinding> => {
  if (program === undefined) return missing('git', 'not installed: install git 2.39 or newer');
  const version = /\d+(?:\.\d+)+/.exec(await at('/').text(['version']))?.[0] ?? 'unknown';
  return isAtLeast(version, [2, 39])
    ? ok('git', `${version} (${program})`)
    : missing('git', `${version} is too old: install 2.39 or newer`);
};

const isAtLeast = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [first = 0, second = 0] = version.split('.').map(Number);
  return first > major || (first === major && second >= minor);
};

const sandbox = function* ({ sandbox: box }: Patient): Generator<DoctorFinding> {
  if (box.kind === 'bubblewrap')
    yield ok('bubblewrap', 'works: in Plan mode the system itself keeps an agent from writing');
  for (const { about, sentence } of missingProtections({ ...lookAtGround(), sandbox: box }))
    yield note(about, sentence);
};
