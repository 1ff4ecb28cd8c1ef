import { type Html, html } from '../../lib/http/html.ts';
import { STYLE_PATH } from './style.ts';

/** A whole page of the console around what is shown on it. */
export const framed = (title: string, shown: Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Dossier</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${STYLE_PATH}">
</head>
<body>
<main>
${shown}</main>
</body>
</html>
`;
