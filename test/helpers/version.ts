/** What a daemon under test says of itself. */
export const VERSION = {
  name: 'dossierd',
  version: '0.0.0',
  api: '3.1.0',
  node: process.version,
  platform: process.platform,
  commit: null,
  built_at: null,
};
