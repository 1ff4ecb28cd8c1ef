import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { localityOf } from '../../../../lib/sandbox/egress/address.ts';
import {
  isListed,
  isLocalName,
  isMetadataName,
  readAuthority,
} from '../../../../lib/sandbox/egress/authority.ts';
import { addressBytes } from '../../../../lib/tools/process/ip-address.ts';

const four = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const dotted = (bytes: readonly number[]): string => bytes.join('.');
const hex = (bytes: readonly number[]): string =>
  Buffer.from(bytes)
    .toString('hex')
    .replace(/^(.{4})/, '$1:');

/** Node's own list of subnets, as a judge of ours. */
const judge = new BlockList();
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 3],
] as const)
  judge.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['::', 127],
  ['fe80::', 9],
  ['ff00::', 8],
  ['fd00:ec2::254', 128],
] as const)
  judge.addSubnet(net, bits, 'ipv6');

const PIECES = fc
  .array(
    fc.constantFrom('.', 'a', '[', ']', ':', '%', '0', '127', '。', 'localhost', '-', 'ß', '0x'),
  )
  .map((pieces) => pieces.join(''));

describe('localityOf', () => {
  it('lets no address of IPv4 through that is local, however IPv6 says it', () => {
    fc.assert(
      fc.property(four, (bytes) => {
        const refused = judge.check(dotted(bytes), 'ipv4');
        const forms = [
          dotted(bytes),
          `::ffff:${dotted(bytes)}`,
          `0:0:0:0:0:FFFF:${hex(bytes)}`,
          `64:ff9b::${hex(bytes)}`,
          `2002:${hex(bytes)}::1`,
        ];
        for (const form of forms) assert.equal(localityOf(form, []) !== undefined, refused, form);
      }),
      { numRuns: 2000, examples: [[[127, 0, 0, 1]], [[0, 0, 0, 0]], [[169, 254, 169, 254]]] },
    );
  });

  it('lets no address of IPv6 through that is local', () => {
    const word = fc.nat(0xffff).map((value) => value.toString(16));
    const first = fc.constantFrom('fe80', 'febf', 'fec0', 'ff02', '2001', 'fd00', '0', 'fe7f');
    fc.assert(
      fc.property(first, fc.array(word, { minLength: 7, maxLength: 7 }), (a, rest) => {
        const address = [a, ...rest].join(':');
        if (a === '0') return;
        assert.equal(localityOf(address, []) !== undefined, judge.check(address, 'ipv6'), address);
      }),
    );
    for (const address of ['::1', '::', '0:0:0:0:0:0:0:1', 'fe80::1%eth0'])
      assert.ok(localityOf(address, []), address);
  });

  it('knows the metadata of clouds that is not link-local', () => {
    const four = ['100.100.100.200', '168.63.129.16', '192.0.0.192'];
    const six = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42'];
    for (const address of [...four, ...six, ...four.map((one) => `::ffff:${one}`)])
      assert.equal(localityOf(address, []), 'a cloud metadata service', address);
  });

  it("takes an interface's own address for this machine, in each form", () => {
    fc.assert(
      fc.property(four, (bytes) => {
        const own = dotted(bytes);
        for (const form of [own, `::ffff:${own}`, `64:ff9b::${hex(bytes)}`])
          assert.ok(localityOf(form, [own]), form);
      }),
    );
    assert.equal(localityOf('2001:DB8::5', ['2001:db8:0:0::5']), 'this machine');
    assert.equal(localityOf('10.0.0.7', ['10.0.0.8', 'fe80::1']), undefined);
  });

  it('allows private ranges and the world', () => {
    for (const address of ['10.1.2.3', '172.16.0.9', '192.168.1.1', '8.8.8.8', '2606:4700::1111'])
      assert.equal(localityOf(address, ['192.168.1.2']), undefined, address);
    for (const nothing of ['', 'x', '1.2.3', '::g', '127.0.0.1 ', '1.2.3.4.5'])
      assert.ok(localityOf(nothing, []), nothing);
    assert.equal(addressBytes('not'), undefined);
  });
});

describe('readAuthority', () => {
  it('reads every way to write an address of IPv4 as the one that it is', () => {
    fc.assert(
      fc.property(four, ([a, b, c, d]) => {
        const value = ((a * 256 + b) * 256 + c) * 256 + d;
        const forms = [
          `${value}`,
          `0x${value.toString(16)}`,
          `0${value.toString(8)}`,
          `0x${a.toString(16)}.0${b.toString(8)}.${c * 256 + d}`,
          `${a}.${b * 65_536 + c * 256 + d}`,
          `${dotted([a, b, c, d])}.`,
        ];
        for (const form of forms)
          assert.deepEqual(
            readAuthority(`${form}:80`),
            { host: dotted([a, b, c, d]), port: 80 },
            form,
          );
      }),
    );
  });

  it('reads names, IPv6 and ports, and nothing that is no authority', () => {
    for (const [text, host, port] of [
      ['Example.COM.:443', 'example.com', 443],
      ['[::1]:443', '::1', 443],
      ['[0:0:0:0:0:0:0:1]:1', '::1', 1],
      ['[::ffff:127.0.0.1]:1', '::ffff:7f00:1', 1],
      ['[fe80::1%lo]:2', 'fe80::1', 2],
      ['lOCALHOST:65535', 'localhost', 65_535],
      ['１２７.0.0.1:80', '127.0.0.1', 80],
    ] as const)
      assert.deepEqual(readAuthority(text), { host, port }, text);
    const wrong = [
      '',
      ':',
      ':80',
      'a:0',
      'a:65536',
      'a:x',
      'u@a:1',
      'a/b:1',
      '::1:80',
      '[::1',
      'a',
      '.:80',
      '..:80',
      '.a:80',
      'a..b:80',
      'localhost..:80',
      '127.0.0.1..:80',
    ];
    for (const text of [...wrong, 'a b:1', '[a]:1', 'a?b:1', 'a#b:1', '256.1.1.1:1', 'a:1:2'])
      assert.equal(readAuthority(text), undefined, text);
  });

  it('never throws, and answers nothing that it would read as something else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), PIECES), (text) => {
        const read = readAuthority(text, 80);
        if (read === undefined) return;
        const again = read.host.includes(':') ? `[${read.host}]` : read.host;
        assert.deepEqual(readAuthority(`${again}:${read.port}`), read);
      }),
    );
  });
});

describe('names', () => {
  it('that are this machine or a metadata service are known', () => {
    for (const name of ['localhost', 'a.localhost', 'ip6-localhost'])
      assert.ok(isLocalName(name), name);
    for (const name of ['metadata', 'metadata.google.internal'])
      assert.ok(isMetadataName(name), name);
    for (const name of ['example.com', 'localhost.example.com', 'mylocalhost'])
      assert.ok(!isLocalName(name), name);
  });

  it('are on a list, alone or with what is below them', () => {
    const at = (host: string, port = 443) => ({ host, port });
    assert.ok(isListed(at('example.com'), ['Example.com']));
    assert.ok(!isListed(at('a.example.com'), ['example.com']));
    assert.ok(isListed(at('a.b.example.com'), ['*.example.com']));
    assert.ok(!isListed(at('example.com'), ['*.example.com']));
    assert.ok(!isListed(at('badexample.com'), ['*.example.com', 'example.com']));
    assert.ok(isListed(at('host'), ['host:443']));
    assert.ok(!isListed(at('host', 80), ['host:443', '*.host']));
  });
});
