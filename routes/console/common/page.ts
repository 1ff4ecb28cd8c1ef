import type { ComponentType } from 'preact';
import type { Dossier, FileProblem } from '../../../lib/client/client.ts';

/** The part of the API client that pages use: in process on the server, over `fetch` in the browser. */
export type Api = Pick<Dossier, 'call' | 'request'>;

/** The part of a problem document that a page shows. */
export interface ProblemSummary {
  status: number;
  title: string;
  detail: string;
}

/** What a form did, with the page that continues it. */
export interface Done {
  text: string;
  on?: { href: string; name: string } | undefined;
}

/** Why a page cannot be loaded. */
export interface Missing extends ProblemSummary {
  /** What to do next. */
  next?: string;
  on?: { href: string; name: string };
}

/** The parameters of the page's address. */
export interface At {
  params: Record<string, string>;
  query: Record<string, string>;
}

/** The state that every page is rendered with. */
export interface Frame {
  /** Proves that a form is from this console (see lib/http/form-key.ts). */
  form_key: string;
  /** Identifies this rendering: forms derive their idempotency key from it. */
  showing: string;
  /** What `showing` was when the data of the page was asked for; undefined on the server. */
  loaded?: string;
  /** The nonce of the page's content security policy, for style sheets made by scripts. */
  nonce: string;
  /** Path and query, to which forms return. */
  path: string;
  /** The number of items in the inbox. */
  waiting: number;
  /** The workspace, where commands have to name it. */
  workspace?: string | undefined;
  /** Problems of the files that the page is about. */
  fileProblems?: readonly FileProblem[];
  /** Why the page cannot be loaded. The data shown, if any, is older. */
  missing?: Missing | undefined;
  /** Why the last form was refused. */
  problem?: ProblemSummary | undefined;
  /** The element of that form, which shows the problem; without scripts, or if it is gone, the page does. */
  refused?: object | undefined;
  /** The result of the last form. */
  done?: Done | undefined;
  /** The daemon does not respond, or no longer knows this browser. */
  down?: 'lost' | 'out' | undefined;
  /** A value from the response to the last form that is shown once, such as a secret. */
  once?: string | undefined;
  /** What the refused form sent, for a page without scripts. */
  sent?: SentText | undefined;
}

/** The text of a form, which nothing has saved. */
export interface SentText {
  call: string;
  /** It is put back into its field. */
  markdown: string | undefined;
  /** The other fields that were not empty, by the name of their member. */
  fields: readonly (readonly [name: string, text: string])[];
}

/** A page of the console: the calls that load it and the view of their results, on the server and in the browser. */
export interface Page<P extends object = object> {
  /** The document title. */
  title: (shown: P) => string;
  /** `known` is the last result and the events since. If none of them can change a part, that part may be reused. */
  load: (api: Api, at: At, known?: Previous<P>) => Promise<P>;
  View: ComponentType<P>;
  /** Whether an event can change the page's data. Default: every event can; false: none can. */
  follows?: false | ((event: WorkspaceEvent, at: At) => boolean);
}

/** The last result of a page, and the events since. */
export interface Previous<P> {
  shown: P;
  since: readonly WorkspaceEvent[];
}

/** Returns the page itself: ties the types of `load` and `View`, and erases them for the list of pages. */
export const definePage = <P extends object>(spec: Page<P>): Page => spec as unknown as Page;

/** For `follows`: the events of the Work item in the page's address. */
export const followsItem = ({ payload }: WorkspaceEvent, { params }: At): boolean =>
  payload.case_id === params.id;

/** The document title, which begins with the number of inbox items. */
export const titleOf = (
  { title }: Page,
  shown: object | undefined,
  { waiting, missing }: Frame,
): string => {
  const words = shown === undefined ? (missing?.title ?? '') : title(shown as never);
  return `${waiting > 0 ? `(${waiting}) ` : ''}${words} · Dossier`;
};

/** An event as the stream sends it. */
export interface WorkspaceEvent {
  event_type: string;
  payload: { case_id?: string } & Record<string, unknown>;
}
