import { constants } from 'node:os';
import { ownValue } from './own-value.ts';

/** The result of `read`, or `otherwise` if it throws. With `codes`, other system errors are thrown on. */
export const orElse = <T, F>(read: () => T, otherwise: F, ...codes: string[]): T | F => {
  try {
    return read();
  } catch (error) {
    if (codes.length > 0 && !codes.includes(codeOf(error))) throw error;
    return otherwise;
  }
};

/** Whether `act` succeeded. With `codes`, other system errors are thrown on. */
export const isDone = (act: () => void, ...codes: string[]): boolean =>
  orElse(
    () => {
      act();
      return true;
    },
    false,
    ...codes,
  );

/** Whether it is a system error with one of these codes. */
export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && 'code' in error && codes.includes(codeOf(error));

/** The code of an error; empty without one. Node has no name for some of the system, such as EDQUOT and ESTALE. */
export const codeOf = (error: unknown): string => {
  const { code, errno = 0 } = (error ?? {}) as NodeJS.ErrnoException;
  if (!isNameless(code)) return String(code ?? '');
  const [name] = Object.entries(constants.errno).find(([, number]) => number === -errno) ?? [];
  return name ?? `error ${-errno}`;
};

// Synchronous functions report UNKNOWN, and those of Node 24 that remove a tree an empty code.
const isNameless = (code: unknown): boolean =>
  code === '' || code === 'UNKNOWN' || String(code).startsWith('Unknown system error');

/** Whether the disk fails, or what is behind a mount, as with ESTALE, ENOTCONN and damaged metadata. */
export const isFailingDisk = (error: unknown): boolean =>
  error instanceof Error &&
  (hasCode(error, 'EIO', 'ESTALE', 'ENOTCONN') ||
    (isNameless((error as NodeJS.ErrnoException).code) && !hasCode(error, 'EDQUOT')));

/** Whether an error comes from the disk or a limit of this machine, and says nothing about the file itself. */
export const isDiskFault = (error: unknown): error is NodeJS.ErrnoException =>
  isFailingDisk(error) || hasCode(error, 'EDQUOT', 'EMFILE', 'ENFILE', 'ENOMEM', 'EINTR');

/** The result of `read`, or undefined if it rejects. Disk faults are thrown on. */
export const undefinedUnlessDiskFault = async <T>(read: Promise<T>): Promise<T | undefined> =>
  read.catch((error: unknown) => {
    if (isDiskFault(error)) throw error;
    return undefined;
  });

/** The result of `read`, or `otherwise` if it throws. Disk faults are thrown on. */
export const orElseUnlessDiskFault = <T, F>(read: () => T, otherwise: F): T | F => {
  try {
    return read();
  } catch (error) {
    if (isDiskFault(error)) throw error;
    return otherwise;
  }
};

const FREE = 'Free some space or inodes on its disk (df, df -i)';
const ADVICE: Record<string, string> = {
  EMFILE:
    'Raise the limit of open files with ulimit -n 4096, or with LimitNOFILE=4096 in a systemd unit, then start the daemon again',
  EAGAIN: 'End some processes of this user, or raise their limit (ulimit -u), then try again',
  ENOSPC: FREE,
  EDQUOT: FREE,
};

/** The message of anything thrown. At a limit of files or processes, or on a full disk, it says what to do. */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  const message = error.message.replace(
    /^(?:Unknown system error -\d+: Unknown system error -\d+|, Unknown error)/,
    code,
  );
  const advice = ownValue(ADVICE, code);
  return advice === undefined ? message : `${message}. ${advice}`;
};
