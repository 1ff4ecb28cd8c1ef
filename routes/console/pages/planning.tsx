import { useContext } from 'preact/hooks';
import type {
  Case,
  PlanningArtifact,
  PlanningGate,
  Readiness,
} from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, definePage, followsItem } from '../common/page.ts';
import { EditForm } from '../parts/edit-form.tsx';
import { Section } from '../parts/facts.tsx';
import { CallButton, PageContext } from '../parts/form.tsx';
import { Item } from '../parts/frames.tsx';
import { labelOf } from '../parts/labels.ts';
import { Markdown } from '../parts/markdown.tsx';
import { ChangedSinceOpened, useOpened } from '../parts/opened.tsx';

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

const Gate = ({ id, status, artifacts }: PlanningGate & { id: string }) => {
  const approved = Object.fromEntries(artifacts.map((one) => [one.filename, one.sha256]));
  const open = useOpened(JSON.stringify(approved));
  const waits = status === 'pending' || status === 'stale';
  return (
    <div class={status === 'approved' ? 'box good' : 'box'}>
      <strong>{GATES[status]}</strong>
      {waits && open && <ChangedSinceOpened what="A file" where="below" open={open} />}
      {waits && !open && (
        <CallButton
          call={`POST /api/cases/${id}/planning/approve`}
          body={{ artifacts: approved }}
          class="answers"
          button="primary"
          keys="a"
        >
          Approve files
        </CallButton>
      )}
    </div>
  );
};

const GATES: Readonly<Record<PlanningGate['status'], string>> = {
  not_started: 'No planning files. They are optional.',
  pending: 'Approve these files to let sessions start.',
  stale: 'The files changed since you approved them. Approve them again to let sessions start.',
  approved: 'Approved.',
};

const Ready = ({ ready, checks }: Readiness) => (
  <Section id="ready" title={ready ? 'A session can start' : 'A session cannot start'}>
    <ul class="bare checks">
      {checks.map(({ name, ok, required, detail }) => (
        <li key={name} class={ok || !required ? 'quiet' : ''}>
          <span aria-hidden="true">{ok ? '✓' : '–'}</span>{' '}
          {!ok && required && <strong>Blocking: </strong>}
          {`${labelOf(name)}: ${visible(detail)}`}
        </li>
      ))}
    </ul>
  </Section>
);

const textOf = async (
  { request }: Api,
  id: string,
  of: PlanningGate['artifacts'][number] | undefined,
) => {
  if (of === undefined) return { text: '', etag: undefined };
  const { data, etag } = await request('GET /api/cases/{id}/planning-artifacts/{filename}', {
    id,
    filename: of.filename,
  });
  return { text: String(data ?? ''), etag };
};

/** The planning files of a Work item, and whether a session can start. */
export const page = definePage<Planning>({
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
  follows: followsItem,
});

type Name = PlanningArtifact['filename'];

/** A planning file; without `of` it does not exist. */
interface PlanningText {
  filename: Name;
  of?: PlanningArtifact | undefined;
  text: string;
  etag: string | undefined;
}

/** The planning files in the order of their stages, and the source of each. */
const STAGES: Readonly<Record<Name, { title: string; call: string; from: string }>> = {
  'problem-definition.md': {
    title: 'Problem',
    call: 'from-issue',
    from: 'Generated from the linked issue, as last synced.',
  },
  'hypotheses.md': {
    title: 'Hypotheses',
    call: 'hypotheses-file',
    from: 'Generated from the problem, or else from the description.',
  },
  'tasks.md': { title: 'Tasks', call: 'generate-tasks', from: 'Generated from the hypotheses.' },
};

/** A planning file, to read, generate or edit. The ETag keeps a save from replacing an unseen version. */
const PlanningFile = ({ id, filename, of, text, etag }: PlanningText & { id: string }) => {
  const { title, call, from } = STAGES[filename];
  const isEdited = of?.edited === true;
  const save = `PUT /api/cases/${id}/planning-artifacts/${filename}`;
  const { sent } = useContext(PageContext);
  const again = sent?.call === save ? sent.markdown : undefined;
  return (
    <section class="row" data-row={filename} tabIndex={-1} aria-label={title}>
      <div class="head">
        <h2 class="title">{title}</h2>
        {of === undefined ? <span class="tag">Missing</span> : <Marks {...of} />}
      </div>
      <p class="quiet">{from}</p>
      {of !== undefined && (
        <details class="in-place" open={!of.approved}>
          <summary data-key="p">Read {filename}</summary>
          <Markdown text={text} />
        </details>
      )}
      <div class="answers">
        <CallButton
          call={`POST /api/cases/${id}/planning/${call}`}
          {...(isEdited && { body: { overwrite: true } })}
          keys="w"
        >
          {wordOf(of !== undefined, isEdited)}
        </CallButton>
      </div>
      <details class="edit" open={again !== undefined}>
        <summary data-key="e">{of === undefined ? 'Write' : 'Edit'}</summary>
        <EditForm call={save} if_match={etag} class="fields">
          <label>
            {filename}
            <textarea
              name="_markdown"
              class="code"
              rows={14}
              required
              defaultValue={again ?? text}
            />
          </label>
          <button type="submit" class="primary">
            Save
          </button>
        </EditForm>
      </details>
    </section>
  );
};

const wordOf = (isThere: boolean, isEdited: boolean): string => {
  if (!isThere) return 'Generate';
  return isEdited ? 'Generate again and discard edits' : 'Generate again';
};

const Marks = ({ generated_by, edited, approved }: PlanningArtifact) => (
  <>
    <span class="quiet">{generated_by === null ? 'by hand' : `by ${visible(generated_by)}`}</span>
    {edited && <span class="tag held">Edited</span>}
    <span class={`tag ${approved ? 'verified' : 'plan'}`}>
      {approved ? 'Approved' : 'Not approved'}
    </span>
  </>
);
