#!/usr/bin/env node

// What is loaded first, by whatever Node there is: nothing else is read, or parsed, before that is known to be new enough.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major > 20 || (major === 20 && minor >= 19)) {
  await import('./main.ts');
} else {
  process.stderr.write(
    `dossier: Node ${process.versions.node} is too old. Install Node 20.19 or newer (https://nodejs.org), and run this again.\n`,
  );
  process.exitCode = 1;
}
