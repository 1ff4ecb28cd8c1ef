import { visible } from '../../../store/base/visible.ts';

/**
 * What a language server says of a file, as text: it is made of the file's own words, which anybody wrote. Of the HTML that
 * it was made into only what its Markdown was is taken away; all else is shown as it is written, and no element is left.
 */
export const asText = (html: string): string =>
  visible(html)
    .replace(/<br>/g, '\n')
    .replace(OF_MARKDOWN, '')
    .replaceAll('<', '&lt;')
    .replace(/&(?!(?:amp|lt|gt|quot|#39);)/g, '&amp;')
    .trim();

const OF_MARKDOWN =
  /<\/?(?:p|pre|code|em|strong|ul|ol|li|h[1-6]|hr|blockquote)>|<code class="language-\w+">|<a href="[^"<>]*">|<\/a>|<\/?span(?: class="[\w -]+")?>/g;
