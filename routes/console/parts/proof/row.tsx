import type { ComponentChildren } from 'preact';
import type { Proof } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { AskedCall, CallButton } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { Markdown } from '../markdown.tsx';
import { ChangedSinceOpened, useOpened } from '../opened.tsx';
import { RelativeTime } from '../relative-time.tsx';

/** A proof, with the part of it that is shown. */
export interface ProofShown {
  proof: Proof;
  etag: string | undefined;
  /** The content is longer than shown. */
  isCut: boolean;
  /** The beginning of its file, if that is a text. */
  text?: string;
}

interface RowProps extends ProofShown {
  isStale: boolean;
  /** Verifying it satisfies the proof gate, which resolves the Work item. */
  resolves: boolean;
  /** The text next to the button that verifies. */
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
        {isStale && <span class="tag held">Stale</span>}
        <RelativeTime at={created_at} />
      </div>
      <OfWhat {...proof} />
      {content.trim() !== '' && <Markdown text={content} />}
      {isCut && (
        <p class="quiet">
          Shortened. <a href={at}>Show all</a>
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
  return <span class={`tag ${TAGS[status]}`}>{`${labelOf(status)}${nth}${exit}`}</span>;
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
    {diff_sha256 !== null && <span>and uncommitted changes</span>}
    {verified_at !== null && (
      <span>
        verified by {visible(verified_by ?? 'unknown')} <RelativeTime at={verified_at} />
        {verified_elsewhere === true && ' in a file, not on this machine'}
      </span>
    )}
  </p>
);

/** Longer texts are closed at first. In characters. */
const SHORT = 2000;

interface FileProps extends ProofShown {
  file: string;
  /** The address of the file. */
  at: string;
}

const ProofFile = ({ file, at, text, proof }: FileProps) => (
  <div class="file">
    {PICTURE.test(file) && (
      <a href={at}>
        <img src={at} alt={`Proof: ${proof.type}`} loading="lazy" />
      </a>
    )}
    {text !== undefined && (
      <details class="in-place" open={text.length < SHORT}>
        <summary data-key="p">
          {text.length > LONGEST ? 'Beginning of the file' : 'Content'}
        </summary>
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
    <CallButton call={`POST ${at}/abort`} keys="x">
      Abort
    </CallButton>
  </div>
);

const Decide = ({ proof, etag, at, resolves, viewed }: RowProps & { at: string }) => {
  const { type, verified } = proof;
  const verify = `${verified ? 'Verify again' : 'Verify'}${resolves ? ' and resolve' : ''}`;
  const open = useOpened(etag);
  if (open) return <ChangedSinceOpened what="The proof" where="above" open={open} />;
  return (
    <div class="answers">
      {(!verified || resolves) && (
        <>
          <CallButton
            call={`PUT ${at}/verify`}
            if_match={etag}
            button="primary"
            keys="v"
            label={`${verify} ${type}`}
          >
            {verify}
          </CallButton>
          {viewed}
        </>
      )}
      {verified && (
        <CallButton
          call={`DELETE ${at}/verify`}
          if_match={etag}
          keys={resolves ? 'u' : 'v'}
          label={`Revoke verification: ${type}`}
        >
          Revoke verification
        </CallButton>
      )}
      <AskedCall
        ask="Delete…"
        call={`DELETE ${at}`}
        if_match={etag}
        label={`Delete proof: ${proof.type}`}
      >
        Delete proof
      </AskedCall>
    </div>
  );
};

// Formats that cannot contain scripts. SVG can, so it is not one of these.
const PICTURE = /\.(?:png|jpe?g|gif|webp|avif)$/i;
const TEXT = /\.(?:txt|log|json|csv|diff|patch|out|err|xml|ya?ml|markdown|tap|svg|html?)$/i;

/** Whether a file is shown as text, by its extension. */
export const isText = (file: string): boolean => TEXT.test(file);

/** The most that is shown of a text: characters, or bytes of a file. */
export const LONGEST = 16 * 1024;
