/** A class of the platform where the program is compiled for one, a browser or Node; else what is said here of it. */
type Known<Name extends string, Otherwise> =
  typeof globalThis extends Record<Name, { prototype: infer T }> ? T : Otherwise;

/** An AbortSignal. */
export type Signal = Known<
  'AbortSignal',
  { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void }
>;

/** A file: the Response of fetch with its body not read yet, so that it can be long. */
export type Binary = Known<
  'Response',
  {
    readonly body: unknown;
    readonly headers: { get(name: string): string | null };
    arrayBuffer(): Promise<ArrayBuffer>;
  }
>;

/** What is sent as a file. A Blob says by its type what it is; else `headers` may have a Content-Type. */
export type Upload =
  | Uint8Array
  | ArrayBuffer
  | Known<'Blob', { readonly size: number; arrayBuffer(): Promise<ArrayBuffer> }>
  | Known<'ReadableStream', { getReader(): unknown }>;

type Init = typeof globalThis extends { fetch: (url: string, init?: infer T) => unknown }
  ? T
  : object;

/** fetch, or what is used in its place. */
export type Fetch = (url: string, init?: Init) => Promise<Binary>;

/** One event of a stream, for each name and the data that it has. */
export type EventOf<Events> = {
  [Name in keyof Events & string]: { id: number; event: Name; data: Events[Name] };
}[keyof Events & string];
