/** The calls of the API in the model, and what each means to change. */
import { movedTo, type Parts, sha256 } from './texts.ts';

/** With the tag of what is there now, with one of long ago, or without. */
export type Tag = 'none' | 'right' | 'stale';

export type Call =
  | { do: 'create'; title: string }
  | { do: 'title'; item: number; value: string; tag: Tag }
  | { do: 'description'; item: number; value: string; tag: Tag }
  | { do: 'state'; item: number; value: string; tag: Tag }
  | { do: 'attach'; item: number; content: string }
  | { do: 'verify'; item: number; proof: number; tag: Tag }
  | { do: 'remember'; item: number; file: string; text: string; tag: Tag }
  | { do: 'delete'; item: number; tag: Tag }
  | { do: 'get'; item: number }
  /** What the minute's sweep does. */
  | { do: 'sweep' }
  /** What a hint of the watcher leads to. */
  | { do: 'hint'; item: number }
  /** The grace period is over. */
  | { do: 'decide' };

/** A call that was made: of which Work item, and what became of it. */
export interface ActiveCall {
  number: number;
  call: Call;
  /** The Work item, and the proof where it is about one. */
  id: string;
  proof: string;
  /** The tag it was sent with. */
  tag: string | undefined;
  start: number;
  /** When it wrote what it was asked to write. */
  committed: number | undefined;
  /** The entity tag that it was answered with, where it was a request. */
  etag: string | undefined;
  /** What it made in the directory of another Work item, in the moment that cannot be closed, until it took it back. */
  astray: string | undefined;
}

export const nameOf = ({ number, call }: Pick<ActiveCall, 'number' | 'call'>): string =>
  `API#${number} ${textOf(call)}`;

export const textOf = ({ do: name, ...rest }: Call): string =>
  [name, ...Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`)].join(
    ' ',
  );

/** The front matter that a call means to leave behind, given what it finds. */
export const intentOf = ({ call, id }: ActiveCall, found: Parts): Record<string, unknown> => {
  if (call.do === 'title') return { title: call.value };
  if (call.do === 'state') return movedTo(found.data, call.value);
  if (call.do === 'create') return { id, title: call.title };
  return {};
};

/** A verification of what stands there. */
export const verifies = (after: Parts, content: string): boolean =>
  after.data.verified === true && after.data.verified_sha256 === sha256(content);
