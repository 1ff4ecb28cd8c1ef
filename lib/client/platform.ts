/** The platform's type if the program is compiled for a browser or Node, else the members given here. */
type Known<Name extends string, Otherwise> =
  typeof globalThis extends Record<Name, { prototype: infer T }> ? T : Otherwise;

/** An AbortSignal. */
export type Signal = Known<
  'AbortSignal',
  { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void }
>;

/** A file: the Response of fetch with its body unread, so that it can be streamed. */
export type Binary = Known<
  'Response',
  {
    readonly body: unknown;
    readonly headers: { get(name: string): string | null };
    arrayBuffer(): Promise<ArrayBuffer>;
  }
>;

/** The content of an uploaded file. The type of a Blob becomes the Content-Type; otherwise set it in `headers`. */
export type Upload =
  | Uint8Array
  | ArrayBuffer
  | Known<'Blob', { readonly size: number; arrayBuffer(): Promise<ArrayBuffer> }>
  | Known<'ReadableStream', { getReader(): unknown }>;

type Init = typeof globalThis extends { fetch: (url: string, init?: infer T) => unknown }
  ? T
  : object;

/** fetch or a replacement. */
export type Fetch = (url: string, init?: Init) => Promise<Binary>;

/** An event of a stream: a union over all names with their data. */
export type EventOf<Events> = {
  [Name in keyof Events & string]: { id: number; event: Name; data: Events[Name] };
}[keyof Events & string];
