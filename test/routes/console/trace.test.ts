import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../lib/client/client.ts';
import { withCommits } from '../../../routes/console/parts/trace.ts';
import type { Proof } from '../../../store/records/proof.ts';
import { assertAccessible, assertFits, look, noBrowser } from '../../helpers/browser.ts';
import { startHere } from '../../helpers/daemon-here.ts';
import { linkTo } from '../../helpers/linked-issue.ts';
import { makeRepository, temporaryDirectory } from '../../helpers/repository.ts';

const start = async (t: TestContext) => {
  const { root } = makeRepository(t, { files: { 'README.md': '# Sample\n' } });
  const workspace = temporaryDirectory(t);
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const dossier = connect({ url: daemon.url });
  const title = 'Saving </text><script>alert(1)</script> fails';
  const { id, path } = await dossier.call('POST /cases', {
    body: { title, type: 'bug', description: '```sh\necho hi > hi.txt\n```\n' },
  });
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(workspace, path, name)), { recursive: true });
    writeFileSync(join(workspace, path, name), text);
  };
  linkTo({ write }, 'Saving fails.\n');
  const made = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing' },
  });
  const at = { id, sid: made.id };
  for await (const { event } of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at))
    if (event === 'plan_ready') break;
  const body = { type: 'tests', content: 'green', session_id: made.id };
  const { id: proof } = await dossier.call('POST /cases/{id}/proof', { id, body });
  return { id, proof, session: made.id, url: `${daemon.url}/dashboard/cases/${id}/trace` };
};

describe('the trace of a Work item', { skip: noBrowser }, () => {
  it('is a picture in columns, whose cards lead on', async (t) => {
    const { url, id, session, proof } = await start(t);
    const { page, complaints } = await look(t, url);
    const cards = page.locator('.trace a');
    const to = await cards.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    assert.deepEqual(to.toSorted(), [
      `/dashboard/cases/${id}`,
      `/dashboard/cases/${id}/proof#proof-${proof}`,
      `/dashboard/cases/${id}/sessions/${session}`,
      'https://github.com/acme/app/issues/12',
    ]);
    assert.equal(await page.locator('.trace .ties path').count(), 3);
    await assertAccessible(page);
    // Each says what it came from, too, to who sees no line.
    const of = await page.getByRole('link', { name: /^implementing/ }).textContent();
    assert.match(of ?? '', /of Saving/);
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/dashboard\/cases\//);
    assert.deepEqual(complaints, []);
  });

  it('is a list on a narrow screen, without scripts too', async (t) => {
    const { url, id } = await start(t);
    const { page } = await look(t, url, { javaScriptEnabled: false, size: 'narrow' });
    assert.equal(await page.locator('.trace .ties').isVisible(), false);
    const own = page.getByRole('region', { name: 'Sessions' }).getByRole('listitem');
    assert.match(
      (await own.textContent()) ?? '',
      /implementing.*Plan ready.*of Saving <\/text><script>/,
    );
    await assertFits(page);
    await page.getByRole('link', { name: 'tests' }).click();
    await page.waitForURL(`**/dashboard/cases/${id}/proof#proof-*`);
  });
});

describe('the columns of a trace', () => {
  it('have a commit between a session and what it proves, and a line for each step', () => {
    const node = (kind: 'case' | 'session' | 'proof') => ({
      ...{ id: `${kind}:1`, kind, label: kind, state: '' },
    });
    const proofs = [{ id: '1', commit: 'abc', session_id: '1' }] as Proof[];
    const { cards, lines } = withCommits({
      ...{ nodes: [node('case'), node('session'), node('proof')], proofs, id: '1' },
      sessions: [],
      edges: [
        { from: 'case:1', to: 'session:1', kind: 'case-has-session' },
        { from: 'case:1', to: 'proof:1', kind: 'case-has-proof' },
        { from: 'session:1', to: 'proof:1', kind: 'session-produced-proof' },
      ],
    });
    assert.equal(
      cards.find(({ kind }) => kind === 'commit')?.href,
      '/dashboard/cases/1/sessions/1/diff',
    );
    assert.deepEqual(
      lines.map(({ from, to }) => `${from} ${to}`),
      ['case:1 session:1', 'session:1 commit:abc', 'commit:abc proof:1'],
    );
  });

  it('have what a session committed before there is a proof, and once if a proof has it, too', () => {
    const node = (kind: 'case' | 'session' | 'proof') => ({
      ...{ id: `${kind}:1`, kind, label: kind, state: '' },
    });
    const of = (proofs: Proof[]) => {
      const { cards, lines } = withCommits({
        nodes: [node('case'), node('session'), node('proof')],
        edges: [{ from: 'case:1', to: 'session:1', kind: 'case-has-session' }],
        sessions: [
          { id: '0' },
          { id: '1', commit: { id: 'abc', files: 1, left_out: [], message: null } },
        ],
        ...{ proofs, id: '1' },
      });
      return [
        cards.filter(({ kind }) => kind === 'commit').map(({ label, href }) => `${label} ${href}`),
        lines.map(({ from, to }) => `${from} ${to}`),
      ];
    };
    const shown = ['abc /dashboard/cases/1/sessions/1/diff'];
    const tied = ['case:1 session:1', 'session:1 commit:abc'];
    assert.deepEqual(of([]), [shown, tied]);
    const proven = [{ id: '1', commit: 'abc', session_id: '1' }] as Proof[];
    assert.deepEqual(of(proven), [shown, [...tied, 'commit:abc proof:1']]);
  });
});
