/** git's door to the file system: commands of one name meet an error at their nth system call, by strace. */
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProgram } from '../../lib/tools/process/find-program.ts';

export interface GitFault {
  /** The command: `update-ref`. */
  command: string;
  call: string;
  errno: string;
  /** As strace counts: `2`, or `2+` for all from then on. */
  when: string;
}

export interface GitDoor {
  arm(fault?: GitFault): void;
  /** Answers which commands there were, and which calls failed. */
  disarm(): { commands: string[]; failed: string[] };
}

/** Puts a git on the PATH of this process, of which the one that is there does the work. */
export const gitDoorAt = (dir: string): GitDoor => {
  const env = { PATH: process.env.PATH ?? '' };
  const git = findProgram('git', env);
  const strace = findProgram('strace', env);
  if (git === undefined || strace === undefined) throw new Error('git and strace are needed');
  const [bin, seen] = [join(dir, 'bin'), join(dir, 'seen')];
  for (const each of [bin, seen]) mkdirSync(each);
  writeFileSync(join(bin, 'git'), scriptOf({ git, strace, dir }));
  chmodSync(join(bin, 'git'), 0o755);
  process.env.PATH = `${bin}${delimiter}${process.env.PATH}`;
  const [log, faultFile] = [join(dir, 'log'), join(dir, 'fault')];
  return {
    arm: (fault) => {
      for (const name of readdirSync(seen)) rmSync(join(seen, name));
      writeFileSync(log, '');
      const { command = '', call = '', errno = '', when = '' } = fault ?? {};
      appendFileSync(faultFile, `${command}\n${call}\n${call}:error=${errno}:when=${when}\n`);
    },
    disarm: () => {
      rmSync(faultFile, { force: true });
      const failed = readdirSync(seen).flatMap((name) => injectedIn(join(seen, name)));
      const commands = readFileSync(log, 'utf8').split('\n').filter(Boolean);
      return { commands: [...new Set(commands)].toSorted(), failed };
    },
  };
};

const injectedIn = (file: string): string[] =>
  readFileSync(file, 'latin1')
    .split('\n')
    .filter((line) => line.includes('(INJECTED)'));

interface Programs {
  git: string;
  strace: string;
  dir: string;
}

const scriptOf = ({ git, strace, dir }: Programs): string => `#!/bin/sh
name=
for word; do
  case $word in
    --no-pager|-c|*=*) ;;
    *) name=$word; break ;;
  esac
done
{ read -r wanted && read -r call && read -r inject; } 2>/dev/null <${dir}/fault || exec ${git} "$@"
echo "$name" >>${dir}/log
[ "$name" = "$wanted" ] || exec ${git} "$@"
exec ${strace} -f -qq -o ${dir}/seen/$$ -e trace="$call" -e inject="$inject" ${git} "$@"
`;
