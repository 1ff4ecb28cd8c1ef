import { addressBytes } from '../../tools/process/ip-address.ts';

/** Kinds of addresses that runs may not reach. */
export type Locality =
  | 'this machine'
  | 'link-local'
  | 'a cloud metadata service'
  | 'multicast'
  | 'not a host address';

/** Why a run may not reach an IP address; undefined if it may, as in private ranges. `own`: the addresses of this machine. */
export const localityOf = (address: string, own: readonly string[]): Locality | undefined => {
  const bytes = addressBytes(address);
  if (bytes === undefined) return 'not a host address';
  const forms = formsOf(bytes);
  const owns = own.flatMap((one) => formsOf(addressBytes(one) ?? []));
  for (const form of forms) {
    const kind = form.length === 4 ? kindOf4(form) : kindOf6(form);
    if (kind !== undefined) return kind;
    if (owns.some((one) => isSame(one, form))) return 'this machine';
  }
  return undefined;
};

// IPv6 can embed an IPv4 address: mapped, compatible, NAT64, 6to4.
const formsOf = (bytes: readonly number[]): (readonly number[])[] => {
  if (bytes.length !== 16) return [bytes];
  const embedded = EMBEDDINGS.filter(({ prefix }) => begins(bytes, prefix));
  return [bytes, ...embedded.map(({ at }) => bytes.slice(at, at + 4))];
};

const ZEROS = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
const EMBEDDINGS = [
  { prefix: [...ZEROS, 0xff, 0xff], at: 12 },
  { prefix: [...ZEROS.slice(2), 0xff, 0xff, 0, 0], at: 12 },
  { prefix: [...ZEROS, 0, 0], at: 12 },
  { prefix: [0, 0x64, 0xff, 0x9b], at: 12 },
  { prefix: [0x20, 0x02], at: 2 },
];

const kindOf4 = (bytes: readonly number[]): Locality | undefined => {
  const [a = 0, b] = bytes;
  if (a === 127 || a === 0) return 'this machine';
  if (METADATA.some((one) => isSame(bytes, one))) return 'a cloud metadata service';
  if (a === 169 && b === 254) return 'link-local';
  if (a < 224) return undefined;
  return a < 240 ? 'multicast' : 'not a host address';
};

// Most clouds, Alibaba, Azure's agent, the former one of Oracle.
const METADATA = [
  [169, 254, 169, 254],
  [100, 100, 100, 200],
  [168, 63, 129, 16],
  [192, 0, 0, 192],
];

const kindOf6 = (bytes: readonly number[]): Locality | undefined => {
  const [a = 0, b = 0] = bytes;
  if (begins(bytes, [...ZEROS, 0, 0, 0, 0, 0]) && (bytes[15] ?? 0) <= 1) return 'this machine';
  if (METADATA_6.some((one) => isSame(bytes, one))) return 'a cloud metadata service';
  if (a === 0xff) return 'multicast';
  return a === 0xfe && b >= 0x80 ? 'link-local' : undefined;
};

// Amazon, Amazon for pods, Google, Scaleway.
const METADATA_6 = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42'].map(
  (address) => addressBytes(address) ?? [],
);

const begins = (bytes: readonly number[], prefix: readonly number[]): boolean =>
  prefix.every((byte, at) => bytes[at] === byte);

const isSame = (one: readonly number[], other: readonly number[]): boolean =>
  one.length === other.length && begins(one, other);
