#!/usr/bin/env node

// Any Node version can parse this file. It loads the rest only if Node is new enough.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 20 || (major === 20 && minor >= 19)) {
  await import('./main.ts');
} else {
  process.stderr.write(
    `dossier: Node ${process.versions.node} is too old. Install Node 20.19 or newer (https://nodejs.org), then try again.\n`,
  );
  process.exitCode = 1;
}
