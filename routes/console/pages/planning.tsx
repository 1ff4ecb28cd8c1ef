import type { Case, PlanningGate, Readiness } from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import { PlanningFile, type PlanningText, STAGES } from '../parts/case/planning-file.tsx';
import { Do } from '../parts/do.tsx';
import { Item } from '../parts/item.tsx';
import { Written } from '../parts/written.tsx';

interface Planning {
  item: Case;
  gate: PlanningGate;
  files: PlanningText[];
  readiness: Readiness;
}

const View = ({ item, gate, files, readiness }: Planning) => (
  <Item of={item} tab="Planning">
    <Gate id={item.id} {...gate} />
    <div class="rows">
      {files.map((file) => (
        <PlanningFile key={file.filename} id={item.id} {...file} />
      ))}
    </div>
    <Ready {...readiness} />
  </Item>
);

const Gate = ({ id, status, artifacts }: PlanningGate & { id: string }) => (
  <div class={status === 'approved' ? 'box good' : 'box'}>
    <strong>{GATES[status]}</strong>
    {(status === 'pending' || status === 'stale') && (
      <Do
        call={`POST /api/cases/${id}/planning/approve`}
        body={{ artifacts: Object.fromEntries(artifacts.map((one) => [one.filename, one.sha256])) }}
        class="answers"
      >
        <button type="submit" class="primary" data-key="a">
          Approve these files
        </button>
      </Do>
    )}
  </div>
);

const GATES: Readonly<Record<PlanningGate['status'], string>> = {
  not_started: 'Nothing is planned before the first session, and nothing has to be.',
  pending: 'No session runs before you have approved these files.',
  stale: 'They changed since you approved them: no session runs before you do again.',
  approved: 'Approved as they are.',
};

const Ready = ({ ready, checks }: Readiness) => (
  <section aria-labelledby="ready">
    <h2 id="ready">{ready ? 'A session can run now' : 'A session cannot run now'}</h2>
    <ul class="checks">
      {checks.map(({ name, ok, required, detail }) => (
        <li key={name} class={ok || !required ? 'quiet' : ''}>
          <span aria-hidden="true">{ok ? '✓' : '–'}</span>{' '}
          {!ok && required && <strong>In the way: </strong>}
          <Written text={detail} />
        </li>
      ))}
    </ul>
  </section>
);

const textOf = async (
  { request }: Api,
  id: string,
  of: PlanningGate['artifacts'][number] | undefined,
) => {
  if (of === undefined) return { text: '', etag: undefined };
  const { data, etag } = await request('GET /api/cases/{id}/planning-artifacts/{filename}', {
    ...{ id, filename: of.filename },
  });
  return { text: String(data ?? ''), etag };
};

/** What is planned for a Work item before a session begins, and whether one can. */
export const planning = page<Planning>({
  title: ({ item }) => `Planning of ${item.title}`,
  load: async (api, { params: { id = '' } }) => {
    const [item, gate, readiness] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /api/cases/{id}/planning/gate', { id }),
      api.call('GET /api/cases/{id}/planning/readiness', { id }),
    ]);
    const names = Object.keys(STAGES) as PlanningText['filename'][];
    const files = await Promise.all(
      names.map(async (filename) => {
        const of = gate.artifacts.find((one) => one.filename === filename);
        return { filename, of, ...(await textOf(api, id, of)) };
      }),
    );
    return { item, gate, files, readiness };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
