import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Settings } from '../../../../store/records/settings.ts';
import {
  HARMLESS,
  patternOf,
  TRUSTED,
  trustedParts,
  withPart,
} from '../../../../store/settings/trust/keys.ts';

interface Schema {
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
}

/** Every setting, to the depth at which it is trusted: `*` for names that the operator gives. */
const settingsIn = (schema: Schema): string[] =>
  Object.entries(schema.properties ?? {}).flatMap(([top, below]) => {
    const names = below.patternProperties ? ['*'] : Object.keys(below.properties ?? {});
    return names.length === 0 ? [top] : names.map((name) => `${top}.${name}`);
  });

const isIn = (list: readonly string[], key: string): boolean =>
  list.includes(key) || list.includes(`${key.split('.')[0]}.*`);

describe('the settings that need the operator’s word', () => {
  it('are told apart from those that need none: every setting is in one list', () => {
    const all = settingsIn(Settings as unknown as Schema);
    assert.ok(all.includes('providers.*') && all.includes('worktrees.setup'), all.join());
    const wrong = all.filter((key) => isIn(TRUSTED, key) === isIn(HARMLESS, key));
    assert.deepEqual(wrong, []);
  });

  it('are found by key, whatever name the operator gave', () => {
    const settings = {
      provider: 'x',
      providers: JSON.parse('{"my.agent":{"kind":"acp"},"__proto__":{"kind":"acp"}}'),
      worktrees: { setup: ['make'], ttl_hours: 3 },
      autocommit: true,
    };
    assert.deepEqual(
      [...trustedParts(settings).keys()].toSorted(),
      ['provider', 'providers.__proto__', 'providers.my.agent', 'worktrees.setup'].toSorted(),
    );
    const without = withPart(settings, 'providers.__proto__', undefined);
    assert.deepEqual(Object.keys(without.providers), ['my.agent']);
    assert.deepEqual(withPart(settings, 'worktrees.setup', undefined).worktrees, { ttl_hours: 3 });
  });

  it('know which of them a key is of', () => {
    assert.equal(patternOf('providers.my.agent'), 'providers.*');
    assert.equal(patternOf('worktrees.setup'), 'worktrees.setup');
    assert.equal(patternOf('worktrees.ttl_hours'), undefined);
    assert.equal(patternOf('webhooks/1'), undefined);
  });
});
