import { ServiceError } from '../errors.ts';
import { settingsCopy } from './git-config.ts';

/**
 * System calls that a seccomp filter refuses because no namespace covers them: the session keyring, which holds logins
 * (Kerberos, file systems); vsock, which belongs to no network namespace; io_uring, which creates sockets that filters do not
 * see; and input typed for another reader of the terminal (TIOCSTI, TIOCLINUX). The errors are those of a kernel without the
 * feature, so that programs continue without it.
 */
interface Numbers {
  /** The AUDIT_ARCH constant. */
  arch: number;
  /** add_key, request_key, keyctl, io_uring_setup. */
  refused: readonly number[];
  socket: number;
  ioctl: number;
  /** On 32-bit architectures: the multiplexed socket call. */
  socketcall?: number;
}

const GENERIC = { refused: [217, 218, 219, 425], socket: 198, ioctl: 29 };
const KNOWN: Readonly<Record<string, readonly Numbers[]>> = {
  x64: [
    { arch: 0xc000003e, refused: [248, 249, 250, 425], socket: 41, ioctl: 16 },
    { arch: 0x40000003, refused: [286, 287, 288, 425], socket: 359, ioctl: 54, socketcall: 102 },
  ],
  arm64: [
    { arch: 0xc00000b7, ...GENERIC },
    { arch: 0x40000028, refused: [309, 310, 311, 425], socket: 281, ioctl: 54 },
  ],
  riscv64: [{ arch: 0xc00000f3, ...GENERIC }],
  loong64: [{ arch: 0xc0000102, ...GENERIC }],
};

const NO_SUCH_CALL = 38;
const NO_SUCH_FAMILY = 97;
const VSOCK = 40;
const MAKE_SOCKET = 1;
const INPUT_ERROR = 5;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

type Step = readonly [code: number, jumpIf: number, jumpElse: number, value: number];

const load = (offset: number): Step => [0x20, 0, 0, offset];
const unlessEqual = (value: number, skip: number): Step => [0x15, 0, skip, value];
const mask = (bits: number): Step => [0x54, 0, 0, bits];
const answer = (value: number): Step => [0x06, 0, 0, value];
const allow = answer(0x7fff0000);
const refuse = (error: number): Step => answer(0x00050000 | error);

const NUMBER = 0;
const ARCH = 4;
// The lower half of each argument: all these architectures are little-endian.
const FIRST_ARGUMENT = 16;
const SECOND_ARGUMENT = 24;
// Clears the bit of the x32 ABI, which has the same calls.
const WITHOUT_X32 = 0xbfffffff;

const stepsOf = ({ arch, refused, socket, ioctl, socketcall }: Numbers): Step[] => {
  const steps = [
    ...[load(NUMBER), mask(WITHOUT_X32)],
    ...refused.flatMap((number) => [unlessEqual(number, 1), refuse(NO_SUCH_CALL)]),
    ...byArgument(socket, FIRST_ARGUMENT, [VSOCK], NO_SUCH_FAMILY),
    ...byArgument(ioctl, SECOND_ARGUMENT, [TIOCSTI, TIOCLINUX], INPUT_ERROR),
    ...(socketcall === undefined
      ? []
      : byArgument(socketcall, FIRST_ARGUMENT, [MAKE_SOCKET], NO_SUCH_CALL)),
    allow,
  ];
  return [load(ARCH), unlessEqual(arch, steps.length), ...steps];
};

const byArgument = (
  number: number,
  at: number,
  values: readonly number[],
  error: number,
): Step[] => [
  unlessEqual(number, 2 + 2 * values.length),
  load(at),
  ...values.flatMap((value) => [unlessEqual(value, 1), refuse(error)]),
  allow,
];

/** The BPF program; undefined for an unknown architecture. */
const filterFor = (machine: string): Buffer | undefined => {
  const known = KNOWN[machine];
  if (known === undefined) return undefined;
  const steps = [...known.flatMap(stepsOf), refuse(NO_SUCH_CALL)];
  return Buffer.concat(
    steps.map(([code, jumpIf, jumpElse, value]) => {
      const bytes = Buffer.alloc(8);
      bytes.writeUInt16LE(code, 0);
      bytes.writeUInt8(jumpIf, 2);
      bytes.writeUInt8(jumpElse, 3);
      bytes.writeUInt32LE(value, 4);
      return bytes;
    }),
  );
};

const FILTER = filterFor(process.arch);

/**
 * Arguments that give a program a session of its own. A program at the operator's terminal stays in theirs, because it needs job
 * control and notices of a resized window; only the filter keeps it from typing into the operator's shell.
 */
export const sessionArguments = (terminal: boolean): string[] => {
  if (!terminal) return ['--new-session'];
  if (FILTER !== undefined) return [];
  throw new ServiceError('attach_unsupported', NO_FILTER);
};

const NO_FILTER = `The sandbox cannot share your terminal on ${process.arch}: there is no system call filter for it. Send messages with \`dossier say\` instead.`;

/** Arguments that make bubblewrap load the filter from `withFilter`. */
export const filterArguments = (): string[] => (FILTER === undefined ? [] : ['--seccomp', '8']);

/** The command that opens the filter and starts bubblewrap. */
export const withFilter = (): string[] =>
  FILTER === undefined
    ? []
    : ['/bin/sh', '-c', 'exec "$@" 8<"$0"', settingsCopy(FILTER.toString('latin1'))];
