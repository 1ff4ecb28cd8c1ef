import type { PlanningArtifact } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Markdown } from '../markdown.tsx';

type Name = PlanningArtifact['filename'];

/** A planning file as it is; without `of` it is not there yet. */
export interface PlanningText {
  filename: Name;
  of?: PlanningArtifact | undefined;
  text: string;
  etag: string | undefined;
}

/** The files of planning in the order of their stages, and what each is made of. */
export const STAGES: Readonly<Record<Name, { title: string; call: string; from: string }>> = {
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
export const PlanningFile = ({ id, filename, of, text, etag }: PlanningText & { id: string }) => {
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
