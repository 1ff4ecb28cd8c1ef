import type {
  Case,
  PlanningArtifact,
  PlanningGate,
  Readiness,
} from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, page } from '../common/page.ts';
import { Do } from '../parts/form.tsx';
import { Item } from '../parts/frames.tsx';
import { Markdown } from '../parts/markdown.tsx';
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

type Name = PlanningArtifact['filename'];

/** A planning file as it is; without `of` it is not there yet. */
interface PlanningText {
  filename: Name;
  of?: PlanningArtifact | undefined;
  text: string;
  etag: string | undefined;
}

/** The files of planning in the order of their stages, and what each is made of. */
const STAGES: Readonly<Record<Name, { title: string; call: string; from: string }>> = {
  'problem-definition.md': {
    ...{ title: 'Problem', call: 'from-issue' },
    from: 'Made of the linked issue, as last synced.',
  },
  'hypotheses.md': {
    ...{ title: 'Hypotheses', call: 'hypotheses-file' },
    from: 'Made of the problem, or of the description without one.',
  },
  'tasks.md': { title: 'Tasks', call: 'generate-tasks', from: 'Made of the hypotheses.' },
};

/** One file of planning: read, written by an agent, or by hand over nothing that was not seen. */
const PlanningFile = ({ id, filename, of, text, etag }: PlanningText & { id: string }) => {
  const { title, call, from } = STAGES[filename];
  const isEdited = of?.edited === true;
  return (
    <section class="row" data-row={filename} tabIndex={-1} aria-label={title}>
      <div class="head">
        <h2 class="title">{title}</h2>
        {of === undefined ? <span class="tag">not there</span> : <Marks {...of} />}
      </div>
      <p class="quiet">{from}</p>
      {of !== undefined && (
        <details class="in-place" open={!of.approved}>
          <summary data-key="p">Read {filename}</summary>
          <Markdown text={text} />
        </details>
      )}
      <div class="answers">
        <Do
          call={`POST /api/cases/${id}/planning/${call}`}
          {...(isEdited && { body: { overwrite: true } })}
        >
          <button type="submit" data-key="w">
            {wordOf(of !== undefined, isEdited)}
          </button>
        </Do>
      </div>
      <details class="edit">
        <summary data-key="e">{of === undefined ? 'Write it by hand' : 'Edit'}</summary>
        <Do
          call={`PUT /api/cases/${id}/planning-artifacts/${filename}`}
          if_match={etag}
          keep
          class="fields"
        >
          <label>
            {filename}
            <textarea name="_markdown" class="code" rows={14} required defaultValue={text} />
          </label>
          <button type="submit" class="primary">
            Save
          </button>
        </Do>
      </details>
    </section>
  );
};

const wordOf = (isThere: boolean, isEdited: boolean): string => {
  if (!isThere) return 'Let it be written';
  return isEdited ? 'Let it be written anew, over the edits' : 'Let it be written anew';
};

const Marks = ({ generated_by, edited, approved }: PlanningArtifact) => (
  <>
    <span class="quiet">{generated_by === null ? 'by hand' : `by ${visible(generated_by)}`}</span>
    {edited && <span class="tag held">edited</span>}
    <span class={`tag ${approved ? 'verified' : 'plan'}`}>
      {approved ? 'approved' : 'not approved'}
    </span>
  </>
);
