import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openConsentLog, readConsentLog } from '../../../store/consent/log.ts';
import { trustHash } from '../../../store/consent/seal.ts';
import { layoutOf } from '../../../store/layout.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const LARGE = 'x'.repeat(1000);

/** A workspace with a log that is longer than what it comes to. */
const long = (t: TestContext) => {
  const top = temporaryDirectory(t);
  const [root, state] = [join(top, 'work'), join(top, 'state')];
  mkdirSync(join(root, '.dossier'), { recursive: true });
  const layout = layoutOf(root, state);
  const log = openConsentLog(layout);
  log.grant([
    { key: 'network', value: 'host' },
    { key: 'sandbox', value: 'off' },
  ]);
  log.revoke('network');
  log.grant([{ key: 'sandbox' }], 'tightening');
  log.grant([{ key: 'allow_local', value: [5432] }], 'tightening');
  for (let at = 0; at < 300; at += 1) log.grant([{ key: 'provider', value: `${at} ${LARGE}` }]);
  const [id = ''] = readdirSync(join(state, 'workspaces'));
  return { layout, file: join(state, 'workspaces', id, 'consent.log') };
};

const saysTheSame = (layout: ReturnType<typeof layoutOf>): void => {
  const log = readConsentLog(layout);
  assert.equal(log.current().damage, undefined);
  assert.deepEqual([...log.list().keys()].toSorted(), ['allow_local', 'provider']);
  assert.equal(log.isGranted('provider', `299 ${LARGE}`), true);
  assert.equal(log.wasGranted('provider', trustHash(`298 ${LARGE}`)), true);
  assert.equal(log.wasGranted('sandbox', trustHash('off')), true);
  assert.equal(log.wasGranted('network', trustHash('host')), false);
  assert.equal(log.wasGranted('allow_local', trustHash([5432])), false);
};

const names = (file: string): string[] =>
  readdirSync(dirname(file)).filter((name) => name.startsWith('consent'));

describe('a long consent log', () => {
  it('is shortened by who holds the workspace, and comes to the same', (t) => {
    const { layout, file } = long(t);
    saysTheSame(layout);
    const { size } = statSync(file);
    openConsentLog(layout);
    assert.equal(statSync(file).size, size);
    openConsentLog(layout, { holds: true });
    assert.ok(statSync(file).size < size / 10, `${size} ${statSync(file).size}`);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(names(file), ['consent.log']);
    saysTheSame(layout);
  });

  it('stays short while it is held, and is followed by a log that is open', (t) => {
    const { layout, file } = long(t);
    const [held, other] = [openConsentLog(layout, { holds: true }), openConsentLog(layout)];
    for (let at = 0; at < 600; at += 1) held.grant([{ key: 'provider', value: `${at} ${LARGE}` }]);
    assert.ok(statSync(file).size < 400_000, `${statSync(file).size}`);
    other.refresh();
    assert.equal(other.isGranted('provider', `599 ${LARGE}`), true);
    other.grant([{ key: 'network', value: 'proxy' }]);
    held.refresh();
    assert.equal(held.isGranted('network', 'proxy'), true);
  });

  it('is left as it is where a line of it was changed', (t) => {
    const { layout, file } = long(t);
    writeFileSync(file, readFileSync(file, 'utf8').replace('host', 'evil'));
    const { size } = statSync(file);
    openConsentLog(layout, { holds: true });
    assert.equal(statSync(file).size, size);
    assert.match(readConsentLog(layout).current().damage ?? '', /was changed/);
  });

  it('loses nothing where it was cut off before it was replaced', (t) => {
    const { layout, file } = long(t);
    linkSync(file, `${file}.${statSync(file).size}`);
    openConsentLog(layout, { holds: true });
    assert.deepEqual(names(file), ['consent.log']);
    saysTheSame(layout);
  });

  it('has what another process decided while it was replaced, after a crash too', (t) => {
    const { layout, file } = long(t);
    const old = `${file}.${statSync(file).size}`;
    linkSync(file, old);
    openConsentLog(layout).revoke('allow_local');
    const late = readFileSync(file).subarray(Number(old.slice(file.length + 1)));
    const short = readFileSync(file, 'utf8').split('\n').slice(-3, -2);
    // The new file has its place; what was added to the old one meanwhile is not in it.
    writeFileSync(`${file}.new`, `${short}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    assert.equal(readConsentLog(layout).isGranted('provider', `299 ${LARGE}`), true);
    openConsentLog(layout, { holds: true });
    assert.deepEqual(names(file), ['consent.log']);
    assert.ok(readFileSync(file, 'utf8').endsWith(late.toString()));
  });
});
