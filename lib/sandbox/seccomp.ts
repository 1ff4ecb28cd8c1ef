import { settingsCopy } from './git-config.ts';

/**
 * What no namespace takes away, refused by a filter of system calls: the session's keyring, which holds logins (Kerberos,
 * file systems); sockets of a virtual machine to its host and back, which are of no network namespace; and io_uring, which
 * makes sockets that no filter sees. Answered as by a kernel that has none of it, so that programs go on without.
 */
interface Numbers {
  /** As the kernel names the architecture in a filter. */
  arch: number;
  /** add_key, request_key, keyctl, io_uring_setup. */
  refused: readonly number[];
  socket: number;
  /** Of 32 bits: the one call that all of sockets once went through. */
  socketcall?: number;
}

const GENERIC = { refused: [217, 218, 219, 425], socket: 198 };
const KNOWN: Readonly<Record<string, readonly Numbers[]>> = {
  x64: [
    { arch: 0xc000003e, refused: [248, 249, 250, 425], socket: 41 },
    { arch: 0x40000003, refused: [286, 287, 288, 425], socket: 359, socketcall: 102 },
  ],
  arm64: [
    { arch: 0xc00000b7, ...GENERIC },
    { arch: 0x40000028, refused: [309, 310, 311, 425], socket: 281 },
  ],
  riscv64: [{ arch: 0xc00000f3, ...GENERIC }],
  loong64: [{ arch: 0xc0000102, ...GENERIC }],
};

const NO_SUCH_CALL = 38;
const NO_SUCH_FAMILY = 97;
const VSOCK = 40;
const MAKE_SOCKET = 1;

type Step = readonly [code: number, jumpIf: number, jumpElse: number, value: number];

const load = (offset: number): Step => [0x20, 0, 0, offset];
const unlessEqual = (value: number, skip: number): Step => [0x15, 0, skip, value];
const mask = (bits: number): Step => [0x54, 0, 0, bits];
const answer = (value: number): Step => [0x06, 0, 0, value];
const allow = answer(0x7fff0000);
const refuse = (error: number): Step => answer(0x00050000 | error);

const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
// The same calls by another name: the ABI of 32-bit pointers.
const WITHOUT_X32 = 0xbfffffff;

const stepsOf = ({ arch, refused, socket, socketcall }: Numbers): Step[] => {
  const steps = [
    ...[load(NUMBER), mask(WITHOUT_X32)],
    ...refused.flatMap((number) => [unlessEqual(number, 1), refuse(NO_SUCH_CALL)]),
    ...byArgument(socket, VSOCK, NO_SUCH_FAMILY),
    ...(socketcall === undefined ? [] : byArgument(socketcall, MAKE_SOCKET, NO_SUCH_CALL)),
    allow,
  ];
  return [load(ARCH), unlessEqual(arch, steps.length), ...steps];
};

const byArgument = (number: number, argument: number, error: number): Step[] => [
  unlessEqual(number, 4),
  load(FIRST_ARGUMENT),
  unlessEqual(argument, 1),
  ...[refuse(error), allow],
];

/** The filter as the kernel takes it; undefined for a machine whose numbers are not known here. */
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

/** For bubblewrap, which is given the filter by `withFilter`. */
export const filterArguments = (): string[] => (FILTER === undefined ? [] : ['--seccomp', '8']);

/** Goes before bubblewrap, and opens the filter for it. */
export const withFilter = (): string[] =>
  FILTER === undefined
    ? []
    : ['/bin/sh', '-c', 'exec "$@" 8<"$0"', settingsCopy(FILTER.toString('latin1'))];
