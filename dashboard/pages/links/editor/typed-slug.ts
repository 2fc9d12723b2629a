// Makes a slug of a typed or pasted text, as one types.

/** A short URL was pasted: the slug is its path. */
const ORIGIN = /^\s*https?:\/\/[^/\s]*\/?/i
/** Hyphens with spaces or dashes around them are one hyphen. Hyphens alone stay as they are typed. */
const GAP = /[-\s\u2013\u2014]+/g
/** Punctuation and symbols of a sentence or a URL. Letters, their marks, digits and emoji stay; the server has the last word. */
const REFUSED =
  /[?#%&=+,:;!@$^~*|\\<>()[\]{}'"`\u00a1-\u00a6\u00a8\u00ab\u00ac\u00af-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u2018-\u201f\u2026\u2039\u203a\u20ac\u3001\u3002]/g

export const toTypedSlug = (text: string) =>
  text
    .normalize('NFC')
    .replace(ORIGIN, '')
    .replace(REFUSED, '')
    .replace(GAP, (gap) => (/^-+$/.test(gap) ? gap : '-'))
    .replace(/^\/+/, '')
    .replace(/\/{2,}/g, '/')

/** @returns the slug, and the place of the caret in it */
export const toTypedSlugAt = (text: string, caret: number) => {
  const slug = toTypedSlug(text)
  return { slug, caret: Math.min(toTypedSlug(text.slice(0, caret)).length, slug.length) }
}
