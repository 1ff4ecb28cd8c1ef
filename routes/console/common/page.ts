import type { ComponentType } from 'preact';
import type { Dossier, FileProblem } from '../../../lib/client/client.ts';

/** What a page asks of the API: on the server without a network, in the browser with `fetch`. */
export type Api = Pick<Dossier, 'call' | 'request'>;

/** Why the API refused a call: of its problem document what a person needs. */
export interface Told {
  status: number;
  title: string;
  detail: string;
}

/** Why what a page is about cannot be shown as it is now. */
export interface Missing extends Told {
  /** What to do next. */
  next?: string;
  on?: { href: string; name: string };
}

/** What is wrong with a file. */
export type Fault = FileProblem;

/** Where the browser is. */
export interface At {
  params: Record<string, string>;
  query: Record<string, string>;
}

/** What every page is shown with. */
export interface Frame {
  /** What the forms of the page send, so that the daemon knows them for its own. */
  form_key: string;
  /** Of this showing of the page: what one of its forms makes is made once. */
  showing: string;
  /** What the sheets that a script makes say, so that the page's policy takes them. */
  nonce: string;
  /** Path and query: where a form comes back to. */
  path: string;
  /** How many things need the operator. */
  waiting: number;
  /** What is wrong with files of the Work item that the page is about. */
  faults?: readonly Fault[];
  /** What is shown is not how it is now, or there is nothing to show. */
  missing?: Missing | undefined;
  /** What was refused of the last form. */
  problem?: Told | undefined;
  /** What the last form was answered that is shown this once. */
  once?: string | undefined;
  /** What that form had as Markdown, where no script keeps it. */
  sent?: string | undefined;
}

/** A page of the console: what it needs of the API, and how that is shown, on the server and in the browser alike. */
export interface Page<P extends object = object> {
  /** What the browser's title says. */
  title: (shown: P) => string;
  /** `known` is what is shown by now, where only these events happened since: what none of them can change need not be asked for. */
  load: (api: Api, at: At, known?: Known<P>) => Promise<P>;
  View: ComponentType<P>;
  /** Whether an event of the workspace can change what is shown. Default: each of them. False: nothing can. */
  follows?: false | ((event: WorkspaceEvent, at: At) => boolean);
}

/** What a page shows, and what has happened since. */
export interface Known<P> {
  shown: P;
  since: readonly WorkspaceEvent[];
}

/** The identity: it ties what is loaded to what is shown, and lets all pages stand in one list. */
export const page = <P extends object>(spec: Page<P>): Page => spec as unknown as Page;

/** What the browser's title and its tab say: how much waits, first. */
export const titleOf = (
  { title }: Page,
  shown: object | undefined,
  { waiting, missing }: Frame,
): string => {
  const words = shown === undefined ? (missing?.title ?? '') : title(shown as never);
  return `${waiting > 0 ? `(${waiting}) ` : ''}${words} · Dossier`;
};

/** What the daemon tells of what happened. */
export interface WorkspaceEvent {
  event_type: string;
  payload: { case_id?: string } & Record<string, unknown>;
}
