// The interface's table, row by row: one file a section, all of them at one daemon: worktrees before the
// editor, which writes in the same one.
import './worktrees.ts';
import './api-keys.ts';
import './codehost.ts';
import './conflicts.ts';
import './editor.ts';
import './export.ts';
import './language-servers.ts';
import './links.ts';
import './memory.ts';
import './openapi.ts';
import './planning.ts';
import './pr-body.ts';
import './proof.ts';
import './providers.ts';
import './pull-requests.ts';
import './reviews.ts';
import './session-control.ts';
import './sessions.ts';
import './settings.ts';
import './system.ts';
import './webhooks.ts';
import './work-items.ts';
