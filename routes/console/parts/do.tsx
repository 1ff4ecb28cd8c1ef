import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Api, Frame } from '../common/page.ts';
import { KeepTyped } from './keep-typed.tsx';

/** What the page is shown with. */
export const InFrame = createContext<Frame>({
  ...{ form_key: '', showing: '', nonce: '', path: '', waiting: 0 },
});

/** What a part asks more of, once it is looked at in a browser; undefined on the server. */
export const InReach = createContext<Api | undefined>(undefined);

interface DoProps {
  /** Method and path of the API: `POST /cases`. */
  call: string;
  /** What is sent beside what the fields say. */
  body?: unknown;
  if_match?: string | undefined;
  /** Where to go on; `{id}` is of what was made. Default: this page. */
  then?: string;
  /** A member of the answer that is shown this once, as `frame.once`. */
  once?: string;
  /** What the fields showed: what of it is still so is not sent. */
  was?: unknown;
  /** What is typed is kept in the browser until it is sent. Not for secrets; one form of a call on a page. */
  keep?: true;
  class?: string;
  /** One of its fields is a file. */
  encType?: 'multipart/form-data';
  children?: ComponentChildren;
}

/** A form that makes one call of the API: with scripts and without. */
export const Do = (given: DoProps) => {
  const { call, body, if_match, then, once, was, keep, children, ...rest } = given;
  const { form_key, path, showing } = useContext(InFrame);
  return (
    <form method="post" action="/dashboard/do" data-do {...rest}>
      <Hidden name="form_key" value={form_key} />
      <Hidden name="_call" value={call} />
      <Hidden name="_back" value={path} />
      <Hidden name="_showing" value={showing} />
      {then !== undefined && <Hidden name="_then" value={then} />}
      {once !== undefined && <Hidden name="_once" value={once} />}
      {was !== undefined && <Hidden name="_was" value={JSON.stringify(was)} />}
      {body !== undefined && <Hidden name="_body" value={JSON.stringify(body)} />}
      {if_match !== undefined && <Hidden name="_if_match" value={if_match} />}
      {keep && <KeepTyped as={`typed ${call}`} />}
      {children}
    </form>
  );
};

const Hidden = ({ name, value }: { name: string; value: string }) => (
  <input type="hidden" name={name} value={value} />
);
