/** What every handler and every rule is given. Filled in as the parts arrive. */
export interface Service {
  readonly clock: () => Date;
  readonly version: VersionInfo;
}

/** What is running. */
export interface VersionInfo {
  name: string;
  version: string;
  /** The OpenAPI version of the document at /openapi.json. */
  api: string;
  node: string;
  platform: string;
  /** Of the source that was built; null when it was not built in a repository. */
  commit: string | null;
  built_at: string | null;
}
