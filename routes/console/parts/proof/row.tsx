import type { ComponentChildren } from 'preact';
import type { Proof } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { Since } from '../relative-time.tsx';

/** A proof, as far as it is shown. */
export interface ProofShown {
  proof: Proof;
  etag: string | undefined;
  /** Its content is longer. */
  isCut: boolean;
  /** How its file begins, where that is a text. */
  text?: string;
}

interface RowProps extends ProofShown {
  isStale: boolean;
  /** Its verification opens the proof gate, which resolves the Work item. */
  resolves: boolean;
  /** What is said beside the button that verifies. */
  viewed: ComponentChildren;
}

export const ProofRow = (shown: RowProps) => {
  const { proof, isCut, isStale } = shown;
  const { id, case_id, type, verified, content, created_at, run } = proof;
  const at = `/cases/${case_id}/proof/${id}`;
  return (
    <li id={`proof-${id}`} class="row proof" data-row={id} tabIndex={-1}>
      <div class="head">
        <span class={verified ? 'tag verified' : 'tag'}>
          {verified ? 'Verified' : 'Not verified'}
        </span>
        <h3 class="title">{type}</h3>
        {run !== undefined && <CheckTag {...run} />}
        {isStale && <span class="tag held">of other work</span>}
        <Since at={created_at} />
      </div>
      <OfWhat {...proof} />
      {content.trim() !== '' && <Markdown text={content} />}
      {isCut && (
        <p class="quiet">
          It is longer: <a href={at}>all of it</a>.
        </p>
      )}
      {proof.file !== null && <ProofFile {...shown} file={proof.file} at={`${at}/file`} />}
      {run?.status === 'running' ? <Running at={at} /> : <Decide {...shown} at={at} />}
    </li>
  );
};

type Run = NonNullable<Proof['run']>;

const CheckTag = ({ status, attempt, exit_code }: Run) => {
  const exit = exit_code === null ? '' : ` (exit ${exit_code})`;
  const nth = status === 'passed' || status === 'failed' ? ` on run ${attempt}` : '';
  return <span class={`tag ${TAGS[status]}`}>{`${status}${nth}${exit}`}</span>;
};

const TAGS: Readonly<Record<Run['status'], string>> = {
  running: 'working',
  passed: 'verified',
  failed: 'failed',
  aborted: '',
  interrupted: 'held',
};

const OfWhat = ({
  case_id,
  session_id,
  commit,
  diff_sha256,
  verified_at,
  verified_by,
  verified_elsewhere,
}: Proof) => (
  <p class="line quiet">
    {session_id !== null && (
      <a href={`/dashboard/cases/${case_id}/sessions/${session_id}`}>
        Session {session_id.slice(0, 8)}
      </a>
    )}
    {commit !== null && (
      <span>
        of commit <code title={visible(commit)}>{visible(commit).slice(0, 10)}</code>
      </span>
    )}
    {diff_sha256 !== null && <span>and what was not committed then</span>}
    {verified_at !== null && (
      <span>
        verified by {visible(verified_by ?? 'somebody')} <Since at={verified_at} />
        {verified_elsewhere === true && ', by file: not on this machine'}
      </span>
    )}
  </p>
);

/** Longer texts are shown when they are opened. In characters. */
const SHORT = 2000;

interface FileProps extends ProofShown {
  file: string;
  /** Where it is served from. */
  at: string;
}

const ProofFile = ({ file, at, text, proof }: FileProps) => (
  <div class="file">
    {isPicture(file) && (
      <a href={at}>
        <img src={at} alt={`What proves ${proof.type}`} loading="lazy" />
      </a>
    )}
    {text !== undefined && (
      <details class="in-place" open={text.length < SHORT}>
        <summary data-key="p">{text.length > LONGEST ? 'How it begins' : 'What it says'}</summary>
        <pre class="as-written">
          <code>{visible(text)}</code>
        </pre>
      </details>
    )}
    <p>
      <a href={at} data-key="f">
        {visible(file)}
      </a>
    </p>
  </div>
);

const Running = ({ at }: { at: string }) => (
  <div class="answers">
    <Do call={`POST ${at}/abort`}>
      <button type="submit" data-key="x">
        Abort
      </button>
    </Do>
  </div>
);

const Decide = ({ proof, etag, at, resolves, viewed }: RowProps & { at: string }) => (
  <div class="answers">
    {proof.verified ? (
      <Do call={`DELETE ${at}/verify`} if_match={etag}>
        <button
          type="submit"
          data-key="v"
          aria-label={`Take the verification of ${proof.type} back`}
        >
          Take back
        </button>
      </Do>
    ) : (
      <>
        <Do call={`PUT ${at}/verify`} if_match={etag}>
          <Verify type={proof.type} words={resolves ? 'Verify and resolve' : 'Verify'} />
        </Do>
        {viewed}
      </>
    )}
    <details class="ask">
      <summary class="button" data-key="d">
        Delete…
      </summary>
      <Do call={`DELETE ${at}`} if_match={etag}>
        <button type="submit" class="danger" aria-label={`Delete the proof ${proof.type}`}>
          Delete this proof
        </button>
      </Do>
    </details>
  </div>
);

const Verify = ({ type, words }: { type: string; words: string }) => (
  <button type="submit" class="primary" data-key="v" aria-label={`${words} ${type}`}>
    {words}
  </button>
);

// What shows nothing but itself: a drawing (SVG) can run and load things, so it is none of these.
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
const TEXT = /\.(?:txt|log|json|csv|diff|patch|out|err|xml|ya?ml|markdown|tap|svg|html?)$/i;

/** A file that is shown as a picture, by its name. */
const isPicture = (file: string): boolean => PICTURE.test(file);

/** A file that is shown as the text that it is, by its name. */
export const isText = (file: string): boolean => TEXT.test(file);

/** More of a text is not in the page. In characters, and in bytes of a file. */
export const LONGEST = 16 * 1024;
