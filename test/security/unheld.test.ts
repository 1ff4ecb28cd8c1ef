import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Capabilities, missingProtections } from '../../lib/daemon/system/machine.ts';
import { detectCapabilities } from '../../lib/sandbox/capabilities.ts';

const WHOLE: Capabilities = {
  ...{ platform: 'linux', uid: 1000, proc: true, container: false, namespaces: true },
  cgroups: { cgroup: false, limits: false },
  sandbox: { kind: 'bubblewrap' },
};
const NONE = {
  kind: 'none',
  reason: 'bubblewrap is not installed. Install the package bubblewrap.',
} as const;

const about = (change: Partial<Capabilities>): string[] =>
  missingProtections({ ...WHOLE, ...change }).map((each) => each.about);

describe('what cannot be had here', () => {
  it('is one line for each, and none for what can be had', () => {
    assert.deepEqual(about({}), ['cgroup']);
    assert.deepEqual(about({ uid: 0 }), ['cgroup', 'root']);
    assert.deepEqual(about({ proc: false }), ['/proc', 'cgroup']);
    assert.deepEqual(about({ sandbox: NONE }), ['bubblewrap', 'cgroup']);
    assert.deepEqual(about({ sandbox: NONE, namespaces: false }), [
      'bubblewrap',
      'namespaces',
      'cgroup',
    ]);
    assert.deepEqual(about({ sandbox: NONE, namespaces: false, container: true }), [
      'bubblewrap',
      'namespaces',
      'container',
      'cgroup',
    ]);
    assert.deepEqual(
      about({ platform: 'darwin', proc: false, sandbox: NONE, namespaces: undefined }),
      ['bubblewrap', 'macOS'],
    );
    // Nothing runs outside a sandbox that cannot be prepared.
    const unprepared = { kind: 'bubblewrap', reason: 'It could not be prepared.' } as const;
    assert.deepEqual(about({ sandbox: unprepared }), ['sandbox', 'cgroup']);
    // Where the sandbox works, what it needs is there.
    assert.deepEqual(about({ namespaces: false, container: true }), ['cgroup']);
  });

  it('says what follows from it, and what to do', () => {
    const [sandbox] = missingProtections({ ...WHOLE, sandbox: NONE });
    assert.match(sandbox?.sentence ?? '', /Install the package bubblewrap.*undone.*dossier trust/);
    const [, mac] = missingProtections({
      ...WHOLE,
      platform: 'darwin',
      sandbox: { ...NONE, untried: true },
    });
    assert.match(mac?.sentence ?? '', /is on, and untested/);
    for (const { sentence } of missingProtections({ ...WHOLE, uid: 0, proc: false, sandbox: NONE }))
      assert.match(sentence, /^[^\n]{40,400}\.$/);
  });

  it('is looked up without an error on every system', () => {
    const ground = detectCapabilities();
    assert.equal(ground.platform, process.platform);
    assert.equal(typeof ground.container, 'boolean');
  });
});
