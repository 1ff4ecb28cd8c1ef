// The client as it ships, in two files that need no other: dist/client.js and, without an import, dist/client.d.ts.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';
import './client-types.mjs';

const common = { bundle: true, format: 'esm', logLevel: 'warning', outdir: 'dist' };
await build({
  ...common,
  entryPoints: { client: 'lib/client/client.ts' },
  platform: 'neutral',
  target: 'es2022',
});
// The same for Node, by the daemon's socket.
await build({
  ...common,
  entryPoints: { 'client-node': 'lib/client/node/connect.ts' },
  platform: 'node',
  target: 'node20',
});

// The declarations, each after what it speaks of. What client.ts passes on is exported where it stands.
const PARTS = ['platform.d.ts', 'operations', 'problem.d.ts', 'client.d.ts'];
const TIES = /^(?:import|export) [^;]*? from '\.\/[^']+';\n|^export \{\};\n/gm;

const folder = `dist/client-${process.pid}`;
const tsc = ['node_modules/typescript/bin/tsc', '-p', '.ci/client.tsconfig.json'];
try {
  execFileSync(process.execPath, [...tsc, '--outDir', folder], { stdio: 'inherit' });
  const texts = PARTS.map((name) =>
    readFileSync(name.endsWith('.d.ts') ? `${folder}/${name}` : `lib/client/${name}.ts`, 'utf8'),
  );
  // By its last line only what is marked is exported.
  writeFileSync('dist/client.d.ts', `${texts.join('').replaceAll(TIES, '')}export {};\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
